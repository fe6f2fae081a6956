// #/trades: the list of trades, and the trade that the address names (id) beside it.

import { get } from "../client.js";
import { h, open, trying } from "../dom.js";
import { GRADES } from "../enums.js";
import { count, dayIn, gainOrLoss, NONE, number, shortDay, signed } from "../format.js";
import { filterForm, filtersOf, orRefused } from "./filters.js";
import { chip, tradePanel } from "./trade.js";
import { editTrade } from "./trade_form.js";
import { daysQuestion } from "./welcome.js";

const LIMIT = 50;
const clock = (timeZone) => {
  const format = new Intl.DateTimeFormat(undefined, { timeZone, hour: "2-digit", minute: "2-digit", hour12: false });
  return (text) => format.format(new Date(text));
};

export async function view(context) {
  const { query } = context;
  const id = query.get("id");
  const offset = Number(query.get("offset") ?? 0);
  const [{ data: { trades }, meta, refused }, strategies, tags, opened] = await Promise.all([
    orRefused(get("/trades", { ...filtersOf(context), limit: LIMIT, offset }), { trades: [] }),
    get("/strategies"), get("/tags"), id && orMissing(get(`/trades/${encodeURIComponent(id)}`)),
  ]);
  const ofStrategy = query.get("strategy_id") ?? (query.get("setup_id") && trades[0]?.strategy_id);
  const ofFilter = ofStrategy && await orMissing(get(`/strategies/${encodeURIComponent(ofStrategy)}/setups`));
  const lists = { strategies: strategies.data.strategies, tags: tags.data.tags };
  const panel = id && await tradePanel(context, lists, opened, address(query, { id: null }));
  requestAnimationFrame(() => document.querySelector("#trades [aria-current]")?.scrollIntoView({ block: "nearest" }));
  return [
    h("div", { class: "title" }, h("h1", null, "Trades"), keys(),
      h("button", { onclick: trying(() => addTrade(context, lists)) }, "Add a trade")),
    filterForm(context, { ...lists, setups: ofFilter?.data.setups, symbols: [...new Set(trades.map(({ symbol }) => symbol))], outcomes: true }),
    refused ?? (trades.length === 0 && !id ? nothing(query) : h("div", { class: panel ? "beside" : "" },
      h("section", { class: "card list", id: "trades", "aria-label": "List of trades" },
        table(context, lists, trades), pages(query, meta.pagination)),
      panel)),
  ];
}

// A new journal is asked for its days first: the times of the trade are read in the zone that is chosen.
async function addTrade(context, lists) {
  const question = await daysQuestion(context, async (me) => {
    dialog.close();
    await context.redraw();
    editTrade({ ...context, me }, lists);
  });
  if (!question) return editTrade(context, lists);
  const dialog = open("First, your trading days", question);
}

const keys = () => h("p", { class: "muted keys" }, h("kbd", null, "j"), " ", h("kbd", null, "k"), " move · ", h("kbd", null, "Enter"), " open · ",
      h("kbd", null, "1"), "–", h("kbd", null, "6"), " grade A+ to F · ", h("kbd", null, "Esc"), " close");

// Undefined for what does not exist any more.
const orMissing = (reading) => reading.catch((error) => {
  if (error.status !== 404) throw error;
});

const address = (query, changes) => {
  const changed = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) value == null ? changed.delete(name) : changed.set(name, value);
  return `#/trades${changed.size ? `?${changed}` : ""}`;
};

function nothing(query) {
  return h("section", { class: "card empty" }, h("p", null, query.size
    ? "No trade matches these filters."
    : "There is no trade yet. Import the file of a broker or a platform, or add a trade by hand."),
  h("div", { class: "row" }, query.size ? h("a", { href: "#/trades" }, "All trades") : h("a", { href: "#/import" }, "Import a file")));
}

function table({ query, me, accounts }, { strategies, tags }, trades) {
  const opened = Number(query.get("id"));
  const nameOf = (list, id) => list.find((one) => one.id === id)?.name ?? "";
  const timeOf = clock(me.timezone);
  const several = accounts.length > 1;
  const thisYear = dayIn(me.timezone).slice(0, 4);
  const dayOf = ({ trading_day, opened_at }) => {
    const day = trading_day ?? dayIn(me.timezone, new Date(opened_at));
    return shortDay(day) + (day.startsWith(thisYear) ? "" : ` ${day.slice(0, 4)}`);
  };
  const head = ["Day", "Time", "Symbol", "Quantity", "Entry", "Exit", "Net P&L", "R", "Grade", "Strategy", "Tags", several && "Account"];
  const kinds = ["", "from-520", "", "num from-520", "num from-1000", "num from-1000", "num", "num", "", "from-700", "from-900 tags", "from-1120"];
  const row = (trade) => {
    const isOpen = trade.net_pnl == null;
    const cells = [
      h("a", { href: address(query, { id: trade.id }), id: `trade-${trade.id}` }, dayOf(trade)),
      timeOf(trade.opened_at),
      [trade.symbol, h("small", null, trade.direction === "long" ? " ▲" : " ▼",
        h("span", { class: "from-520" }, ` ${trade.direction}`, trade.source_trade_id && " · copy"))],
      number(trade.quantity), number(trade.entry_price), number(trade.exit_price),
      isOpen ? h("span", { class: "chip" }, "open") : h("span", { class: gainOrLoss(trade.net_pnl) }, signed(trade.net_pnl)),
      h("span", { class: gainOrLoss(trade.rr_realized) }, signed(trade.rr_realized)),
      trade.grade ?? NONE,
      nameOf(strategies, trade.strategy_id),
      tags.filter(({ id }) => trade.tag_ids.includes(id)).map((tag) => chip(tag)),
      several && nameOf(accounts, trade.account_id),
    ];
    const go = (event) => event.target.closest("a") || event.currentTarget.querySelector("a").click();
    return h("tr", { onclick: go, "aria-current": trade.id === opened && "true" },
      cells.map((cell, place) => cell !== false && h("td", { class: kinds[place] || null }, cell)));
  };
  return h("table", { class: "trades" },
    h("thead", null, h("tr", null, head.map((title, place) => title !== false && h("th", { scope: "col", class: kinds[place] || null }, title)))),
    h("tbody", null, trades.map(row)));
}

function pages(query, { limit, offset, total }) {
  const to = (place) => address(query, { offset: place || null, id: null });
  const last = Math.min(offset + limit, total);
  return h("div", { class: "title pages" },
    h("span", { class: "muted" }, total > limit
      ? `${number(Math.min(offset + 1, total))} to ${number(last)} of ${count(total, "trade")}`
      : count(total, "trade")),
    h("a", { href: address(query, { id: null, offset: null, outcome: null }).replace("trades", "report") }, "What pays among these"),
    total > limit && h("span", { class: "row" },
      offset > 0 && h("a", { href: to(Math.max(offset - limit, 0)), id: "newer" }, "‹ Newer"),
      last < total && h("a", { href: to(last), id: "older" }, "Older ›")));
}

// j and k move in the list, and along with an open trade; 1 to 6 grade the open trade; Escape closes it.
function pressed(event) {
  const list = document.getElementById("trades");
  const isTyping = event.target.closest("input:not([type=checkbox]), select, textarea, dialog");
  if (list && isTyping && event.key === "Escape" && !event.target.closest("dialog")) event.target.blur();
  if (!list || isTyping || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const panel = document.getElementById("trade");
  const links = [...list.querySelectorAll("tbody a")];
  const place = (selector) => links.findIndex((link) => link.closest("tr").matches(selector));
  const here = place(":focus-within") < 0 ? place("[aria-current]") : place(":focus-within");
  const step = { j: 1, k: -1 }[event.key];
  const grade = GRADES[Number(event.key) - 1];
  if (step) {
    const link = links[here < 0 ? 0 : here + step];
    link?.focus();
    link?.scrollIntoView({ block: "nearest" });
    if (link && panel) location.replace(link.href);
  } else if (grade) isOfAddress(panel) && panel.querySelector(`[data-grade="${grade}"]`).click();
  else if (event.key === "Escape" && panel) {
    links[here]?.focus();
    panel.querySelector(".close").click();
  } else return;
  event.preventDefault();
}

// While the next trade is read, the panel is still that of the last.
const isOfAddress = (panel) => panel?.dataset.id && panel.dataset.id === new URLSearchParams(location.hash.split("?")[1]).get("id");

document.addEventListener("keydown", pressed);
