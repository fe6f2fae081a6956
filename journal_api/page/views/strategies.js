// #/strategies: the strategies, and the one that the address names (id) to be edited.

import { get, send } from "../client.js";
import { field, form, h, open } from "../dom.js";
import { count } from "../format.js";
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
  const scope =
    accounts.find(({ id }) => id === account_id) ?? copyGroups.find(({ id }) => id === copy_group_id);
  return scope && ` · ${scope.name}`;
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

function add({ go }) {
  const dialog = open(
    "New strategy",
    form(
      null,
      async (body) => {
        const { data } = await send("POST", "/strategies", { body });
        dialog.close();
        go("strategies", { id: data.strategy.id });
      },
      field("Name", h("input", { name: "name", autofocus: true })),
      h(".row", h("button.primary", "Create")),
    ),
  );
}
