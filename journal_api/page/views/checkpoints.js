// What the broker said the balance was.

import { href } from "../client.js";
import { trying } from "../dialogs.js";
import { checkbox, h, table, textField } from "../dom.js";
import { amount, count, dayOfYear, plusDays, signed, tradingDay } from "../format.js";
import { numberField, numbersOf } from "../inputs.js";
import { edit } from "./editing.js";

/** @param {Context} context */
export const differingCheckpoints = (context) =>
  context.accounts
    .filter(({ checkpoints, archived }) => checkpoints && !archived)
    .map((one) => difference(one, context));

/** @param {Pick<CheckpointListItem, "unexplained">} checkpoint */
const whatDiffers = ({ unexplained }) =>
  unexplained == null
    ? "too large to compare"
    : !unexplained
      ? "nothing is left to explain"
      : `the journal has ${amount(Math.abs(unexplained))} ${unexplained > 0 ? "more" : "less"}`;

// Where it began: later ones may differ for the same reason.
/** @param {Account} account @param {Context} context */
function difference(account, context) {
  const { id, name, checkpoints } = account;
  const [{ id: checkpoint, day, since, balance, ...first }, ...later] = checkpoints;
  const accept = trying(() => edit(checkpointKind(account, true), checkpoint, context));
  return h(
    "section.card.notice.title",
    { "aria-label": `The broker's balance of ${name}` },
    h(
      "p",
      h("strong", name),
      `, end of ${dayOfYear(day)}: the broker said ${amount(balance)}, ${whatDiffers(first)}.`,
      later.length > 0 && ` ${count(later.length, "later checkpoint")} too.`,
    ),
    h(
      ".row",
      h(
        "a",
        { href: href("trades", { account_id: id, from: since && plusDays(since, 1), to: day }) },
        since ? `Trades since ${dayOfYear(since)}` : "Trades until then",
      ),
      h("a", { href: href("settings", { account: id }) }, "Enter cash"),
      h("button", { "aria-label": `Accept the difference of ${name}`, onclick: accept }, "Accept"),
    ),
  );
}

export const dayField = (label, day) => textField(label, "day", { day }, { type: "date" });
export const today = (/** @type {Account} */ { standing }, { me }) => standing?.at ?? tradingDay(me);

// What the broker said stays: a stored checkpoint is accepted or deleted.
/** @param {Account} account */
export const checkpointKind = (account, isAccepting = false) => ({
  path: `/accounts/${account.id}/checkpoints`,
  member: "checkpoint",
  title: "checkpoint",
  section: "checkpoints",
  name: "day",
  none: "Type the balance of a statement: the journal says whether it is complete.",
  loss: "Trades and cash stay.",
  stale: "Nothing was accepted: the journal has changed since this was shown. Here is what differs now.",
  fields: (checkpoint, context) => [
    ...(checkpoint.id
      ? stored(checkpoint, isAccepting)
      : [
          h(
            ".row",
            dayField("End of the trading day", today(account, context)),
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

// The difference began on one of the days.
/** @param {Checkpoint} checkpoint */
const stored = ({ day, balance, days, accepted, unexplained }, isAccepting) => [
  h("p", `${dayOfYear(day)}: the broker said ${amount(balance)}, ${whatDiffers({ unexplained })}.`),
  table(
    {},
    ["Day", "Net P&L", "Cash", "Balance"],
    days.map((one) => [dayOfYear(one.day), signed(one.net_pnl), signed(one.cash), amount(one.balance)]),
    ["", "num", "num", "num"],
  ),
  checkbox("Accept the difference", { name: "accepted", checked: accepted || isAccepting }),
];

/** @param {CheckpointListItem} checkpoint */
export const checkpointRow = ({ id, day, balance, unexplained, difference, accepted, note }) => ({
  id,
  name: dayOfYear(day),
  cells: [
    amount(balance),
    accepted
      ? `${signed(difference)} accepted`
      : unexplained === 0
        ? "✓ agrees"
        : h("span.warn", `▲ ${whatDiffers({ unexplained })}`),
    note,
  ],
});
