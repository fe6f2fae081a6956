// A week beside the eight before it: the means of the weeks with trades, with their intervals.

import { get, href } from "../client.js";
import { card, h, money, table } from "../dom.js";
import { MIN_EDGE_DAYS } from "../enums.js";
import * as format from "../format.js";

const BEFORE = 8;
// Student's t for 95 %, by degrees of freedom.
const T = [0, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365];
const sum = (numbers) => numbers.reduce((total, one) => total + one, 0);

// What is read of a week, from its groups of decisions by rules; null if it has no value.
const MEASURES = [
  ["Net P&L", (groups) => total(groups, ({ values }) => values.net_pnl), format.signed],
  ["R", (groups) => total(groups, ({ statistics }) => statistics.r_total ?? null), format.signed],
  ["Trades", (groups) => total(groups, ({ values }) => values.trade_count), counted],
  ["Rules kept", kept, format.percent],
  [
    "Made with rules broken",
    (groups) => total(groups.filter(isOf("broken")), ({ values }) => values.net_pnl),
    format.signed,
  ],
];
function counted(value) {
  return (Number.isInteger(value) ? format.number : format.ratio)(value);
}
const isOf = (rules) => (group) => group.keys[1] === rules;
function total(groups, valueOf) {
  const values = groups.map(valueOf);
  return values.includes(null) ? null : sum(values);
}
function kept(groups) {
  const count = (rules) => sum(groups.filter(isOf(rules)).map(({ values }) => values.trade_count));
  const all = count("followed") + count("broken");
  return all ? (100 * count("followed")) / all : null;
}

/** @param {number[]} values */
function meanOf(values) {
  const mean = sum(values) / values.length;
  if (values.length < MIN_EDGE_DAYS) return { mean };
  const spread = sum(values.map((one) => (one - mean) ** 2)) / (values.length - 1);
  return { mean, half: T[values.length - 1] * Math.sqrt(spread / values.length) };
}

/** @param {{ from: string, to: string }} range @param {any} selection */
export async function weekCard({ from, to }, selection) {
  const { data } = await get("/reports", {
    ...selection,
    ...{ from: format.plusDays(from, -7 * BEFORE), to, group_by: "week,rules", limit: 200 },
    metrics: "net_pnl,trade_count",
  });
  const byWeek = new Map();
  for (const group of data.report.groups)
    byWeek.set(group.keys[0], [...(byWeek.get(group.keys[0]) ?? []), group]);
  const now = byWeek.get(from);
  byWeek.delete(from);
  if (!now || !byWeek.size) return null;
  const row = ([name, valueOf, shown]) => {
    const values = [...byWeek.values()].map(valueOf).filter((one) => one != null);
    const { mean, half } = values.length ? meanOf(values) : {};
    const value = valueOf(now);
    return [
      h("th", { scope: "row" }, name),
      shown === format.signed ? money(value) : shown(value),
      mean == null ? format.NONE : shown(mean),
      half == null ? format.NONE : `${shown(mean - half)} to ${shown(mean + half)}`,
    ];
  };
  const weeks = format.count(byWeek.size, "week");
  return card(
    "The week beside those before",
    { id: "week" },
    table(
      { class: "stacked" },
      ["", "This week", `Mean of ${weeks}`, "95 % interval of the mean"],
      MEASURES.map(row),
      ["", "num", "num", "num"],
    ),
    h(
      "p.muted",
      `The means are of the ${weeks} with a trade among the ${BEFORE} before; an interval needs ${MIN_EDGE_DAYS}. `,
      h("a", { href: href("report", { ...selection, from, to, by: "rules" }) }, "Rules of this week"),
    ),
  );
}
