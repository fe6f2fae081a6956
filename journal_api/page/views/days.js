// #/days: a week or a month to be read, its texts one below the other.

import { get, href } from "../client.js";
import { h, step } from "../dom.js";
import * as format from "../format.js";
import { count } from "../format.js";
import { moneyOf, monthAfter, sumsOf, tradesOf } from "./calendar.js";
import { orRefused } from "./filters.js";
import { imageOf } from "./pictures.js";
import { chip } from "./trade_parts.js";
import { weekCard } from "./week.js";

const LIMIT = 366;

/** @param {Context} context */
export async function view({ me, query, selection }) {
  const today = format.tradingDay(me);
  const week = format.weekOf(today);
  const range = { from: query.get("from") ?? week.from, to: query.get("to") ?? week.to };
  const isWeek = format.weekOf(range.from).from === range.from && format.weekOf(range.from).to === range.to;
  const [{ data, refused }, tags, beside] = await Promise.all([
    orRefused(get("/days", { ...selection, ...range, limit: LIMIT, with: "text" }), { days: [] }),
    get("/tags"),
    isWeek && weekCard(range, selection),
  ]);
  const days = data.days.toReversed();
  return [
    head(range, refused ? [] : days, today),
    beside,
    refused ??
      (days.length
        ? days.map((day) => (isWritten(day) ? written(day, tags.data.tags) : h("p.card.short", titleOf(day))))
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
      h("button", { onclick: () => print() }, "Print"),
    ),
  );
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
    h(
      "ul.thumbs",
      day.pictures.map((picture, place) =>
        h(
          "li",
          h("a.thumb", { href: `#/day/${day.date}` }, imageOf(picture, place)),
          h("small", picture.caption),
        ),
      ),
    ),
  );
