// Formats that the owner has described, and the form for an unknown header.

import { send } from "../client.js";
import { confirm } from "../dialogs.js";
import { card, choiceField, form, h, table, textField } from "../dom.js";
import * as format from "../format.js";

const OF_TRADES = ["entry_price", "exit_price", "opened_at", "closed_at"];
const OF_FILLS = ["price", "at"];
const OPTIONAL = ["gross_pnl", "net_pnl", "multiplier", "account"];
// The service proposes these.
const KEPT = ["where", "abs", "divide_by", "external_id", "zone"];
const KEPT_OF_KIND = ["clock", "option", "effect", "one_trade_is"];
const HINTS = {
  quantity: "Contracts or shares",
  at: "When the fill was",
  gross_pnl: "If the file states it, before costs",
  net_pnl: "If the file states it after costs",
};
const first = (value) => [value].flat()[0];
const list = (text) =>
  text
    .split(",")
    .map((one) => one.trim())
    .filter(Boolean);

export const withoutProfile = ({ id }) => send("DELETE", `/import-profiles/${id}`);
export const ownProfiles = (profiles, { redraw }) =>
  card(
    "Formats that you described",
    { "aria-label": "Your formats" },
    table(
      { class: "middle" },
      [],
      profiles.map((profile) => [
        profile.name,
        `one ${profile.kind === "fills" ? "fill" : "trade"} a row`,
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

// `last` is the description that had errors.
export function profileForm({ columns, sample_rows: rows, proposed_profile: guessed }, last, onstored) {
  const known = Object.entries(last ?? {}).filter(([name, value]) => name in guessed && value != null);
  const proposed = { ...guessed, ...Object.fromEntries(known) };
  const options = [["", "–"], ...columns.map((name) => [name, name])];
  const column = (name, value) =>
    choiceField(
      format.words(name),
      name,
      first(value) ?? "",
      name === "quantity" ? [...options, ["=1", "1 in all rows"]] : options,
      HINTS[name],
    );
  const kinds = [
    ["trades", "one trade a row"],
    ["fills", "one fill a row"],
  ];
  const sample = table(
    { "aria-label": "First rows" },
    columns,
    rows,
    columns.map(() => "nowrap"),
  );
  const groups = h(
    ".grid",
    ["symbol", "quantity", ...OF_TRADES, ...OF_FILLS, ...OPTIONAL].map((name) =>
      column(name, proposed[name]),
    ),
  );
  return form(
    { id: "profile" },
    async (values) => {
      await send("POST", "/import-profiles", { body: bodyOf(values, proposed) });
      await onstored();
    },
    sample,
    h(
      ".row",
      textField("Name of the format", "name", { name: proposed.name }),
      choiceField(
        "Rows",
        "kind",
        proposed.kind,
        kinds,
        "Prices of a trade: entry and exit; of a fill: price",
      ),
    ),
    groups,
    h(
      ".row",
      choiceField(
        "Side",
        "side",
        first(proposed.side?.column) ?? "",
        options,
        "Without it, the sign of the quantity",
      ),
      textField("Words for long", "long", { long: proposed.side?.long.join(", ") }),
      textField("Words for short", "short", { short: proposed.side?.short.join(", ") }),
    ),
    h(
      ".row",
      choiceField("Costs", "costs", first(proposed.costs?.columns[0]) ?? "", options),
      textField(
        "Form of the times",
        "time",
        { time: proposed.time?.join(", ") },
        {},
        "Such as %d.%m.%Y %H:%M",
      ),
    ),
    h("button.primary", "Remember this format and read the file"),
  );
}

function bodyOf(values, proposed) {
  const names = [
    "symbol",
    "quantity",
    ...(values.kind === "trades" ? [...OF_TRADES, "gross_pnl", "net_pnl"] : OF_FILLS),
    "multiplier",
    "account",
  ];
  const used = Object.fromEntries(names.filter((name) => values[name]).map((name) => [name, values[name]]));
  const kept = Object.fromEntries(
    [...KEPT, ...(values.kind === proposed.kind ? KEPT_OF_KIND : [])]
      .filter((name) => proposed[name])
      .map((name) => [name, proposed[name]]),
  );
  return {
    ...kept,
    ...used,
    name: values.name,
    kind: values.kind,
    header: proposed.header,
    time: list(values.time),
    ...(values.side && { side: { column: values.side, long: list(values.long), short: list(values.short) } }),
    ...(values.costs &&
      (values.costs === proposed.costs?.columns[0]
        ? { costs: proposed.costs }
        : { costs: { columns: [values.costs] }, abs: [...(proposed.abs ?? []), values.costs] })),
  };
}
