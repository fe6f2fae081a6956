// The trades of a day, in the order in which they closed.

import { href } from "../client.js";
import { card, h, money, table } from "../dom.js";
import { clock, count, gainOrLoss, number, signed } from "../format.js";

export const LIMIT = 200; // of trades

/** @param {TradeListItem[]} newestFirst @param {number} total @param {JournalDay} numbers @param {Context} context */
export function tradesOf(newestFirst, total, { date, currency }, { me, accounts }) {
  const ofDay = { from: date, to: date };
  const trades = [...newestFirst].sort((one, other) => (one.closed_at < other.closed_at ? -1 : 1));
  const timeOf = clock(me.timezone);
  let sum = 0;
  const rows = trades.map((trade) => {
    sum += trade.net_pnl ?? 0;
    return [
      h("a", { href: href("trades", { ...ofDay, id: trade.id }) }, timeOf(trade.opened_at)),
      [trade.symbol, h("small", trade.direction === "long" ? " ▲" : " ▼"), ` ${number(trade.quantity)}`],
      [
        money(trade.net_pnl),
        !currency && h("small", ` ${accounts.find(({ id }) => id === trade.account_id)?.currency}`),
      ],
      currency && total <= LIMIT && signed(sum),
      trade.grade,
    ];
  });
  return card(
    "Trades",
    rows.length ? timeline(trades, timeOf) : h("p.muted", "Nothing was closed on this day."),
    rows.length > 0 &&
      table({ class: "of-day" }, ["Opened", "Trade", "Net P&L", "Sum", "Grade"], rows, [
        "",
        "",
        "num",
        "num",
      ]),
    total > LIMIT && h("a", { href: href("trades", ofDay) }, `All ${number(total)} trades`),
  );
}

// A block for each trade, as long as it was open, up for a gain and down for a loss.
function timeline(trades, timeOf) {
  const at = (text) => new Date(text).getTime();
  const begin = Math.min(...trades.map((one) => at(one.opened_at)));
  const end = Math.max(...trades.map((one) => at(one.closed_at)));
  const largest = Math.max(1, ...trades.map(({ net_pnl }) => Math.abs(net_pnl ?? 0)));
  const share = (time) => (100 * (time - begin)) / (end - begin || 1);
  const block = ({ symbol, opened_at, closed_at, net_pnl }) =>
    h("i", {
      class: gainOrLoss(net_pnl),
      title: `${timeOf(opened_at)} ${symbol} ${signed(net_pnl)}`,
      style: {
        left: `${share(at(opened_at))}%`,
        width: `${share(at(closed_at)) - share(at(opened_at))}%`,
        height: `${(48 * Math.abs(net_pnl ?? 0)) / largest}%`,
      },
    });
  return h(
    "figure",
    h(
      ".timeline",
      {
        role: "img",
        "aria-label": `${count(trades.length, "trade")} from ${timeOf(begin)} to ${timeOf(end)}`,
      },
      trades.map(block),
    ),
    h("figcaption.label", h("span", timeOf(begin)), h("span", timeOf(end))),
  );
}
