// What an account pays per side.

import { get, href, refused, send } from "../client.js";
import { confirm, open } from "../dialogs.js";
import { checkbox, field, form, h } from "../dom.js";
import { count } from "../format.js";
import { REASON, numberInput, numbersOf } from "../inputs.js";

/** @param {Account[]} accounts whose commissions were changed */
export async function offerEarlier(accounts, done) {
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
export const ofBroker = ({ id, broker }, accounts) =>
  accounts.filter((one) => broker && one.broker === broker && one.id !== id && !one.archived);

/** @param {Account} account @param {Account[]} others of its broker */
export const forBroker = ({ broker }, others, what) =>
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
