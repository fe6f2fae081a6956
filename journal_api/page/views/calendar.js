// The month as a calendar.

import { h, money } from "../dom.js";
import * as format from "../format.js";

const tradesOf = (groups) => groups.reduce((sum, group) => sum + group.values.trade_count, 0);

// Several currencies are never added.
/** @param {DayGroup[]} groups */
function netOf(groups) {
  const hasNone = groups.some((group) => group.values.net_pnl == null);
  const currencies = new Set(groups.map((group) => group.statistics.currency));
  return hasNone || currencies.size > 1 ? null : groups.reduce((sum, group) => sum + group.values.net_pnl, 0);
}
const whyNone = (groups) =>
  format.whyNone(groups.find((group) => group.reasons.net_pnl)?.reasons.net_pnl ?? "mixed_currencies");

/** @param {string} month @param {string} today @param {DayGroup[]} groups @param {Context} context */
export function calendar(month, today, groups, { me }) {
  const byDay = new Map(groups.map((group) => [group.key, group]));
  const traded = groups.filter((group) => group.key.startsWith(month));
  const columns = format.WEEKDAYS.map((name, index) => ({ name, weekday: index + 1 })).filter(
    ({ weekday }) =>
      me.trading_weekdays.includes(weekday) || traded.some((group) => weekdayOf(group.key) === weekday),
  );
  const largest = Math.max(1, ...traded.map((group) => Math.abs(group.values.net_pnl ?? 0)));
  const total = netOf(traded);
  const link = (label, text, steps) =>
    h(
      "a.button.quiet",
      {
        "aria-label": label,
        id: `month${steps}`,
        href: `#/today?month=${monthAfter(month, steps)}`,
      },
      text,
    );
  return h(
    "section.card",
    { "aria-label": "Calendar" },
    h(
      ".title",
      h("h2", format.monthOf(`${month}-01`)),
      h("span", h("strong", money(total)), ` · ${format.count(tradesOf(traded), "trade")}`),
      h("span.row", link("Earlier month", "‹", -1), link("Later month", "›", 1)),
    ),
    total == null && h("p.muted", whyNone(traded)),
    h(
      "table.calendar",
      h(
        "thead",
        h(
          "tr",
          columns.map(({ name }) => h("th", { scope: "col" }, name)),
          h("th.week", { scope: "col" }, "Week"),
        ),
      ),
      h(
        "tbody",
        weeksOf(month)
          .filter((week) => columns.some(({ weekday }) => week[weekday - 1].startsWith(month)))
          .map((week) => weekRow(week, columns, { month, byDay, today, largest })),
      ),
    ),
  );
}

// Its days in other months have no colour.
function weekRow(week, columns, shown) {
  const groups = week.map((day) => shown.byDay.get(day)).filter(Boolean);
  const total = netOf(groups);
  return h(
    "tr",
    columns.map(({ weekday }) => dayCell(week[weekday - 1], shown)),
    h(
      "td.week",
      { title: total == null && whyNone(groups) },
      groups.length > 0 && [money(total, format.whole), h("small", format.number(tradesOf(groups)))],
    ),
  );
}

function dayCell(day, { month, byDay, today, largest }) {
  const group = byDay.get(day);
  const isOther = !day.startsWith(month);
  if (isOther && !group) return h("td.other");
  const number = h("span.day", String(Number(day.slice(8))));
  if (!group) return h("td", { class: day === today ? "today" : "" }, number);
  const { net_pnl: pnl, trade_count: trades } = group.values;
  const tone = isOther ? "other" : format.gainOrLoss(pnl);
  return h(
    "td",
    {
      class: `${tone} ${day === today ? "today" : ""}`,
      style: { "--share": `${8 + (26 * Math.abs(pnl ?? 0)) / largest}%` },
    },
    h(
      "a",
      {
        href: `#/trades?from=${day}&to=${day}`,
        title: `${format.longDay(day)}: ${pnl == null ? whyNone([group]) : format.signed(pnl)}`,
      },
      number,
      h("span.pnl", format.whole(pnl)),
      h("small", format.count(trades, "trade")),
    ),
  );
}

const weekdayOf = (day) => new Date(`${day}T12:00:00Z`).getUTCDay() || 7;

export function weeksOf(month) {
  const first = `${month}-01`;
  const monday = format.plusDays(first, 1 - weekdayOf(first));
  const weeks = [];
  for (let day = monday; day.slice(0, 7) <= month; day = format.plusDays(day, 7)) {
    weeks.push(Array.from({ length: 7 }, (_, index) => format.plusDays(day, index)));
  }
  return weeks;
}

function monthAfter(month, steps) {
  const [year, number] = month.split("-").map(Number);
  return new Date(Date.UTC(year, number - 1 + steps, 1)).toISOString().slice(0, 7);
}
