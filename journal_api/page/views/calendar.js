// The month as a calendar: net P&L and number of trades of each day, and of each week.

import { h } from "../dom.js";
import * as format from "../format.js";

const add = (groups, member) => groups.reduce((sum, group) => sum + (group.values[member] ?? 0), 0);

export function calendar(month, today, groups, { me }) {
  const byDay = new Map(groups.filter((group) => group.key.startsWith(month)).map((group) => [group.key, group]));
  const traded = [...byDay.values()];
  const columns = format.WEEKDAYS.map((name, index) => ({ name, weekday: index + 1 })).filter(({ weekday }) =>
    me.trading_weekdays.includes(weekday) || traded.some((group) => weekdayOf(group.key) === weekday));
  const largest = Math.max(1, ...traded.map((group) => Math.abs(group.values.net_pnl ?? 0)));
  const total = add(traded, "net_pnl");
  const link = (label, text, steps) => h("a", { class: "button quiet", "aria-label": label, id: `month${steps}`, href: `#/today?month=${monthAfter(month, steps)}` }, text);
  return h("section", { class: "card", "aria-label": "Calendar" },
    h("div", { class: "title" },
      h("h2", null, format.monthOf(`${month}-01`)),
      h("span", null, h("span", { class: `strong ${format.gainOrLoss(total)}` }, format.signed(total)), ` · ${format.count(add(traded, "trade_count"), "trade")}`),
      h("span", { class: "row" }, link("Earlier month", "‹", -1), link("Later month", "›", 1))),
    h("table", { class: "calendar" },
      h("thead", null, h("tr", null, columns.map(({ name }) => h("th", { scope: "col" }, name)), h("th", { scope: "col", class: "week" }, "Week"))),
      h("tbody", null, weeksOf(month)
        .filter((week) => columns.some(({ weekday }) => week[weekday - 1])).map((week) => weekRow(week, columns, byDay, today, largest)))));
}

function weekRow(week, columns, byDay, today, largest) {
  const groups = week.map((day) => byDay.get(day)).filter(Boolean);
  const total = add(groups, "net_pnl");
  return h("tr", null,
    columns.map(({ weekday }) => dayCell(week[weekday - 1], byDay.get(week[weekday - 1]), today, largest)),
    h("td", { class: "week" }, groups.length > 0 && [h("span", { class: format.gainOrLoss(total) }, format.whole(total)),
      h("small", null, format.number(add(groups, "trade_count")))]));
}

function dayCell(day, group, today, largest) {
  if (!day) return h("td", { class: "other" });
  const number = h("span", { class: "day" }, String(Number(day.slice(8))));
  if (!group) return h("td", { class: day === today ? "today" : "" }, number);
  const { net_pnl: pnl, trade_count: trades } = group.values;
  const tone = format.gainOrLoss(pnl);
  return h("td", { class: `${tone} ${day === today ? "today" : ""}`, style: { "--share": `${8 + 26 * Math.abs(pnl ?? 0) / largest}%` } },
    h("a", { href: `#/trades?from=${day}&to=${day}`, title: `${format.longDay(day)}: ${format.signed(pnl)}` },
      number, h("span", { class: "pnl" }, format.whole(pnl)), h("small", null, format.count(trades, "trade"))));
}

const weekdayOf = (day) => new Date(`${day}T12:00:00Z`).getUTCDay() || 7;

// The weeks of a month, Monday first; days of other months are null.
function weeksOf(month) {
  const first = `${month}-01`;
  const monday = format.plusDays(first, 1 - weekdayOf(first));
  const weeks = [];
  for (let day = monday; day.slice(0, 7) <= month; day = format.plusDays(day, 7)) {
    weeks.push(Array.from({ length: 7 }, (_, index) => format.plusDays(day, index)).map((one) => (one.startsWith(month) ? one : null)));
  }
  return weeks;
}

function monthAfter(month, steps) {
  const [year, number] = month.split("-").map(Number);
  return new Date(Date.UTC(year, number - 1 + steps, 1)).toISOString().slice(0, 7);
}
