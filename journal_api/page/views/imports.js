// @ts-check
// #/import: a file is read at once without writing anything; then it is imported, and can be undone.

import { get, send } from "../client.js";
import { field, form, h, trying } from "../dom.js";
import * as format from "../format.js";
import { numberInput, numbersOf } from "../numbers.js";
import { read, withoutFile, work } from "./import_file.js";
import { optionsForm } from "./import_options.js";
import { ownProfiles, profileForm, withoutProfile } from "./import_profiles.js";
import { details, rowTable, verdicts } from "./import_report.js";
import { pastImports, undoButton } from "./past_imports.js";
import { daysQuestion } from "./welcome.js";

/** @param {Context} context */
export async function view(context) {
  const [{ data }, profiles, question] = await Promise.all([
    get("/imports"),
    get("/import-profiles"),
    daysQuestion(context),
  ]);
  const own = profiles.data.import_profiles;
  return [
    h("h1", null, "Import"),
    question,
    context.accounts.length ? dropZone(context) : accountForm(context),
    work &&
      h(
        "section",
        { class: "card", "aria-label": "File", "aria-live": "polite" },
        ...fileAtHand(context, own),
      ),
    data.imports.length > 0 && pastImports(data.imports, context, withoutFile(context)),
    own.length > 0 && ownProfiles(own, context),
  ];
}

function accountForm({ redraw }) {
  return h(
    "section",
    { class: "card" },
    h("h2", null, "First, an account"),
    h("p", null, "Trades belong to an account of your broker, such as an evaluation or a simulation."),
    form(
      { class: "row" },
      async (values) => {
        const { starting_balance } = numbersOf(values, ["starting_balance"]);
        await send("POST", "/accounts", {
          body: { name: values.name, starting_balance: starting_balance ?? 0 },
        });
        await redraw();
      },
      field("Name", h("input", { name: "name", value: "Main", required: true })),
      field("Starting balance", numberInput({ name: "starting_balance", value: 0 })),
      h("button", { class: "primary" }, "Create the account"),
    ),
  );
}

function dropZone({ redraw, accounts }) {
  const take = (file) => {
    const account_id = work?.options.account_id ?? (accounts.length === 1 ? String(accounts[0].id) : "");
    return file && read({ file, options: { account_id, timezone: "", date_order: "" } }, true, redraw);
  };
  const input = h("input", {
    type: "file",
    id: "file",
    accept: ".csv,.txt,.tsv,.htm,.html,.xml",
    onchange: () => take(input.files[0]),
  });
  const zone = h(
    "label",
    { class: "card drop", for: "file" },
    h("strong", null, "Drop a file here, or choose one"),
    input,
    h(
      "span",
      { class: "muted" },
      "CSV, HTML or XML of your broker or platform. No trade is written before you import it.",
    ),
  );
  const mark = (isOver) => (event) => {
    event.preventDefault();
    zone.classList.toggle("over", isOver);
  };
  zone.addEventListener("dragover", mark(true));
  zone.addEventListener("dragleave", mark(false));
  zone.addEventListener("drop", (event) => {
    mark(false)(event);
    take(event.dataTransfer.files[0]);
  });
  return zone;
}

function fileAtHand(context, own) {
  const { file, options, profile, report, error, isBusy, isDryRun } = work;
  const described = report?.counts.error > 0 && own.find((one) => one.name === report.format);
  const title = h(
    "div",
    { class: "title" },
    h("h2", null, file.name),
    h(
      "button",
      {
        class: "quiet",
        onclick: withoutFile(context),
      },
      report?.id ? "Done" : "Close",
    ),
  );
  if (isBusy) {
    return [
      title,
      h("p", null, `Reading ${format.number(Math.ceil(file.size / 1024))} KB …`),
      h("progress", { "aria-label": "Reading the file" }),
      isDryRun && optionsForm(context),
    ];
  }
  if (report?.id) return [title, ...result(report, context)];
  const known = report && report.format !== "unknown";
  return [
    title,
    report && verdicts(report),
    optionsForm(context, error),
    report && !known && profileForm(report, profile, () => read({ file, options }, true, context.redraw)),
    known && details(report, context),
    known &&
      h(
        "div",
        { class: "row" },
        importButton(work, context),
        described &&
          h(
            "button",
            {
              id: "change-columns",
              onclick: trying(async () => {
                await withoutProfile(described);
                await read({ file, options, profile: described }, true, context.redraw);
              }),
            },
            "Change the columns",
          ),
        h("span", { class: "muted" }, whyNothing(report)),
      ),
    (error?.details?.rows ?? report?.rows) && rowTable(error?.details?.rows ?? report.rows),
  ];
}

// Imports what was shown: after a change of the options, nothing until the file is read again.
function importButton(mine, { accounts, redraw }) {
  const { file, options, report } = mine;
  const trades = report.counts.new + report.counts.updated;
  const ids = report.account_id
    ? [report.account_id]
    : [...new Set(report.accounts.map((one) => one.account_id).filter(Boolean))];
  const place =
    ids.length === 1 ? accounts.find((one) => one.id === ids[0])?.name : format.count(ids.length, "account");
  return h(
    "button",
    {
      id: "import",
      class: "primary",
      disabled: Boolean(whyNothing(report)),
      onclick: trying(async () => {
        if (work === mine) await read({ file, options }, false, redraw);
      }),
    },
    trades
      ? `Import ${format.count(trades, "trade")}${ids.length ? ` into ${place}` : ""}`
      : "Nothing to import",
  );
}

// Why a file cannot be imported, "" if it can.
function whyNothing({ counts }) {
  if (counts.error > 0) return "All rows are imported or none: correct the rows with errors first.";
  if (counts.new + counts.updated > 0) return "";
  return counts.duplicate
    ? `All ${format.number(counts.duplicate)} are already there.`
    : "There is no trade in this file.";
}

function result({ id, counts, file_name: name }, context) {
  return [
    h(
      "p",
      { role: "status" },
      h("strong", { class: "gain" }, "✓ Imported: "),
      `${format.count(counts.new, "new trade")}, ${format.number(counts.updated)} updated, ${format.number(counts.duplicate)} already there.`,
    ),
    h(
      "div",
      { class: "row" },
      h("a", { class: "button primary", href: `#/trades?import_id=${id}` }, "Show the trades"),
      undoButton({ id, file_name: name }, withoutFile(context)),
    ),
  ];
}
