// What tables of reports share: bars and intervals on one scale, whose numbers stand beside them, and headings.

import { h } from "../dom.js";

// The share of the width, in percent, at which a value stands between `low` and `high`.
const place = (value, [low, high]) => `${(100 * (value - low)) / (high - low || 1)}%`;
const svg = (name, ...children) => h("svg:svg", { class: name, "aria-hidden": "true" }, ...children);
const zeroLine = (scale) =>
  h("svg:line", { class: "zero", x1: place(0, scale), x2: place(0, scale), y1: "0", y2: "100%" });

// The least and the greatest of the values and 0.
export const scaleOf = (values) => [Math.min(0, ...values), Math.max(0, ...values)];

// A bar from 0 to the value.
export function bar(value, scale, kind) {
  const [low, high] = value < 0 ? [value, 0] : [0, value];
  const width = `${(100 * (high - low)) / (scale[1] - scale[0] || 1)}%`;
  return svg(
    "amount-bar",
    h("svg:rect", { class: kind, x: place(low, scale), width, y: "0", height: "100%", rx: "1" }),
    zeroLine(scale),
  );
}

// An interval with its middle.
export const interval = ({ low, expectancy, high }, scale, kind) =>
  svg(
    "interval",
    zeroLine(scale),
    h("svg:line", { class: kind, x1: place(low, scale), x2: place(high, scale), y1: "50%", y2: "50%" }),
    [low, high].map((end) =>
      h("svg:line", { class: kind, x1: place(end, scale), x2: place(end, scale), y1: "30%", y2: "70%" }),
    ),
    h("svg:circle", { class: kind, cx: place(expectancy, scale), cy: "50%", r: "4" }),
  );

// The ends of a scale, and 0 where there is room for it.
export function axis(scale, format) {
  const zero = (100 * -scale[0]) / (scale[1] - scale[0] || 1);
  const label = (x, anchor, value) =>
    h("svg:text", { x: `${x}%`, y: "12", "text-anchor": anchor }, format(value));
  return svg(
    "axis",
    label(0, "start", scale[0]),
    label(100, "end", scale[1]),
    zero > 15 && zero < 85 && label(zero, "middle", 0),
  );
}

/** @param {any[]} column @param {string} sort @param {(key: string) => void} sortBy */
// The heading of a column; the first press puts the highest first, the next the lowest.
export function sortable([key, title], sort, sortBy) {
  const direction = { [key]: "ascending", [`-${key}`]: "descending" }[sort];
  const mark = { ascending: " ▲", descending: " ▼" }[direction] ?? "";
  return h(
    "th.num",
    { scope: "col", "aria-sort": direction },
    h(
      "button",
      { id: `sort-${key}`, onclick: () => sortBy(direction === "descending" ? key : `-${key}`) },
      title,
      mark,
    ),
  );
}
