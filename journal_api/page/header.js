// The bar: the links of the views, and the accounts that are shown.

import { send } from "./client.js";
import { h, select, trying } from "./dom.js";
import { leave } from "./drafts.js";
import { accountName } from "./format.js";

export function headerOf(views, { name, me, accounts, copyGroups, redraw }) {
  const choose = ({ target }) => {
    const { value } = target;
    leave(
      trying(async () => {
        await send("PATCH", "/me", { body: { active_selection: value } });
        await redraw();
      }),
      () => {
        target.value = me.active_selection;
      },
    );
  };
  const options = [
    ["all", "All accounts"],
    ...accounts.map((one) => [`account_${one.id}`, accountName(one)]),
    ...copyGroups.map((one) => [`group_${one.id}`, `${one.name} (group)`]),
  ];
  return [
    h(
      "a.skip",
      {
        href: "#main",
        onclick: (event) => {
          event.preventDefault();
          document.getElementById("main").focus();
        },
      },
      "Skip to content",
    ),
    h(
      "nav",
      { "aria-label": "Views" },
      Object.entries(views).map(([view, [title]]) =>
        h("a", { href: `#/${view}`, "aria-current": view === name && "page" }, title),
      ),
    ),
    accounts.length > 1 &&
      select(
        { id: "selection", "aria-label": "Accounts shown", value: me.active_selection, onchange: choose },
        options,
      ),
  ].filter(Boolean);
}
