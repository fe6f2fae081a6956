// The list of trades: its table, which of them are selected, and what can be done with those.

import { href } from "../client.js";
import { trying } from "../dialogs.js";
import { find, findAll, h, money } from "../dom.js";
import { NONE, clock, count, dayIn, nameIn, number, price, shortDay } from "../format.js";
import { changeMany, deleteMany, tradesOf } from "./many_trades.js";
import { chip } from "./trade_parts.js";

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

const MAX = 1000;
const UNDO_FOR = 60_000; // milliseconds
const selected = new Set();
let filter = ""; // of the list from which they are selected
let last; // the checkbox from which Shift selects
/** @type {{ text?: string, undo?: (undone: (kept: number) => any) => Promise<any> }} */
let done = {};
let timer;

/** @param {TradeListItem} trade @param {string} day */
const box = ({ id, symbol }, day) =>
  h(
    "label.pick",
    h("input", {
      type: "checkbox",
      id: `select-${id}`,
      value: id,
      "aria-label": `Select ${symbol}, ${day}`,
      onclick: ({ currentTarget, shiftKey }) => choose(currentTarget, shiftKey),
    }),
  );
const boxOfPage = () =>
  h(
    "label.pick",
    h("input#select-page", {
      type: "checkbox",
      "aria-label": "Select the trades of this page",
      onclick: ({ target }) => add(boxes(), target.checked),
    }),
  );

const boxes = () => findAll("#trades tbody .pick input");
const add = (some, isOn) => {
  for (const { value } of some) selected[isOn ? "add" : "delete"](Number(value));
  show();
};

export function choose(target, isRange, isOn = target.checked) {
  const all = boxes();
  const from = isRange ? all.findIndex(({ id }) => id === last) : -1;
  const to = all.indexOf(target);
  add(from < 0 ? [target] : all.slice(Math.min(from, to), Math.max(from, to) + 1), isOn);
  last = target.id;
}

export function clear() {
  const { size } = selected;
  selected.clear();
  show();
  return size > 0;
}

/** @param {Context} context */
export function selectionBar(context, lists, filters, total) {
  if (filter !== JSON.stringify(filters)) selected.clear();
  filter = JSON.stringify(filters);
  const finish = async (text, undo) => {
    clearTimeout(timer);
    done = { text, undo };
    timer = setTimeout(() => {
      done = {};
      show();
    }, UNDO_FOR);
    await context.redraw();
  };
  const undo = () =>
    done.undo((kept) =>
      finish(kept ? `Undone, but for ${count(kept, "trade")} that changed in the meantime` : "Undone"),
    );
  const all = async () => {
    for (const { id } of await tradesOf(whereOf(filters))) selected.add(id);
    show();
  };
  const deleted = (text) => {
    selected.clear();
    return finish(text);
  };
  const button = (id, text, action, attributes = {}) =>
    h("button", { id, onclick: trying(action), ...attributes }, text);
  requestAnimationFrame(show);
  return h(
    "section#selected.card.title.unseen",
    { "aria-label": "Selected trades", "data-total": total },
    h("p", { role: "status" }),
    h(
      ".row",
      button("undo", "Undo", undo),
      button("select-all", `Select all ${number(total)}`, all, { disabled: total > MAX }),
      button("change-many", "Change…", () => changeMany(context, lists, [...selected], finish), {
        class: "primary",
      }),
      button("delete-many", "Delete…", () => deleteMany([...selected], deleted), { class: "danger" }),
      button("select-none", "Clear", clear),
    ),
  );
}

const whereOf = (filters) =>
  Object.fromEntries(
    Object.entries(filters)
      .filter(([, value]) => value != null)
      .map(([name, value]) => [
        name,
        name.endsWith("_id") ? Number(value) : name === "copies" ? value === "true" : value,
      ]),
  );

function show() {
  const bar = find("#selected");
  if (!bar) return;
  const { size } = selected;
  const { total } = bar.dataset;
  const all = boxes();
  for (const one of all) one.checked = selected.has(Number(one.value));
  const chosen = all.filter(({ checked }) => checked).length;
  if (all.length)
    Object.assign(find("#select-page"), {
      checked: chosen === all.length,
      indeterminate: chosen > 0 && chosen < all.length,
    });
  bar.classList.toggle("unseen", !size && !done.text);
  for (const button of findAll("button", bar)) {
    button.hidden =
      button.id === "undo" ? !done.undo : !size || (button.id === "select-all" && size >= total);
    if (button.id.endsWith("many")) button.disabled = size > MAX;
  }
  const text = [
    done.text,
    size > 0 && `${count(size, "trade")} selected`,
    size > 0 && Math.max(size, total) > MAX && `At most ${number(MAX)} at once`,
  ];
  find("p", bar).textContent = text.filter(Boolean).join(" · ");
}
