// #/days: a week or a month to be read, its texts one below the other.

import { get, href } from "../client.js";
import { trying } from "../dialogs.js";
import { card, h, money, step, table } from "../dom.js";
import { METRICS, MIN_EDGE_DAYS } from "../enums.js";
import * as format from "../format.js";
import { count } from "../format.js";
import { moneyOf, monthAfter, sumsOf, tradesOf } from "./calendar.js";
import { orRefused } from "./filters.js";
import { loadAll, thumbsOf } from "./pictures.js";
import { standingRow } from "./standings.js";
import { chip } from "./trade_parts.js";

const LIMIT = 366;

/** @param {Context} context */
export async function view(context) {
  const { me, query, selection } = context;
  const today = format.tradingDay(me);
  const week = format.weekOf(today);
  const range = { from: query.get("from") ?? week.from, to: query.get("to") ?? week.to };
  const isWeek = format.weekOf(range.from).from === range.from && format.weekOf(range.from).to === range.to;
  const [{ data, refused }, tags, beside] = await Promise.all([
    orRefused(get("/days", { ...selection, ...range, limit: LIMIT, with: "text" }), { days: [] }),
    get("/tags"),
    isWeek && weekView(range, context),
  ]);
  const days = data.days.toReversed();
  return [
    head(range, refused ? [] : days, today),
    beside,
    refused ??
      (days.length
        ? days.map((day) =>
            isWritten(day) ? written(day, tags.data.tags) : h("section.card.short", titleOf(day)),
          )
        : h("section.card.empty", h("p", "Nothing was traded or written in these days."))),
  ];
}

/** @param {DayListItem} day */
const isWritten = ({ has_text, rating, tag_ids, picture_count }) =>
  has_text || rating || tag_ids.length || picture_count;

/** @param {{ from: string, to: string }} range @param {DayListItem[]} days */
function head({ from, to }, days, today) {
  const month = from.slice(0, 7);
  const isMonth = format.monthSpan(month).to === to && from.endsWith("-01");
  const length = Math.round((Date.parse(to) - Date.parse(from)) / 86_400_000) + 1;
  const moved = (steps) =>
    isMonth
      ? format.monthSpan(monthAfter(month, steps))
      : { from: format.plusDays(from, steps * length), to: format.plusDays(to, steps * length) };
  const link = (id, label, text, steps) => length > 0 && step(id, label, text, href("days", moved(steps)));
  const middle = from <= today && today <= to ? today : from;
  const traded = days.filter((day) => day.trade_count);
  const won = traded.filter((day) => day.net_pnl > 0).length;
  return h(
    ".title",
    h(
      ".row",
      link("days-before", "Earlier", "‹", -1),
      h("h1", isMonth ? format.monthOf(from) : format.span(from, to)),
      link("days-after", "Later", "›", 1),
    ),
    traded.length > 0 &&
      h(
        "p",
        h("strong", moneyOf(sumsOf(traded))),
        ` in ${count(tradesOf(traded), "trade")}, ${won} of ${count(traded.length, "day")} won`,
      ),
    h(
      ".row",
      h("a.button", { href: href("days", format.weekOf(middle)) }, "Week"),
      h("a.button", { href: href("days", format.monthSpan(middle.slice(0, 7))) }, "Month"),
      h("button", { onclick: trying(printAll) }, "Print"),
    ),
  );
}

// Pictures that were never in sight too.
async function printAll() {
  await loadAll();
  print();
}

/** @param {DayListItem} day */
const titleOf = (day) => [
  h("a", { href: `#/day/${day.date}` }, format.longDay(day.date)),
  day.trade_count > 0 && [
    " · ",
    h("strong", moneyOf(sumsOf([day]))),
    ` in ${count(day.trade_count, "trade")}`,
  ],
  day.rating && ` · ${day.rating} of 5`,
];

/** @param {DayListItem} day @param {Tag[]} tags */
const written = (day, tags) =>
  h(
    "section.card.read",
    { "aria-label": format.longDay(day.date) },
    h("h2", titleOf(day)),
    h("p.tags", tags.filter(({ id }) => day.tag_ids.includes(id)).map(chip)),
    [
      ["Plan", day.plan],
      ["Review", day.review],
    ].map(([label, text]) => text && [h("h3", label), h("p.written", text)]),
    thumbsOf(day.pictures, `#/day/${day.date}`),
  );

// A week on one page: its days beside the eight weeks before, goals, accounts, the best and the worst trade.
const BEFORE = 8;
const MAX_TRADES = 200;
// Student's t for 95 %, by degrees of freedom.
const T = [0, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365];
const sum = (numbers) => numbers.reduce((total, one) => total + one, 0);

// What is read of a day or a week, from its groups of decisions by rules; null if it has no value.
const MEASURES = [
  ["Net P&L", (groups) => total(groups, ({ values }) => values.net_pnl), format.signed],
  [
    "R",
    (groups) =>
      groups.some(({ statistics }) => statistics?.with_risk)
        ? total(groups, ({ statistics }) => statistics?.r_total ?? null)
        : null,
    format.signed,
  ],
  [
    "Trades",
    (groups) => total(groups, ({ values }) => values.trade_count),
    (value) => format.number(Math.round(10 * value) / 10),
  ],
  ["Rules kept", kept, format.percent],
  [
    "Made with rules broken",
    (groups) => total(groups.filter(isOf("broken")), ({ values }) => values.net_pnl),
    format.signed,
  ],
];
const isOf = (rules) => (group) => group.keys[1] === rules;
function total(groups, valueOf) {
  const values = groups.map(valueOf);
  return values.includes(null) ? null : sum(values);
}
function kept(groups) {
  const count = (rules) => sum(groups.filter(isOf(rules)).map(({ values }) => values.trade_count));
  const all = count("followed") + count("broken");
  return all ? (100 * count("followed")) / all : null;
}

/** @param {number[]} values */
function meanOf(values) {
  const mean = sum(values) / values.length;
  if (values.length < MIN_EDGE_DAYS) return { mean };
  const spread = sum(values.map((one) => (one - mean) ** 2)) / (values.length - 1);
  return { mean, half: T[values.length - 1] * Math.sqrt(spread / values.length) };
}

/** @param {{ from: string, to: string }} range @param {Context} context */
async function weekView({ from, to }, { selection, accounts }) {
  const since = format.plusDays(from, -7 * BEFORE);
  const trading = { ...selection, from, to };
  const [{ data }, goals, traded] = await Promise.all([
    get("/reports", {
      ...{ ...selection, from: since, to, group_by: "day,rules", limit: 2000 },
      metrics: "net_pnl,trade_count",
    }),
    get("/goals", { with: "periods", from: since, to }),
    get("/trades", { ...trading, copies: false, limit: MAX_TRADES }),
  ]);
  const { groups, total } = data.report;
  const closed = traded.data.trades.filter((one) => one.net_pnl != null);
  closed.sort((one, other) => other.net_pnl - one.net_pnl);
  // Amounts of several currencies are not compared.
  const ends = total.values.net_pnl == null ? [] : [...new Set([closed[0], closed.at(-1)])].filter(Boolean);
  const opened = await Promise.all(ends.map(({ id }) => get(`/trades/${id}`)));
  const few = traded.meta.pagination.total > MAX_TRADES ? ` of the newest ${MAX_TRADES}` : "";
  const ruled = accounts.filter(({ standing, archived }) => standing && !archived);
  return [
    daysCard(
      groups,
      from,
      h("a", { href: href("report", { ...trading, by: "rules" }) }, "Rules of this week"),
    ),
    h(
      ".split",
      goalsCard(goals.data.goals, from),
      ruled.length > 0 &&
        card(
          "Accounts at the end",
          table(
            { class: "stacked" },
            ["Account", "Balance", "Room, open P&L not seen", ""],
            ruled.map(standingRow),
            ["", "num", "num"],
          ),
        ),
      opened.map(({ data: { trade } }, place) =>
        tradeCard(trade, (place ? "Worst trade" : "Best trade") + few),
      ),
    ),
  ];
}

// The means are of the weeks with trades.
function daysCard(groups, from, rules) {
  const [byDay, byWeek] = [new Map(), new Map()];
  const add = (map, key, group) => map.set(key, [...(map.get(key) ?? []), group]);
  for (const group of groups) {
    const [day] = group.keys;
    add(byWeek, format.weekOf(day).from, group);
    if (day >= from) add(byDay, day, group);
  }
  const now = byWeek.get(from);
  byWeek.delete(from);
  if (!now) return null;
  const days = [...byDay.keys()].sort();
  const row = ([name, valueOf, shown]) => {
    const values = [...byWeek.values()].map(valueOf).filter((one) => one != null);
    const { mean, half } = values.length ? meanOf(values) : {};
    const cell = (some) => (shown === format.signed ? money : shown)(valueOf(some));
    return [
      h("th", { scope: "row" }, name),
      ...days.map((day) => cell(byDay.get(day))),
      h("strong", cell(now)),
      mean == null ? format.NONE : shown(mean),
      half == null ? format.NONE : `${shown(mean - half)} to ${shown(mean + half)}`,
    ];
  };
  const weeks = format.count(byWeek.size, "week");
  const heads = ["", ...days.map(dayName), "Week", `Mean of ${weeks}`, "95 % interval of the mean"];
  return card(
    "The week beside those before",
    { id: "week" },
    table(
      { class: "middle stacked" },
      heads,
      MEASURES.map(row),
      heads.map((_, place) => place && "num"),
    ),
    h(
      "p.muted",
      `Of the ${BEFORE} weeks before, those with a trade count; an interval needs ${MIN_EDGE_DAYS}. `,
      rules,
    ),
  );
}

const dayName = (day) => `${format.WEEKDAYS[format.weekdayOf(day) - 1]} ${Number(day.slice(8))}`;

// How often, of the periods that are over.
/** @param {GoalPeriod[]} periods */
function metIn(periods) {
  const over = periods.filter(({ closed, achieved }) => closed && achieved != null);
  return over.length ? `${over.filter(({ achieved }) => achieved).length} of ${over.length}` : format.NONE;
}

/** @param {Goal[]} goals */
function goalsCard(goals, from) {
  const rows = goals
    .filter(({ timeframe }) => /daily|weekly/.test(timeframe))
    .map(({ goal_name: name, kind, metric, target_value: target, timeframe, periods }) => {
      const shown = (value) => format.valueOf(METRICS[metric][1], value);
      const before = periods.filter(({ period_start: start }) => start < from);
      const now = periods.slice(0, -before.length || undefined);
      const met = metIn(now);
      return [
        name,
        `${timeframe} ${kind} ${shown(target)}`,
        timeframe === "weekly"
          ? `${{ "1 of 1": "✓ ", "0 of 1": "✕ " }[met] ?? ""}${shown(now[0]?.actual)}`
          : met,
        metIn(before),
      ];
    });
  return (
    rows.length > 0 &&
    card(
      "Goals kept or reached",
      table({ class: "stacked" }, ["Goal", "", "This week", `${BEFORE} weeks before`], rows, [
        "",
        "",
        "num",
        "num",
      ]),
    )
  );
}

/** @param {Trade} trade */
function tradeCard(trade, title) {
  const {
    id,
    symbol,
    direction,
    trading_day: day,
    net_pnl: net,
    rr_realized: ratio,
    notes,
    pictures,
  } = trade;
  const place = href("trades", { id });
  return h(
    "section.card.read",
    { "aria-label": title },
    h(
      "h2",
      `${title}: `,
      h("a", { href: place }, `${symbol} ${direction}`),
      ` · ${dayName(day)} · `,
      money(net),
      ratio != null && ` · ${format.signed(ratio)} R`,
    ),
    notes && h("p.written", notes),
    thumbsOf(pictures.slice(0, 1), place),
  );
}
