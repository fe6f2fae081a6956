// @ts-check
// The list of imports, and undoing one, which is asked about first.

import { send } from "../client.js";
import { confirm, form, h, open, trying } from "../dom.js";
import { count, dayOfYear, gainOrLoss, instant, number, signed } from "../format.js";

const KEPT = "Undo, and keep what was edited";

// `done` runs when the import is undone.
export const undoButton = ({ id, file_name: name }, done) =>
  h(
    "button",
    {
      class: "danger",
      "aria-label": `Undo the import of ${name ?? id}`,
      onclick: trying(() => undo(id, name ?? id, done)),
    },
    "Undo",
  );

// Rows of pairs that an earlier release stored as trades become positions, and rows again.
function joinButton({ id, format, one_trade_is: unit, merged_count: merged }, done) {
  const post = async (action, query = {}) => (await send("POST", `/imports/${id}/${action}`, { query })).data;
  const join = async () => {
    const { joined, trades } = await post("join", { dry_run: true });
    const question = joined
      ? `${number(joined)} rows of ${format} are ${count(trades.length, "position")}: join them?`
      : `No rows of ${format} belong together.`;
    const text = "What you wrote on the rows is kept with the position. You can split them again.";
    confirm(
      question,
      text,
      "Join the rows",
      async () => {
        await post("join");
        await done();
      },
      "primary",
    );
  };
  const split = async () => {
    await post("split");
    await done();
  };
  if (merged) return h("button", { onclick: trying(split) }, "Rows again");
  return unit === "row" && h("button", { onclick: trying(join) }, "Join rows");
}

const remove = (id, query) => send("DELETE", `/imports/${id}`, { query });

// What an undo would do: the trades that go, how many of them were annotated, and how many stay.
async function tried(id, force) {
  const { headers } = await remove(id, { force, dry_run: true });
  const said = (name) => Number(headers.get(name));
  return {
    deleted: said("X-Trades-Deleted"),
    annotated: said("X-Trades-Annotated"),
    kept: headers.get("X-Trades-Kept")?.split(",").length ?? 0,
  };
}

async function undo(id, name, done) {
  const [plain, all] = await Promise.all([tried(id, false), tried(id, true)]);
  const finish = async (force) => {
    await remove(id, { force });
    await done();
  };
  if (plain.kept) return ask(name, plain, all, finish);
  const trades = plain.deleted === 1 ? "trade" : `${number(plain.deleted)} trades`;
  confirm(
    plain.deleted ? `Delete the ${trades} of ${name}?` : `Undo the import of ${name}?`,
    "The file can be imported again.",
    "Undo the import",
    () => finish(false),
  );
}

function ask(name, plain, all, finish) {
  const edited = all.deleted - plain.deleted;
  const lines = [
    `${count(plain.deleted, "trade")} ${plain.deleted === 1 ? "is" : "are"} deleted.`,
    edited &&
      `${count(edited, "trade")} of this file ${edited === 1 ? "was" : "were"} edited since; ${all.annotated} of them with notes, a grade, a strategy, tags or answers.`,
    plain.kept > edited && "Trades that it corrected were edited since.",
  ];
  const dialog = open(
    `Undo the import of ${name}?`,
    h(
      "ul",
      null,
      lines.filter(Boolean).map((line) => h("li", null, line)),
    ),
    form(
      { class: "row" },
      async () => {
        await finish(false);
        dialog.close();
      },
      h("button", { class: "primary" }, KEPT),
    ),
    form(
      { class: "row" },
      async () => {
        await finish(true);
        dialog.close();
      },
      h(
        "button",
        { class: "danger" },
        edited ? `Undo, and delete ${edited === 1 ? "that one" : `those ${edited}`} too` : "Undo all of it",
      ),
    ),
    h("div", { class: "row" }, h("button", { type: "button", onclick: () => dialog.close() }, "Cancel")),
  );
}

const daysOf = ({ first_day: first, last_day: last }) =>
  [...new Set([first, last])].filter(Boolean).map(dayOfYear).join(" – ");
const netOf = ({ net_pnl: net }) => net != null && h("span", { class: gainOrLoss(net) }, signed(net));

// `done` runs when one of them is undone.
export function pastImports(imports, context, done) {
  const nameOf = (id) => context.accounts.find((one) => one.id === id)?.name;
  return h(
    "section",
    { class: "card", "aria-label": "Imports" },
    h("h2", null, "Imports"),
    h(
      "div",
      { class: "scroll" },
      h(
        "table",
        { class: "middle stacked" },
        h(
          "thead",
          null,
          h(
            "tr",
            null,
            ["File", "Account", "Format", "Imported", "Days", "Trades", "Net P&L"].map((name, place) =>
              h("th", { scope: "col", class: place > 4 && "num" }, name),
            ),
            h("td"),
          ),
        ),
        h(
          "tbody",
          null,
          imports.map((one) =>
            h(
              "tr",
              null,
              h("td", null, one.file_name ?? `import ${one.id}`),
              h("td", null, one.account_ids.map(nameOf).join(", ")),
              h("td", null, one.format),
              h("td", { class: "nowrap" }, instant(one.created_at, context.me.timezone)),
              h("td", { class: "nowrap", "data-label": "Days" }, daysOf(one)),
              h(
                "td",
                { class: "num", "data-label": "Trades" },
                h("a", { href: `#/trades?import_id=${one.id}` }, number(one.trade_count)),
              ),
              h("td", { class: "num", "data-label": "Net P&L" }, netOf(one)),
              h("td", { class: "num" }, joinButton(one, done), undoButton(one, done)),
            ),
          ),
        ),
      ),
    ),
  );
}
