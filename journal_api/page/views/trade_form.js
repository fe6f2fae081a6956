import { get, send } from "../client.js";
import { open, showConflict } from "../dialogs.js";
import { choiceField, field, form, h, textField } from "../dom.js";
import { DIRECTIONS } from "../enums.js";
import { NONE, idsAndNames, inWords, nameIn } from "../format.js";
import { inMinutes, local, numberField, numbersOf, timeInput } from "../inputs.js";

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

export function editTrade({ me, accounts, selection, go, redraw }, { strategies }, read) {
  const trade = read?.data.trade;
  const time = (name) => timeInput(name, trade?.[name], me.timezone);
  // Prices of several entries or exits are changed by their fills.
  const isScaled = trade?.fills.length > 2;
  const numbers = NUMBERS.filter(([name]) => !(isScaled && OF_FILLS.includes(name)));
  let newest = read; // after a conflict, what is stored now
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
      choiceField("Account", "account_id", trade?.account_id ?? selection.account_id, idsAndNames(accounts)),
      textField("Symbol", "symbol", trade ?? {}, { autofocus: true }),
      !isScaled && choiceField("Side", "direction", trade?.direction ?? "long", inWords(DIRECTIONS)),
    ),
    h(
      ".row",
      numbers.map(([name, label]) => numberField(label, name, trade?.[name], HINTS[name])),
    ),
    isScaled
      ? h("p.muted", "Quantity, prices and times follow from the fills: change those.")
      : h(
          ".row",
          field("Opened", time("opened_at")),
          field("Closed", time("closed_at"), "Empty while open."),
        ),
    !trade && choiceField("Strategy", "strategy_id", "", [["", "None"], ...idsAndNames(strategies)]),
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

function versions(body, before, stored, { me, accounts }) {
  const labels = {
    account_id: "Account",
    symbol: "Symbol",
    direction: "Side",
    ...Object.fromEntries(NUMBERS),
    opened_at: "Opened",
    closed_at: "Closed",
  };
  const text = (name, value) =>
    (name === "account_id"
      ? nameIn(accounts, value)
      : value && name.endsWith("_at")
        ? inMinutes(value.replace("T", " "))
        : value) ?? NONE;
  const inField = (name, value) => text(name, name.endsWith("_at") ? local(value, me.timezone) : value);
  return Object.entries(labels).map(([name, label]) => [
    label,
    name in body ? text(name, body[name]) : inField(name, before[name]),
    inField(name, stored[name]),
    name in body,
  ]);
}
