// Accounts, copy groups and tags in the settings.

import { refused, send } from "../client.js";
import { field, h, select } from "../dom.js";
import { TAG_TYPES } from "../enums.js";
import { amount, inWords } from "../format.js";
import { numberInput, numbersOf, parse, write } from "../numbers.js";

const text = (label, name, thing, attributes = {}, hint) => field(label, h("input", { name, value: thing[name] ?? "", ...attributes }), hint);

// "0.62" or "MES 0.62, MNQ 0.62": commissions per contract and side. A comma before a digit belongs to the number.
const feesText = (fees = {}) => Object.entries(fees).map(([root, fee]) => (root === "default" ? write(fee) : `${root} ${write(fee)}`)).join(", ");
const FEES = `${feesText({ default: 0.62 })} for all, or ${feesText({ MES: 0.62, MNQ: 0.37 })}`;
function feesOf(written) {
  const pairs = written.split(/;|,(?!\d)/).map((one) => one.trim().split(/\s+/)).filter(([first]) => first)
    .map((parts) => (parts.length > 1 ? [parts[0].toUpperCase(), parse(parts[1])] : ["default", parse(parts[0])]));
  const isClear = new Set(pairs.map(([root]) => root)).size === pairs.length && pairs.every(([, fee]) => Number.isFinite(fee));
  if (!isClear) throw refused({ fees: `Write ${FEES}` });
  return Object.fromEntries(pairs);
}

export const accountKind = {
  path: "/accounts", member: "account", title: "account", section: "accounts", none: "No accounts.",
  loss: "Its goals go with it. An account with trades cannot be deleted; archive it instead.",
  fields: (account) => [
    h("div", { class: "row" }, text("Name", "name", account, { required: true }), text("Broker", "broker", account)),
    h("div", { class: "row" }, text("Currency", "currency", { currency: "USD", ...account }), field("Starting balance", numberInput({ name: "starting_balance", value: account.starting_balance ?? 0 }))),
    field("Commission per contract and side", h("input", { name: "fees", value: feesText(account.fees) }), `${FEES}: for imports whose file states no costs`),
    h("label", { class: "check" }, h("input", { type: "checkbox", name: "archived", checked: account.archived }), "Archived"),
  ],
  body: ({ name, broker, currency, fees, archived, ...values }) => ({
    name, broker: broker || null, currency: currency.toUpperCase(), starting_balance: numbersOf(values, ["starting_balance"]).starting_balance ?? 0,
    fees: feesOf(fees), archived: Boolean(archived),
  }),
};

export const accountRows = (accounts) => accounts.map((one) => ({
  id: one.id, name: one.name, cells: [one.broker ?? "", `${amount(one.starting_balance)} ${one.currency}`, one.archived ? "archived" : ""],
}));

function membersOf(values) {
  const ids = Object.keys(values).filter((name) => name.startsWith("member_")).map((name) => Number(name.slice(7)));
  const members = ids.map((id) => ({ account_id: id, quantity_multiplier: parse(values[`multiplier_${id}`]) }));
  if (members.some(({ quantity_multiplier: many }) => !(many > 0 && many <= 999.99))) throw refused({ members: `Multipliers are numbers over 0, up to ${write(999.99)}, such as ${write(0.5)}` });
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
          numberInput({ name: `multiplier_${account.id}`, "aria-label": `Multiplier of ${account.name}`, size: 6, value: member?.quantity_multiplier ?? 1 }));
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

// The last choice is a category that does not exist yet; it is created with the tag.
const NEW = "new";

export const tagKind = (categories) => ({
  path: "/tags", member: "tag", title: "tag", section: "tags", none: "No tags.", loss: "It is removed from every trade.",
  fields(tag) {
    const choice = select({ name: "category_id", value: String(tag.category_id ?? categories[0]?.id ?? NEW) },
      [...categories.map((one) => [String(one.id), one.name]), [NEW, "New category…"]]);
    const added = text("New category", "new_category", {});
    const show = () => { added.hidden = choice.value !== NEW; };
    choice.addEventListener("change", show);
    show();
    return [
      h("div", { class: "row" }, text("Name", "name", tag, { required: true }), field("Colour", h("input", { type: "color", name: "color", value: tag.color ?? "#3b82f6" }))),
      h("div", { class: "row" }, field("Category", choice), added,
        field("Type", select({ name: "type", value: tag.type ?? "custom" }, inWords(TAG_TYPES)), "Mistakes count in mistake-free goals")),
    ];
  },
  async body({ name, color, category_id, new_category, type }, tag, form) {
    const id = category_id === NEW ? await createCategory(new_category, form.elements.category_id) : category_id;
    return { name, color, category_id: Number(id), type };
  },
});

// Chooses the new category, so that a second try does not create it again.
async function createCategory(name, choice) {
  try {
    const { data } = await send("POST", "/tag-categories", { body: { name } });
    const id = String(data.tag_category.id);
    choice.prepend(h("option", { value: id }, name));
    choice.value = id;
    choice.dispatchEvent(new Event("change"));
    return id;
  } catch (error) {
    throw refused({ new_category: error.details?.fields?.name ?? error.message });
  }
}

export const tagRows = (tags, categories) => tags.map((tag) => ({
  id: tag.id, name: tag.name, cells: [categories.find((one) => one.id === tag.category_id)?.name, tag.type,
    h("span", { class: "dot", "aria-hidden": "true", style: { background: tag.color } })],
}));
