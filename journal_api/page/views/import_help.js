// Where a broker or a platform has the file.

import { h, open } from "../dom.js";
import { table } from "../table.js";

const PLACES = [
  ["Fidelity", "Activity & Orders, History, download as CSV"],
  [
    "Interactive Brokers",
    "Performance & Reports, Statements: Activity as CSV, in English; or a Flex Query of Trades with executions",
  ],
  ["MetaTrader 4 and 5", "History, right click, Report or Save as Detailed Report: HTML, in English"],
  [
    "NinjaTrader 8",
    "Control Center, New, Trade Performance: the grid of Trades or Executions, right click, Export; show the columns of all fees",
  ],
  ["Quantower", "the panel Trades, Export"],
  ["Sierra Chart", "Trade, Trade Activity Log, save the log as text"],
  ["thinkorswim, Schwab", "Monitor, Account Statement, Export to File"],
  ["TopstepX, ProjectX", "Trades or Orders, Export"],
  ["TradeZella, Tradervue", "the export of all trades as CSV"],
  ["TradeZero", "Trades, as CSV"],
  ["TradingView", "Strategy Tester, List of trades, Export"],
  ["Tradovate", "Reports: Position History, Performance or Orders, download as CSV"],
  ["Webull", "Orders, Export, with all filled orders"],
];

export const helpButton = () => h("button#where-is-it.link", { onclick: show }, "Where do I find the file?");

const show = () =>
  open(
    "Where do I find the file?",
    table(
      null,
      [],
      PLACES.map(([name, place]) => [h("th", { scope: "row" }, name), place]),
    ),
    h("p.muted", "A file in any other form is read too: say once what its columns hold."),
  );
