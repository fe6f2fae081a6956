// @ts-check
// The files at hand, and reading one: as a dry run or for good.

import { send } from "../client.js";

const MEDIA_TYPES = { htm: "text/html", html: "text/html", xml: "application/xml" };
const CHANGED = "The journal has changed since this was shown. Here is what the file would do now.";
const NO_OPTIONS = { account_id: "", timezone: "", date_order: "" };

// The files at hand: {file, options, report or error, profile, note}. They are in no address, so they are kept here.
// Every read makes another entry, so whoever holds an earlier one knows that the options have changed since.
/** @type {any[]} */
export let works = [];

const entryOf = (file) => works.find((one) => one.file === file);
function put(entry) {
  works = works.map((one) => (one.file === entry.file ? entry : one));
  return entry;
}

// Forgets one file, or all of them.
export const without =
  ({ redraw }, work = null) =>
  () => {
    works = works.filter((one) => work && one.file !== work.file);
    return redraw();
  };

// Reads dropped files as dry runs, one after the other. The only account needs no question, and the one that was
// chosen for the last file stays for the next.
/** @param {File[]} files @param {any} context */
export async function take(files, { accounts, redraw }) {
  const last = works.length === 1 && files.length === 1 ? works[0].options.account_id : "";
  const account_id = accounts.length === 1 ? String(accounts[0].id) : last;
  works = files.map((file) => ({ file, options: { ...NO_OPTIONS, account_id } }));
  await readAll(works, {}, { accounts, redraw });
}

// Reads several files with other options, one after the other. A file that names no account goes into the one that its
// own name has in it; the owner sees that before anything is written.
export async function readAll(chosen, changes, { accounts, redraw }) {
  for (const { file } of chosen) {
    const { options } = entryOf(file) ?? {}; // which may have been changed, or the file closed, in the meantime
    const work = options && (await read({ file, options: { ...options, ...changes } }, redraw));
    const named = work?.error?.details?.fields?.account_id && accountIn(file.name, accounts);
    if (named) await read({ file, options: { ...work.options, account_id: String(named.id) } }, redraw);
  }
}

const plain = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");

// The account with the longest name that the name of a file has in it. "Apex 3" is not in "Apex 31.csv".
export function accountIn(fileName, accounts) {
  const within = plain(fileName);
  const isNamed = (name) =>
    name.length > 2 &&
    within.split(name).some((rest, place) => place > 0 && !(/\d$/.test(name) && /^\d/.test(rest)));
  return accounts
    .filter((one) => !one.archived && isNamed(plain(one.name)))
    .sort((one, other) => plain(other.name).length - plain(one.name).length)[0];
}

// Reads a file without writing anything. `profile` was its description until now.
export const read = ({ file, options, profile = undefined }, redraw, note = "") =>
  answered({ file, options }, { dry_run: true }, redraw, { profile, note });

// Writes what the dry run has shown, and nothing else: the request has its token. If the journal has changed since, the
// file is read again, and nothing is written.
export async function write({ file, options, report }, redraw) {
  const written = await answered({ file, options }, { preview: report.preview?.token }, redraw, {
    shown: report.preview,
  });
  if (written?.error?.code !== "preview_changed") return written;
  await read({ file, options }, redraw, CHANGED);
  return null;
}

async function answered({ file, options }, query, redraw, more = {}) {
  const mine = put({ file, options, isBusy: true, isDryRun: Boolean(query.dry_run) });
  await redraw();
  const result = await sent(file, { ...options, ...query, file_name: file.name });
  if (entryOf(file) === mine) put({ file, options, ...more, ...result });
  await redraw();
  return entryOf(file);
}

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
