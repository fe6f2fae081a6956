// What an import will write: its sums, its symbols and days, the first and the last trades.

import { h } from "../dom.js";
import * as format from "../format.js";
import { table } from "../table.js";

const FEW_DAYS = 5;
const SUMS = ["Trades", "Quantity", "Gross", "Costs", "Net P&L"];

const netOf = ({ net_pnl: net }) => h("span", { class: format.gainOrLoss(net) }, format.signed(net));

// The sums of all trades, in one line.
/** @param {ImportReport} report */
export const sumsOf = ({ preview, costs }) =>
  preview?.total.trades > 0 && h("dl.figures", figures(preview, costs === "none"));

// The tables behind the sums; with several files they are folded.
/** @param {ImportReport} report @param {Context} context @param {boolean} isBrief */
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
  const ends = [...new Set([first_day, last_day])].filter(Boolean).map(format.dayOfYear);
  const rows = [
    ["Days", ends.join(" – ") || format.NONE],
    ["Trades", format.number(total.trades) + (total.open ? `, ${format.number(total.open)} open` : "")],
    ["Quantity", format.number(total.quantity)],
    ["Gross", format.signed(total.gross_pnl)],
    ["Costs", hasNoCosts ? "none" : format.amount(total.fees)],
    [hasNoCosts ? "Gross = net, no costs" : "Net P&L", netOf(total)],
  ];
  return rows.map(([name, value]) => h("div", h("dt", name), h("dd", value)));
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
      netOf(group),
    ]),
    ["nowrap", ...SUMS.map(() => "num")],
  );

// The first trades of the file, then the last; a line of dots stands for those between them.
function tradeTable(trades, firstCount, { timezone }) {
  const rows = trades.map((trade) => [
    format.instant(trade.opened_at, timezone),
    `${trade.symbol} ${trade.direction === "long" ? "▲" : "▼"} ${trade.direction}`,
    format.number(trade.quantity),
    format.price(trade.entry_price),
    trade.exit_price == null && trade.closed_at == null ? "open" : format.price(trade.exit_price),
    netOf(trade),
  ]);
  if (trades.length > firstCount) rows.splice(firstCount, 0, ["…", "", "", "", "", ""]);
  const heads = ["Opened", "Trade", "Quantity", "Entry", "Exit", "Net P&L"];
  return table({ "aria-label": "First and last trades" }, heads, rows, [
    "nowrap",
    "nowrap",
    ...["num", "num", "num", "num"],
  ]);
}
