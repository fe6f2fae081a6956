// Changing and deleting many trades at once, and taking a change back.

import { get, refused, send } from "../client.js";
import { confirm, formDialog } from "../dialogs.js";
import { choiceField, h } from "../dom.js";
import { GRADES } from "../enums.js";
import { count, idsAndNames } from "../format.js";
import { numberField, numbersOf } from "../inputs.js";

const FIELDS = ["account_id", "strategy_id", "setup_id", "grade", "initial_risk"];
const CHOICES = FIELDS.slice(0, 4);
const LEAVE = ["", "Leave as it is"];
const NONE = ["none", "None"];

const tried = (method, body) => send(method, "/trades", { body, query: { dry_run: true } });
const answersLost = ({ headers }) => Number(headers.get("X-Answers-Deleted"));

/** @returns {Promise<TradeListItem[]>} */
export const tradesOf = async (where) => (await tried("PATCH", { where })).data.trades;

// As they are stored now, without those that are gone, and their ETag.
/** @returns {Promise<{ trades: TradeListItem[], etag: string }>} */
async function readNow(ids) {
  try {
    const { data, etag } = await tried("PATCH", { ids });
    return { trades: data.trades, etag };
  } catch (error) {
    const isThere = (_, place) => !error.details?.fields?.[`ids[${place}]`];
    const left = ids.filter(isThere);
    if (left.length === ids.length || !left.length) throw error;
    return readNow(left);
  }
}
const idsOf = (trades) => trades.map(({ id }) => id);

// `changed` is told what was done, and gets a function that takes it back.
/** @param {Context} context @param {{ strategies: StrategyListItem[], rest: Tag[], singles: any[] }} lists */
export function changeMany({ accounts }, { strategies, rest, singles }, selected, changed) {
  let lost;
  const change = async (body) => {
    const { data, etag } = await send("PATCH", "/trades", { body });
    const undo = (undone) => takeBack({ ...data, etag }, undone);
    await changed(`${count(data.trades.length, "trade")} changed`, undo);
  };
  const write = async (values) => {
    const wanted = bodyOf(values, singles);
    const body = { ids: idsOf((await readNow(selected)).trades), ...wanted };
    lost = answersLost(await tried("PATCH", body));
    return lost ? body : void (await change(body));
  };
  const ask = (body) =>
    body &&
    confirm(
      "Change the setups?",
      `${count(lost, "checklist answer")} of the old setups ${lost === 1 ? "is" : "are"} deleted. Undo brings them back.`,
      `Change ${count(body.ids.length, "trade")}`,
      () => change(body),
    );
  const one = (label, name, options) => choiceField(label, name, "", [LEAVE, ...options]);
  const setup = one("Setup", "setup_id", [NONE]);
  formDialog(
    `Change ${count(selected.length, "trade")}`,
    { id: "many", onchange: (event) => event.target.name === "strategy_id" && offerSetups(event, setup) },
    write,
    ask,
    h(
      ".row",
      one("Add a tag", "add_tag", idsAndNames(rest)),
      one("Remove a tag", "remove_tag", idsAndNames(rest)),
    ),
    singles.length > 0 &&
      h(
        ".row",
        singles.map(({ id, name, tags }) => one(name, `category_${id}`, [NONE, ...idsAndNames(tags)])),
      ),
    h(".row", one("Strategy", "strategy_id", [NONE, ...idsAndNames(strategies)]), setup),
    h(
      ".row",
      one("Grade", "grade", [NONE, ...GRADES.map((grade) => [grade, grade])]),
      numberField("Initial risk", "initial_risk", null),
      accounts.length > 1 && one("Account", "account_id", idsAndNames(accounts)),
    ),
    h(".row", h("button.primary", `Change ${count(selected.length, "trade")}`)),
  );
}

async function offerSetups({ target }, setup) {
  const list = setup.querySelector("select");
  const { data } = Number(target.value)
    ? await get(`/strategies/${target.value}/setups`)
    : { data: { setups: [] } };
  const options = data.setups.map(({ setup_id, name }) => [setup_id, name]);
  list.replaceChildren(...[LEAVE, NONE, ...options].map(([value, label]) => h("option", { value }, label)));
}

function bodyOf(values, singles) {
  const { initial_risk: risk } = numbersOf(values, ["initial_risk"]);
  const valueOf = (name, value) => (value === "none" ? null : name === "grade" ? value : Number(value));
  const set = Object.fromEntries(
    CHOICES.filter((name) => values[name]).map((name) => [name, valueOf(name, values[name])]),
  );
  if (risk != null) set.initial_risk = risk;
  const [add_tag_ids, remove_tag_ids] = ["add_tag", "remove_tag"].map((name) =>
    values[name] ? [Number(values[name])] : [],
  );
  for (const { id, tags } of singles) {
    const value = values[`category_${id}`];
    if (value === "none") remove_tag_ids.push(...tags.map((tag) => tag.id));
    else if (value) add_tag_ids.push(Number(value));
  }
  if (!Object.keys(set).length && !add_tag_ids.length && !remove_tag_ids.length)
    throw refused({ add_tag: "Choose what to change" });
  return { set, add_tag_ids, remove_tag_ids };
}

// By one request, all or none: what was changed since stays, if the owner agrees to undo the rest.
async function takeBack({ trades, restore, etag }, undone, kept = 0) {
  try {
    await send("PATCH", "/trades", { body: { restore }, etag });
  } catch (error) {
    if (error.status !== 412 && error.status !== 400) throw error;
    const rest = await unchangedOf(trades, restore);
    const lost = trades.length - rest.trades.length;
    if (!lost) throw error;
    if (!rest.trades.length) throw new Error("All of them changed in the meantime. Nothing is undone.");
    return confirm(
      `${count(lost, "trade")} changed in the meantime`,
      "What was changed since stays as it is.",
      `Undo the other ${rest.trades.length}`,
      () => takeBack(rest, undone, kept + lost),
      "primary",
    );
  }
  await undone(kept);
}

// The ETag is of nothing but these.
async function unchangedOf(trades, restore) {
  const { trades: now, etag } = await readNow(idsOf(trades));
  const versions = new Map(now.map((one) => [one.id, one.updated_at]));
  const same = trades.filter((one) => versions.get(one.id) === one.updated_at);
  const ids = new Set(idsOf(same));
  const rest = { trades: same, restore: restore.filter(({ id }) => ids.has(id)), etag };
  return same.length && same.length < now.length ? unchangedOf(rest.trades, rest.restore) : rest;
}

export async function deleteMany(selected, deleted) {
  const { trades: stored, etag } = await readNow(selected);
  const ids = idsOf(stored);
  const lost = answersLost(await tried("DELETE", { ids }));
  const trades = count(ids.length, "trade");
  const answers = lost ? `, and ${count(lost, "checklist answer")},` : "";
  confirm(
    `Delete ${trades}?`,
    `Their notes, tags and pictures${answers} go with them. This cannot be undone.`,
    `Delete ${trades}`,
    async () => {
      await send("DELETE", "/trades", { body: { ids }, etag });
      await deleted(`${trades} deleted`);
    },
  );
}
