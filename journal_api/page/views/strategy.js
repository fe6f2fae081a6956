// The editor of a strategy. What is not saved yet lives in the form alone; it is read from there when it is saved.

import { get, send } from "../client.js";
import { confirm, field, find, form, h, open, select, trying } from "../dom.js";
import { showConflict } from "./conflict.js";
import { itemsIn, list } from "./reorder.js";
import { lossOf, removedBy } from "./strategy_loss.js";

export function strategyEditor(context, read) {
  const { strategy } = read.data;
  const { accounts, copyGroups } = context;
  const setups = list("Setups of the strategy", "Add a setup", setupItem, strategy.setups);
  const scope = strategy.account_id
    ? `account_${strategy.account_id}`
    : strategy.copy_group_id
      ? `group_${strategy.copy_group_id}`
      : "";
  const element = form(
    {
      class: "card editor",
      "aria-label": strategy.name,
      "data-draft": "The changes of this strategy are not saved.",
    },
    () => save(context, element, read),
    h(
      ".row",
      field("Name", h("input#strategy-name", { name: "name", value: strategy.name })),
      field(
        "For trades of",
        select({ name: "account_id", value: scope }, [
          ["", "All accounts"],
          ...accounts.map(({ id, name }) => [`account_${id}`, name]),
          ...copyGroups.map(({ id, name }) => [`group_${id}`, `${name} (group)`]),
        ]),
      ),
      h(
        "label.field.colour",
        h("span", "Colour"),
        h("input", { type: "color", name: "color_tag", value: strategy.color_tag }),
      ),
    ),
    field(
      "Description",
      h("textarea", { name: "description", rows: "2", value: strategy.description ?? "" }),
    ),
    h("h2", "Setups and their confirmations"),
    h(
      "p.muted",
      "Drag ⠿, or press ",
      h("kbd", "Alt"),
      " + ",
      h("kbd", "↑"),
      " ",
      h("kbd", "↓"),
      " in a row, to reorder. ",
      h("kbd", "Enter"),
      " adds a row below.",
    ),
    setups,
    h("p#moved.unseen", { role: "status" }),
    h(
      ".row",
      h("button.primary", "Save"),
      h("button", { onclick: () => discard(context, element) }, "Discard changes"),
      h("a", { href: `#/report?by=confirmation&strategy_id=${strategy.id}` }, "What pays"),
      h("a", { href: `#/trades?strategy_id=${strategy.id}` }, "Trades"),
      h("button.danger.end", { onclick: trying(() => remove(context, read)) }, "Delete"),
    ),
  );
  return element;
}

function discard({ redraw }, element) {
  delete element.dataset.changed;
  redraw();
}

const named = (value, label) => [
  h("input.item-name", { value: value ?? "", "aria-label": label, placeholder: label }),
  h("small.error", { "data-field": "" }),
];

const setupItem = (setup = {}) => ({
  id: setup.setup_id,
  name: setup.name,
  controls: named(setup.name, "Name of the setup"),
  below: list("Confirmations", "Add a confirmation", confirmationItem, setup.confirmations ?? []),
});
const confirmationItem = (confirmation = {}) => ({
  id: confirmation.confirmation_id,
  name: confirmation.name,
  controls: named(confirmation.name, "Name of the confirmation"),
});

// The body of PATCH /strategies/{id}; puts the name of its member on the place of each error.
function bodyOf(element) {
  const { name, description, color_tag, account_id } = Object.fromEntries(new FormData(element));
  const [kind, number] = String(account_id).split("_");
  const items = (parent, path, key, more) =>
    itemsIn(parent).map((item, place) => {
      const own = `${path}[${place}]`;
      item.querySelector("[data-field]").dataset.field = `${own}.name`;
      const id = item.dataset.id ? { [key]: Number(item.dataset.id) } : {};
      return { ...id, name: item.querySelector(".item-name").value, ...more?.(item, own) };
    });
  return {
    name,
    description: description || null,
    color_tag,
    account_id: kind === "account" ? Number(number) : null,
    copy_group_id: kind === "group" ? Number(number) : null,
    setups: items(element, "setups", "setup_id", (item, own) => ({
      confirmations: items(item, `${own}.confirmations`, "confirmation_id"),
    })),
  };
}

// Asks first what goes; asks the owner if something does.
async function save(context, element, read) {
  const path = `/strategies/${read.data.strategy.id}`;
  const body = bodyOf(element);
  let isSaved = false;
  const done = async () => {
    isSaved = true;
    delete element.dataset.changed;
    await context.redraw();
  };
  const attempt = async ({ data: { strategy }, etag }) => {
    try {
      const tried = await send("PATCH", path, { body, etag, query: { dry_run: true } });
      const loss = lossOf(removedBy(body, strategy), tried.headers);
      const write = async () => {
        await send("PATCH", path, { body, etag });
        await done();
      };
      if (loss)
        confirm("Save the strategy?", `This ${loss}.`, "Save and remove", () => write().catch(conflict));
      else await write();
    } catch (error) {
      await conflict(error);
    }
  };
  const conflict = async (error) => {
    if (error.status !== 412) throw error;
    find("dialog[open]")?.close();
    const stored = await get(path);
    showConflict("strategy", [["Strategy", outline(body), outline(stored.data.strategy)]], {
      keepMine: () => attempt(stored),
      takeStored: done,
    });
  };
  await attempt(read);
  // While a dialog asks, the form stays one that is not drawn over.
  if (!isSaved)
    setTimeout(() => {
      element.dataset.changed = "";
    });
}

const outline = ({ name, description, setups }) =>
  [
    name,
    description,
    ...setups.flatMap((setup) => [
      `• ${setup.name}`,
      ...setup.confirmations.map((confirmation) => `   – ${confirmation.name}`),
    ]),
  ]
    .filter(Boolean)
    .join("\n");

async function remove({ go }, { data: { strategy }, etag }) {
  const path = `/strategies/${strategy.id}`;
  const { headers } = await send("DELETE", path, { etag, query: { dry_run: true } });
  const sizes = {
    setups: strategy.setups.length,
    confirmations: strategy.setups.flatMap(({ confirmations }) => confirmations).length,
  };
  const loss = lossOf(sizes, headers, "strategy") || "removes nothing else";
  confirm(`Delete ${strategy.name}?`, `This ${loss}. Trades stay in the journal.`, "Delete", async () => {
    await send("DELETE", path, { etag });
    document.querySelector(".editor")?.removeAttribute("data-changed");
    go("strategies");
  });
}
