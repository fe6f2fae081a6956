// The tables of reports.

import { amountBar, axis, interval, scaleOf, sortable } from "../charts.js";
import { h, money } from "../dom.js";
import { MIN_EDGE_DECISIONS } from "../enums.js";
import { NONE, count, gainOrLoss, number, rate, ratio, signed, whole, whyNone } from "../format.js";

/** @type {[string, string, (value: number) => string, boolean?][]} */
const COLUMNS = [
  ["net_pnl", "Net P&L", signed, true],
  ["trade_count", "Decisions", number],
  ["win_rate", "Win rate", rate],
  ["expectancy", "Expectancy", signed, true],
  ["rr_realized_avg", "Average R", signed, true],
  ["profit_factor", "Profit factor", ratio],
];
const REASONS = { no_risk: "no stop or risk", no_wins_or_losses: "no wins or losses" };

export function costOf(groups, total, defined) {
  if (!defined)
    return "No tag is of the type mistake. Make one under Settings, tag trades with it, and its cost stands here.";
  if (!groups.length) return "No trade here has a tag of the type mistake.";
  if (groups.some(({ values }) => values.net_pnl == null)) return whyNone("mixed_currencies");
  const costs = groups.filter(({ values }) => values.net_pnl < 0);
  const [worst] = [...costs].sort((one, other) => one.values.net_pnl - other.values.net_pnl);
  if (!worst) return "No mistake cost money here.";
  const { net_pnl: net, trade_count: times } = worst.values;
  return [
    `The dearest mistake is ${worst.name}: `,
    h("strong.loss", signed(net)),
    ` in ${count(times, "decision")}. `,
    `Over all ${count(total.values.trade_count, "decision")} the expectancy is ${signed(total.values.expectancy)}.`,
  ];
}

export function reportTable({ title, sort, groups, report, link, sortBy }) {
  const scales = Object.fromEntries(
    COLUMNS.map(([key]) => [key, scaleOf(groups.map(({ values }) => values[key] ?? 0))]),
  );
  const named = ({ key, name }) => {
    const label = name ?? `No ${title.toLowerCase()}`;
    const href = link(key);
    return h("th.name", { scope: "row" }, href ? h("a", { href }, label) : label);
  };
  const cells = ({ values, reasons }, isTotal) =>
    COLUMNS.map(([key, , format, isSigned]) =>
      h(
        "td",
        { class: `num ${key}` },
        values[key] == null
          ? h("small", REASONS[reasons[key]] ?? reasons[key].replaceAll("_", " "))
          : [
              h("span", { class: isSigned && gainOrLoss(values[key]) }, format(values[key])),
              !isTotal && amountBar(values[key], scales[key], isSigned ? gainOrLoss(values[key]) : "plain"),
            ],
      ),
    );
  const hint = h(
    "p.muted",
    { hidden: true },
    "Scroll the table to the right for win rate, expectancy, R and profit factor.",
  );
  const scroller = frame(
    title,
    COLUMNS.map((column) => sortable(column, sort, sortBy)),
    groups.map((group) => [named(group), cells(group)]),
    [h("th.name", { scope: "row" }, "All"), cells(report.total, true)],
  );
  requestAnimationFrame(() => {
    hint.hidden = scroller.scrollWidth <= scroller.clientWidth;
  });
  return [hint, scroller];
}

// A table that scrolls by keyboard too.
const frame = (title, heads, rows, foot, kind) =>
  h(
    ".scroll",
    { tabindex: "0", role: "region", "aria-label": `By ${title.toLowerCase()}` },
    h(
      "table.report",
      { class: kind },
      h("thead", h("tr", h("th", { scope: "col" }, title), heads)),
      h(
        "tbody",
        rows.map((cells) => h("tr", cells)),
      ),
      foot && h("tfoot", h("tr", foot)),
    ),
  );

const SORTS = {
  present: ({ present }) => present.values.expectancy,
  absent: ({ absent }) => absent.values.expectancy,
  edge: ({ edge }) => edge.expectancy,
};

export function edgeTable({ groups, trades, sort = "-edge", sortBy }) {
  const asked = groups.filter(({ key }) => key);
  const known = asked.filter(({ edge }) => !edge.reason);
  const scale = scaleOf(known.flatMap(({ edge }) => [edge.low, edge.high]));
  const valueOf = SORTS[sort.replace("-", "")] ?? SORTS.edge;
  const order = (one, other) =>
    sort.startsWith("-") ? valueOf(other) - valueOf(one) : valueOf(one) - valueOf(other);
  const has = (group) => valueOf(group) != null;
  const rows = [...asked.filter(has).sort(order), ...asked.filter((group) => !has(group))];
  const without = groups.find(({ key }) => !key);
  return [
    h(
      "p",
      "How much more a decision earns with a confirmation than without it. The line is the 95 % interval:",
      " where it crosses zero, the trades do not show a difference.",
    ),
    rows.length === 0 && h("p.muted", "No trade here belongs to a setup with confirmations."),
    rows.length > 0 &&
      frame(
        "Confirmation",
        [
          ...[
            ["present", "With it"],
            ["absent", "Without it"],
            ["edge", "Edge per decision"],
          ].map((column) => sortable(column, sort, sortBy)),
          h("th.verdict", { scope: "col" }, "What it says"),
        ],
        rows.map((group) => row(group, scale, trades)),
        known.length > 0 && [h("td", { colspan: "3" }), h("td", axis(scale, whole)), h("td")],
        "edges",
      ),
    without &&
      h(
        "p.muted",
        `Not compared: ${count(without.unanswered.values.trade_count, "decision")} whose setup has no checklist.`,
      ),
  ];
}

function row({ key, name, setup, strategy, present, absent, unanswered, edge }, scale, trades) {
  const unknown = unanswered.values.trade_count;
  return [
    h(
      "th.name",
      { scope: "row" },
      h("a", { href: trades({ strategy_id: key.strategy_id, setup_id: key.setup_id }) }, name),
      h("small", `${strategy} › ${setup}`, unknown > 0 && ` · ${number(unknown)} unanswered`),
    ),
    side("With it", present),
    side("Without it", absent),
    h(
      "td.edge",
      edge.reason
        ? ""
        : [
            interval(edge, scale, kindOf(edge)),
            h("small", `${signed(edge.expectancy)} (${signed(edge.low)} to ${signed(edge.high)})`),
          ],
    ),
    h("td.verdict", edge.reason ? reasonOf(edge) : verdict(edge)),
  ];
}

const side = (label, { values }) =>
  h(
    "td.num.side",
    { "data-label": label },
    money(values.expectancy),
    h(
      "small",
      values.trade_count === 0
        ? "none"
        : `${number(values.trade_count)} · ${values.win_rate == null ? NONE : rate(values.win_rate)} won`,
    ),
  );

const kindOf = ({ low, high }) => (low > 0 ? "gain" : high < 0 ? "loss" : "plain");
const verdict = (edge) =>
  ({
    gain: h("span.gain", "▲ Earns more with it"),
    loss: h("span.loss", "▼ Earns less with it"),
    plain: h("span.muted", "No difference shown"),
  })[kindOf(edge)];

function reasonOf({ reason, present, absent }) {
  const words = {
    too_few: `${count(present, "decision")} with it, ${number(absent)} without: too few to tell; ${MIN_EDGE_DECISIONS} on each side are needed.`,
  };
  return h("span.muted", words[reason] ?? whyNone(reason));
}
