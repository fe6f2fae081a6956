// #/import: a file is read at once without writing anything; then it is imported, and can be undone.

import { get, send } from "../client.js";
import { confirm, field, form, h, select, trying } from "../dom.js";
import * as format from "../format.js";
import { profileForm } from "./import_profiles.js";
import { here } from "./welcome.js";

const MEDIA_TYPES = { htm: "text/html", html: "text/html", xml: "application/xml" };
const MOST_ROWS = 100;
const WORDS = { new: ["gain", "new"], duplicate: ["", "already there"], updated: ["warn", "updated"], error: ["loss", "error"] };
// The file at hand: {file, options, report or error, done}. It is in no address, so it is kept here.
let work = null;

export async function view(context) {
  const { data } = await get("/imports");
  return [
    h("h1", null, "Import"),
    context.accounts.length ? dropZone(context) : accountForm(context),
    work && h("section", { class: "card", "aria-label": "File", "aria-live": "polite" }, ...fileAtHand(context)),
    data.imports.length > 0 && pastImports(data.imports, context),
  ];
}

function accountForm({ redraw }) {
  return h("section", { class: "card" }, h("h2", null, "First, an account"),
    h("p", null, "Trades belong to an account of your broker, such as an evaluation or a simulation."),
    form({ class: "row" }, async ({ name, starting_balance }) => {
      await send("POST", "/accounts", { body: { name, starting_balance: Number(starting_balance) } });
      await redraw();
    }, field("Name", h("input", { name: "name", value: "Main", required: true })),
    field("Starting balance", h("input", { name: "starting_balance", inputmode: "decimal", value: "0" })),
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
    h("span", { class: "muted" }, "CSV, HTML or XML of your broker or platform. Nothing is written before you say so."));
  const mark = (isOver) => (event) => { event.preventDefault(); zone.classList.toggle("over", isOver); };
  zone.addEventListener("dragover", mark(true));
  zone.addEventListener("dragleave", mark(false));
  zone.addEventListener("drop", (event) => { mark(false)(event); take(event.dataTransfer.files[0]); });
  return zone;
}

// Sends the file, as a dry run or for good, and draws what came of it.
async function read({ file, options }, isDryRun, redraw) {
  work = { file, options, isBusy: true };
  await redraw();
  const type = MEDIA_TYPES[file.name.split(".").pop().toLowerCase()] ?? "text/csv";
  const query = { ...options, file_name: file.name, dry_run: isDryRun };
  try {
    const { data } = await send("POST", "/imports", { body: file, query, headers: { "Content-Type": type } });
    work = { file, options, report: data.import };
  } catch (error) {
    work = { file, options, error };
  }
  await redraw();
}

function fileAtHand(context) {
  const { file, options, report, error, isBusy } = work;
  const title = h("div", { class: "title" }, h("h2", null, file.name),
    h("button", { class: "quiet", onclick: () => { work = null; context.redraw(); } }, report?.id ? "Done" : "Put away"));
  if (isBusy) return [title, h("p", null, `Reading ${format.number(Math.ceil(file.size / 1024))} KB …`), h("progress", { "aria-label": "Reading the file" })];
  if (report?.id) return [title, ...result(report, context)];
  const known = report && report.format !== "unknown";
  return [
    title,
    report && verdicts(report),
    optionsForm(context, error),
    report && !known && profileForm(report, () => read({ file, options }, true, context.redraw)),
    known && details(report, context),
    known && h("div", { class: "row" }, h("button", {
      id: "import", class: "primary", disabled: report.counts.error > 0 || report.counts.new + report.counts.updated === 0,
      onclick: trying(() => read({ file, options }, false, context.redraw)),
    }, `Import ${format.count(report.counts.new + report.counts.updated, "trade")}`),
    report.counts.error > 0 && h("span", { class: "muted" }, "All rows are imported or none: correct the rows with errors first.")),
    (error?.details.rows ?? report?.rows) && rowTable(error?.details.rows ?? report.rows),
  ];
}

function verdicts({ counts, format: name }) {
  if (name === "unknown") return h("p", { class: "warn" }, "The header of this file is unknown. Say what its columns hold:");
  return h("p", { class: "row" }, h("strong", null, name), Object.entries(WORDS).filter(([verdict]) => counts[verdict] > 0).map(([verdict, [tone, word]]) =>
    h("span", { class: `chip ${tone}` }, verdict === "error" ? format.count(counts.error, word) : `${format.number(counts[verdict])} ${word}`)));
}

// Account, zone and order of dates; a change reads the file again.
function optionsForm({ accounts, redraw }, error) {
  const { file, options } = work;
  const names = work.report?.accounts.filter((one) => one.account_id == null).map((one) => one.name) ?? [];
  const element = form({ id: "options", class: "row" }, async (values) => {
    const { account_id, timezone, date_order } = values;
    const mapped = await mappingOf(names, values);
    await read({ file, options: { account_id: mapped.length ? "" : account_id, timezone, date_order, accounts: [...(options.accounts ?? []), ...mapped] } }, true, redraw);
  },
    field("Account", select({ name: "account_id", value: options.account_id },
      [["", "as the file says"], ...accounts.map((one) => [String(one.id), one.name])])),
    field("Time zone of the times", h("input", { name: "timezone", value: options.timezone, placeholder: "as last time", list: "zones" }),
      options.timezone ? null : `For example ${here()}`),
    field("Dates", select({ name: "date_order", value: options.date_order }, [["", "as the file shows"], ["month", "month first"], ["day", "day first"]])),
    names.map((name, index) => field(`Account ${name}`, select({ name: `account_${index}` },
      [["new", "create it"], ...accounts.map((one) => [String(one.id), one.name])]))),
    h("button", { class: `again ${error || names.length ? "primary" : ""}` }, "Read again"), zones());
  if (error) {
    const message = element.querySelector(":scope > .error");
    for (const place of element.querySelectorAll("[data-field]")) place.textContent = error.details?.fields?.[place.dataset.field] ?? "";
    message.textContent = error.message;
  }
  return element;
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

export const zones = () => h("datalist", { id: "zones" }, Intl.supportedValuesOf("timeZone").map((value) => h("option", { value })));

function details(report, { accounts }) {
  const nameOf = (id) => accounts.find((one) => one.id === id)?.name;
  const { date_order: dates } = report;
  const lines = [
    report.timezone_source && `Times are read in ${report.timezone} (${report.timezone_source}).`,
    report.replaced_timezones.length && `Earlier files were read in ${report.replaced_timezones.join(", ")}: their trades move.`,
    dates && `Dates have the ${dates.order} first (${dates.source}).${dates.source === "assumed" ? " Check a few of them." : ""}`,
    ...report.accounts.map((one) => `Account ${one.name}: ${nameOf(one.account_id) ?? "not in the journal; say above which it is, and read again"}.`),
    ...report.fees_applied.map((one) => `Commissions of ${nameOf(one.account_id)}: ${format.amount(one.total)} on ${format.count(one.rows, "row")}.`),
    ...report.left_out.map((one) => `Left out: ${format.count(one.rows, "row")}, ${one.reason}.`),
    report.rounded && `${format.count(report.rounded, "amount")} rounded to eight decimals.`,
  ];
  return h("ul", null, lines.filter(Boolean).map((line) => h("li", null, line)));
}

function rowTable(rows) {
  const told = rows.filter((row) => row.verdict === "error" || row.verdict === "updated");
  if (!told.length) return null;
  return h("div", { class: "scroll" }, h("table", { "aria-label": "Rows" },
    h("thead", null, h("tr", null, ["Line", "Verdict", "Why"].map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", null, told.slice(0, MOST_ROWS).map((row) => h("tr", null, h("td", null, row.line),
      h("td", { class: WORDS[row.verdict][0] }, WORDS[row.verdict][1]), h("td", null, row.reason ?? row.changed.map(format.words).join(", ")))))),
    told.length > MOST_ROWS && h("p", { class: "muted" }, `and ${format.count(told.length - MOST_ROWS, "more row")}`));
}

function result({ id, counts, file_name: name }, context) {
  return [h("p", { role: "status" }, h("strong", { class: "gain" }, "✓ Imported: "),
    `${format.count(counts.new, "new trade")}, ${format.number(counts.updated)} updated, ${format.number(counts.duplicate)} already there.`),
  h("div", { class: "row" }, h("a", { class: "button primary", href: `#/trades?import_id=${id}` }, "Show the trades"),
    undoButton({ id, file_name: name }, context))];
}

function undoButton({ id, file_name: name }, { redraw }) {
  const undo = async (force) => {
    const { headers } = await send("DELETE", `/imports/${id}`, { query: { force } });
    work = null;
    await redraw();
    const kept = headers.get("X-Trades-Kept")?.split(",").length;
    if (kept) confirm("Some trades were kept", `${format.count(kept, "trade")} edited since the import. Remove them too?`, "Remove them", () => undo(true));
  };
  return h("button", { class: "danger", "aria-label": `Undo the import of ${name ?? id}`, onclick: trying(() => undo()) }, "Undo");
}

function pastImports(imports, context) {
  return h("section", { class: "card", "aria-label": "Imports" }, h("h2", null, "Imports"),
    h("div", { class: "scroll" }, h("table", { class: "middle" },
      h("thead", null, h("tr", null, ["File", "Format", "When", "Trades"].map((name) => h("th", { scope: "col", class: name === "Trades" && "num" }, name)), h("td"))),
      h("tbody", null, imports.map((one) => h("tr", null,
        h("td", null, one.file_name ?? `import ${one.id}`), h("td", null, one.format),
        h("td", { class: "nowrap" }, format.instant(one.created_at, context.me.timezone)),
        h("td", { class: "num" }, h("a", { href: `#/trades?import_id=${one.id}` }, format.number(one.trade_count))),
        h("td", { class: "num" }, undoButton(one, context))))))));
}
