// Formats that the owner has described, and the form for an unknown header.

import { send } from "../client.js";
import { confirm } from "../dialogs.js";
import { card, field, form, h, table, textField } from "../dom.js";
import * as format from "../format.js";

const OF_TRADES = ["entry_price", "exit_price", "opened_at", "closed_at"];
const OF_FILLS = ["price", "at"];
const NEEDED = ["symbol", "quantity", ...OF_TRADES, ...OF_FILLS];
const RESULTS = ["gross_pnl", "net_pnl"];
const COLUMNS = [...NEEDED, ...RESULTS, "multiplier", "account"];
const HINTS = { gross_pnl: "Before costs", net_pnl: "After costs" };
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

const columnsOf = ({ side, costs, ...profile }, name) =>
  ({ side: [side?.column], costs: costs?.columns ?? [] })[name] ?? [profile[name]];
// What a profile says of columns that a file with its header has.
export const answersOf = (profile) =>
  [...NEEDED, ...RESULTS, "side", "costs"].flatMap((name) =>
    columnsOf(profile, name)
      .filter((one) => typeof one === "string")
      .map((one) => `${name}:${one}`),
  );

// A column that is chosen is an answer, with which the service proposes the rest anew; `say()` ends that.
export function profileForm({ report, options: { columns: said }, profile, isBusy: disabled }, say) {
  const { columns, sample_rows: rows, proposed_profile: proposed } = report;
  const { name, time, side } = { ...proposed, ...profile };
  const { long, short } = (side?.column === proposed.side?.column ? side : proposed.side) ?? {};
  const needed = ["symbol", "quantity", ...(proposed.kind === "trades" ? OF_TRADES : OF_FILLS)];
  const asked = needed.filter((one) => !proposed[one] || said.some((answer) => answer.startsWith(`${one}:`)));
  const options = [["", "–"], ...columns.map((one) => [one, one])];
  const column = (name, hint = HINTS[name]) =>
    field(
      format.words(name),
      h(
        "select",
        { id: `column-${name}`, name, multiple: name === "costs" },
        (name === "quantity" ? [...options, ["=1", "1 in all rows"]] : options).map(([value, label]) =>
          h("option", { value, selected: columnsOf(proposed, name).includes(value) }, label),
        ),
      ),
      hint,
    );
  const sample = table(
    { "aria-label": "First rows" },
    columns,
    rows,
    columns.map(() => "nowrap"),
  );
  const button = h("button.primary", { disabled }, "Remember this format");
  const element = form(
    { id: "profile" },
    async (values) => {
      const known = Object.entries(proposed).filter(([, value]) => value != null);
      const words = { column: values.side, long: list(values.long), short: list(values.short) };
      const body = { ...Object.fromEntries(known), name: values.name, time: list(values.time) };
      await send("POST", "/import-profiles", { body: values.side ? { ...body, side: words } : body });
      await say();
    },
    asked.map((one) => column(one, "Not found: choose")),
    sample,
    textField("Name of the format", "name", { name }),
    h(
      ".grid",
      COLUMNS.filter((one) => !asked.includes(one)).map((one) => column(one)),
    ),
    h(
      ".row",
      column("side", "Without it, the sign of the quantity"),
      textField("Words for long", "long", { long: long?.join(", ") }),
      textField("Words for short", "short", { short: short?.join(", ") }),
    ),
    h(
      ".row",
      column("costs"),
      textField("Form of the times", "time", { time: time?.join(", ") }, {}, "%d.%m.%Y %H:%M"),
    ),
    button,
  );
  element.addEventListener("change", ({ target }) => {
    if (target.tagName !== "SELECT") return;
    button.disabled = true; // until the rest is proposed
    say([{ value: "" }, ...target.selectedOptions].map(({ value }) => `${target.name}:${value}`));
  });
  return element;
}
