// Formats that the owner has described, and the form for an unknown header.

import { send } from "../client.js";
import { confirm } from "../dialogs.js";
import { card, field, form, h, table, textField } from "../dom.js";
import * as format from "../format.js";

const OF_KIND = {
  trades: ["entry_price", "exit_price", "opened_at", "closed_at", "gross_pnl", "net_pnl"],
  fills: ["price", "at"],
};
const HINTS = {
  gross_pnl: "Before costs",
  net_pnl: "After costs",
  side: "Without it, the sign of the quantity",
};
const list = (text) =>
  text
    .trim()
    .split(/\s*,\s*/)
    .filter(Boolean);

export const withoutProfile = ({ id }) => send("DELETE", `/import-profiles/${id}`);
export const ownProfiles = (profiles, { redraw }) =>
  card(
    "Your formats",
    table(
      { class: "middle" },
      [],
      profiles.map((profile) => [
        profile.name,
        `one ${profile.kind.slice(0, -1)} a row`,
        removeButton(profile, redraw),
      ]),
      ["", "", "num"],
    ),
  );

function removeButton(profile, redraw) {
  const ask = () =>
    confirm(`Remove the format ${profile.name}?`, "What was imported stays.", "Remove it", async () => {
      await withoutProfile(profile);
      await redraw();
    });
  return h("button.danger", { "aria-label": `Remove the format ${profile.name}`, onclick: ask }, "Remove");
}

// A column that is chosen is an answer, with which the service proposes the rest anew; `say()` ends that.
// What a stored `profile` of the same kind has stays, but for what is answered.
export function profileForm({ report, options, profile, isBusy }, suffix, say) {
  const { columns, sample_rows: rows, proposed_profile: guessed } = report;
  const isSaid = (name) => options.columns.some((one) => one.startsWith(`${name}:`));
  const { id, created_at, updated_at, ...stored } = profile?.kind === guessed.kind ? profile : {};
  const proposed = { ...guessed };
  for (const name in stored) if (stored[name] != null && !isSaid(name)) proposed[name] = stored[name];
  const { kind, side, costs, time } = proposed;
  const chosen = { ...proposed, side: side?.column, costs: costs?.columns };
  const needed = ["symbol", "quantity", ...OF_KIND[kind].slice(0, 4)];
  const isMissing = (name) => needed.includes(name) && !proposed[name] && !proposed.bought;
  const idOf = (name) => `profile-${name}${suffix}`;
  const choice = (name, choices = ["", ...columns]) =>
    field(
      format.words(name),
      h(
        "select",
        { id: idOf(name), name, multiple: name === "costs" },
        choices.map((value) =>
          h("option", { value, selected: [chosen[name]].flat().includes(value) }, value || "–"),
        ),
      ),
      isMissing(name) ? "Not found: choose" : HINTS[name],
    );
  const text = (label, name, value, hint) =>
    textField(label, name, { [name]: value }, { id: idOf(name) }, hint);
  const sample = table(
    { "aria-label": "First rows" },
    columns,
    rows,
    columns.map(() => "nowrap"),
  );
  const button = h("button.primary", { disabled: isBusy || needed.some(isMissing) }, "Remember this format");
  const element = form(
    { id: `profile${suffix}` },
    async (values) => {
      const words = { column: values.side, long: list(values.long), short: list(values.short) };
      const body = { ...proposed, name: values.name, time: list(values.time) };
      await send("POST", "/import-profiles", { body: values.side ? { ...body, side: words } : body });
      await say();
    },
    sample,
    h(".row", text("Name of the format", "name", proposed.name), choice("kind", Object.keys(OF_KIND))),
    h(
      ".grid",
      choice("quantity", ["", ...columns, "=1"]),
      ["symbol", ...OF_KIND[kind], "multiplier", "account"].map((one) => choice(one)),
    ),
    h(
      ".row",
      choice("side"),
      text("Words for long", "long", side?.long.join(", ")),
      text("Words for short", "short", side?.short.join(", ")),
    ),
    h(".row", choice("costs"), text("Form of the times", "time", time?.join(", "), "%d.%m.%Y")),
    button,
  );
  element.addEventListener("change", ({ target }) => {
    if (target.tagName !== "SELECT") return;
    button.disabled = true; // until the rest is proposed
    // The proposal has what was chosen, and other words for another side.
    const { long, short } = element.elements;
    for (const one of target.name === "side" ? [target, long, short] : [target]) delete one.dataset.typed;
    const values = [...target.selectedOptions].map((one) => one.value);
    if (target.multiple) values.unshift(""); // instead of those before
    say([`kind:${kind}`, ...values.map((value) => `${target.name}:${value}`)]);
  });
  return element;
}
