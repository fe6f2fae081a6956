// The report of confirmations: decisions with each beside those without it, and the interval of the difference.

import { h } from "../dom.js";
import { MIN_EDGE_DECISIONS } from "../enums.js";
import { count, gainOrLoss, NONE, number, rate, signed, whole } from "../format.js";
import { axis, interval, scaleOf, sortable } from "./bars.js";

// What the table can be sorted by.
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
      h(
        ".scroll",
        { tabindex: "0", role: "region", "aria-label": "By confirmation" },
        h(
          "table.report.edges",
          h(
            "thead",
            h(
              "tr",
              h("th", { scope: "col" }, "Confirmation"),
              [
                ["present", "With it"],
                ["absent", "Without it"],
                ["edge", "Edge per decision"],
              ].map((column) => sortable(column, sort, sortBy)),
              h("th.verdict", { scope: "col" }, "What it says"),
            ),
          ),
          h(
            "tbody",
            rows.map((group) => row(group, scale, trades)),
          ),
          known.length > 0 &&
            h("tfoot", h("tr", h("td", { colspan: "3" }), h("td", axis(scale, whole)), h("td"))),
        ),
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
  return h(
    "tr",
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
  );
}

// Expectancy, and below it of how many decisions and how many won.
const side = (label, { values }) =>
  h(
    "td.num.side",
    { "data-label": label },
    h("span", { class: gainOrLoss(values.expectancy) }, signed(values.expectancy)),
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
    mixed_currencies: "Accounts in different currencies: choose an account.",
  };
  return h("span.muted", words[reason] ?? "The amounts are too large to add.");
}
