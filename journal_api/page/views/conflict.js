// What is shown when somebody has changed a thing in the meantime (412): both versions, and the choice.

import { h, open, trying } from "../dom.js";
import { table } from "../table.js";

// `rows` are triples: what differs, the owner's version, the stored version (texts or nodes).
export function showConflict(thing, rows, { keepMine, takeStored }) {
  const choose = (action) =>
    trying(async () => {
      dialog.close();
      await action();
    });
  const dialog = open(
    `This ${thing} was changed in the meantime`,
    h("p", "Your change is not saved yet. Which version do you want to keep?"),
    table(
      { class: "versions" },
      ["", "Yours", "Stored now"],
      rows.map(([label, mine, stored]) => [h("th", { scope: "row" }, label), mine, stored]),
    ),
    h(
      ".row",
      h("button.primary", { onclick: choose(keepMine) }, "Save mine"),
      h("button", { onclick: choose(takeStored) }, "Keep the stored version"),
    ),
  );
}
