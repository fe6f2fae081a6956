// The list of trades and its pages.

import { h } from "../dom.js";
import { count, dayIn, gainOrLoss, NONE, number, price, shortDay, signed } from "../format.js";
import { chip } from "./trade_parts.js";

const clock = (timeZone) => {
  const format = new Intl.DateTimeFormat(undefined, {
    timeZone,
    hour: "2-digit",
    minute: "2-digit",
    hour12: false,
  });
  return (text) => format.format(new Date(text));
};

export const address = (query, changes) => {
  const changed = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes))
    value == null ? changed.delete(name) : changed.set(name, value);
  return `#/trades${changed.size ? `?${changed}` : ""}`;
};

/** @param {Context} context @param {{ strategies: StrategyListItem[], tags: Tag[] }} lists @param {TradeListItem[]} trades */
export function table({ query, me, accounts }, { strategies, tags }, trades) {
  const opened = Number(query.get("id"));
  const nameOf = (list, id) => list.find((one) => one.id === id)?.name ?? "";
  const timeOf = clock(me.timezone);
  const several = accounts.length > 1;
  const thisYear = dayIn(me.timezone).slice(0, 4);
  const dayOf = ({ trading_day, opened_at }) => {
    const day = trading_day ?? dayIn(me.timezone, new Date(opened_at));
    return shortDay(day) + (day.startsWith(thisYear) ? "" : ` ${day.slice(0, 4)}`);
  };
  /** @type {any[]} */
  const head = [
    "Day",
    "Time",
    "Symbol",
    "Quantity",
    "Entry",
    "Exit",
    "Net P&L",
    "R",
    "Grade",
    "Strategy",
    "Tags",
    several && "Account",
  ];
  const kinds = [
    "",
    "from-520",
    "",
    "num from-520",
    "num from-1000",
    "num from-1000",
    "num",
    "num",
    "",
    "from-700",
    "from-900 tags",
    "from-1120",
  ];
  const row = (trade) => {
    const isOpen = trade.net_pnl == null;
    const cells = [
      h("a", { href: address(query, { id: trade.id }), id: `trade-${trade.id}` }, dayOf(trade)),
      timeOf(trade.opened_at),
      [
        trade.symbol,
        h(
          "small",
          trade.direction === "long" ? " ▲" : " ▼",
          h("span.from-520", ` ${trade.direction}`, trade.source_trade_id && " · copy"),
        ),
      ],
      number(trade.quantity),
      price(trade.entry_price),
      price(trade.exit_price),
      isOpen
        ? h("span.chip", "open")
        : h("span", { class: gainOrLoss(trade.net_pnl) }, signed(trade.net_pnl)),
      h("span", { class: gainOrLoss(trade.rr_realized) }, signed(trade.rr_realized)),
      trade.grade ?? NONE,
      nameOf(strategies, trade.strategy_id),
      tags.filter(({ id }) => trade.tag_ids.includes(id)).map((tag) => chip(tag)),
      several && nameOf(accounts, trade.account_id),
    ];
    const go = (event) => event.target.closest("a") || event.currentTarget.querySelector("a").click();
    return h(
      "tr",
      { onclick: go, "aria-current": trade.id === opened && "true" },
      cells.map((cell, place) => cell !== false && h("td", { class: kinds[place] || null }, cell)),
    );
  };
  return h(
    "table.trades",
    h(
      "thead",
      h(
        "tr",
        head.map(
          (title, place) => title !== false && h("th", { scope: "col", class: kinds[place] || null }, title),
        ),
      ),
    ),
    h("tbody", trades.map(row)),
  );
}

export function pages(query, { limit, offset, total }) {
  const to = (place) => address(query, { offset: place || null, id: null });
  const last = Math.min(offset + limit, total);
  return h(
    ".title.pages",
    h(
      "span.muted",
      total > limit
        ? `${number(Math.min(offset + 1, total))} to ${number(last)} of ${count(total, "trade")}`
        : count(total, "trade"),
    ),
    h(
      "a",
      { href: address(query, { id: null, offset: null, outcome: null }).replace("trades", "report") },
      "What pays among these",
    ),
    total > limit &&
      h(
        "span.row",
        offset > 0 && h("a#newer", { href: to(Math.max(offset - limit, 0)) }, "‹ Newer"),
        last < total && h("a#older", { href: to(last) }, "Older ›"),
      ),
  );
}
