// How new the journal is: the last trade, the last imports, and what watched folders brought or refused.

import { get } from "../client.js";
import { h } from "../dom.js";
import { count, dayIn, dayOfYear } from "../format.js";
import { cameIn, wereRefused } from "./past_imports.js";

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
