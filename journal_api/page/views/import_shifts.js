// Files of one drop with the same trades, whole hours apart: one of them was read in a wrong time zone.

import { trying } from "../dialogs.js";
import { h } from "../dom.js";
import { count } from "../format.js";
import { readAll, works } from "./import_file.js";

const HOUR = 3_600_000; // milliseconds
const MAX_HOURS = 14; // further apart are days, not time zones
const COPIED_WITHIN = 60_000; // milliseconds
const right = new WeakSet(); // files whose times are right as they are

const tradesIn = ({ report }) => {
  const { first = [], last = [] } = (!report?.id && report?.preview) || {};
  return [...first, ...last];
};

// The hours from one file to the other, 0 if they do not have the same trades.
function hoursBetween(one, other) {
  const [mine, theirs] = [tradesIn(one), tradesIn(other)];
  if (!mine.length || one.report.preview.total.trades !== other.report?.preview?.total.trades) return 0;
  const apart = mine.map(
    (trade, place) => Date.parse(theirs[place]?.opened_at) - Date.parse(trade.opened_at),
  );
  const hours = Math.round(apart[0] / HOUR);
  const isSame = (trade, place) =>
    trade.symbol === theirs[place].symbol &&
    trade.direction === theirs[place].direction &&
    Math.abs(apart[place] - hours * HOUR) < COPIED_WITHIN;
  return theirs.length === mine.length && Math.abs(hours) <= MAX_HOURS && mine.every(isSame) ? hours : 0;
}

const shifts = () =>
  works.flatMap((one, place) =>
    works
      .slice(place + 1)
      .map((other) => ({ one, other, hours: hoursBetween(one, other) }))
      .filter(({ hours, other: { file } }) => hours && !right.has(file)),
  );

export const isShifted = (work) => shifts().some(({ one, other }) => work === one || work === other);

/** @param {Context} context */
export const shiftQuestions = (context) => shifts().map((shift) => question(shift, context));

function question({ one, other, hours }, context) {
  const read = [one, other].filter(({ report }) => report.timezone_source);
  const zones = [...new Set(read.map(({ report }) => report.timezone))];
  const use = (timezone) => trying(() => readAll([one, other], { timezone }, context));
  const keep = () => {
    right.add(other.file);
    return context.redraw();
  };
  const text = `${other.file.name} has the trades of ${one.file.name}, ${count(Math.abs(hours), "hour")} ${hours > 0 ? "later" : "earlier"}. Is the time zone of one of them wrong?`;
  return h(
    "p.row",
    { role: "group", "aria-label": "Time zones" },
    h("strong.warn", text),
    zones.length > 1 && zones.map((zone) => h("button", { onclick: use(zone) }, `Read both in ${zone}`)),
    h("button", { onclick: trying(keep) }, "They are right"),
    h("small.wide", "If it is another one, choose the zone with its file below."),
  );
}
