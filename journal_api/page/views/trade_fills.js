// The fills of the open trade: adding to it, taking off, closing it, and correcting what happened.

import { send } from "../client.js";
import { confirm, field, find, form, h, open, select } from "../dom.js";
import { amount, count, dayIn, instant, number } from "../format.js";
import { numberInput, numbersOf } from "../numbers.js";
import { table } from "../table.js";
import { inMinutes, local, timeInput } from "../times.js";

const FEW = 2; // an entry and an exit, which the facts above them say already
const SIDES = [
  ["buy", "Buy"],
  ["sell", "Sell"],
];

// What was held after each fill.
function heldAfter({ direction, fills }) {
  const entry = direction === "long" ? "buy" : "sell";
  let held = 0;
  return fills.map((fill) => (held = rounded(held + (fill.side === entry ? fill.quantity : -fill.quantity))));
}

// Quantities have up to eight decimals: 0.1 + 0.2 is 0.3.
const rounded = (quantity) => Math.round(quantity * 1e8) / 1e8;

/** @param {Context} context @param {Trade} trade @param {() => any} latest */
export function fillsOf(context, trade, latest) {
  const held = heldAfter(trade);
  const isOpen = trade.closed_at == null;
  const shown = `${trade.id} ${trade.fills.length}`; // a list that was opened or closed stays so until it changes
  return [
    isOpen && actions(context, trade, held.at(-1)),
    h(
      "details#fills",
      {
        "data-shown": shown,
        open: find(`#fills[data-shown="${shown}"]`)?.open ?? trade.fills.length > FEW,
      },
      h(
        "summary",
        count(trade.fills.length, "fill"),
        trade.fills.length > FEW && `, at most ${number(trade.quantity)} held`,
      ),
      fillTable(context, trade, held, latest),
    ),
  ];
}

// Seconds if all fills are of one day, as most are; else the day and the minute.
function timeOf({ fills }, timeZone) {
  const days = new Set(fills.map((fill) => dayIn(timeZone, new Date(fill.at))));
  const clock = new Intl.DateTimeFormat(undefined, { timeZone, timeStyle: "medium", hourCycle: "h23" });
  return ({ at }) => (days.size > 1 ? instant(at, timeZone) : clock.format(new Date(at)));
}

function fillTable(context, trade, held, latest) {
  const hasFees = trade.fills.some((fill) => fill.fees);
  const time = timeOf(trade, context.me.timezone);
  const row = (fill, place) => [
    h("button.link", { onclick: () => changeFill(context, trade, fill, latest) }, time(fill)),
    fill.side,
    number(fill.quantity),
    number(fill.price),
    number(held[place]),
    ...(hasFees ? [amount(fill.fees)] : []),
  ];
  return table(
    { class: "middle", "aria-label": "Fills of the trade" },
    ["Time", "Side", "Quantity", "Price", "Held", ...(hasFees ? ["Fees"] : [])],
    trade.fills.map(row),
    ["nowrap", "nowrap", "num", "num", "num", "num"],
  );
}

// What can be done with an open position: `rest` is what is held now.
function actions(context, trade, rest) {
  const [entry, exit] = trade.direction === "long" ? ["buy", "sell"] : ["sell", "buy"];
  const button = (label, attributes, ...change) =>
    h("button", { ...attributes, onclick: () => addFill(context, trade, ...change) }, label);
  return h(
    ".row",
    { role: "group", "aria-label": "Change the position" },
    button("Add to it", { id: "add-fill" }, "Add to it", entry, {}),
    button("Take off", { id: "take-off" }, "Take off", exit, { hint: `Of ${number(rest)} held` }),
    button("Close", { id: "close-position", class: "primary" }, "Close", exit, { quantity: rest }),
  );
}

// A fill of that side; without a stated quantity, the owner types it. A time that is not changed is the time of now.
function addFill({ me, redraw }, trade, verb, side, { quantity, hint } = /** @type {any} */ ({})) {
  const time = timeInput("at", new Date().setSeconds(0, 0), me.timezone);
  const now = time.value;
  const dialog = open(
    `${verb}: ${trade.symbol}`,
    form(
      { id: "fill" },
      async (values) => {
        const { fees, ...numbers } = numbersOf(values, ["quantity", "price", "fees"]);
        const at = values.at && values.at !== now ? { at: values.at } : {};
        const body = { side, ...numbers, ...at, ...(fees !== null && { fees }) };
        await send("POST", `/trades/${trade.id}/fills`, { body });
        dialog.close();
        await redraw();
      },
      h(
        ".row",
        field("Quantity", numberInput({ name: "quantity", value: quantity, autofocus: !quantity }), hint),
        field("Price", numberInput({ name: "price", autofocus: Boolean(quantity) })),
        field("Time", time, `Now, in ${me.timezone}`),
        field("Fees", numberInput({ name: "fees" }), "Empty: the commissions of the account"),
      ),
      h("button.primary", verb),
    ),
  );
}

// Corrects or deletes a fill.
function changeFill({ me, redraw }, trade, fill, latest) {
  const path = `/trades/${trade.id}/fills/${fill.id}`;
  const shown = { ...fill, at: inMinutes(local(fill.at, me.timezone)) };
  const finish = async () => {
    dialog.close();
    await redraw();
  };
  const remove = () =>
    confirm(
      "Delete this fill?",
      "Quantity, prices and result of the trade follow from the other fills.",
      "Delete the fill",
      async () => {
        await send("DELETE", path, { etag: latest().etag });
        await finish();
      },
    );
  const dialog = open(
    "A fill",
    form(
      { id: "fill" },
      async (values) => {
        const typed = { ...values, ...numbersOf(values, ["quantity", "price", "fees"]) };
        const body = Object.fromEntries(
          Object.entries(typed).filter(([name, value]) => value !== shown[name] && value !== null),
        );
        await send("PATCH", path, { body, etag: latest().etag });
        await finish();
      },
      h(
        ".row",
        field("Side", select({ name: "side", value: fill.side }, SIDES)),
        field("Quantity", numberInput({ name: "quantity", value: fill.quantity })),
        field("Price", numberInput({ name: "price", value: fill.price })),
        field("Time", timeInput("at", fill.at, me.timezone), `In ${me.timezone}`),
        field("Fees", numberInput({ name: "fees", value: fill.fees })),
      ),
      h(".title", h("button.primary", "Save"), h("button.danger", { onclick: remove }, "Delete")),
    ),
  );
}
