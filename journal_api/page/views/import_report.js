// @ts-check
// What a dry run says about a file.

import { h } from "../dom.js";
import * as format from "../format.js";

const MAX_ROWS = 100;
const WORDS = {
  new: ["gain", "new"],
  duplicate: ["", "already there"],
  updated: ["warn", "updated"],
  error: ["loss", "error"],
};

/** @param {ImportReport} report */
export function verdicts({ counts, format: name }) {
  if (name === "unknown")
    return h("p", { class: "warn" }, "The header of this file is unknown. Say what its columns hold:");
  return h(
    "p",
    { class: "row" },
    h("strong", null, name),
    Object.entries(WORDS)
      .filter(([verdict]) => counts[verdict] > 0)
      .map(([verdict, [tone, word]]) =>
        h(
          "span",
          { class: `chip ${tone}` },
          verdict === "error"
            ? format.count(counts.error, word)
            : `${format.number(counts[verdict])} ${word}`,
        ),
      ),
  );
}

/** @param {ImportReport} report @param {Context} context */
export function details(report, { accounts }) {
  const nameOf = (id) => accounts.find((one) => one.id === id)?.name;
  const { date_order: dates } = report;
  const lines = [
    report.timezone_source && `Times are read in ${report.timezone} (${report.timezone_source}).`,
    report.replaced_timezones.length &&
      `Earlier files were read in ${report.replaced_timezones.join(", ")}: their trades move.`,
    dates &&
      `Dates have the ${dates.order} first (${dates.source}).${dates.source === "assumed" ? " Check a few of them." : ""}`,
    ...report.accounts.map(
      (one) =>
        `Account ${one.name}: ${nameOf(one.account_id) ?? "not in the journal; say above which it is, and read again"}.`,
    ),
    ...report.fees_applied.map(
      (one) =>
        `Commissions of ${nameOf(one.account_id)}: ${format.amount(one.total)} on ${format.count(one.rows, "row")}.`,
    ),
    ...report.left_out.map((one) => `Left out: ${format.count(one.rows, "row")}, ${one.reason}.`),
    report.rounded && `${format.count(report.rounded, "amount")} rounded to eight decimals.`,
  ];
  return h(
    "ul",
    null,
    lines.filter(Boolean).map((line) => h("li", null, line)),
  );
}

export function rowTable(rows) {
  const told = rows.filter((row) => row.verdict === "error" || row.verdict === "updated");
  if (!told.length) return null;
  return h(
    "div",
    { class: "scroll" },
    h(
      "table",
      { "aria-label": "Rows" },
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          ["Line", "Verdict", "Why"].map((name) => h("th", { scope: "col" }, name)),
        ),
      ),
      h(
        "tbody",
        null,
        told
          .slice(0, MAX_ROWS)
          .map((row) =>
            h(
              "tr",
              null,
              h("td", null, row.line),
              h("td", { class: WORDS[row.verdict][0] }, WORDS[row.verdict][1]),
              h("td", null, row.reason ?? row.changed.map(format.words).join(", ")),
            ),
          ),
      ),
    ),
    told.length > MAX_ROWS &&
      h("p", { class: "muted" }, `and ${format.count(told.length - MAX_ROWS, "more row")}`),
  );
}
