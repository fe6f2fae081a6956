// The form of an account; a new one begins as the last.

import { get, href, refused, send } from "../client.js";
import { confirm, open } from "../dialogs.js";
import { checkbox, choiceField, field, form, h, textField } from "../dom.js";
import { count } from "../format.js";
import { REASON, numberField, numberInput, numbersOf, parse, write, zoneField } from "../inputs.js";

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
  loss: "Its goals go with it. One with trades cannot be deleted: archive it.",
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

// What an account pays per side.
/** @param {Account[]} accounts whose commissions were changed */
async function offerEarlier(accounts, done) {
  const charge = ({ id, fees }, dry_run) =>
    send("PATCH", `/accounts/${id}`, { body: { fees }, query: { apply_to: "earlier", dry_run } });
  let trades = 0;
  for (const one of accounts) trades += Number((await charge(one, true)).headers.get("X-Trades-Charged"));
  if (!trades) return;
  confirm(
    `Charge ${count(trades, "earlier trade")} of ${accounts.map(({ name }) => name).join(", ")} too?`,
    "No file stated their fees, and nobody typed them. Their net P&L and the days of goals follow.",
    "Charge them",
    async () => {
      for (const one of accounts) await charge(one, false);
      await done();
    },
    "primary",
  );
}

// What an account costs is mostly what the others of its broker cost.
/** @param {Account} account @param {Account[]} accounts */
const ofBroker = ({ id, broker }, accounts) =>
  accounts.filter((one) => broker && one.broker === broker && one.id !== id && !one.archived);

/** @param {Account} account @param {Account[]} others of its broker */
const forBroker = ({ broker }, others, what) =>
  others.length > 0 &&
  checkbox(`${what} also for ${count(others.length, "other account")} of ${broker}`, { name: "for_broker" });

/** @param {Account[]} charged @param {Account[]} others to which it can be given */
function perSide([account, ...more], others, redraw, done) {
  const isOne = !more.length;
  return form(
    { class: "row" },
    async (values) => {
      const { per_side } = numbersOf(values, ["per_side"]);
      if (per_side === null) throw refused({ per_side: REASON });
      const written = [];
      for (const { id, fees } of [account, ...more, ...(values.for_broker ? others : [])]) {
        const body = { fees: { ...fees, default: per_side } };
        written.push((await send("PATCH", `/accounts/${id}`, { body })).data.account);
      }
      await done();
      await offerEarlier(written, redraw);
    },
    field(
      `${isOne ? account.name : `All ${count(more.length + 1, "account")}`}: per contract and side`,
      numberInput({ name: "per_side", value: isOne ? account.fees.default : null }),
      isOne && "0 if it is free",
    ),
    h("button.again", isOne ? "Charge this" : "Charge all"),
    forBroker(account, others, "It is paid"),
    isOne && h("p.muted.wide", "Amounts for each contract root are under Settings, Accounts."),
  );
}

/** @param {Account[]} accounts @param {Context} context */
export const costsQuestion = (accounts, context, again) =>
  h(
    "section.notice.costs",
    { "aria-label": "Costs" },
    h("p.strong", "This file states no costs. What do you pay per side?"),
    accounts.length > 1
      ? [accounts, ...accounts.map((one) => [one])].map((some) => perSide(some, [], context.redraw, again))
      : perSide(accounts, ofBroker(accounts[0], context.accounts), context.redraw, again),
  );

/** @param {Context} context */
export async function costsNotice({ accounts, redraw }, filters) {
  const query = { ...filters, fees_source: "none" };
  const { data, meta } = await get("/trades", { ...query, limit: 1 });
  const account = accounts.find(({ id }) => id === data.trades[0]?.account_id);
  if (!account) return null;
  const ask = () => {
    const done = async () => {
      dialog.close();
      await redraw();
    };
    const dialog = open(
      "What do you pay per side?",
      perSide([account], ofBroker(account, accounts), redraw, done),
    );
  };
  return h(
    "#no-costs.row.warn",
    h("strong", "Gross = net, no costs:"),
    h("a", { href: href("trades", { ...query, copies: "true" }) }, count(meta.pagination.total, "trade")),
    h("button", { onclick: ask }, `What does ${account.name} pay?`),
  );
}
