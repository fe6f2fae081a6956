// #/day/2026-11-20: what was planned, traded and learned on a day.

import { get, href } from "../client.js";
import { card, find, h, isKey, money, step, table } from "../dom.js";
import * as format from "../format.js";
import { clock, count, gainOrLoss, number, signed } from "../format.js";
import { moneyOf, sumsOf } from "./calendar.js";
import { stateOf } from "./goal_cards.js";
import { pictureStrip } from "./pictures.js";
import { saver, textForm } from "./saver.js";
import { standingCards } from "./standings.js";
import { marks, tagNames, tagsOf } from "./trade_parts.js";

const DAY = /^\d{4}-\d\d-\d\d$/;
const MAX_ACCOUNTS = 3; // whose rules are read: a view is ten requests at the most
const RATINGS = [1, 2, 3, 4, 5];
const LABELS = { plan: "Plan", review: "Review", rating: "Rating", tag_ids: "Tags" };

/** @param {Context} context */
export async function view(context) {
  const { me, id, selection } = context;
  const date = DAY.test(id) ? id : format.tradingDay(me);
  const path = `/days/${date}`;
  const [opened, trades, tags] = await Promise.all([
    get(path),
    get("/trades", { ...selection, from: date, to: date, limit: LIMIT }),
    get("/tags"),
  ]);
  const { day } = opened.data;
  const numbers = Object.keys(selection).length ? (await get(path, selection)).data.day : day;
  const kind = { member: "day", labels: LABELS, words: { tag_ids: tagNames(tags.data.tags) } };
  const standings = standingCards(await standingsOf(context, trades.data.trades, date));
  const { save, latest } = saver(context, path, opened, kind);
  const written = latest().data.day; // saved since it was read, perhaps
  return [
    head(date, numbers, me),
    h(
      ".split",
      card(
        "Before",
        textForm(path, "plan", "Plan", written.plan, save, {
          draft: "The plan of this day is not saved.",
          rows: 6,
          template: me.plan_template,
        }),
        goalsOf(day),
      ),
      tradesOf(trades.data.trades, trades.meta.pagination.total, numbers, context),
    ),
    standings,
    h("section.card", pictureStrip(path, day.pictures)),
    card(
      "After",
      textForm(path, "review", "Review", written.review, save, {
        draft: "The review of this day is not saved.",
        rows: 6,
        template: me.review_template,
      }),
      h(
        ".split",
        marks("rating", "How well did you keep to your plan?", RATINGS, day, save),
        tagsOf(day, tags.data.tags, save),
      ),
      h("p#saved.muted", { role: "status" }),
    ),
  ];
}

// A day on which nobody trades is passed over.
function neighbour(date, steps, { trading_weekdays: weekdays }) {
  const next = format.plusDays(date, steps);
  return weekdays.includes(format.weekdayOf(next))
    ? next
    : neighbour(next, steps, { trading_weekdays: weekdays });
}

/** @param {string} date @param {JournalDay} numbers @param {Me} me */
function head(date, { sums, trade_count: count, wins, losses }, me) {
  const link = (id, label, text, steps) => step(id, label, text, `#/day/${neighbour(date, steps, me)}`);
  return h(
    ".title",
    h(
      ".row",
      link("day-before", "Day before (key ←)", "‹", -1),
      h("h1", format.longDay(date)),
      link("day-after", "Day after (key →)", "›", 1),
    ),
    h(
      "p",
      count
        ? [
            h("strong", moneyOf(sumsOf([{ sums }]))),
            ` in ${format.count(count, "trade")}: ${format.count(wins, "win")}, ${format.count(losses, "loss", "losses")}`,
          ]
        : h("span.muted", "No closed trade"),
    ),
    h("a.button", { href: href("days", format.weekOf(date)) }, "Week"),
  );
}

/** @param {JournalDay} day */
const goalsOf = ({ goals }) =>
  goals.length > 0 &&
  h(
    "ul.plain",
    { "aria-label": "Goals of the day" },
    goals.map((goal) => {
      const [word, tone, mark] = stateOf(goal.kind, goal);
      const shown = (value) => format.valueOf(goal.snapshot_data.unit, value);
      return h(
        "li",
        h("span", { class: tone }, `${mark} ${word}`),
        ` · ${goal.goal_name}: ${shown(goal.actual)}, ${goal.kind} ${shown(goal.target)}`,
      );
    }),
  );

// Of accounts with rules that traded, at the end of the day.
/** @param {Context} context @param {TradeListItem[]} trades */
async function standingsOf({ accounts }, trades, at) {
  const traded = accounts.filter(
    (one) => one.standing && trades.some(({ account_id }) => account_id === one.id),
  );
  return Promise.all(
    traded.slice(0, MAX_ACCOUNTS).map(async (account) => {
      const { data } = await get(`/accounts/${account.id}/standing`, { at });
      return { ...account, standing: data.standing };
    }),
  );
}

function pressed(event) {
  const id = { ArrowLeft: "day-before", ArrowRight: "day-after" }[event.key] ?? `rating-${event.key}`;
  if (find("main").dataset.view !== "day" || !isKey(event) || !/^(Arrow|[1-5]$)/.test(event.key)) return;
  find(`#${id}`)?.click();
}

document.addEventListener("keydown", pressed);

// The trades of a day, in the order in which they closed.
const LIMIT = 200; // of trades

/** @param {TradeListItem[]} newestFirst @param {number} total @param {JournalDay} numbers @param {Context} context */
function tradesOf(newestFirst, total, { date, currency }, { me, accounts }) {
  const ofDay = { from: date, to: date };
  const trades = [...newestFirst].sort((one, other) => (one.closed_at < other.closed_at ? -1 : 1));
  const timeOf = clock(me.timezone);
  let sum = 0;
  const rows = trades.map((trade) => {
    sum += trade.net_pnl ?? 0;
    return [
      h("a", { href: href("trades", { ...ofDay, id: trade.id }) }, timeOf(trade.opened_at)),
      [trade.symbol, h("small", trade.direction === "long" ? " ▲" : " ▼"), ` ${number(trade.quantity)}`],
      [
        money(trade.net_pnl),
        !currency && h("small", ` ${accounts.find(({ id }) => id === trade.account_id)?.currency}`),
      ],
      currency && total <= LIMIT && signed(sum),
      trade.grade,
    ];
  });
  return card(
    "Trades",
    rows.length ? timeline(trades, timeOf) : h("p.muted", "Nothing was closed on this day."),
    rows.length > 0 &&
      table({ class: "of-day" }, ["Opened", "Trade", "Net P&L", "Sum", "Grade"], rows, [
        "",
        "",
        "num",
        "num",
      ]),
    total > LIMIT && h("a", { href: href("trades", ofDay) }, `All ${number(total)} trades`),
  );
}

// A block for each trade, as long as it was open, up for a gain and down for a loss.
function timeline(trades, timeOf) {
  const at = (text) => new Date(text).getTime();
  const begin = Math.min(...trades.map((one) => at(one.opened_at)));
  const end = Math.max(...trades.map((one) => at(one.closed_at)));
  const largest = Math.max(1, ...trades.map(({ net_pnl }) => Math.abs(net_pnl ?? 0)));
  const share = (time) => (100 * (time - begin)) / (end - begin || 1);
  const block = ({ symbol, opened_at, closed_at, net_pnl }) =>
    h("i", {
      class: gainOrLoss(net_pnl),
      title: `${timeOf(opened_at)} ${symbol} ${signed(net_pnl)}`,
      style: {
        left: `${share(at(opened_at))}%`,
        width: `${share(at(closed_at)) - share(at(opened_at))}%`,
        height: `${(48 * Math.abs(net_pnl ?? 0)) / largest}%`,
      },
    });
  return h(
    "figure",
    h(
      ".timeline",
      {
        role: "img",
        "aria-label": `${count(trades.length, "trade")} from ${timeOf(begin)} to ${timeOf(end)}`,
      },
      trades.map(block),
    ),
    h("figcaption.label", h("span", timeOf(begin)), h("span", timeOf(end))),
  );
}
