// Trades of a file that may be in the journal already: each beside the stored trade, and what to do with them.

import { h } from "../dom.js";
import * as format from "../format.js";
import { table } from "../table.js";
import { read } from "./import_file.js";

const MAX_SHOWN = 50;
const NAMES = {
  symbol: "Symbol",
  direction: "Side",
  quantity: "Quantity",
  opened_at: "Opened",
  entry_price: "Entry",
  closed_at: "Closed",
  exit_price: "Exit",
  gross_pnl: "Gross",
  fees: "Costs",
};

/** @param {any} work @param {Context} context */
export function suspectsOf(work, context) {
  const { options, report } = work;
  const suspects = report.rows.filter(({ verdict }) => verdict === "suspect");
  if (!suspects.length && !options.force) return null;
  const choose = (force) => () => read({ ...work, options: { ...options, force } }, context);
  const choice = (label, force) =>
    h("button", { "aria-pressed": String(Boolean(options.force) === force), onclick: choose(force) }, label);
  return h(
    "section.notice",
    { "aria-label": "Perhaps there already" },
    h(
      "p.row",
      h(
        "strong",
        suspects.length
          ? `${format.count(suspects.length, "trade")} may be in the journal already.`
          : "Trades that may be in the journal already are imported too.",
      ),
      choice("Leave out", false),
      choice("Import anyway", true),
    ),
    reasonsOf(suspects).map((reason) => h("p", reason)),
    suspects.length > 0 &&
      table(
        { "aria-label": "Suspects", class: "pairs" },
        ["", ...Object.values(NAMES)],
        suspects.slice(0, MAX_SHOWN).flatMap((row) => linesOf(row, context.me)),
        ["nowrap", ...Object.keys(NAMES).map((name) => (isText(name) ? "nowrap" : "num"))],
      ),
    suspects.length > MAX_SHOWN &&
      h("p.muted", `and ${format.count(suspects.length - MAX_SHOWN, "more trade")}`),
  );
}

// Why, once each; what follows in the words of the service is in the table.
const reasonsOf = (suspects) => [
  ...new Set(suspects.map(({ reason }) => `What the file has ${reason.split(": the file has")[0]}.`)),
];

const isText = (name) => ["symbol", "direction", "opened_at", "closed_at"].includes(name);

// The line of the journal and the line of the file. What differs is marked in both.
function linesOf({ line, trade_id: id, changes }, { timezone }) {
  const values = new Map(changes.map((one) => [one.field, one]));
  const shown = (name, value) => {
    if (value == null) return format.NONE;
    if (name.endsWith("_at")) return format.instant(value, timezone, { second: "2-digit" });
    return typeof value === "number" ? format.number(value) : value;
  };
  const cells = (side) =>
    Object.keys(NAMES).map((name) => {
      const { before, after } = values.get(name);
      const text = shown(name, side === "before" ? before : after);
      return before === after ? text : h("mark", text);
    });
  return [
    [h("a", { href: `#/trades?id=${id}` }, "Journal"), ...cells("before")],
    [`Line ${line}`, ...cells("after")],
  ];
}
