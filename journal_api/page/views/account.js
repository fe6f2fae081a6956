// #/settings?account=1: the rules, the cash and the checkpoints of an account.

import { get, href, send } from "../client.js";
import { showConflict } from "../dialogs.js";
import { card, checkbox, choiceField, form, h, table, textField } from "../dom.js";
import { CASH_KINDS, FLOOR_KINDS } from "../enums.js";
import { amount, dayOfYear, inWords, signed, tradingDay, words } from "../format.js";
import { numberField, numbersOf } from "../inputs.js";
import { differences, edit, listCard } from "./editing.js";
import { standingCard, whatDiffers } from "./standings.js";

export { edit };
const MAX_CASH = 200;

/** @param {Account} account @param {Context} context */
export async function accountView(account, context) {
  const path = `/accounts/${account.id}`;
  const [rules, cash, checkpoints] = await Promise.all([
    account.standing ? get(`${path}/rules`) : { data: { rules: {} }, etag: undefined },
    newestCash(path),
    get(`${path}/checkpoints`),
  ]);
  const list = (title, kind, heads, rows) => listCard(title, kind(account), context, heads, rows);
  return [
    h(".title", h("h1", account.name), h("a", { href: "#/settings" }, "All settings")),
    h(
      ".split",
      h(".stack", account.standing && standingCard(account), rulesCard(path, rules, context)),
      h(
        ".stack",
        list("Cash", cashKind, ["Day", "Kind", "Amount", "Note"], cash.reverse().map(cashRow)),
        list(
          "Checkpoints",
          checkpointKind,
          ["Day", "The broker's balance", "", "Note"],
          [...checkpoints.data.checkpoints].reverse().map(checkpointRow),
        ),
      ),
    ),
  ];
}

// The list begins with the oldest.
async function newestCash(path) {
  const read = (offset) => get(`${path}/cash`, { limit: MAX_CASH, offset });
  const { data, meta } = await read(0);
  const { total } = meta.pagination;
  return total > MAX_CASH ? (await read(total - MAX_CASH)).data.cash : [...data.cash];
}

// Rules ---------------------------------------------------------------------------------------------------

const FLOORS = {
  static: "stays below the start",
  end_of_day: "follows the closes of days",
  trade: "follows each closed trade",
};
const NUMBERS = {
  "floor.distance": ["Distance of the floor", "From the peak to the balance that ends the account"],
  "floor.locks_at": ["The floor stops at", "Empty: it follows without end"],
  daily_loss: ["Daily loss", "The most that a day may lose"],
  profit_target: ["Profit target", ""],
  best_day_share: ["Best day, %", "Of the profit since the last payout"],
  minimum_days: ["Days with a trade", ""],
  "qualifying_day.amount": ["A qualifying day earns", ""],
  "qualifying_day.days": ["Qualifying days", "Since the last payout"],
};
const memberOf = (rules, name) => name.split(".").reduce((part, one) => part?.[one], rules);

function rulesCard(path, { data: { rules }, etag }, { redraw }) {
  return card(
    "Rules",
    { id: "rules" },
    h("p.muted", "The numbers of your contract. What is empty does not apply."),
    form(
      { id: "rules-form" },
      (values) => saveRules(`${path}/rules`, bodyOf(values), etag, redraw),
      h(
        ".row",
        choiceField(
          "Floor",
          "floor.kind",
          rules.floor?.kind ?? "end_of_day",
          FLOOR_KINDS.map((kind) => [kind, FLOORS[kind]]),
        ),
        Object.entries(NUMBERS).map(([name, [label, hint]]) =>
          numberField(label, name, memberOf(rules, name), hint),
        ),
      ),
      h("button.primary", "Save"),
    ),
  );
}

function bodyOf(values) {
  const numbers = numbersOf(values, Object.keys(NUMBERS));
  const whole = (part, more = {}) => {
    const typed = Object.entries(numbers).filter(([name]) => name.startsWith(`${part}.`));
    if (typed.every(([, value]) => value === null)) return null;
    return {
      ...more,
      ...Object.fromEntries(typed.map(([name, value]) => [name.slice(part.length + 1), value])),
    };
  };
  return {
    ...Object.fromEntries(Object.entries(numbers).filter(([name]) => !name.includes("."))),
    floor: whole("floor", { kind: values["floor.kind"] }),
    qualifying_day: whole("qualifying_day"),
  };
}

async function saveRules(path, body, etag, redraw) {
  const isEmpty = Object.values(body).every((one) => one === null);
  try {
    if (!isEmpty) await send("PUT", path, { body, etag });
    else if (etag) await send("DELETE", path, { etag });
  } catch (error) {
    if (error.status !== 412) throw error;
    const now = await get(path);
    return showConflict("account", differences(body, now.data.rules), {
      keepMine: () => saveRules(path, body, now.etag, redraw),
      takeStored: redraw,
    });
  }
  await redraw();
}

// Cash ----------------------------------------------------------------------------------------------------

const SIGNS = { deposit: "+", withdrawal: "−", payout: "−", fee: "−", reset: "= " };

/** @param {Account} account */
const cashKind = (account) => ({
  path: `/accounts/${account.id}/cash`,
  member: "cash",
  title: "cash",
  section: "cash",
  name: "day",
  none: "No deposit, payout, fee or reset: the balance is the starting balance and the trades.",
  loss: "The balance changes from that day on, and with it how the account stands.",
  fields: (cash, { me }) => [
    h(
      ".row",
      choiceField("Kind", "kind", cash.kind ?? "payout", inWords(CASH_KINDS)),
      numberField("Amount", "amount", cash.amount, "Only an adjustment may be negative"),
      textField("Trading day", "day", { day: today(account, me), ...cash }, { type: "date" }),
    ),
    textField("Note", "note", cash),
  ],
  body: ({ kind, day, note, ...values }) => ({
    kind,
    day,
    note: note || null,
    ...numbersOf(values, ["amount"]),
  }),
});

const today = ({ timezone, day_rollover }, me) =>
  tradingDay({ ...me, timezone: timezone ?? me.timezone, day_rollover: day_rollover ?? me.day_rollover });

/** @param {Cash} cash */
const cashRow = ({ id, kind, amount: value, day, note }) => ({
  id,
  name: dayOfYear(day),
  cells: [words(kind), kind in SIGNS ? `${SIGNS[kind]}${amount(value)}` : signed(value), note ?? ""],
});

// Checkpoints ---------------------------------------------------------------------------------------------

// A stored one is accepted or deleted: the broker said what it said.
/** @param {Account} account */
export const checkpointKind = (account, isAccepting = false) => ({
  path: `/accounts/${account.id}/checkpoints`,
  member: "checkpoint",
  title: "checkpoint",
  section: "checkpoints",
  name: "day",
  none: "No checkpoint. Type the balance of a statement, and the journal says whether it is complete.",
  loss: "The trades and the cash stay.",
  fields: (checkpoint, { me }) => [
    ...(checkpoint.id
      ? [
          h(
            "p",
            `${dayOfYear(checkpoint.day)}: the broker said ${amount(checkpoint.balance)}, ${whatDiffers(checkpoint)}.`,
          ),
          daysTable(checkpoint),
          checkbox("Accept the difference", {
            name: "accepted",
            checked: checkpoint.accepted || isAccepting,
          }),
        ]
      : [
          h(
            ".row",
            textField("End of the trading day", "day", { day: today(account, me) }, { type: "date" }),
            numberField("The broker's balance", "balance"),
          ),
        ]),
    textField("Note", "note", checkpoint),
  ],
  body: ({ day, note, accepted, ...values }, { id }) => ({
    note: note || null,
    ...(id ? { accepted: Boolean(accepted) } : { day, ...numbersOf(values, ["balance"]) }),
  }),
});

// On one of them the difference began.
/** @param {Checkpoint} checkpoint */
const daysTable = ({ days }) =>
  table(
    { class: "days" },
    ["Day", "Net P&L", "Cash", "Balance"],
    days.map((one) => [dayOfYear(one.day), signed(one.net_pnl), signed(one.cash), amount(one.balance)]),
    ["", "num", "num", "num"],
  );

/** @param {CheckpointListItem} checkpoint */
const checkpointRow = (checkpoint) => ({
  id: checkpoint.id,
  name: dayOfYear(checkpoint.day),
  cells: [
    amount(checkpoint.balance),
    checkpoint.unexplained !== 0
      ? h("span.warn", `▲ ${whatDiffers(checkpoint)}`)
      : checkpoint.accepted
        ? `${signed(checkpoint.difference)} accepted`
        : "✓ agrees",
    checkpoint.note ?? "",
  ],
});
