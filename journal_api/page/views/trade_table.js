import { href } from "../client.js";
import { find, h, money } from "../dom.js";
import { NONE, clock, count, dayIn, nameIn, number, price, shortDay } from "../format.js";
import { chip } from "./trade_parts.js";
import { box, boxOfPage, choose } from "./trade_selection.js";

export const address = (query, changes) => href("trades", { ...Object.fromEntries(query), ...changes });

/** @param {Context} context @param {{ strategies: StrategyListItem[], tags: Tag[] }} lists @param {TradeListItem[]} trades */
export function table({ query, me, accounts }, { strategies, tags }, trades) {
  const opened = Number(query.get("id"));
  const timeOf = clock(me.timezone);
  const thisYear = dayIn(me.timezone).slice(0, 4);
  const dayOf = ({ trading_day, opened_at }) => {
    const day = trading_day ?? dayIn(me.timezone, new Date(opened_at));
    return shortDay(day) + (day.startsWith(thisYear) ? "" : ` ${day.slice(0, 4)}`);
  };
  const link = (trade) =>
    h("a", { href: address(query, { id: trade.id }), id: `trade-${trade.id}` }, dayOf(trade));
  /** @type {[string, string, (trade: TradeListItem) => any][]} */
  const columns = [
    [boxOfPage(), "", (trade) => box(trade, dayOf(trade))],
    ["Day", "day", link],
    ["Time", "from-520", (trade) => timeOf(trade.opened_at)],
    ["Symbol", "symbol", symbolOf],
    ["Quantity", "num from-520", (trade) => number(trade.quantity)],
    ["Entry", "num from-1000", (trade) => price(trade.entry_price)],
    ["Exit", "num from-1000", (trade) => price(trade.exit_price)],
    ["Net P&L", "num net", ({ net_pnl: net }) => (net == null ? h("span.chip", "open") : money(net))],
    ["R", "num ratio", (trade) => money(trade.rr_realized)],
    ["Grade", "mark-of", (trade) => trade.grade ?? NONE],
    ["Strategy", "from-700", (trade) => nameIn(strategies, trade.strategy_id)],
    ["Tags", "from-900 tags", (trade) => tags.filter(({ id }) => trade.tag_ids.includes(id)).map(chip)],
  ];
  if (accounts.length > 1)
    columns.push(["Account", "account from-1120", (trade) => accountOf(trade, accounts)]);
  const go = (event) => {
    const { target, currentTarget: row } = event;
    if (target.closest(".pick")) return;
    if (!event.shiftKey) return target.closest("a") || find("a", row).click();
    event.preventDefault();
    choose(find("input", row), true, true);
  };
  const row = (trade) =>
    h(
      "tr",
      { onclick: go, "aria-current": trade.id === opened && "true" },
      columns.map(([, kind, cell]) => h("td", { class: kind }, cell(trade))),
    );
  const head = columns.map(([title, kind]) => h("th", { scope: "col", class: kind }, title));
  return h("table.trades", h("thead", h("tr", head)), h("tbody", trades.map(row)));
}

const accountOf = (trade, accounts) => [
  nameIn(accounts, trade.account_id),
  trade.source_trade_id && h("small.to-520", " · copy"),
];

const symbolOf = (trade) => [
  trade.symbol,
  h(
    "small",
    trade.direction === "long" ? " ▲" : " ▼",
    h("span.from-520", ` ${trade.direction}`, trade.source_trade_id && " · copy"),
  ),
];

export function pages(query, { limit, offset, total }, { copies }) {
  const to = (place) => address(query, { offset: place || null, id: null });
  const last = Math.min(offset + limit, total);
  return h(
    ".title.pages",
    h(
      "span.muted",
      total > limit
        ? `${number(Math.min(offset + 1, total))} to ${number(last)} of ${count(total, "trade")}`
        : count(total, "trade"),
      copies && ", copies folded",
    ),
    h(
      "a",
      {
        href: address(query, { id: null, offset: null, outcome: null, copies: null }).replace(
          "trades",
          "report",
        ),
      },
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
