// Accounts, copy groups and tags in the settings.

import { send } from "../client.js";
import { field, h, select } from "../dom.js";
import { amount } from "../format.js";
import { refused } from "./editing.js";

const text = (label, name, thing, attributes = {}, hint) => field(label, h("input", { name, value: thing[name] ?? "", ...attributes }), hint);

// "0.62" or "MES 0.62, MNQ 0.62": commissions per contract and side.
const feesText = (fees = {}) => Object.entries(fees).map(([root, fee]) => (root === "default" ? `${fee}` : `${root} ${fee}`)).join(", ");
// 0,62 is refused: it is not 0 and 62.
function feesOf(written) {
  const pairs = written.split(",").map((one) => one.trim().split(/\s+/)).filter(([first]) => first)
    .map((parts) => (parts.length > 1 ? [parts[0].toUpperCase(), Number(parts[1])] : ["default", Number(parts[0])]));
  const isClear = new Set(pairs.map(([root]) => root)).size === pairs.length && pairs.every(([, fee]) => Number.isFinite(fee));
  if (/\d,\d/.test(written) || !isClear) throw refused({ fees: "Write amounts with a point: 0.62 for all, or MES 0.62, MNQ 0.37" });
  return Object.fromEntries(pairs);
}

export const accountKind = {
  path: "/accounts", member: "account", title: "account", section: "accounts", none: "No accounts.",
  loss: "Its goals go with it. An account with trades cannot be deleted; archive it instead.",
  fields: (account) => [
    h("div", { class: "row" }, text("Name", "name", account, { required: true }), text("Broker", "broker", account)),
    h("div", { class: "row" }, text("Currency", "currency", { currency: "USD", ...account }), text("Starting balance", "starting_balance", { starting_balance: 0, ...account }, { inputmode: "decimal" })),
    field("Commission per contract and side", h("input", { name: "fees", value: feesText(account.fees) }), "0.62 for all, or MES 0.62, MNQ 0.37: for imports whose file states no costs"),
    h("label", { class: "check" }, h("input", { type: "checkbox", name: "archived", checked: account.archived }), "Archived"),
  ],
  body: ({ name, broker, currency, starting_balance, fees, archived }) => ({
    name, broker: broker || null, currency: currency.toUpperCase(), starting_balance: Number(starting_balance), fees: feesOf(fees), archived: Boolean(archived),
  }),
};

export const accountRows = (accounts) => accounts.map((one) => ({
  id: one.id, name: one.name, cells: [one.broker ?? "", `${amount(one.starting_balance)} ${one.currency}`, one.archived ? "archived" : ""],
}));

function membersOf(values) {
  const ids = Object.keys(values).filter((name) => name.startsWith("member_")).map((name) => Number(name.slice(7)));
  const members = ids.map((id) => ({ account_id: id, quantity_multiplier: Number(values[`multiplier_${id}`]) }));
  if (members.some(({ quantity_multiplier: many }) => !(many > 0 && many <= 999.99))) throw refused({ members: "Multipliers are numbers over 0, up to 999.99, such as 0.5" });
  return members;
}

export const groupKind = {
  path: "/copy-groups", member: "copy_group", title: "copy group", section: "copy-groups",
  none: "No copy groups. A group is a master account and the accounts that copy it.",
  loss: "Its goals go with it; its accounts and trades stay.",
  fields: (group, { accounts }) => [
    text("Name", "name", group, { required: true }),
    h("fieldset", null, h("legend", null, "Accounts, and how many contracts each trades for one of the master"),
      accounts.map((account) => {
        const member = group.members?.find((one) => one.account_id === account.id);
        return h("div", { class: "row" },
          h("label", { class: "check" }, h("input", { type: "checkbox", name: `member_${account.id}`, checked: Boolean(member) }), account.name),
          h("input", { name: `multiplier_${account.id}`, "aria-label": `Multiplier of ${account.name}`, inputmode: "decimal", size: 6, value: member?.quantity_multiplier ?? 1 }));
      }), h("small", { class: "error", "data-field": "members" })),
    field("Master", select({ name: "master_account_id", value: String(group.master_account_id ?? "") }, [["", "none"], ...accounts.map((one) => [String(one.id), one.name])])),
  ],
  body(values) {
    membersOf(values);
    return { name: values.name };
  },
  // The members are replaced first, because the master has to be one of them.
  async after(values, group) {
    await send("PUT", `/copy-groups/${group.id}/members`, { body: { members: membersOf(values) } });
    await send("PATCH", `/copy-groups/${group.id}`, { body: { master_account_id: Number(values.master_account_id) || null } });
  },
};

export const groupRows = (groups, accounts) => groups.map((one) => ({
  id: one.id, name: one.name, cells: [`${one.member_count} accounts`, accounts.find((account) => account.id === one.master_account_id)?.name ?? ""],
}));

export const categoryKind = {
  path: "/tag-categories", member: "tag_category", title: "tag category", section: "tag-categories", none: "No categories. Every tag is in one.",
  loss: "A category with tags cannot be deleted.",
  fields: (category) => [text("Name", "name", category, { required: true })],
  body: ({ name }) => ({ name }),
};

export const tagKind = (categories) => ({
  path: "/tags", member: "tag", title: "tag", section: "tags", none: "No tags.", loss: "It is removed from every trade.",
  fields: (tag) => [
    h("div", { class: "row" }, text("Name", "name", tag, { required: true }), field("Colour", h("input", { type: "color", name: "color", value: tag.color ?? "#3b82f6" }))),
    h("div", { class: "row" }, field("Category", select({ name: "category_id", value: String(tag.category_id ?? categories[0]?.id ?? "") }, categories.map((one) => [String(one.id), one.name]))),
      field("Type", select({ name: "type", value: tag.type ?? "custom" }, [["custom", "custom"], ["mistake", "mistake"]]), "mistakes count in mistake-free goals")),
  ],
  body: ({ name, color, category_id, type }) => ({ name, color, category_id: Number(category_id), type }),
});

export const tagRows = (tags, categories) => tags.map((tag) => ({
  id: tag.id, name: tag.name, cells: [categories.find((one) => one.id === tag.category_id)?.name, tag.type,
    h("span", { class: "dot", "aria-hidden": "true", style: { background: tag.color } })],
}));
