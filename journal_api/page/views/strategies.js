// #/strategies

import { get, send } from "../client.js";
import { confirm, formDialog, showConflict, trying } from "../dialogs.js";
import { choiceField, field, find, form, h, textField, withKeys } from "../dom.js";
import { count, nameIn, scopeOf, scopeOptions } from "../format.js";
import { itemsIn, list } from "./reorder.js";

/** @param {Context} context */
export async function view(context) {
  const { strategies } = (await get("/strategies")).data;
  const id = Number(context.query.get("id")) || strategies[0]?.id;
  const read = strategies.some((strategy) => strategy.id === id) && (await get(`/strategies/${id}`));
  const title = h(
    ".title",
    h("h1", "Strategies"),
    h("button", { onclick: () => add(context) }, "New strategy"),
  );
  if (!strategies.length) return [title, nothing(context)];
  const attributes = (strategy) => ({
    href: `#/strategies?id=${strategy.id}`,
    id: `strategy-${strategy.id}`,
    "aria-current": strategy.id === id && "true",
  });
  const link = (strategy) =>
    h(
      "li",
      h(
        "a",
        attributes(strategy),
        h("span.dot", { style: { background: strategy.color_tag }, "aria-hidden": "true" }),
        strategy.name,
        h("small", count(strategy.setup_count, "setup"), scopeName(context, strategy)),
      ),
    );
  return [
    title,
    h(
      ".strategies",
      h("ul.card.picks", { "aria-label": "Strategies" }, strategies.map(link)),
      read
        ? strategyEditor(context, read)
        : h("section.card", h("p", "This strategy does not exist any more.")),
    ),
  ];
}

function scopeName({ accounts, copyGroups }, { account_id, copy_group_id }) {
  const name = nameIn(accounts, account_id) ?? nameIn(copyGroups, copy_group_id);
  return name && ` · ${name}`;
}

const nothing = (context) =>
  h(
    "section.card.empty",
    h(
      "p",
      "A strategy has setups, and a setup has confirmations: the checklist that a trade of it is held against.",
    ),
    h("p", "What pays then compares trades with each confirmation to those without it."),
    h(".row", h("button.primary", { onclick: () => add(context) }, "New strategy")),
  );

const add = ({ go }) =>
  formDialog(
    "New strategy",
    {},
    (body) => send("POST", "/strategies", { body }),
    ({ data }) => go("strategies", { id: data.strategy.id }),
    textField("Name", "name", {}, { autofocus: true }),
    h(".row", h("button.primary", "Create")),
  );

// The editor of a strategy: what is not saved yet lives in the form alone.
function strategyEditor(context, read) {
  const { strategy } = read.data;
  const setups = list("Setups of the strategy", "Add a setup", setupItem, strategy.setups);
  const { account_id, copy_group_id } = strategy;
  const scope = account_id ? `account_${account_id}` : copy_group_id ? `group_${copy_group_id}` : "";
  const element = form(
    {
      class: "card editor",
      "aria-label": strategy.name,
      "data-draft": "The changes of this strategy are not saved.",
    },
    () => save(context, element, read),
    h(
      ".row",
      textField("Name", "name", strategy, { id: "strategy-name" }),
      choiceField("For trades of", "scope", scope, [["", "All accounts"], ...scopeOptions(context)]),
      textField("Colour", "color_tag", strategy, { type: "color" }),
    ),
    field(
      "Description",
      h("textarea", { name: "description", rows: "2", value: strategy.description ?? "" }),
    ),
    h("h2", "Setups and their confirmations"),
    h(
      "p.muted",
      withKeys("Drag ⠿, or press `Alt` + `↑` `↓` in a row, to reorder. `Enter` adds a row below."),
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

function bodyOf(element) {
  const { name, description, color_tag, scope } = Object.fromEntries(new FormData(element));
  const items = (parent, path, key, more) =>
    itemsIn(parent).map((item, place) => {
      const own = `${path}[${place}]`;
      find("[data-field]", item).dataset.field = `${own}.name`;
      const id = item.dataset.id ? { [key]: Number(item.dataset.id) } : {};
      return { ...id, name: find(".item-name", item).value, ...more?.(item, own) };
    });
  return {
    name,
    description: description || null,
    color_tag,
    account_id: null,
    copy_group_id: null,
    ...scopeOf(scope),
    setups: items(element, "setups", "setup_id", (item, own) => ({
      confirmations: items(item, `${own}.confirmations`, "confirmation_id"),
    })),
  };
}

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
  // While a dialog asks, the form is not drawn over.
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
    find(".editor")?.removeAttribute("data-changed");
    go("strategies");
  });
}

/** @param {Strategy} stored */
function removedBy(body, stored) {
  const kept = new Set(body.setups.map(({ setup_id }) => setup_id));
  const ids = (one) =>
    one.setups.flatMap(({ confirmations }) => confirmations.map(({ confirmation_id }) => confirmation_id));
  const keptConfirmations = new Set(ids(body));
  return {
    setups: stored.setups.filter(({ setup_id }) => !kept.has(setup_id)).length,
    confirmations: ids(stored).filter((id) => !keptConfirmations.has(id)).length,
  };
}

// "removes 1 setup and 2 confirmations: 14 trades lose their setup", "" if nothing goes.
function lossOf({ setups, confirmations }, headers, what = "setup") {
  const removed = [
    setups && count(setups, "setup"),
    confirmations && count(confirmations, "confirmation"),
  ].filter(Boolean);
  const trades = Number(headers.get("X-Trades-Unlinked"));
  const answers = Number(headers.get("X-Answers-Deleted"));
  const taken = [
    trades && `${count(trades, "trade")} ${trades === 1 ? "loses its" : "lose their"} ${what}`,
    answers && `${count(answers, "answer")} ${answers === 1 ? "is" : "are"} deleted`,
  ].filter(Boolean);
  if (!removed.length && !taken.length) return "";
  const effect = taken.length ? `: ${taken.join(", ")}` : ": no trade or answer is lost";
  return removed.length ? `removes ${removed.join(" and ")}${effect}` : taken.join(", ");
}
