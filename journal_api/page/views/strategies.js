// #/strategies

import { get, send } from "../client.js";
import { formDialog } from "../dialogs.js";
import { h, textField } from "../dom.js";
import { count, nameIn } from "../format.js";
import { strategyEditor } from "./strategy.js";

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
        h("small", count(strategy.setup_count, "setup"), scopeOf(context, strategy)),
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

function scopeOf({ accounts, copyGroups }, { account_id, copy_group_id }) {
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
