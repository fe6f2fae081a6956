// Charts, bars and intervals as SVG.

import { h } from "./dom.js";
import { count } from "./format.js";

const WIDTH = 1000;
const scale = (low, high, size) => (value) => size - ((value - low) / (high - low || 1)) * size;
const at = (left, top) => ({ left: `${left}%`, top: `${top}%` });
export const bar = (fraction, tone = "") =>
  h(
    "div",
    { class: `bar ${tone}`, "aria-hidden": "true" },
    h("i", { style: { width: `${Math.min(1, Math.max(0, fraction || 0)) * 100}%` } }),
  );

// Labels are HTML, so that they stay legible at any width.
function frame(label, height, low, high, ticks, format, texts, ...shapes) {
  const y = scale(low, high, 100);
  return h(
    ".chart",
    { style: { height: `${height}px` } },
    h(
      "svg:svg",
      { viewBox: `0 0 ${WIDTH} 100`, preserveAspectRatio: "none", role: "img", "aria-label": label },
      ticks.map((tick) =>
        h("svg:path", { class: tick ? "grid-line" : "zero-line", d: `M0 ${y(tick)}H${WIDTH}` }),
      ),
      ...shapes,
    ),
    ticks.map((tick) => h("span.tick", { "aria-hidden": "true", style: at(0, y(tick)) }, format(tick))),
    reading(label, texts),
  );
}

function ticksOf(low, high) {
  const step = [1, 2, 2.5, 5, 10]
    .map((one) => one * 10 ** Math.floor(Math.log10((high - low || 1) / 2)))
    .find((one) => (high - low) / one <= 4);
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, index) => (first + index) * step);
}

function lineOf(values, y, isStepped = false) {
  const x = (index) => ((index / (values.length - 1 || 1)) * WIDTH).toFixed(1);
  return values
    .map((value, index) => {
      const to = y(value).toFixed(2);
      return isStepped && index ? `H${x(index)}V${to}` : `${index ? "L" : "M"}${x(index)} ${to}`;
    })
    .join("");
}

// `days` are {day, balance, floor}.
export function balanceCurve(days, { format, dayFormat }) {
  const [balances, floors] = [days.map((one) => one.balance), days.map((one) => one.floor)];
  const [low, high] = [Math.min(...balances, ...floors), Math.max(...balances, ...floors)];
  const y = scale(low, high, 100);
  return h(
    "figure",
    frame(
      `Balance ${format(balances.at(-1))} above the floor ${format(floors.at(-1))}`,
      190,
      low,
      high,
      ticksOf(low, high),
      format,
      days.map((one) => `${dayFormat(one.day)}: ${format(one.balance)}, floor ${format(one.floor)}`),
      h("svg:path", { class: "line", d: lineOf(balances, y) }),
      h("svg:path", { class: "line loss", d: lineOf(floors, y, true) }),
    ),
    h(
      "figcaption.label",
      h("span", dayFormat(days[0].day)),
      h("span.loss", "Floor"),
      h("span", dayFormat(days.at(-1).day)),
    ),
  );
}

// `days` are {day, value}.
export function equityCurve(days, { format, dayFormat }) {
  let total = 0,
    peak = 0;
  const points = [{ day: "", value: 0, total, drawdown: 0 }];
  for (const { day, value } of days) {
    total += value;
    peak = Math.max(peak, total);
    points.push({ day, value, total, drawdown: total - peak });
  }
  const texts = (textOf) =>
    points.map((one) => (one.day ? `${dayFormat(one.day)}: ${textOf(one)}` : "Start: 0"));
  const totals = points.map((one) => one.total);
  const [low, high] = [Math.min(0, ...totals), Math.max(0, ...totals)];
  const falls = points.map((one) => one.drawdown);
  const deepest = Math.min(...falls);
  const hasFallen = deepest <= -0.005; // what rounds to 0.00 is no drawdown
  const up = scale(low, high, 100),
    down = scale(deepest, 0, 100);
  const curve = lineOf(totals, up);
  const fall = lineOf(falls, down);
  return h(
    "figure",
    frame(
      `Net P&L from ${format(0)} to ${format(total)} in ${count(days.length, "day")}`,
      190,
      low,
      high,
      ticksOf(low, high),
      format,
      texts((one) => `${format(one.total)} (${format(one.value)})`),
      h("svg:path", { class: "area", d: `${curve}L${WIDTH} ${up(0)}L0 ${up(0)}Z` }),
      h("svg:path", { class: "line", d: curve }),
    ),
    h(".label", h("span", "Drawdown"), hasFallen ? h("span.loss", `deepest ${format(deepest)}`) : "none"),
    hasFallen &&
      frame(
        `Drawdown, deepest ${format(deepest)}`,
        60,
        deepest,
        0,
        [deepest],
        format,
        texts((one) => format(one.drawdown)),
        h("svg:path", { class: "area loss", d: `${fall}L${WIDTH} 0L0 0Z` }),
        h("svg:path", { class: "line loss", d: fall }),
      ),
    h("figcaption.label", h("span", dayFormat(days[0].day)), h("span", dayFormat(days.at(-1).day))),
  );
}

export function columnsChart(columns, format) {
  const values = columns.flatMap((one) => [one.value ?? 0, one.target]);
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const y = scale(low, high, 100);
  return h(
    ".columns",
    { style: { height: "130px" } },
    columns.map((one) => {
      const edges = [y(one.value ?? 0), y(0)].sort((a, b) => a - b);
      return h(
        "a",
        {
          href: one.href,
          title: one.label,
          "aria-label": one.label,
          "aria-current": one.isCurrent && "true",
          class: one.tone,
        },
        h("i", { style: { top: `${edges[0]}%`, height: `${Math.max(1, edges[1] - edges[0])}%` } }),
        h("b", { style: { top: `${y(one.target)}%` } }),
        h("span", { "aria-hidden": "true" }, one.mark),
      );
    }),
  );
}

const place = (value, [low, high]) => `${(100 * (value - low)) / (high - low || 1)}%`;
const svg = (name, ...children) => h("svg:svg", { class: name, "aria-hidden": "true" }, ...children);
const zeroLine = (scale) =>
  h("svg:line", { class: "zero", x1: place(0, scale), x2: place(0, scale), y1: "0", y2: "100%" });
export const scaleOf = (values) => [Math.min(0, ...values), Math.max(0, ...values)];

export function amountBar(value, scale, kind) {
  const [low, high] = value < 0 ? [value, 0] : [0, value];
  const width = `${(100 * (high - low)) / (scale[1] - scale[0] || 1)}%`;
  return svg(
    "amount-bar",
    h("svg:rect", { class: kind, x: place(low, scale), width, y: "0", height: "100%", rx: "1" }),
    zeroLine(scale),
  );
}

export const isOffZero = ({ low, high }) => low > 0 || high < 0;

export const interval = ({ low, high }, middle, scale, kind) =>
  svg(
    "interval",
    zeroLine(scale),
    h("svg:line", { class: kind, x1: place(low, scale), x2: place(high, scale), y1: "50%", y2: "50%" }),
    [low, high].map((end) =>
      h("svg:line", { class: kind, x1: place(end, scale), x2: place(end, scale), y1: "30%", y2: "70%" }),
    ),
    h("svg:circle", { class: kind, cx: place(middle, scale), cy: "50%", r: "4" }),
  );

// Nothing without data.
export function axis(scale, format) {
  if (scale[0] === scale[1]) return null;
  const zero = (100 * -scale[0]) / (scale[1] - scale[0] || 1);
  const label = (x, anchor, value) =>
    h("svg:text", { x: `${x}%`, y: "12", "text-anchor": anchor }, format(value));
  return svg(
    "axis",
    label(0, "start", scale[0]),
    label(100, "end", scale[1]),
    zero > 28 && zero < 72 && label(zero, "middle", 0),
  );
}

// What a chart says of the day under the pointer, or where the arrow keys lead: a slider over the chart.
/** @param {string} label of the chart @param {string[]} texts of each place, from left to right */
function reading(label, texts) {
  const last = texts.length - 1;
  const said = h("span.said", { "aria-hidden": "true", hidden: true });
  const line = h("i.at", { hidden: true });
  const show = () => {
    const left = `${(100 * input.value) / (last || 1)}%`;
    said.textContent = texts[input.value];
    input.setAttribute("aria-valuetext", texts[input.value]);
    for (const one of [said, line]) one.style.setProperty("--at", left);
    said.hidden = line.hidden = false;
  };
  const hide = () => {
    said.hidden = line.hidden = document.activeElement !== input;
  };
  const point = ({ offsetX }) => {
    input.value = Math.round((offsetX / input.offsetWidth) * last);
    show();
  };
  const attributes = { type: "range", max: String(last), value: String(last), "aria-label": label };
  const events = { oninput: show, onfocus: show, onpointermove: point, onpointerleave: hide, onblur: hide };
  const input = h("input", { ...attributes, "aria-valuetext": texts[last], ...events });
  return [line, said, input];
}
