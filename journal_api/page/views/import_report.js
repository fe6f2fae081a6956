// @ts-check
// What a dry run says about a file.

import { h } from "../dom.js";
import * as format from "../format.js";

const MAX_ROWS = 100;
const WORDS = {
  new: ["gain", "new"],
  duplicate: ["", "already there"],
  updated: ["warn", "updated"],
  suspect: ["warn", "perhaps there already"],
  unmatched: ["warn", "without an opening"],
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

/** @param {any} report @param {Context} context */
export function details(report, { accounts, me }) {
  const nameOf = (id) => accounts.find((one) => one.id === id)?.name;
  const joined = report.rows.filter((row) => row.rows > 1);
  const { date_order: dates } = report;
  const lines = [
    report.timezone_source && `Times are read in ${report.timezone} (${report.timezone_source}).`,
    report.replaced_timezones.length &&
      `Earlier files were read in ${report.replaced_timezones.join(", ")}: their trades move.`,
    dates &&
      `Dates have the ${dates.order} first (${dates.source}).${dates.source === "assumed" ? " Check a few of them." : ""}`,
    joined.length &&
      `${format.count(rowsOf(joined), "row")} of the file ${joined.length === 1 ? "is" : "are"} ${format.count(joined.length, "position")}, from flat to flat.`,
    ...copiesOf(report, { accounts, me }),
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

const rowsOf = (joined) => joined.reduce((sum, { rows }) => sum + rows, 0);

// What was linked within a copy group, and what was left alone.
/** @param {any} report @param {any} context */
export function copiesOf({ linked, ambiguous }, { accounts, me }) {
  const nameOf = (id) => accounts.find((one) => one.id === id)?.name;
  return [
    linked > 0 && `${format.count(linked, "copy", "copies")} linked to the original in the copy group.`,
    ...ambiguous.map((one) => ambiguityOf(one, nameOf, me.timezone)),
  ].filter(Boolean);
}

// What may copy several trades equally well is not linked: the owner chooses, in the trade.
const ambiguityOf = ({ trade, candidates }, nameOf, timezone) => {
  const told = ({ account_id, quantity, opened_at }) =>
    `${format.number(quantity)} of ${nameOf(account_id)}, ${format.instant(opened_at, timezone)}`;
  return `Not linked: ${trade.symbol}, ${told(trade)}, goes with each of ${candidates.map(told).join("; ")}. Choose in the trade.`;
};

// The rows that need the owner's eye: what is wrong, doubtful or corrected.
export function rowTable(rows) {
  const told = rows.filter(({ verdict }) => !["new", "duplicate"].includes(verdict));
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
              h("td", null, whyOf(row)),
            ),
          ),
      ),
    ),
    told.length > MAX_ROWS &&
      h("p", { class: "muted" }, `and ${format.count(told.length - MAX_ROWS, "more row")}`),
  );
}

// The reason, or each change, old beside new; a row that may be a stored trade leads to that trade.
const whyOf = ({ verdict, reason, changed, changes, trade_id: id }) => [
  reason ??
    (changes
      ? changes
          .map(
            ({ field, before, after }) =>
              `${format.words(field)}: ${before ?? format.NONE} → ${after ?? format.NONE}`,
          )
          .join(", ")
      : changed.map(format.words).join(", ")),
  verdict === "suspect" && id && [" ", h("a", { href: `#/trades?id=${id}` }, "Show the stored trade")],
];
