// @ts-check
// Copy groups in the settings.

import { refused, send } from "../client.js";
import { field, h, select, textField } from "../dom.js";
import { numberInput, parse, write } from "../numbers.js";

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
      null,
      h("legend", null, "Accounts, and how many contracts each trades for one of the master"),
      accounts.map((account) => {
        const member = group.members?.find((one) => one.account_id === account.id);
        return h(
          "div",
          { class: "row" },
          h(
            "label",
            { class: "check" },
            h("input", { type: "checkbox", name: `member_${account.id}`, checked: Boolean(member) }),
            account.name,
          ),
          numberInput({
            name: `multiplier_${account.id}`,
            "aria-label": `Multiplier of ${account.name}`,
            size: 6,
            value: member?.quantity_multiplier ?? 1,
          }),
        );
      }),
      h("small", { class: "error", "data-field": "members" }),
    ),
    field(
      "Master",
      select({ name: "master_account_id", value: String(group.master_account_id ?? "") }, [
        ["", "none"],
        ...accounts.map((one) => [String(one.id), one.name]),
      ]),
    ),
  ],
  body(values) {
    membersOf(values);
    return { name: values.name };
  },
  // The members are replaced first, because the master has to be one of them.
  async after(values, group) {
    await send("PUT", `/copy-groups/${group.id}/members`, { body: { members: membersOf(values) } });
    await send("PATCH", `/copy-groups/${group.id}`, {
      body: { master_account_id: Number(values.master_account_id) || null },
    });
  },
};

/** @param {CopyGroup[]} groups @param {Account[]} accounts */
export const groupRows = (groups, accounts) =>
  groups.map((one) => ({
    id: one.id,
    name: one.name,
    cells: [
      `${one.member_count} accounts`,
      accounts.find((account) => account.id === one.master_account_id)?.name ?? "",
    ],
  }));
