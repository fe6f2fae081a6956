// What a dry run says about a file.

import { h, table } from "../dom.js";
import * as format from "../format.js";

const MAX_ROWS = 1000; // the service names as many errors
const TOLD = ["error", "unmatched", "updated"];
const WORDS = {
  new: ["gain", "new"],
  duplicate: ["", "already there"],
  updated: ["warn", "updated"],
  suspect: ["warn", "perhaps there already"],
  unmatched: ["warn", "without an opening"],
  error: ["loss", "error"],
};

/** @param {ImportReport} report */
export const verdicts = ({ counts, format: name }) =>
  h(
    "p.row",
    h("strong", name),
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

// Where the file's time zone and the order of its dates are known from.
const SOURCES = {
  stated: "as you said",
  remembered: "as in its last import",
  owner: "your time zone",
  file: "as a date of the file shows",
  assumed: "assumed",
};

/** @param {any} report @param {Context} context */
export function details(report, { accounts, me }) {
  const nameOf = (id) => format.nameIn(accounts, id);
  const joined = report.rows.filter((row) => row.rows > 1);
  const { date_order: dates } = report;
  const lines = [
    report.timezone_source && `Times are read in ${report.timezone} (${SOURCES[report.timezone_source]}).`,
    report.replaced_timezones.length &&
      `Earlier files were read in ${report.replaced_timezones.join(", ")}: their trades move.`,
    dates &&
      `Dates have the ${dates.order} first (${SOURCES[dates.source]}).${dates.source === "assumed" ? " Check a few of them." : ""}`,
    joined.length > 0 &&
      `${format.count(rowsOf(joined), "row")} of the file are ${format.count(joined.length, "position")}, from flat to flat.`,
    ...copiesOf(report, { accounts, me }),
    report.open_at_end > 0 &&
      `${format.count(report.open_at_end, "position")} open at the end of the file, for the next file to complete.`,
    ...report.accounts.map((one) => `Account ${one.name}: ${nameOf(one.account_id)}.`),
    ...report.fees_applied.map(
      (one) =>
        `Commissions of ${nameOf(one.account_id)}: ${format.amount(one.total)} on ${format.count(one.rows, "row")}.`,
    ),
    ...report.left_out.map((one) => `Left out: ${format.count(one.rows, "row")}, ${one.reason}.`),
    report.rounded && `${format.count(report.rounded, "amount")} rounded to eight decimals.`,
  ];
  return h(
    "ul",
    lines.filter(Boolean).map((line) => h("li", line)),
  );
}

const rowsOf = (joined) => joined.reduce((sum, { rows }) => sum + rows, 0);

/** @param {any} report @param {any} context */
export function copiesOf({ linked, ambiguous }, { accounts, me }) {
  const nameOf = (id) => format.nameIn(accounts, id);
  return [
    linked > 0 && `${format.count(linked, "copy", "copies")} linked to the original in the copy group.`,
    ...ambiguous.map((one) => ambiguityOf(one, nameOf, me.timezone)),
  ].filter(Boolean);
}
const ambiguityOf = ({ trade, candidates }, nameOf, timezone) => {
  const told = ({ account_id, quantity, opened_at }) =>
    `${format.number(quantity)} of ${nameOf(account_id)}, ${format.instant(opened_at, timezone)}`;
  return `Not linked: ${trade.symbol}, ${told(trade)}, goes with each of ${candidates.map(told).join("; ")}. Choose in the trade.`;
};

// Rows with the same words are one.
export function rowTable(rows) {
  const shown = rows.filter(({ verdict }) => TOLD.includes(verdict));
  const told = Map.groupBy(shown, (row) => `${row.verdict} ${whyOf(row)}`);
  if (!told.size) return null;
  const groups = [...told.values()].sort(
    ([one], [other]) => TOLD.indexOf(one.verdict) - TOLD.indexOf(other.verdict),
  );
  const more = groups.slice(MAX_ROWS).flat().length;
  return [
    table(
      { "aria-label": "Rows" },
      ["Line", "Verdict", "Why"],
      groups
        .slice(0, MAX_ROWS)
        .map((group) => [
          rangesOf(group.map(({ line }) => line)),
          h("span", { class: WORDS[group[0].verdict][0] }, WORDS[group[0].verdict][1]),
          whyOf(group[0]),
        ]),
      ["lines", "nowrap"],
    ),
    more > 0 && h("p.muted", `and ${format.count(more, "more row")}`),
  ];
}

const rangesOf = (lines) =>
  lines
    .reduce((ranges, line) => {
      const last = ranges.at(-1);
      if (last?.[1] === line - 1) last[1] = line;
      else ranges.push([line, line]);
      return ranges;
    }, [])
    .map(([from, to]) => [...new Set([from, to])].join("–"))
    .join(", ");

function whyOf({ reason, changed, changes = [] }) {
  const told = changes
    .filter(({ before, after }) => before !== after)
    .map(
      ({ field, before, after }) =>
        `${format.words(field)}: ${before ?? format.NONE} → ${after ?? format.NONE}`,
    );
  return reason ?? (told.length ? told : changed.map(format.words)).join(", ");
}
