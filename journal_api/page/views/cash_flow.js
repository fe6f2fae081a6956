// What accounts cost and pay: one line since January, by broker and by month beneath.

import { get } from "../client.js";
import { card, h, money, table } from "../dom.js";
import { amount, count, tradingDay, whyNone } from "../format.js";

const HEADS = ["", "Paid", "Received", "Net", "Payouts", "Accounts"];
const CLASSES = ["", ...HEADS.slice(1).map(() => "num")];

/** @param {Context} context */
export async function cashFlowCard({ me }) {
  const from = `${tradingDay(me).slice(0, 4)}-01-01`;
  const read = async (group_by) => (await get("/cash-flow", { from, group_by })).data.cash_flow;
  const [byBroker, byMonth] = await Promise.all([read("broker"), read("month")]);
  const { total } = byBroker;
  if (!total.accounts) return null;
  const lost = total.lost ? `, ${total.lost} of ${count(total.accounts, "account")} lost` : "";
  return card(
    "What accounts cost and pay",
    { id: "cash-flow" },
    total.net == null
      ? h("p.muted", `${whyNone("mixed_currencies")} They are apart by broker, if each has one.`)
      : h(
          "p",
          `Paid ${amount(total.paid)}, received ${amount(total.received)}, net `,
          h("strong", money(total.net)),
          ` since January${lost}`,
        ),
    h("details", h("summary", "By broker and by month"), [byBroker, byMonth].map(groupsTable)),
  );
}

/** @param {CashFlow} flow */
const groupsTable = ({ groups }) =>
  table(
    { class: "stacked" },
    HEADS,
    groups.map((one) => [
      one.name ?? "No broker",
      amount(one.paid),
      amount(one.received),
      money(one.net),
      amount(one.payouts),
      one.lost ? `${one.accounts}, ${one.lost} lost` : one.accounts,
    ]),
    CLASSES,
  );
