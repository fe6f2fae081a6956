// Accounts in the settings.

import { refused } from "../client.js";
import { field, h, select, textField } from "../dom.js";
import { amount } from "../format.js";
import { numberInput, numbersOf, parse, write } from "../numbers.js";
import { offerEarlier } from "./costs.js";

// "0.62" or "MES 0.62, MNQ 0.62": commissions per contract and side. A comma before a digit belongs to the number.
const feesText = (fees = {}) =>
  Object.entries(fees)
    .map(([root, fee]) => (root === "default" ? write(fee) : `${root} ${write(fee)}`))
    .join(", ");
const FEES = `${feesText({ default: 0.62 })} for all, or ${feesText({ MES: 0.62, MNQ: 0.37 })}`;
function feesOf(written) {
  const pairs = written
    .split(/;|,(?!\d)/)
    .map((one) => one.trim().split(/\s+/))
    .filter(([first]) => first)
    .map((parts) =>
      parts.length > 1 ? [parts[0].toUpperCase(), parse(parts[1])] : ["default", parse(parts[0])],
    );
  const isClear =
    new Set(pairs.map(([root]) => root)).size === pairs.length &&
    pairs.every(([, fee]) => Number.isFinite(fee));
  if (!isClear) throw refused({ fees: `Write ${FEES}` });
  return Object.fromEntries(pairs);
}

export const accountKind = {
  path: "/accounts",
  member: "account",
  title: "account",
  section: "accounts",
  none: "No accounts.",
  loss: "Its goals go with it. An account with trades cannot be deleted; archive it instead.",
  fields: (account) => [
    h(".row", textField("Name", "name", account, { required: true }), textField("Broker", "broker", account)),
    h(
      ".row",
      textField("Currency", "currency", { currency: "USD", ...account }),
      field(
        "Starting balance",
        numberInput({ name: "starting_balance", value: account.starting_balance ?? 0 }),
      ),
    ),
    field(
      "Commission per contract and side",
      h("input", { name: "fees", value: feesText(account.fees) }),
      `${FEES}: for trades whose costs neither a file states nor you type`,
    ),
    field(
      "One trade of an imported file is",
      select({ name: "one_trade_is", value: account.one_trade_is ?? "" }, [
        ["", "a position, from flat to flat"],
        ["row", "a row, as the broker writes it"],
      ]),
    ),
    account.id &&
      h(
        "label.check",
        h("input", { type: "checkbox", name: "archived", checked: account.archived }),
        "Archived",
      ),
  ],
  body: ({ name, broker, currency, fees, archived, one_trade_is, ...values }) => ({
    name,
    broker: broker || null,
    currency: currency.toUpperCase(),
    starting_balance: numbersOf(values, ["starting_balance"]).starting_balance ?? 0,
    fees: feesOf(fees),
    archived: Boolean(archived),
    one_trade_is: one_trade_is || null,
  }),
  after: (values, account, before, { redraw }) =>
    values.fees !== feesText(before.fees) && before.id && offerEarlier(account, redraw),
};

/** @param {Account[]} accounts */
export const accountRows = (accounts) =>
  accounts.map((one) => ({
    id: one.id,
    name: one.name,
    cells: [
      one.broker ?? "",
      `${amount(one.starting_balance)} ${one.currency}`,
      one.archived ? "archived" : "",
    ],
  }));
