// What an import will write, and what may be there already.

import { definitions, h, money, select, table } from "../dom.js";
import * as format from "../format.js";
import { read } from "./import_file.js";

const FEW_DAYS = 5;
const SUMS = ["Trades", "Quantity", "Gross", "Costs", "Net P&L"];

/** @param {ImportReport} report */
export const sumsOf = ({ preview, costs }) =>
  preview?.total.trades > 0 && definitions("dl.figures", figures(preview, costs === "none"));

/** @param {ImportReport} report @param {Context} context */
export function tablesOf({ preview }, { me }, isBrief) {
  if (!preview?.total.trades) return null;
  const { days, symbols, first, last } = preview;
  return h(
    ".stack",
    h(
      "details",
      { open: !isBrief },
      h("summary", symbols.length > 1 ? "Symbols, first and last trades" : "First and last trades"),
      symbols.length > 1 && sumTable("Symbols", "Symbol", symbols, ({ symbol }) => symbol ?? "others"),
      tradeTable([...first, ...last], first.length, me),
    ),
    h(
      "details",
      { open: !isBrief && days.length <= FEW_DAYS },
      h("summary", format.count(days.length, "day")),
      sumTable("Days", "Day", days, ({ day }) => (day ? format.longDay(day) : "still open")),
    ),
  );
}

function figures(preview, hasNoCosts) {
  const { total, first_day, last_day } = preview;
  const rows = [
    ["Days", format.span(first_day, last_day) || format.NONE],
    ["Trades", format.number(total.trades) + (total.open ? `, ${format.number(total.open)} open` : "")],
    ["Quantity", format.number(total.quantity)],
    ["Gross", format.signed(total.gross_pnl)],
    ["Costs", hasNoCosts ? "none" : format.amount(total.fees)],
    [hasNoCosts ? "Gross = net, no costs" : "Net P&L", money(total.net_pnl)],
  ];
  return rows;
}

const sumTable = (label, head, groups, nameOf) =>
  table(
    { "aria-label": label },
    [head, ...SUMS],
    groups.map((group) => [
      nameOf(group),
      format.number(group.trades),
      format.number(group.quantity),
      format.signed(group.gross_pnl),
      format.amount(group.fees),
      money(group.net_pnl),
    ]),
    ["nowrap", ...SUMS.map(() => "num")],
  );

function tradeTable(trades, firstCount, { timezone }) {
  const rows = trades.map((trade) => [
    format.instant(trade.opened_at, timezone),
    `${trade.symbol} ${trade.direction === "long" ? "▲" : "▼"} ${trade.direction}`,
    format.number(trade.quantity),
    format.price(trade.entry_price),
    trade.exit_price == null && trade.closed_at == null ? "open" : format.price(trade.exit_price),
    money(trade.net_pnl),
  ]);
  if (trades.length > firstCount) rows.splice(firstCount, 0, ["…", "", "", "", "", ""]);
  const heads = ["Opened", "Trade", "Quantity", "Entry", "Exit", "Net P&L"];
  return table({ "aria-label": "First and last trades" }, heads, rows, [
    "nowrap",
    "nowrap",
    ...["num", "num", "num", "num"],
  ]);
}

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

/** @param {Context} context */
export function suspectsOf(work, context) {
  const { options, report } = work;
  const suspects = report.rows.filter(({ verdict }) => verdict === "suspect");
  const failed = report.failed_check; // its error says why
  if (!suspects.length && !failed && !options.force) return null;
  const choose = (force) => () => read({ ...work, options: { ...options, force } }, context);
  const choice = (label, force) =>
    h(
      "button",
      {
        "aria-pressed": String(Boolean(options.force) === force),
        onclick: choose(force),
      },
      label,
    );
  return h(
    "section.notice",
    { "aria-label": "Perhaps there already" },
    h(
      "p.row",
      h(
        "strong",
        failed
          ? "The file states other values than its prices make: the results are probably wrong."
          : suspects.length
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
        ["", ...Object.values(NAMES), "It is"],
        suspects.slice(0, MAX_SHOWN).flatMap((row) => linesOf(row, work, context)),
        ["nowrap", ...Object.keys(NAMES).map((name) => (isText(name) ? "nowrap" : "num")), "nowrap"],
      ),
    suspects.length > MAX_SHOWN &&
      h("p.muted", `and ${format.count(suspects.length - MAX_SHOWN, "more trade")}`),
  );
}
const reasonsOf = (suspects) => [
  ...new Set(suspects.map(({ reason }) => `What the file has ${reason.split(": the file has")[0]}.`)),
];

const isText = (name) => ["symbol", "direction", "opened_at", "closed_at"].includes(name);

function linesOf(row, work, context) {
  const { line, trade_id: id, changes = [] } = row;
  const { timezone } = context.me;
  const values = new Map(changes.map((one) => [one.field, one]));
  const shown = (name, value) => {
    if (value == null) return format.NONE;
    if (name.endsWith("_at")) return format.instant(value, timezone, { second: "2-digit" });
    return typeof value === "number" ? format.number(value) : value;
  };
  const cells = (side) =>
    Object.keys(NAMES).map((name) => {
      const { before, after } = values.get(name) ?? {};
      const text = shown(name, side === "before" ? before : after);
      return before === after ? text : h("mark", text);
    });
  const journal = id ? h("a", { href: `#/trades?id=${id}` }, "Journal") : "Journal";
  return [
    [journal, ...cells("before"), ""],
    [`Line ${line}`, ...cells("after"), answerOf(row, work, context)],
  ];
}

const ANSWERS = { leave: "left out", new: "another trade" };

// What a person says of one line; the file is read again with it.
function answerOf({ line, answers }, work, context) {
  const { options } = work;
  const others = (options.answers ?? []).filter((one) => !answers.includes(one));
  const choose = ({ target }) =>
    read({ ...work, options: { ...options, answers: [...others, target.value] } }, context);
  return select(
    {
      "aria-label": `Line ${line} is`,
      value: `${line}:leave`,
      onchange: choose,
    },
    answers.map((answer) => {
      const said = answer.split(":")[1];
      return [answer, ANSWERS[said] ?? (answers.length > 3 ? `trade ${said}` : "this trade")];
    }),
  );
}

// A file that tells the same time as another one, and no fill in common, is of another account.
/** @param {Context} context */
export function conflictOf(work, context) {
  const { options, error } = work;
  if (error?.code !== "conflict") return null;
  const { imports, accounts } = error.details;
  const again = (changes) => () => read({ ...work, options: { ...options, ...changes } }, context);
  const names = imports.map((one) => one.file_name ?? `import ${one.id}`).join(", ");
  return h(
    "section.notice",
    { "aria-label": "Another account" },
    h("p", `${names} tells the same time, and no fill in common: one of both is of another account.`),
    h(
      "p.row",
      accounts.map((one) =>
        h(
          "button",
          { onclick: again({ account_id: String(one.id), accounts: [] }) },
          `${one.name} ${one.because}`,
        ),
      ),
      h("button", { onclick: again({ force: true }) }, "Import anyway"),
    ),
  );
}
