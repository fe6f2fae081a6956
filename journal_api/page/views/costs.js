// @ts-check
// What an account pays per side: the question of an import, and charging earlier trades.

import { refused, send } from "../client.js";
import { confirm, field, form, h } from "../dom.js";
import { count } from "../format.js";
import { numberInput, numbersOf, REASON } from "../numbers.js";

// Earlier trades whose costs nobody stated can be charged too: the owner is asked, with their number.
/** @param {Account} account @param {() => Promise<void>} done */
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

// The question above a file that states no costs, for accounts without commissions; `again` reads the file again.
/** @param {Account[]} accounts @param {Context} context @param {() => Promise<void>} again */
export const costsQuestion = (accounts, { redraw }, again) =>
  h(
    "section",
    { class: "notice costs", "aria-label": "Costs" },
    h("p", { class: "strong" }, "This file states no costs. What do you pay per side?"),
    accounts.map((account) =>
      form(
        { class: "row" },
        async (values) => {
          const { per_side } = numbersOf(values, ["per_side"]);
          if (per_side === null) throw refused({ per_side: REASON });
          const body = { fees: { ...account.fees, default: per_side } };
          const { data } = await send("PATCH", `/accounts/${account.id}`, { body });
          await again();
          await offerEarlier(data.account, redraw);
        },
        field(`${account.name}: per contract and side`, numberInput({ name: "per_side" }), "0 if it is free"),
        h("button", { class: "again" }, "Charge this"),
      ),
    ),
    h("p", { class: "muted" }, "Amounts for each contract root are under Settings, Accounts."),
  );
