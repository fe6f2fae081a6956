// The form of a trade: added by hand, or its prices and times changed.

import { get, send } from "../client.js";
import { field, form, h, open, select } from "../dom.js";
import { DIRECTIONS } from "../enums.js";
import { inWords, NONE } from "../format.js";
import { numberInput, numbersOf } from "../numbers.js";
import { inMinutes, local, timeInput } from "../times.js";
import { showConflict } from "./conflict.js";

const NUMBERS = [
  ["quantity", "Quantity"],
  ["entry_price", "Entry"],
  ["exit_price", "Exit"],
  ["stop_loss", "Stop"],
  ["fees", "Fees"],
  ["gross_pnl", "Gross P&L"],
];
const OF_FILLS = ["quantity", "entry_price", "exit_price"];
const HINTS = {
  gross_pnl: "Empty: from the prices.",
  fees: "Empty: the commissions of the account.",
  exit_price: "Empty while open.",
};

// Opens the form for a new trade, or for the trade that was read.
export function editTrade({ me, accounts, selection, go, redraw }, { strategies }, read) {
  const trade = read?.data.trade;
  const stored = (name) => trade?.[name] ?? "";
  const input = (name, attributes) => h("input", { name, value: stored(name), ...attributes });
  const time = (name) => timeInput(name, trade?.[name], me.timezone);
  // What follows from several entries or exits is changed by its fills.
  const isScaled = trade?.fills.length > 2;
  const numbers = NUMBERS.filter(([name]) => !(isScaled && OF_FILLS.includes(name)));
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
      ".row",
      field(
        "Account",
        select(
          { name: "account_id", value: stored("account_id") || selection.account_id },
          accounts.map(({ id, name }) => [id, name]),
        ),
      ),
      field("Symbol", input("symbol", { autofocus: true })),
      !isScaled &&
        field(
          "Side",
          select({ name: "direction", value: stored("direction") || "long" }, inWords(DIRECTIONS)),
        ),
    ),
    h(
      ".row",
      numbers.map(([name, label]) => field(label, numberInput({ name, value: trade?.[name] }), HINTS[name])),
    ),
    isScaled
      ? h("p.muted", "Quantity, prices and times follow from the fills: change those.")
      : h(
          ".row",
          field("Opened", time("opened_at")),
          field("Closed", time("closed_at"), "Empty while open."),
        ),
    !trade &&
      field(
        "Strategy",
        select({ name: "strategy_id" }, [["", "None"], ...strategies.map(({ id, name }) => [id, name])]),
      ),
    !isScaled && h("p.muted", `Times are in ${me.timezone}.`),
    h(".row", h("button.primary", trade ? "Save" : "Add the trade")),
  );
  const shown = bodyOf(Object.fromEntries(new FormData(element)));
  const dialog = open(
    trade ? "Prices and times" : "Add a trade",
    accounts.length
      ? element
      : h(
          "p",
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
      NUMBERS.map(([name]) => name).filter((name) => name in values),
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
