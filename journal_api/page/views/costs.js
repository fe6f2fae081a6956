// What an account pays per side.

import { get, href, refused, send } from "../client.js";
import { confirm, open } from "../dialogs.js";
import { field, form, h } from "../dom.js";
import { count } from "../format.js";
import { REASON, numberInput, numbersOf } from "../inputs.js";

/** @param {Account} account */
export async function offerEarlier({ id, name, fees }, done) {
  const charge = (dry_run) =>
    send("PATCH", `/accounts/${id}`, { body: { fees }, query: { apply_to: "earlier", dry_run } });
  const trades = Number((await charge(true)).headers.get("X-Trades-Charged"));
  if (!trades) return;
  confirm(
    `Charge ${count(trades, "earlier trade")} of ${name} too?`,
    "No file stated their fees, and nobody typed them. Their net P&L and the days of goals follow.",
    "Charge them",
    async () => {
      await charge(false);
      await done();
    },
    "primary",
  );
}

/** @param {Account} account */
const perSide = (account, redraw, done) =>
  form(
    { class: "row" },
    async (values) => {
      const { per_side } = numbersOf(values, ["per_side"]);
      if (per_side === null) throw refused({ per_side: REASON });
      const body = { fees: { ...account.fees, default: per_side } };
      const { data } = await send("PATCH", `/accounts/${account.id}`, { body });
      await done();
      await offerEarlier(data.account, redraw);
    },
    field(
      `${account.name}: per contract and side`,
      numberInput({ name: "per_side", value: account.fees.default }),
      "0 if it is free",
    ),
    h("button.again", "Charge this"),
    h("p.muted.wide", "Amounts for each contract root are under Settings, Accounts."),
  );

/** @param {Account[]} accounts */
const perSideOfAll = (accounts, done) =>
  form(
    { class: "row" },
    async (values) => {
      const { per_side } = numbersOf(values, ["per_side"]);
      if (per_side === null) throw refused({ per_side: REASON });
      for (const { id, fees } of accounts)
        await send("PATCH", `/accounts/${id}`, { body: { fees: { ...fees, default: per_side } } });
      await done();
    },
    field(
      `All ${count(accounts.length, "account")}: per contract and side`,
      numberInput({ name: "per_side", value: null }),
    ),
    h("button.again", "Charge all"),
  );

/** @param {Account[]} accounts @param {Context} context */
export const costsQuestion = (accounts, { redraw }, again) =>
  h(
    "section.notice.costs",
    { "aria-label": "Costs" },
    h("p.strong", "This file states no costs. What do you pay per side?"),
    accounts.length > 1 && perSideOfAll(accounts, again),
    accounts.map((account) => perSide(account, redraw, again)),
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
    const dialog = open("What do you pay per side?", perSide(account, redraw, done));
  };
  return h(
    "#no-costs.row.warn",
    h("strong", "Gross = net, no costs:"),
    h("a", { href: href("trades", { ...query, copies: "true" }) }, count(meta.pagination.total, "trade")),
    h("button", { onclick: ask }, `What does ${account.name} pay?`),
  );
}
