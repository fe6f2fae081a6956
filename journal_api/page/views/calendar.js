// The month as a calendar.

import { href } from "../client.js";
import { h, money, step } from "../dom.js";
import * as format from "../format.js";

export const tradesOf = (days) => days.reduce((sum, day) => sum + day.trade_count, 0);
const traded = (days) => days.filter((day) => day.trade_count);

// The net P&L of each currency: several are never added. Null if one is out of range.
/** @param {Pick<DayListItem, "sums">[]} days @returns {[string, number | null][]} */
export function sumsOf(days) {
  const sums = new Map();
  for (const { currency, net_pnl: net } of days.flatMap((day) => day.sums)) {
    const sum = sums.has(currency) ? sums.get(currency) : 0;
    sums.set(currency, sum == null || net == null ? null : sum + net);
  }
  return [...sums].sort();
}
// "+120.50 USD, −7,000.00 JPY".
export const moneyOf = (sums) =>
  sums.map(([currency, net], place) => [place > 0 && ", ", money(net), ` ${currency}`]);

/** @param {string} month @param {string} today @param {DayListItem[]} days @param {Context} context */
export function calendar(month, today, days, { me }) {
  const byDay = new Map(days.map((day) => [day.date, day]));
  const ofMonth = traded(days.filter((day) => day.date.startsWith(month)));
  const columns = format.WEEKDAYS.map((name, index) => ({ name, weekday: index + 1 })).filter(
    ({ weekday }) =>
      me.trading_weekdays.includes(weekday) ||
      days.some(({ date }) => date.startsWith(month) && format.weekdayOf(date) === weekday),
  );
  const total = sumsOf(ofMonth);
  // The tints of a currency are those of its largest day.
  const largest = Object.fromEntries(
    total.map(([currency]) => [
      currency,
      Math.max(
        1,
        ...ofMonth.filter((day) => day.currency === currency).map((day) => Math.abs(day.net_pnl ?? 0)),
      ),
    ]),
  );
  const link = (label, text, steps) =>
    step(`month${steps}`, label, text, `#/today?month=${monthAfter(month, steps)}`);
  return h(
    "section.card",
    { "aria-label": "Calendar" },
    h(
      ".title",
      h("h2", h("a", { href: href("days", format.monthSpan(month)) }, format.monthOf(`${month}-01`))),
      h(
        "span",
        total.length > 0 && [h("strong", moneyOf(total)), " · "],
        `${format.count(tradesOf(ofMonth), "trade")}`,
      ),
      h("span.row", link("Earlier month", "‹", -1), link("Later month", "›", 1)),
    ),
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
  return h(
    "tr",
    columns.map(({ weekday }) => dayCell(week[weekday - 1], shown)),
    h(
      "td.week",
      days.length > 0 &&
        h(
          "a",
          { href: href("days", format.weekOf(week[0])) },
          sumsOf(days).map((sum) => h("span", wholeOf(sum, shown, inColour))),
          h("small", format.number(tradesOf(days))),
        ),
    ),
  );
}

const inColour = (net) => money(net, format.whole);
// Names the currency where there are several.
const wholeOf = ([currency, net], { largest }, shownAs = format.whole) => [
  shownAs(net),
  Object.keys(largest).length > 1 && h("small", ` ${currency}`),
];

function dayCell(date, shown) {
  const { month, byDay, today, largest } = shown;
  const day = byDay.get(date) ?? { net_pnl: 0, trade_count: 0, sums: [] };
  const { net_pnl: pnl, currency, trade_count: trades } = day;
  const isOther = !date.startsWith(month);
  if (isOther && !trades) return h("td.other");
  const tone = isOther ? "other" : format.gainOrLoss(pnl);
  const result = sumsOf([day]).map(([of, net]) => `${format.signed(net)} ${of}`);
  return h(
    "td",
    {
      class: `${tone} ${date === today ? "today" : ""}`,
      style: { "--share": `${8 + (26 * Math.abs(pnl ?? 0)) / (largest[currency] ?? 1)}%` },
    },
    h(
      "a",
      { href: `#/day/${date}`, title: format.longDay(date) + (trades ? `: ${result.join(", ")}` : "") },
      h("span.day", String(Number(date.slice(8))), marksOf(day)),
      trades > 0 && [
        sumsOf([day]).map((sum) => h("span.pnl", wholeOf(sum, shown))),
        h("small", format.count(trades, "trade")),
      ],
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
