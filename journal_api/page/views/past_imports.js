// What was imported: the list with undo, how new it is, what watched folders brought or refused.

import { get, send } from "../client.js";
import { confirm, open, trying } from "../dialogs.js";
import { card, form, h, money, table } from "../dom.js";
import { clock, count, dayIn, dayOfYear, instant, nameIn, number, span } from "../format.js";

const MAX_LINES = 3;
const KEPT = "Undo, and keep what was edited";
export const undoButton = ({ id, file_name: name }, done) =>
  h(
    "button.danger",
    {
      "aria-label": `Undo the import of ${name ?? id}`,
      onclick: trying(() => undo(id, name ?? id, done)),
    },
    "Undo",
  );

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

async function undo(id, name, done) {
  const remove = (query) => send("DELETE", `/imports/${id}`, { query });
  const tried = async (force) => {
    const { headers } = await remove({ [force ? "force" : "keep"]: true, dry_run: true });
    const said = (header) => Number(headers.get(header));
    return {
      deleted: said("X-Trades-Deleted"),
      annotated: said("X-Trades-Annotated"),
      unlinked: said("X-Copies-Unlinked"),
      kept: headers.get("X-Trades-Kept")?.split(",").length ?? 0,
    };
  };
  const finish = async (force) => {
    await remove({ [force ? "force" : "keep"]: true });
    await done();
  };
  const plain = await tried(false);
  if (!plain.kept && !plain.unlinked) return finish(false);
  ask(name, plain, plain.kept ? await tried(true) : plain, finish);
}

function ask(name, plain, all, finish) {
  const edited = all.deleted - plain.deleted;
  const lines = [
    `${count(plain.deleted, "trade")} ${plain.deleted === 1 ? "is" : "are"} deleted.`,
    edited > 0 &&
      `${count(edited, "trade")} of this file ${edited === 1 ? "was" : "were"} edited since; ${all.annotated} of them with notes, a grade, a strategy, tags or answers.`,
    all.unlinked > 0 &&
      `${count(all.unlinked, "copy", "copies")} in other accounts ${all.unlinked === 1 ? "loses its original" : "lose their originals"}.`,
  ];
  const choice = (force, tone, text) =>
    form(
      { class: "row" },
      async () => {
        await finish(force);
        dialog.close();
      },
      h("button", { class: tone }, text),
    );
  const dialog = open(
    `Undo the import of ${name}?`,
    h(
      "ul",
      lines.filter(Boolean).map((line) => h("li", line)),
    ),
    choice(false, "primary", plain.kept ? KEPT : "Undo the import"),
    plain.kept > 0 &&
      choice(
        true,
        "danger",
        edited ? `Undo, and delete ${edited === 1 ? "that one" : `those ${edited}`} too` : "Undo all of it",
      ),
    h(".row", h("button", { onclick: () => dialog.close() }, "Cancel")),
  );
}

const isRefused = ({ format }) => format === "refused";

/** @param {any} one @param {() => void} done */
const forgetButton = ({ id, file_name: name }, done) => {
  const forget = async () => {
    await send("DELETE", `/imports/${id}`);
    await done();
  };
  return h(
    "button",
    { "aria-label": `Remove the refused file ${name} from the list`, onclick: trying(forget) },
    "Remove",
  );
};

// What watched folders have refused stays until it is removed, or the file is imported.
/** @param {any[]} imports @param {Context} context */
const wereRefused = (imports, { me, redraw }) =>
  imports
    .filter(isRefused)
    .slice(0, MAX_LINES)
    .map((one) =>
      h(
        ".card.notice.title.refused",
        h(
          "p",
          h("strong.warn", `▲ ${one.file_name} was refused`),
          `, ${instant(one.created_at, me.timezone)}. It is in refused/ of the watched folder, with the reason beside it.`,
        ),
        forgetButton(one, redraw),
      ),
    );

// What watched folders have brought today.
/** @param {any[]} imports @param {Context} context */
const cameIn = (imports, { me, redraw }) =>
  imports
    .filter(({ source, trade_count }) => source === "folder" && trade_count)
    .filter(({ created_at }) => dayIn(me.timezone, new Date(created_at)) === dayIn(me.timezone))
    .slice(0, MAX_LINES)
    .map((one) =>
      h(
        ".card.notice.title",
        `${count(one.trade_count, "trade")} from ${one.file_name} at ${clock(me.timezone)(one.created_at)}`,
        undoButton(one, redraw),
      ),
    );

export function pastImports(imports, context, done) {
  return card(
    "Imports",
    table(
      { class: "middle stacked" },
      ["File", "Account", "Format", "Imported", "Days", "Trades", "Net P&L", ""],
      imports.map((one) => [
        `${one.file_name ?? `import ${one.id}`}${one.source === "folder" && !isRefused(one) ? " (by itself)" : ""}`,
        one.account_ids.map((id) => nameIn(context.accounts, id)).join(", "),
        one.format,
        instant(one.created_at, context.me.timezone),
        span(one.first_day, one.last_day),
        h("a", { href: `#/trades?import_id=${one.id}` }, number(one.trade_count)),
        one.net_pnl != null && money(one.net_pnl),
        isRefused(one) ? forgetButton(one, done) : [joinButton(one, done), undoButton(one, done)],
      ]),
      ["", "", "", "nowrap", "nowrap", "num", "num", "num"],
    ),
  );
}

const DAY = 86_400_000; // milliseconds
const MAX_NAMED = 3;

// "Last trade Feb 13, last import Nov 11, Apex 50K #3: 8 days ago."
/** @param {Context} context @param {DayGroup[]} groups */
export async function freshness(context, groups) {
  const { me, accounts, selection } = context;
  const [imports, traded] = await Promise.all([get("/imports"), groups.at(-1)?.key ?? lastDay(selection)]);
  const refused = wereRefused(imports.data.imports, context);
  if (!traded) return refused;
  const dayOf = (text) => dayIn(me.timezone, new Date(text));
  const shown = accounts.filter((one) => !one.archived && isSelected(one, selection));
  const newest = newestImports(imports.data.imports);
  const days = shown
    .map(({ id }) => newest.get(id))
    .filter(Boolean)
    .map(dayOf)
    .sort();
  const last = days.at(-1);
  const today = Date.parse(dayIn(me.timezone));
  const behind = shown.filter(({ id }) => newest.has(id) && dayOf(newest.get(id)) < last);
  const words = [
    `last trade ${dayOfYear(traded)}`,
    last && `last import ${dayOfYear(last)}`,
    ...behind.slice(0, MAX_NAMED).map(({ id, name }) => {
      const age = Math.round((today - Date.parse(dayOf(newest.get(id)))) / DAY);
      return `${name}: ${count(age, "day")} ago`;
    }),
    behind.length > MAX_NAMED && `and ${count(behind.length - MAX_NAMED, "more account")}`,
  ];
  const text = words.filter(Boolean).join(", ");
  return [
    h("p#freshness.muted", `${text[0].toUpperCase()}${text.slice(1)}`),
    refused,
    cameIn(imports.data.imports, context),
  ];
}

async function lastDay(selection) {
  const [trade] = (await get("/trades", { ...selection, limit: 1 })).data.trades;
  return trade && (trade.trading_day ?? trade.opened_at.slice(0, 10));
}

/** @param {Account} account @param {Context["selection"]} selection */
const isSelected = ({ id }, { account_id }) => account_id === undefined || account_id === id;

function newestImports(imports) {
  const newest = new Map();
  for (const { account_ids, created_at } of imports)
    for (const id of account_ids) if (!(newest.get(id) > created_at)) newest.set(id, created_at);
  return newest;
}
