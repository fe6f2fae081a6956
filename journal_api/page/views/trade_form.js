// The form of a trade: added by hand, or its prices and times changed.

import { send } from "../client.js";
import { field, form, h, open, select } from "../dom.js";

const NUMBERS = [
  ["quantity", "Quantity"], ["entry_price", "Entry"], ["exit_price", "Exit"], ["stop_loss", "Stop"],
  ["fees", "Fees"], ["gross_pnl", "Gross P&L"],
];
const HINTS = { gross_pnl: "Empty: from the prices.", fees: "Empty: none.", exit_price: "Empty while open." };

// 2026-03-09T10:31, as the field of a browser has it, in the owner's time zone.
const local = (text, timeZone) => text && new Intl.DateTimeFormat("sv-SE", {
  timeZone, dateStyle: "short", timeStyle: "medium",
}).format(new Date(text)).replace(" ", "T");

// Opens the form for a new trade, or for the trade that was read.
export function editTrade({ me, accounts, selection, go, redraw }, { strategies }, read) {
  const trade = read?.data.trade;
  const stored = (name) => trade?.[name] ?? "";
  const input = (name, attributes) => h("input", { name, value: stored(name), ...attributes });
  const time = (name) => h("input", { name, type: "datetime-local", step: trade && "1", value: local(trade?.[name], me.timezone) ?? "" });
  const save = async (values) => {
    const result = await (trade
      ? send("PATCH", `/trades/${trade.id}`, { body: changed(bodyOf(values), shown), etag: read.etag })
      : send("POST", "/trades", { body: filled(bodyOf(values)) }));
    dialog.close();
    if (trade) await redraw();
    else go("trades", { id: result.data.trade.id });
  };
  const element = form(null, save,
    h("div", { class: "row" },
      field("Account", select({ name: "account_id", value: stored("account_id") || selection.account_id },
        accounts.map(({ id, name }) => [id, name]))),
      field("Symbol", input("symbol", { autofocus: true })),
      field("Side", select({ name: "direction", value: stored("direction") || "long" }, [["long", "Long"], ["short", "Short"]]))),
    h("div", { class: "row" }, NUMBERS.map(([name, label]) => field(label, input(name, { inputmode: "decimal" }), HINTS[name]))),
    h("div", { class: "row" }, field("Opened", time("opened_at")), field("Closed", time("closed_at"), "Empty while open.")),
    !trade && field("Strategy", select({ name: "strategy_id" }, [["", "None"], ...strategies.map(({ id, name }) => [id, name])])),
    h("p", { class: "muted" }, `Times are in ${me.timezone}.`),
    h("div", { class: "row" }, h("button", { class: "primary" }, trade ? "Save" : "Add the trade")));
  const shown = bodyOf(Object.fromEntries(new FormData(element)));
  const dialog = open(trade ? "Prices and times" : "Add a trade", accounts.length ? element
    : h("p", null, "A trade belongs to an account. Make one under ", h("a", { href: "#/settings", onclick: () => dialog.close() }, "Settings"), "."));
}

// The body of a request from what the fields say; empty is null, and what is no number stays for the API to refuse.
function bodyOf(values) {
  const isNumber = (name) => name.endsWith("_id") || NUMBERS.some(([key]) => key === name);
  const valueOf = (name, text) => (text.trim() === "" ? null : isNumber(name) && !Number.isNaN(Number(text)) ? Number(text) : text);
  return Object.fromEntries(Object.entries(values).map(([name, text]) => [name, valueOf(name, text)]));
}

const filled = (body) => Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
const changed = (body, shown) => Object.fromEntries(Object.entries(body).filter(([name, value]) => value !== shown[name]));
