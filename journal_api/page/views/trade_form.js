// @ts-check
// The form of a trade: added by hand, or its prices and times changed.

import { get, send } from "../client.js";
import { field, form, h, open, select } from "../dom.js";
import { DIRECTIONS } from "../enums.js";
import { inWords, NONE } from "../format.js";
import { numberInput, numbersOf } from "../numbers.js";
import { showConflict } from "./conflict.js";

const NUMBERS = [
  ["quantity", "Quantity"],
  ["entry_price", "Entry"],
  ["exit_price", "Exit"],
  ["stop_loss", "Stop"],
  ["fees", "Fees"],
  ["gross_pnl", "Gross P&L"],
];
const HINTS = { gross_pnl: "Empty: from the prices.", fees: "Empty: none.", exit_price: "Empty while open." };

// 2026-03-09T10:31, as the field of a browser has it, in the owner's time zone.
const local = (text, timeZone) =>
  text &&
  new Intl.DateTimeFormat("sv-SE", {
    timeZone,
    dateStyle: "short",
    timeStyle: "medium",
  })
    .format(new Date(text))
    .replace(" ", "T");

// A time without seconds, if they are 0: a field that shows none asks for none.
const inMinutes = (text) => text.replace(/(:\d\d):00$/, "$1");

// Opens the form for a new trade, or for the trade that was read.
export function editTrade({ me, accounts, selection, go, redraw }, { strategies }, read) {
  const trade = read?.data.trade;
  const stored = (name) => trade?.[name] ?? "";
  const input = (name, attributes) => h("input", { name, value: stored(name), ...attributes });
  const time = (name) => {
    const value = local(trade?.[name], me.timezone) ?? "";
    return h("input", {
      name,
      type: "datetime-local",
      step: !/(^|:00)$/.test(value) && "1",
      value: inMinutes(value),
    });
  };
  let newest = read; // its ETag is sent; after a conflict it is what is stored now
  const write = async (body) => {
    await send("PATCH", `/trades/${trade.id}`, { body, etag: newest.etag });
    await finish();
  };
  const finish = () => {
    dialog.close();
    return redraw();
  };
  const change = async (body) => {
    try {
      await write(body);
    } catch (error) {
      if (error.status !== 412) throw error;
      const before = newest.data.trade;
      newest = await get(`/trades/${trade.id}`);
      showConflict("trade", versions(body, before, newest.data.trade, { me, accounts }), {
        keepMine: () => change(body),
        takeStored: finish,
      });
    }
  };
  const add = async (body) => {
    const { data } = await send("POST", "/trades", { body });
    dialog.close();
    go("trades", { id: data.trade.id });
  };
  const save = (values) => (trade ? change(changed(bodyOf(values), shown)) : add(filled(bodyOf(values))));
  const element = form(
    null,
    save,
    h(
      "div",
      { class: "row" },
      field(
        "Account",
        select(
          { name: "account_id", value: stored("account_id") || selection.account_id },
          accounts.map(({ id, name }) => [id, name]),
        ),
      ),
      field("Symbol", input("symbol", { autofocus: true })),
      field("Side", select({ name: "direction", value: stored("direction") || "long" }, inWords(DIRECTIONS))),
    ),
    h(
      "div",
      { class: "row" },
      NUMBERS.map(([name, label]) => field(label, numberInput({ name, value: trade?.[name] }), HINTS[name])),
    ),
    h(
      "div",
      { class: "row" },
      field("Opened", time("opened_at")),
      field("Closed", time("closed_at"), "Empty while open."),
    ),
    !trade &&
      field(
        "Strategy",
        select({ name: "strategy_id" }, [["", "None"], ...strategies.map(({ id, name }) => [id, name])]),
      ),
    h("p", { class: "muted" }, `Times are in ${me.timezone}.`),
    h("div", { class: "row" }, h("button", { class: "primary" }, trade ? "Save" : "Add the trade")),
  );
  const shown = bodyOf(Object.fromEntries(new FormData(element)));
  const dialog = open(
    trade ? "Prices and times" : "Add a trade",
    accounts.length
      ? element
      : h(
          "p",
          null,
          "A trade belongs to an account. Make one under ",
          h("a", { href: "#/settings", onclick: () => dialog.close() }, "Settings"),
          ".",
        ),
  );
}

// The body of a request from what the fields say; empty is null.
function bodyOf(values) {
  const valueOf = (name, text) => (text.trim() === "" ? null : name.endsWith("_id") ? Number(text) : text);
  const texts = Object.fromEntries(Object.entries(values).map(([name, text]) => [name, valueOf(name, text)]));
  return {
    ...texts,
    ...numbersOf(
      values,
      NUMBERS.map(([name]) => name),
    ),
  };
}

const filled = (body) => Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
const changed = (body, shown) =>
  Object.fromEntries(Object.entries(body).filter(([name, value]) => value !== shown[name]));

// The rows of a conflict: the changes, then whatever else was changed in the meantime.
function versions(body, before, stored, { me, accounts }) {
  const labels = {
    account_id: "Account",
    symbol: "Symbol",
    direction: "Side",
    ...Object.fromEntries(NUMBERS),
    opened_at: "Opened",
    closed_at: "Closed",
  };
  const nameOf = (id) => accounts.find((one) => one.id === id)?.name;
  const text = (name, value) =>
    (name === "account_id"
      ? nameOf(value)
      : value && name.endsWith("_at")
        ? inMinutes(value.replace("T", " "))
        : value) ?? NONE;
  const inField = (name, value) => text(name, name.endsWith("_at") ? local(value, me.timezone) : value);
  return Object.entries(labels)
    .map(([name, label]) => [
      name in body ? label : `${label} (changed in the meantime; stays)`,
      name in body ? text(name, body[name]) : inField(name, before[name]),
      inField(name, stored[name]),
      name in body,
    ])
    .filter(([, mine, theirs, isMine]) => isMine || mine !== theirs)
    .map(([label, mine, theirs]) => [label, mine, theirs]);
}
