// The form of an account; a new one begins as the last.

import { get, refused, send } from "../client.js";
import { checkbox, choiceField, h, textField } from "../dom.js";
import { numberField, numbersOf, parse, write } from "../inputs.js";
import { zoneField } from "../zones.js";
import { forBroker, ofBroker, offerEarlier } from "./costs.js";

// "0.62" or "MES 0.62, MNQ 0.62". A comma before a digit belongs to the number.
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

// What a further account mostly shares with the last that was made.
const SHARED = ["broker", "currency", "starting_balance", "fees", "payout_share", "one_trade_is"];
const OF_DAYS = ["timezone", "day_rollover"];

/** @param {Account[]} accounts */
function lastOf(accounts) {
  const open = accounts.filter((one) => !one.archived);
  return open.sort((one, other) => other.id - one.id)[0];
}
const shared = (last) => Object.fromEntries([...SHARED, ...OF_DAYS].map((name) => [name, last?.[name]]));

/** @param {Account[]} accounts */
export const ruled = (accounts) =>
  accounts.filter(({ standing }) => standing).map(({ id, name }) => [id, name]);

/** @param {any} values @param {{ id: number }} account */
export async function copyRules({ rules_of }, { id }) {
  if (!rules_of) return;
  const { data } = await get(`/accounts/${rules_of}/rules`);
  await send("PUT", `/accounts/${id}/rules`, { body: data.rules });
}

const accountFields = (account, me, accounts, last) => [
  last && h("p.muted", `As for ${last.name}, but for the name: change what differs.`),
  h(".row", textField("Name", "name", account, { required: true }), textField("Broker", "broker", account)),
  h(
    ".row",
    textField("Currency", "currency", { currency: "USD", ...account }),
    numberField("Starting balance", "starting_balance", account.starting_balance ?? 0),
  ),
  textField(
    "Commission per contract and side",
    "fees",
    { fees: feesText(account.fees) },
    {},
    `${FEES}: for trades whose costs neither a file states nor you type`,
  ),
  numberField("Your share of payouts, %", "payout_share", account.payout_share, "Empty: all of it"),
  account.id && forBroker(account, ofBroker(account, accounts), "Commission and share"),
  choiceField("One trade of an imported file is", "one_trade_is", account.one_trade_is ?? "", [
    ["", "a position, from flat to flat"],
    ["row", "a row, as the broker writes it"],
  ]),
  h(
    ".row",
    zoneField(
      "Time zone of its days",
      { name: "timezone", value: account.timezone, placeholder: me.timezone },
      "Empty: as yours",
    ),
    textField(
      "They begin at",
      "day_rollover",
      account,
      { type: "time" },
      `Empty: as yours, ${me.day_rollover}`,
    ),
  ),
  account.id && checkbox("Archived", { name: "archived", checked: account.archived }),
  last &&
    ruled(accounts).length > 0 &&
    choiceField("Copy rules from", "rules_of", "", [["", "none"], ...ruled(accounts)]),
];

export const accountKind = {
  path: "/accounts",
  member: "account",
  title: "account",
  section: "accounts",
  none: "No accounts.",
  loss: "Its goals go with it. An account with trades cannot be deleted; archive it instead.",
  fields: (stored, { me, accounts }) => {
    const last = !stored.id && lastOf(accounts);
    return accountFields(last ? { ...shared(last), ...stored } : stored, me, accounts, last);
  },
  body: ({ name, broker, currency, fees, archived, one_trade_is, timezone, day_rollover, ...values }) => ({
    name,
    broker: broker || null,
    currency: currency.toUpperCase(),
    starting_balance: numbersOf(values, ["starting_balance"]).starting_balance ?? 0,
    payout_share: numbersOf(values, ["payout_share"]).payout_share,
    fees: feesOf(fees),
    archived: Boolean(archived),
    one_trade_is: one_trade_is || null,
    timezone: timezone || null,
    day_rollover: day_rollover || null,
  }),
  async after(values, account, before, { accounts, redraw }) {
    await copyRules(values, account);
    const charged = values.fees !== feesText(before.fees) && before.id ? [account] : [];
    const { fees, payout_share } = account;
    for (const { id } of values.for_broker ? ofBroker(before, accounts) : [])
      charged.push((await send("PATCH", `/accounts/${id}`, { body: { fees, payout_share } })).data.account);
    await offerEarlier(charged, redraw);
  },
};
