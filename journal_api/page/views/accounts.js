// Accounts and copy groups in the settings.

import { get, href, refused, send } from "../client.js";
import { confirm, open, trying } from "../dialogs.js";
import { card, checkbox, choiceField, h, money, table, textField } from "../dom.js";
import { amount, count, nameIn, tradingDay, whyNone } from "../format.js";
import { numberField, numberInput, numbersOf, parse, write } from "../inputs.js";

/** @param {Account[]} accounts */
export const accountRows = (accounts) =>
  accounts.map((one) => ({
    id: one.id,
    name: one.name,
    cells: [
      one.broker ?? "",
      `${amount(one.starting_balance)} ${one.currency}`,
      one.archived ? "archived" : "",
      h("a", { href: href("settings", { account: one.id }) }, "Rules and cash"),
    ],
  }));

function membersOf(values) {
  const ids = Object.keys(values)
    .filter((name) => name.startsWith("member_"))
    .map((name) => Number(name.slice(7)));
  const members = ids.map((id) => ({
    account_id: id,
    quantity_multiplier: parse(values[`multiplier_${id}`]),
  }));
  if (members.some(({ quantity_multiplier: many }) => !(many > 0 && many <= 999.99)))
    throw refused({
      members: `Multipliers are numbers over 0, up to ${write(999.99)}, such as ${write(0.5)}`,
    });
  return members;
}

export const groupKind = {
  path: "/copy-groups",
  member: "copy_group",
  title: "copy group",
  section: "copy-groups",
  none: "No copy groups. A group is a master account and the accounts that copy it.",
  loss: "Its goals go with it; its accounts and trades stay.",
  fields: (group, { accounts }) => [
    textField("Name", "name", group, { required: true }),
    h(
      "fieldset",
      h("legend", "Accounts, and how many contracts each trades for one of the master"),
      accounts.map((account) => {
        const member = group.members?.find((one) => one.account_id === account.id);
        return h(
          ".row",
          checkbox(account.name, { name: `member_${account.id}`, checked: Boolean(member) }),
          numberInput({
            name: `multiplier_${account.id}`,
            "aria-label": `Multiplier of ${account.name}`,
            size: 6,
            value: member?.quantity_multiplier ?? 1,
          }),
        );
      }),
      h("small.error", { "data-field": "members" }),
    ),
    choiceField(
      "Master",
      "master_account_id",
      group.master_account_id ?? "",
      [["", "none"], ...accounts.map((one) => [one.id, one.name])],
      "Imports link what the other accounts copy of its trades",
    ),
    numberField("Seconds between a trade and its copies", "copy_seconds", group.copy_seconds ?? 5),
    checkbox("Copies may have any quantity", { name: "any_quantity", checked: group.any_quantity }),
  ],
  body(values) {
    membersOf(values);
    const { copy_seconds } = numbersOf(values, ["copy_seconds"]);
    return { name: values.name, copy_seconds: copy_seconds ?? 5, any_quantity: Boolean(values.any_quantity) };
  },
  // The master has to be one of the members.
  async after(values, group, before, { redraw }) {
    await send("PUT", `/copy-groups/${group.id}/members`, { body: { members: membersOf(values) } });
    const master_account_id = Number(values.master_account_id) || null;
    await send("PATCH", `/copy-groups/${group.id}`, { body: { master_account_id } });
    if (master_account_id) await linkCopies(group, redraw, true);
  },
};

async function linkCopies(group, redraw, isQuiet = false) {
  const post = (dry_run) => send("POST", `/copy-groups/${group.id}/link`, { query: { dry_run } });
  const { linked, ambiguous } = (await post(true)).data;
  const doubts = ambiguous.length
    ? ` ${count(ambiguous.length, "trade")} may copy several and ${ambiguous.length === 1 ? "is" : "are"} left alone.`
    : "";
  if (!linked && isQuiet) return;
  if (!linked) return void open("Nothing to link", h("p", `No trade is a copy that is not linked.${doubts}`));
  confirm(
    `Link ${count(linked, "copy", "copies")} in ${group.name}?`,
    `Reports then count a trade and its copies once, by the original.${doubts}`,
    "Link them",
    async () => {
      await post(false);
      await redraw();
    },
    "primary",
  );
}

const linkButton = (group, redraw) =>
  group.master_account_id != null &&
  h(
    "button",
    { "aria-label": `Link the copies of ${group.name}`, onclick: trying(() => linkCopies(group, redraw)) },
    "Link copies",
  );

/** @param {CopyGroup[]} groups @param {Context} context */
export const groupRows = (groups, { accounts, redraw }) =>
  groups.map((one) => ({
    id: one.id,
    name: one.name,
    cells: [
      count(one.member_count, "account"),
      nameIn(accounts, one.master_account_id) ?? "",
      linkButton(one, redraw),
    ],
  }));

// What accounts cost and pay: one line since January, by broker and by month beneath.
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
