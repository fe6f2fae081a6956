// The table of a report. Colour is for what differs from zero by more than chance; the rest is grey.

import { amountBar, axis, interval, isOffZero, scaleOf } from "../charts.js";
import { h } from "../dom.js";
import { METRICS } from "../enums.js";
import { amount, count, gainOrLoss, number, rate, ratio, signed, whole, whyNone, words } from "../format.js";

const FORMATS = { currency: amount, percent: rate, ratio, count: number };
const columnOf = (key) => {
  const [title, unit, hasSign] = METRICS[key];
  return [key, title, hasSign ? signed : FORMATS[unit]];
};
const SCALED = { expectancy: whole, rr_realized_avg: signed }; // means, as lines on one axis
const REASONS = {
  no_risk: "no stop or risk",
  no_wins_or_losses: "no wins or losses",
  mixed_currencies: "several currencies",
};

// The first press puts the highest first, the next the lowest.
/** @param {any[]} column */
export function sortable([key, title], sort, sortBy) {
  const direction = { [key]: "ascending", [`-${key}`]: "descending" }[sort];
  const mark = { ascending: " ▲", descending: " ▼" }[direction] ?? "";
  const press = () => sortBy(direction === "descending" ? key : `-${key}`);
  const button = h("button", { id: `sort-${key}`, onclick: press }, title, mark);
  return h("th.num", { scope: "col", class: key, "aria-sort": direction }, button);
}

// A table that scrolls by keyboard too.
export const frame = (title, heads, rows, foot, kind) =>
  h(
    ".scroll",
    {
      tabindex: "0",
      role: "region",
      "aria-label": `${kind ? "With and without" : "By"} ${title.toLowerCase()}`,
    },
    h(
      "table.report",
      { class: kind },
      h("thead", h("tr", h("th", { scope: "col" }, title), heads)),
      h(
        "tbody",
        rows.map((cells) => h("tr", cells)),
      ),
      h("tfoot", h("tr", foot)),
    ),
  );

export function reportTable({ title, sort, groups, report, link, sortBy }) {
  const columns = report.metrics.map(columnOf);
  const scales = scalesOf(groups, columns);
  const currency = currencyOf(report.total);
  const named = (group) => {
    const label = group.name ?? `No ${title.toLowerCase()}`;
    const href = link(group.key);
    const own = !currency && currencyOf(group);
    return h(
      "th.name",
      { scope: "row" },
      href ? h("a", { href }, label) : label,
      own && h("small", own),
      unseenIn(group),
    );
  };
  const cells = (group, drawn) =>
    columns.map(([key, , format]) =>
      h("td.num", { class: key }, cellOf(group, key, format, drawn && scales[axisOf(key, group)])),
    );
  const scroller = frame(
    title,
    columns.map((column) => sortable(column, sort, sortBy)),
    groups.map((group) => [named(group), cells(group, true)]),
    [h("th.name", { scope: "row" }, "All"), cells(report.total)],
  );
  const axes = columns.map(([key]) => {
    const shared = new Set(groups.filter(({ intervals }) => intervals[key]).map((one) => axisOf(key, one)));
    return h("td", key in SCALED && shared.size === 1 && axis(scales[[...shared][0]], SCALED[key]));
  });
  scroller.querySelector("tfoot").prepend(h("tr", h("td"), axes));
  const hint = h(
    "p.muted.scroll-hint",
    { hidden: true },
    "Scroll the table to the right for the number of trades, the win rate and R.",
  );
  requestAnimationFrame(() => {
    hint.hidden = scroller.scrollWidth <= scroller.clientWidth;
  });
  return [h("p", chanceIn(groups)), hint, scroller, currency && h("p.muted", `Amounts in ${currency}.`)];
}

// What few trades cannot show: the rule of three.
function unseenIn({ intervals }) {
  const few = intervals.expectancy ?? intervals.win_rate;
  return few?.unseen && h("small", `once in ${number(few.unseen)} or rarer: may not have shown`);
}

export const currencyOf = ({ statistics, present }) => (statistics ?? present?.statistics)?.currency;

// A currency has an axis of its own, which rows without an interval do not stretch.
const axisOf = (key, group) => (METRICS[key][1] === "currency" ? `${key} ${currencyOf(group)}` : key);
const endsOf = (key, { values, intervals }) => {
  if (!(key in SCALED)) return [values[key] ?? 0];
  const range = intervals[key];
  return range ? [range.low, range.high] : [];
};

function scalesOf(groups, columns) {
  const ends = {};
  for (const group of groups)
    for (const [key] of columns) (ends[axisOf(key, group)] ??= []).push(...endsOf(key, group));
  return Object.fromEntries(Object.entries(ends).map(([name, values]) => [name, scaleOf(values)]));
}

// A sum is coloured as its mean.
function toneOf({ values, intervals }, key) {
  const of = intervals[key === "net_pnl" ? "expectancy" : key];
  return of && isOffZero(of) ? gainOrLoss(values[key]) : "";
}

function cellOf(group, key, format, scale) {
  const { values, reasons, intervals, interval_reasons } = group;
  const value = values[key];
  const range = intervals[key];
  const tone = key === "net_pnl" || key in SCALED ? toneOf(group, key) : "";
  if (value == null) return h("small", REASONS[reasons[key]] ?? whyNone(reasons[key]).toLowerCase());
  const shown = h("span", { class: tone || (key in SCALED && scale && "muted") }, format(value));
  if (key === "win_rate") return [shown, range && h("small", `${rate(range.low)} to ${rate(range.high)}`)];
  if (!(key in SCALED))
    return [shown, scale && key === "net_pnl" && amountBar(value, scale, tone || "plain")];
  return [
    shown,
    range && scale && interval(range, value, scale, tone || "plain"),
    !range && h("small", words(interval_reasons[key]).toLowerCase()),
  ];
}

// What many lines say together, before any of them is read.
function chanceIn(groups) {
  const lines = groups.map(({ intervals }) => intervals.expectancy).filter(Boolean);
  const off = lines.filter(isOffZero).length;
  if (!lines.length) return null;
  if (!off) return h("strong", "None of these averages is clearly not zero.");
  return [
    h(
      "strong",
      `${number(off)} of ${count(lines.length, "average")} ${off === 1 ? "is" : "are"} clearly not zero.`,
    ),
    ` Chance alone would make about ${number(Math.round(lines.length / 2) / 10)} of ${number(lines.length)} look so (5 %).`,
  ];
}

// The shape of results, and how far trades went against them and in favour.
const picture = (kind, title, trades, drawing, low, high) =>
  h(
    `figure.${kind}`,
    h(".label", h("span", title), h("span", count(trades, "trade"))),
    drawing,
    h("figcaption.label", h("span", low), h("span", high)),
  );

// A line of small bars.
function bars(name, { bins }, format) {
  if (bins.length < 2) return null;
  const sizes = bins.map(({ decisions }) => decisions);
  const label = `All by ${name}`;
  const heightOf = (size) => `${size && Math.max(4, (100 * size) / Math.max(...sizes))}%`;
  const drawing = h(
    ".bins",
    { role: "img", "aria-label": label },
    bins.map(({ low, high, decisions }) =>
      h(
        "span",
        { title: `${format(low)} to ${format(high)}: ${number(decisions)}` },
        h("i", { class: high <= 0 ? "loss" : "gain", style: { height: heightOf(decisions) } }),
      ),
    ),
  );
  const total = sizes.reduce((sum, size) => sum + size, 0);
  return picture("shape", label, total, drawing, format(bins[0].low), format(bins.at(-1).high));
}

function points(name, trades) {
  const known = trades.filter((trade) => trade[name] != null && trade.net_pnl != null);
  if (known.length < 2) return null;
  const label = `Result by ${name.toUpperCase()}`;
  const xs = scaleOf(known.map((trade) => trade[name]));
  const ys = scaleOf(known.map((trade) => trade.net_pnl));
  const place = (value, range) => (100 * (value - range[0])) / (range[1] - range[0] || 1);
  const top = (value) => `${100 - place(value, ys)}%`;
  const drawing = h(
    "svg:svg",
    { role: "img", "aria-label": label },
    h("svg:line", { class: "zero", x1: "0", x2: "100%", y1: top(0), y2: top(0) }),
    known.map((trade) =>
      h(
        "svg:circle",
        {
          class: gainOrLoss(trade.net_pnl),
          cx: `${place(trade[name], xs)}%`,
          cy: top(trade.net_pnl),
          r: "3",
        },
        h("svg:title", `${trade.symbol}: ${signed(trade.net_pnl)}, ${number(trade[name])}`),
      ),
    ),
  );
  return picture("points", label, known.length, drawing, ys.map(whole).join(" to "), `0 to ${whole(xs[1])}`);
}

export const newestQuery = (filters) => ({ ...filters, limit: 200, copies: false });

// Without amounts in one currency, no points.
export const shapeOf = ({ net_pnl, r } = /** @type {any} */ ({}), trades) =>
  h(
    ".split.shapes",
    net_pnl && bars("net P&L", net_pnl, whole),
    r && bars("R", r, signed),
    net_pnl && ["mae", "mfe"].map((name) => points(name, trades)),
  );
