// A file at hand.

import { trying } from "../dialogs.js";
import { h } from "../dom.js";
import * as format from "../format.js";
import { costsQuestion } from "./account_form.js";
import { groupKind } from "./accounts.js";
import { edit } from "./editing.js";
import { entryOf, isShifted, read, readAll, taken, without, works, writeAll } from "./import_file.js";
import { isAsking, optionsForm, questionsOf } from "./import_options.js";
import { conflictOf, sumsOf, suspectsOf, tablesOf } from "./import_preview.js";
import { profileForm, withoutProfile } from "./import_profiles.js";
import { copiesOf, details, rowTable, verdicts } from "./import_report.js";
import { undoButton } from "./past_imports.js";

export const isKnown = ({ report }) => Boolean(report && report.format !== "unknown");
export const isReady = (work) =>
  isKnown(work) && !isAsking(work) && !work.report.id && !whyNothing(work.report) && !isShifted(work);
export const tradesOf = ({ counts }) => counts.new + counts.updated;

/** @param {Context} context */
export function fileCard(work, context, own) {
  const { file, report, note } = work;
  const suffix = taken[0] === file ? "" : `-${taken.indexOf(file)}`;
  const title = h(
    ".title",
    h("h2", file.name),
    h("button.quiet", { onclick: without(context, work) }, report?.id ? "Done" : "Close"),
  );
  return h(
    "section.card",
    { "aria-label": "File", "aria-live": "polite" },
    title,
    note && h("p.warn", { role: "status" }, note),
    contentOf(work, suffix, context, own),
  );
}

function contentOf(work, suffix, context, own) {
  const { file, report, error, isBusy, isDryRun } = work;
  const options = optionsForm(work, context, suffix);
  if (isBusy)
    return [
      h("p", `Reading ${format.number(Math.ceil(file.size / 1024))} KB …`),
      h("progress", { "aria-label": "Reading the file" }),
      isDryRun && report && descriptionForm(work, suffix, context),
      isDryRun && options,
    ];
  if (report?.id) return result(report, context, work);
  if (isAsking(work)) return [questionsOf(work, context), options];
  const rows = rowTable(error?.details?.rows ?? report?.rows ?? []);
  if (!isKnown(work))
    return [report && descriptionForm(work, suffix, context), conflictOf(work, context), options, rows];
  return [
    costsOf(work, context),
    verdicts(report),
    report.warnings.map((text) => h("p.warn", `Check: ${text}.`)),
    options,
    suspectsOf(work, context),
    details(report, context),
    sumsOf(report),
    actions(work, suffix, context, own),
    report.counts.error > 0 && rows,
    tablesOf(report, context, works.length > 1),
    !report.counts.error && rows,
  ];
}

function descriptionForm(work, suffix, context) {
  const { file, report, profile } = work;
  // A further answer may come before the first one is drawn, or when the file is closed.
  const say = (more = []) => {
    const { options } = entryOf(file) ?? work;
    return read({ file, options: { ...options, columns: options.columns.concat(more) }, profile }, context);
  };
  return [
    h("p.warn", "The header of this file is unknown. What do its columns hold?"),
    report.proposal_warnings.map((text) => h("p.warn", text)),
    profileForm(work, suffix, say),
  ];
}

function costsOf({ report }, context) {
  if (report.costs !== "none" || !tradesOf(report)) return null;
  const accounts = context.accounts.filter(({ id }) => report.accounts_without_costs.includes(id));
  const isOpen = (one) => one.report?.costs === "none" && !one.report.id; // other files of the account too
  const again = () => readAll(works.filter(isOpen), {}, context);
  return accounts.length > 0 && costsQuestion(accounts, context, again);
}

// Asked before the import, which links the copies.
/** @param {Context} context */
export function copiesButton(context) {
  const { accounts, copyGroups } = context;
  const members = accounts.map(({ id }) => ({
    account_id: id,
    quantity_multiplier: 1,
  }));
  const kind = {
    ...groupKind,
    async after(...all) {
      await groupKind.after(...all);
      await readAll(
        works.filter((one) => one.report && !one.report.id),
        {},
        context,
      );
    },
  };
  const group = { name: "Copies", members, master_account_id: accounts[0]?.id };
  return (
    accounts.length > 1 &&
    !copyGroups.length &&
    h(
      "button#copies",
      { onclick: trying(() => edit(kind, null, context, group)) },
      "Some accounts copy another…",
    )
  );
}

function actions(work, suffix, context, own) {
  const { file, options, report } = work;
  const { error } = report.counts;
  const described = own.find((one) => one.name === report.format);
  const skip = () => read({ file, options: { ...options, skip_errors: true } }, context);
  const describe = async () => {
    await withoutProfile(described);
    const columns = [`kind:${described.kind}`];
    await read({ file, options: { ...options, columns }, profile: described }, context);
  };
  return h(
    ".row",
    works.length === 1 && importButton("import", context),
    works.length === 1 && report.accounts.length > 1 && copiesButton(context),
    error > 0 &&
      !report.failed_check &&
      h(
        "button",
        { id: `skip-errors${suffix}`, onclick: trying(skip) },
        `Leave out ${format.count(error, "row")}`,
      ),
    described &&
      h("button", { id: `change-columns${suffix}`, onclick: trying(describe) }, "Change the columns"),
    h("span.muted", whyNothing(report)),
  );
}

export function importButton(id, context) {
  const ready = works.filter(isReady);
  const trades = ready.reduce((sum, { report }) => sum + tradesOf(report), 0);
  const files = works.length > 1 ? ` of ${format.count(ready.length, "file")}` : "";
  return h(
    "button.primary",
    {
      id,
      disabled: !trades || works.some((work) => work.isBusy),
      onclick: trying(() => writeAll(ready, context)),
    },
    trades
      ? `Import ${format.count(trades, "trade")}${files}${placeOf(ready, context)}`
      : "Nothing to import",
  );
}

const accountsOf = ({ report }) =>
  report.account_id ? [report.account_id] : report.accounts.map((one) => one.account_id).filter(Boolean);

// " into Apex 50K Master", " into 4 accounts".
export function placeOf(chosen, { accounts }) {
  const ids = [...new Set(chosen.flatMap(accountsOf))];
  if (!ids.length) return "";
  return ` into ${ids.length === 1 ? format.nameIn(accounts, ids[0]) : format.count(ids.length, "account")}`;
}

export function whyNothing({ counts }) {
  if (counts.error > 0) return "Rows have errors: correct them, or leave them out.";
  if (counts.new + counts.updated > 0) return "";
  if (counts.suspect) return "What may be there already is left out.";
  if (counts.unmatched) return "No row of this file opens a trade.";
  return counts.duplicate
    ? `All ${format.number(counts.duplicate)} are already there.`
    : "There is no trade in this file.";
}

const result = ({ id, counts, file_name: name, ...report }, context, work) => [
  h(
    "p",
    { role: "status" },
    h("strong.gain", "✓ Imported: "),
    `${format.count(counts.new, "new trade")}, ${format.number(counts.updated)} updated, ${format.number(counts.duplicate)} already there.`,
  ),
  copiesOf(report, context).map((line) => h("p", line)),
  h(
    ".row",
    h("a.button.primary", { href: `#/trades?import_id=${id}` }, "Show the trades"),
    undoButton({ id, file_name: name }, without(context, work)),
  ),
];
