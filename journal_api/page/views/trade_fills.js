// The fills of the open trade.

import { send } from "../client.js";
import { confirm, formDialog } from "../dialogs.js";
import { choiceField, field, find, h, table } from "../dom.js";
import { amount, count, dayIn, inWords, instant, number } from "../format.js";
import { inMinutes, local, numberField, numbersOf, timeInput } from "../inputs.js";

const FEW = 2; // the facts above say these already
const NUMBERS = ["quantity", "price", "fees"];

function heldAfter({ direction, fills }) {
  const entry = direction === "long" ? "buy" : "sell";
  let held = 0;
  return fills.map((fill) => (held = rounded(held + (fill.side === entry ? fill.quantity : -fill.quantity))));
}

// 0.1 + 0.2 is 0.3.
const rounded = (quantity) => Math.round(quantity * 1e8) / 1e8;

/** @param {Context} context @param {Trade} trade */
export function fillsOf(context, trade, latest) {
  const held = heldAfter(trade);
  const isOpen = trade.closed_at == null;
  const shown = `${trade.id} ${trade.fills.length}`; // until that changes, the list stays open or closed
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

const inputs = (fill, time, hints) => [
  numberField("Quantity", "quantity", fill.quantity, hints.quantity, { autofocus: !fill.quantity }),
  numberField("Price", "price", fill.price, "", { autofocus: Boolean(fill.quantity) }),
  field("Time", time, hints.time),
  numberField("Fees", "fees", fill.fees, hints.fees),
];

// A time that is not changed is the time of now.
function addFill({ me, redraw }, trade, verb, side, { quantity, hint } = /** @type {any} */ ({})) {
  const time = timeInput("at", new Date().setSeconds(0, 0), me.timezone);
  const now = time.value;
  const hints = {
    quantity: hint,
    time: `Now, in ${me.timezone}`,
    fees: "Empty: the commissions of the account",
  };
  formDialog(
    `${verb}: ${trade.symbol}`,
    { id: "fill" },
    (values) => {
      const { fees, ...numbers } = numbersOf(values, NUMBERS);
      const at = values.at && values.at !== now ? { at: values.at } : {};
      const body = { side, ...numbers, ...at, ...(fees !== null && { fees }) };
      return send("POST", `/trades/${trade.id}/fills`, { body });
    },
    redraw,
    h(".row", inputs({ quantity }, time, hints)),
    h("button.primary", verb),
  );
}

function changeFill({ me, redraw }, trade, fill, latest) {
  const path = `/trades/${trade.id}/fills/${fill.id}`;
  const shown = { ...fill, at: inMinutes(local(fill.at, me.timezone)) };
  const remove = () =>
    confirm(
      "Delete this fill?",
      "Quantity, prices and result of the trade follow from the other fills.",
      "Delete the fill",
      async () => {
        await send("DELETE", path, { etag: latest().etag });
        dialog.close();
        await redraw();
      },
    );
  const dialog = formDialog(
    "A fill",
    { id: "fill" },
    (values) => {
      const typed = Object.entries({ ...values, ...numbersOf(values, NUMBERS) });
      const body = Object.fromEntries(
        typed.filter(([name, value]) => value !== shown[name] && value !== null),
      );
      return send("PATCH", path, { body, etag: latest().etag });
    },
    redraw,
    h(
      ".row",
      choiceField("Side", "side", fill.side, inWords(["buy", "sell"])),
      inputs(fill, timeInput("at", fill.at, me.timezone), { time: `In ${me.timezone}` }),
    ),
    h(".title", h("button.primary", "Save"), h("button.danger", { onclick: remove }, "Delete")),
  );
}
