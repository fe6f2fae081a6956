// The table of a report, and what mistakes cost.

import { h } from "../dom.js";
import { count, gainOrLoss, number, rate, ratio, signed } from "../format.js";
import { bar, scaleOf, sortable } from "./bars.js";

/** @type {[string, string, (value: number) => string, boolean?][]} */
const COLUMNS = [
  // metric, title, format, whether the sign has a colour
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
  if (groups.some(({ values }) => values.net_pnl == null))
    return "Accounts in different currencies count here: choose an account.";
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
              !isTotal && bar(values[key], scales[key], isSigned ? gainOrLoss(values[key]) : "plain"),
            ],
      ),
    );
  const hint = h(
    "p.muted",
    { hidden: true },
    "Scroll the table to the right for win rate, expectancy, R and profit factor.",
  );
  const scroller = h(
    ".scroll",
    { tabindex: "0", role: "region", "aria-label": `By ${title.toLowerCase()}` },
    h(
      "table.report",
      h(
        "thead",
        h(
          "tr",
          h("th", { scope: "col" }, title),
          COLUMNS.map((column) => sortable(column, sort, sortBy)),
        ),
      ),
      h(
        "tbody",
        groups.map((group) => h("tr", named(group), cells(group))),
      ),
      h("tfoot", h("tr", h("th.name", { scope: "row" }, "All"), cells(report.total, true))),
    ),
  );
  requestAnimationFrame(() => {
    hint.hidden = scroller.scrollWidth <= scroller.clientWidth;
  });
  return [hint, scroller];
}
