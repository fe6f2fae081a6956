// The month as a calendar.

import { href } from "../client.js";
import { h, money, step } from "../dom.js";
import * as format from "../format.js";

export const tradesOf = (days) => days.reduce((sum, day) => sum + day.trade_count, 0);
const traded = (days) => days.filter((day) => day.trade_count);

// Several currencies are never added.
/** @param {DayListItem[]} days */
export function netOf(days) {
  const isOne = new Set(days.map((day) => day.currency)).size < 2;
  return isOne && days.every((day) => day.net_pnl != null)
    ? days.reduce((sum, day) => sum + day.net_pnl, 0)
    : null;
}
const whyNone = (days) => format.whyNoSum(days.find((day) => day.net_pnl == null) ?? { currency: null });

/** @param {string} month @param {string} today @param {DayListItem[]} days @param {Context} context */
export function calendar(month, today, days, { me }) {
  const byDay = new Map(days.map((day) => [day.date, day]));
  const ofMonth = traded(days.filter((day) => day.date.startsWith(month)));
  const columns = format.WEEKDAYS.map((name, index) => ({ name, weekday: index + 1 })).filter(
    ({ weekday }) =>
      me.trading_weekdays.includes(weekday) ||
      days.some(({ date }) => date.startsWith(month) && format.weekdayOf(date) === weekday),
  );
  const largest = Math.max(1, ...ofMonth.map((day) => Math.abs(day.net_pnl ?? 0)));
  const total = netOf(ofMonth);
  const link = (label, text, steps) =>
    step(`month${steps}`, label, text, `#/today?month=${monthAfter(month, steps)}`);
  return h(
    "section.card",
    { "aria-label": "Calendar" },
    h(
      ".title",
      h("h2", h("a", { href: href("days", format.monthSpan(month)) }, format.monthOf(`${month}-01`))),
      h("span", h("strong", money(total)), ` · ${format.count(tradesOf(ofMonth), "trade")}`),
      h("span.row", link("Earlier month", "‹", -1), link("Later month", "›", 1)),
    ),
    total == null && h("p.muted", whyNone(ofMonth)),
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
  const days = traded(week.map((day) => shown.byDay.get(day)).filter(Boolean));
  const total = netOf(days);
  return h(
    "tr",
    columns.map(({ weekday }) => dayCell(week[weekday - 1], shown)),
    h(
      "td.week",
      { title: total == null && whyNone(days) },
      days.length > 0 &&
        h(
          "a",
          { href: href("days", format.weekOf(week[0])) },
          money(total, format.whole),
          h("small", format.number(tradesOf(days))),
        ),
    ),
  );
}

function dayCell(date, { month, byDay, today, largest }) {
  const day = byDay.get(date) ?? { net_pnl: 0, trade_count: 0 };
  const { net_pnl: pnl, trade_count: trades } = day;
  const isOther = !date.startsWith(month);
  if (isOther && !trades) return h("td.other");
  const tone = isOther ? "other" : format.gainOrLoss(pnl);
  const result = pnl == null ? format.whyNoSum(day) : format.signed(pnl);
  return h(
    "td",
    {
      class: `${tone} ${date === today ? "today" : ""}`,
      style: { "--share": `${8 + (26 * Math.abs(pnl ?? 0)) / largest}%` },
    },
    h(
      "a",
      { href: `#/day/${date}`, title: format.longDay(date) + (trades ? `: ${result}` : "") },
      h("span.day", String(Number(date.slice(8))), marksOf(day)),
      trades > 0 && [h("span.pnl", format.whole(pnl)), h("small", format.count(trades, "trade"))],
    ),
  );
}

// What else there is: a text, pictures.
const marksOf = ({ has_text, picture_count }) => [
  has_text && h("span", { title: "Written", role: "img", "aria-label": "written" }, " ✎"),
  picture_count > 0 && h("span", { title: "Pictures", role: "img", "aria-label": "pictures" }, " ▣"),
];

export function weeksOf(month) {
  const first = `${month}-01`;
  const monday = format.weekOf(first).from;
  const weeks = [];
  for (let day = monday; day.slice(0, 7) <= month; day = format.plusDays(day, 7)) {
    weeks.push(Array.from({ length: 7 }, (_, index) => format.plusDays(day, index)));
  }
  return weeks;
}

export function monthAfter(month, steps) {
  const [year, number] = month.split("-").map(Number);
  return new Date(Date.UTC(year, number - 1 + steps, 1)).toISOString().slice(0, 7);
}
