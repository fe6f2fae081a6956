// What Today asks about the day.

import { h } from "../dom.js";
import { count as counted, weekdayOf } from "../format.js";

// The plan before the first trade; once trades are closed, the question what they taught.
/** @param {string} date @param {DayListItem[]} days @param {Me} me */
export function dayQuestion(date, days, { trading_weekdays: weekdays }) {
  const { plan, review, trade_count: count } = days.find((day) => day.date === date) ?? {};
  const isIdle = !count && !plan && !weekdays.includes(weekdayOf(date));
  if (review || isIdle) return null;
  const verb = count ? "Write the review" : plan ? "Open the day" : "Write the plan";
  return h(
    "section#day.card.notice",
    { "aria-label": "The journal of today" },
    h(
      ".title",
      h("h2", count ? `${counted(count, "trade")} closed: what did you learn?` : "Your plan for today"),
      h("a.button", { href: `#/day/${date}` }, verb),
    ),
    plan ? h("p.written", plan) : !count && h("p.muted", "Nothing is planned yet."),
  );
}
