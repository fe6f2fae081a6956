// The files at hand, and reading one: as a dry run or for good.

import { send } from "../client.js";
import { trying } from "../dialogs.js";
import { h } from "../dom.js";
import { count } from "../format.js";

const MEDIA_TYPES = { htm: "text/html", html: "text/html", xml: "application/xml" };
const CHANGED = "The journal has changed: here is what the file would do now.";

// {file, options, report or error, profile, note} of each: they are in no address.
// Every read makes another entry: whoever holds an earlier one knows of it.
/** @type {any[]} */
export let works = [];
/** @type {File[]} */
export let taken = []; // at once, of which some may be closed

export const entryOf = (file) => works.find((one) => one.file === file);

function put(entry) {
  works = works.map((one) => (one.file === entry.file ? entry : one));
  return entry;
}

export const without =
  ({ redraw }, work = null) =>
  () => {
    works = works.filter((one) => work && one.file !== work.file);
    return redraw();
  };

// The account that was chosen for the last file stays for the next.
/** @param {File[]} files */
export async function take(files, context) {
  const { accounts } = context;
  const last = works.length === 1 && files.length === 1 ? works[0].options.account_id : "";
  const account_id = accounts.length === 1 ? String(accounts[0].id) : last;
  works = files.map((file) => ({ file, options: { account_id, columns: [] }, isBusy: true }));
  taken = files;
  await readAll(works, {}, context);
}

export async function readAll(chosen, changes, context) {
  for (const { file } of chosen) {
    const entry = entryOf(file); // which may be another one, or closed, by now
    if (entry) await read({ file, options: { ...entry.options, ...changes } }, context);
  }
}

const plain = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");

// The longest name wins; "Apex 3" is not in "Apex 31.csv".
export function accountIn(fileName, accounts) {
  const within = plain(fileName);
  const isNamed = (name) =>
    name.length > 2 &&
    within.split(name).some((rest, place) => place > 0 && !(/\d$/.test(name) && /^\d/.test(rest)));
  return accounts
    .filter((one) => !one.archived && isNamed(plain(one.name)))
    .sort((one, other) => plain(other.name).length - plain(one.name).length)[0];
}

// "Apex 50K 3" of "Apex 50K 3 - Trades 2026-11-23 (1).csv": without dates and what files of trades are called.
export const accountNameIn = (fileName) =>
  fileName
    .replace(/\.[^.]*$/, "")
    .replace(/\(\d+\)|\d{4}[-_. ]?\d\d[-_. ]?\d\d|\d\d?[-_.]\d\d?[-_.]\d{4}|_/g, " ")
    .replace(
      /\b(trades?|fills|orders?|executions?|performance|history|export|report|statement|positions?)\b/gi,
      " ",
    )
    .replace(/\s+/g, " ")
    .replace(/^[\s,.-]+|[\s,.-]+$/g, "");

function knownOf({ file, options, error, report }, accounts) {
  // One account cannot answer for several that the file names.
  const names = report?.accounts ?? [];
  if (options.account_id && names.length > 1 && names.some((one) => one.account_id === null))
    return { account_id: "" };
  const asked = error?.details?.fields ?? {};
  const account = asked.account_id && !options.account_id && accountIn(file.name, accounts);
  if (account) return { account_id: String(account.id) };
  const timezone = asked.timezone && !options.timezone && works.find((one) => one.options.timezone);
  return timezone && { timezone: timezone.options.timezone };
}

export const read = ({ file, options, profile = undefined }, context, note = "") =>
  answered({ file, options }, { dry_run: true }, context, { profile, note });

// If the journal has changed since, the file is read again instead.
async function write({ file, options, report }, context) {
  const written = await answered({ file, options }, { preview: report.preview?.token }, context, {
    shown: report.preview,
  });
  if (written?.error?.code !== "preview_changed") return written;
  await read({ file, options }, context, CHANGED);
  return null;
}

// One file may link copies of the next, which then has another token: it is written if its trades are the same.
export async function writeAll(chosen, context) {
  for (const [place, work] of chosen.entries()) {
    if (!works.includes(work)) return; // its options have changed since
    let written = await write(work, context);
    const again = entryOf(work.file);
    if (!written && place > 0 && again?.report && tradesShown(again) === tradesShown(work))
      written = await write(again, context);
    if (!written?.report?.id) return;
  }
}

const tradesShown = ({ report: { counts, preview } }) =>
  JSON.stringify([counts, { ...preview, token: null }]);

// Questions whose answer is known are not drawn: the next drawing would take them away below a press.
async function answered({ file, options }, query, context, more = {}) {
  const { report, profile } = entryOf(file) ?? {};
  const asked = report?.format === "unknown" && { report, profile };
  const mine = put({ file, options, ...asked, isBusy: true, isDryRun: query.dry_run });
  await context.redraw();
  const result = await sent(file, { ...options, ...query, file_name: file.name });
  if (entryOf(file) === mine) {
    const known = knownOf({ file, options, ...result }, context.accounts);
    if (known) return answered({ file, options: { ...options, ...known } }, query, context, more);
    put({ file, options, ...more, ...result });
    await context.redraw(); // by the last read alone: another drawing would take a button away below a press
  }
  return entryOf(file);
}

/** @returns {Promise<any>} */
async function sent(file, query) {
  const type = MEDIA_TYPES[file.name.split(".").pop().toLowerCase()] ?? "text/csv";
  try {
    if (!file.size) throw new Error("This file is empty.");
    const headers = { "Content-Type": type };
    return { report: (await send("POST", "/imports", { body: file, query, headers })).data.import };
  } catch (error) {
    return { error };
  }
}

// Files of one drop with the same trades, whole hours apart: one of them was read in a wrong time zone.
const HOUR = 3_600_000; // milliseconds
const MAX_HOURS = 14; // further apart are days, not time zones
const COPIED_WITHIN = 60_000; // milliseconds
const right = new WeakSet(); // files whose times are right as they are

const tradesIn = ({ report }) => {
  const { first = [], last = [] } = (!report?.id && report?.preview) || {};
  return [...first, ...last];
};

// The hours from one file to the other, 0 if they do not have the same trades.
function hoursBetween(one, other) {
  const [mine, theirs] = [tradesIn(one), tradesIn(other)];
  if (!mine.length || one.report.preview.total.trades !== other.report?.preview?.total.trades) return 0;
  const apart = mine.map(
    (trade, place) => Date.parse(theirs[place]?.opened_at) - Date.parse(trade.opened_at),
  );
  const hours = Math.round(apart[0] / HOUR);
  const isSame = (trade, place) =>
    trade.symbol === theirs[place].symbol &&
    trade.direction === theirs[place].direction &&
    Math.abs(apart[place] - hours * HOUR) < COPIED_WITHIN;
  return theirs.length === mine.length && Math.abs(hours) <= MAX_HOURS && mine.every(isSame) ? hours : 0;
}

const shifts = () =>
  works.flatMap((one, place) =>
    works
      .slice(place + 1)
      .map((other) => ({ one, other, hours: hoursBetween(one, other) }))
      .filter(({ hours, other: { file } }) => hours && !right.has(file)),
  );

export const isShifted = (work) => shifts().some(({ one, other }) => work === one || work === other);

/** @param {Context} context */
export const shiftQuestions = (context) => shifts().map((shift) => question(shift, context));

function question({ one, other, hours }, context) {
  const read = [one, other].filter(({ report }) => report.timezone_source);
  const zones = [...new Set(read.map(({ report }) => report.timezone))];
  const use = (timezone) => trying(() => readAll([one, other], { timezone }, context));
  const keep = () => {
    right.add(other.file);
    return context.redraw();
  };
  const text = `${other.file.name} has the trades of ${one.file.name}, ${count(Math.abs(hours), "hour")} ${hours > 0 ? "later" : "earlier"}. Is the time zone of one of them wrong?`;
  return h(
    "p.row",
    { role: "group", "aria-label": "Time zones" },
    h("strong.warn", text),
    zones.length > 1 && zones.map((zone) => h("button", { onclick: use(zone) }, `Read both in ${zone}`)),
    h("button", { onclick: trying(keep) }, "They are right"),
    h("small.wide", "Or choose another with its file below."),
  );
}
