// The shape of results, and how far trades went against them and in favour.

import { scaleOf } from "../charts.js";
import { h } from "../dom.js";
import { count, gainOrLoss, number, signed, whole } from "../format.js";

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
