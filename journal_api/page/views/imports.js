// #/import: a file is read at once without writing anything; then it is imported, and can be undone.

import { get, send } from "../client.js";
import { field, form, h, select, showError, trying } from "../dom.js";
import * as format from "../format.js";
import { numberInput, numbersOf } from "../numbers.js";
import { here, zoneField } from "../zones.js";
import { details, ownProfiles, profileForm, rowTable, verdicts, withoutProfile } from "./import_report.js";
import { pastImports, undoButton } from "./past_imports.js";
import { daysQuestion } from "./welcome.js";

const MEDIA_TYPES = { htm: "text/html", html: "text/html", xml: "application/xml" };
// The file at hand: {file, options, report or error, profile}. It is in no address, so it is kept here. Every read makes
// another one, so whoever holds an earlier one knows that the options have changed since.
let work = null;
// The options that are read again as soon as they change, because what is imported is what was shown.
const SHOWN = ["account_id", "timezone", "date_order"];

export async function view(context) {
  const [{ data }, profiles, question] = await Promise.all([get("/imports"), get("/import-profiles"), daysQuestion(context)]);
  const own = profiles.data.import_profiles;
  return [
    h("h1", null, "Import"), question,
    context.accounts.length ? dropZone(context) : accountForm(context),
    work && h("section", { class: "card", "aria-label": "File", "aria-live": "polite" }, ...fileAtHand(context, own)),
    data.imports.length > 0 && pastImports(data.imports, context, withoutFile(context)),
    own.length > 0 && ownProfiles(own, context),
  ];
}

function accountForm({ redraw }) {
  return h("section", { class: "card" }, h("h2", null, "First, an account"),
    h("p", null, "Trades belong to an account of your broker, such as an evaluation or a simulation."),
    form({ class: "row" }, async (values) => {
      const { starting_balance } = numbersOf(values, ["starting_balance"]);
      await send("POST", "/accounts", { body: { name: values.name, starting_balance: starting_balance ?? 0 } });
      await redraw();
    }, field("Name", h("input", { name: "name", value: "Main", required: true })),
    field("Starting balance", numberInput({ name: "starting_balance", value: 0 })),
    h("button", { class: "primary" }, "Create the account")));
}

function dropZone({ redraw, accounts }) {
  const take = (file) => {
    const account_id = work?.options.account_id ?? (accounts.length === 1 ? String(accounts[0].id) : "");
    return file && read({ file, options: { account_id, timezone: "", date_order: "" } }, true, redraw);
  };
  const input = h("input", { type: "file", id: "file", accept: ".csv,.txt,.tsv,.htm,.html,.xml", onchange: () => take(input.files[0]) });
  const zone = h("label", { class: "card drop", for: "file" },
    h("strong", null, "Drop a file here, or choose one"), input,
    h("span", { class: "muted" }, "CSV, HTML or XML of your broker or platform. No trade is written before you import it."));
  const mark = (isOver) => (event) => { event.preventDefault(); zone.classList.toggle("over", isOver); };
  zone.addEventListener("dragover", mark(true));
  zone.addEventListener("dragleave", mark(false));
  zone.addEventListener("drop", (event) => { mark(false)(event); take(event.dataTransfer.files[0]); });
  return zone;
}

// Sends the file, as a dry run or for good, and draws what came of it. `profile` was its description until now.
async function read({ file, options, profile }, isDryRun, redraw) {
  const mine = work = { file, options, isBusy: true, isDryRun };
  const finish = (read) => {
    if (work === mine) work = { file, options, ...read };
  };
  await redraw();
  const type = MEDIA_TYPES[file.name.split(".").pop().toLowerCase()] ?? "text/csv";
  const query = { ...options, file_name: file.name, dry_run: isDryRun };
  try {
    if (!file.size) throw new Error("This file is empty.");
    const { data } = await send("POST", "/imports", { body: file, query, headers: { "Content-Type": type } });
    finish({ profile, report: data.import });
  } catch (error) {
    finish({ error });
  }
  await redraw();
}

function fileAtHand(context, own) {
  const { file, options, profile, report, error, isBusy, isDryRun } = work;
  const described = report?.counts.error > 0 && own.find((one) => one.name === report.format);
  const title = h("div", { class: "title" }, h("h2", null, file.name),
    h("button", { class: "quiet", onclick: () => { work = null; context.redraw(); } }, report?.id ? "Done" : "Close"));
  if (isBusy) {
    return [title, h("p", null, `Reading ${format.number(Math.ceil(file.size / 1024))} KB …`), h("progress", { "aria-label": "Reading the file" }),
      isDryRun && optionsForm(context)];
  }
  if (report?.id) return [title, ...result(report, context)];
  const known = report && report.format !== "unknown";
  return [
    title,
    report && verdicts(report),
    optionsForm(context, error),
    report && !known && profileForm(report, profile, () => read({ file, options }, true, context.redraw)),
    known && details(report, context),
    known && h("div", { class: "row" }, importButton(work, context),
    described && h("button", { id: "change-columns", onclick: trying(async () => {
      await withoutProfile(described);
      await read({ file, options, profile: described }, true, context.redraw);
    }) }, "Change the columns"),
    h("span", { class: "muted" }, whyNothing(report))),
    (error?.details?.rows ?? report?.rows) && rowTable(error?.details?.rows ?? report.rows),
  ];
}

// Imports what was shown: after a change of the options, nothing until the file is read again.
function importButton(mine, { accounts, redraw }) {
  const { file, options, report } = mine;
  const trades = report.counts.new + report.counts.updated;
  const ids = report.account_id ? [report.account_id] : [...new Set(report.accounts.map((one) => one.account_id).filter(Boolean))];
  const place = ids.length === 1 ? accounts.find((one) => one.id === ids[0])?.name : format.count(ids.length, "account");
  return h("button", {
    id: "import", class: "primary", disabled: Boolean(whyNothing(report)),
    onclick: trying(async () => { if (work === mine) await read({ file, options }, false, redraw); }),
  }, trades ? `Import ${format.count(trades, "trade")}${ids.length ? ` into ${place}` : ""}` : "Nothing to import");
}

// Why a file cannot be imported, "" if it can.
function whyNothing({ counts }) {
  if (counts.error > 0) return "All rows are imported or none: correct the rows with errors first.";
  if (counts.new + counts.updated > 0) return "";
  return counts.duplicate ? `All ${format.number(counts.duplicate)} are already there.` : "There is no trade in this file.";
}

// Account, zone and order of dates; a change reads the file again.
function optionsForm({ accounts, me, redraw }, error) {
  const { file, options } = work;
  const names = work.report?.accounts.filter((one) => one.account_id == null).map((one) => one.name) ?? [];
  const element = form({ id: "options", class: "row" }, async (values) => {
    const { account_id, timezone, date_order } = values;
    const mapped = await mappingOf(names, values);
    await read({ file, options: { account_id: mapped.length ? "" : account_id, timezone, date_order, accounts: [...(options.accounts ?? []), ...mapped] } }, true, redraw);
  },
    field("Account", select({ id: "account_id", name: "account_id", value: options.account_id },
      [["", "as named in the file"], ...accounts.map((one) => [String(one.id), format.accountName(one)])])),
    zoneField("Time zone of the times", { id: "timezone", name: "timezone", value: options.timezone, placeholder: "as last time" },
      options.timezone ? null : `For example ${here()}`),
    field("Dates", select({ id: "date_order", name: "date_order", value: options.date_order }, [["", "as the file shows"], ["month", "month first"], ["day", "day first"]])),
    names.map((name, index) => field(`Account ${name}`, select({ name: `account_${index}` },
      [["new", "create it"], ...accounts.map((one) => [String(one.id), format.accountName(one)])]))),
    h("button", { class: `again ${names.length || (error && !error.details?.fields?.timezone) ? "primary" : ""}` }));
  const nameButton = () => {
    const made = names.filter((_, index) => element.elements[`account_${index}`].value === "new").length;
    element.querySelector(".again").textContent = made ? `Create the account${made > 1 ? "s" : ""} and read again` : "Read again";
  };
  nameButton();
  element.addEventListener("change", ({ target }) => {
    nameButton();
    if (!SHOWN.includes(target.name)) return;
    const { account_id, timezone, date_order } = Object.fromEntries(new FormData(element));
    read({ file, options: { account_id, timezone, date_order, accounts: account_id ? [] : options.accounts } }, true, redraw);
  });
  if (!error) return element;
  if (error.details?.fields?.timezone && options.timezone) showError(element, element.querySelector(":scope > .error"), error);
  else if (error.details?.fields?.timezone) {
    element.prepend(h("p", { class: "row wide" }, h("strong", null, inPageWords(error)), [...new Set([me.timezone, here()])].map((timezone, index) =>
      h("button", { type: "button", class: !index && "primary", onclick: () => read({ file, options: { ...options, timezone } }, true, redraw) }, `Use ${timezone}`))));
  } else element.querySelector(":scope > .error").textContent = inPageWords(error);
  return element;
}

// What the service asks for, in words for who reads a page; everything else in the words of the service.
function inPageWords({ message, details }) {
  const { timezone, account_id } = details?.fields ?? {};
  if (timezone) return "The times in this file have no time zone. State it once; it is remembered.";
  if (account_id) return "Which account are these trades from? Choose it.";
  return details?.reason?.includes("dry run") ? "There is no table with a header and rows in this file." : message;
}

// Creates the accounts that are wanted, and returns the names of the others with the accounts they stand for.
async function mappingOf(names, values) {
  const mapped = [];
  for (const [index, name] of names.entries()) {
    const id = values[`account_${index}`];
    if (id === "new") await send("POST", "/accounts", { body: { name } });
    else if (id) mapped.push(`${name}:${id}`);
  }
  return mapped;
}

function result({ id, counts, file_name: name }, context) {
  return [h("p", { role: "status" }, h("strong", { class: "gain" }, "✓ Imported: "),
    `${format.count(counts.new, "new trade")}, ${format.number(counts.updated)} updated, ${format.number(counts.duplicate)} already there.`),
  h("div", { class: "row" }, h("a", { class: "button primary", href: `#/trades?import_id=${id}` }, "Show the trades"),
    undoButton({ id, file_name: name }, withoutFile(context)))];
}

const withoutFile = ({ redraw }) => () => {
  work = null;
  return redraw();
};
