// @ts-check
// How a file is read: account, time zone, order of dates, what one trade is. Only what changes something is asked.

import { field, form, h, select, showError } from "../dom.js";
import * as format from "../format.js";
import { zoneField } from "../zones.js";
import { read } from "./import_file.js";
import { asksZone, isAsking } from "./import_questions.js";

// The options that a change in the form replaces, and then the file is read again: what is imported is what was shown.
const SHOWN = ["account_id", "timezone", "date_order", "one_trade_is"];

// The form of the options. `suffix` makes the ids of several files differ.
/** @param {any} work @param {Context} context @param {string} suffix */
export function optionsForm(work, context, suffix) {
  const { file, options, error, report } = work;
  const { accounts } = context;
  const isOpen = isAsking(work);
  const choice = (name, label, choices) =>
    field(label, select({ id: `${name}${suffix}`, name, value: options[name] ?? "" }, choices));
  const again = async (values) => {
    const shown = Object.fromEntries(SHOWN.map((name) => [name, values[name] ?? options[name] ?? ""]));
    await read(
      { file, options: { ...options, ...shown, accounts: shown.account_id ? [] : options.accounts } },
      context,
    );
  };
  const element = form(
    { id: `options${suffix}`, class: "row options" },
    again,
    !isOpen &&
      choice("account_id", "Account", [
        ["", "as named in the file"],
        ...accounts.map((one) => [String(one.id), format.accountName(one)]),
      ]),
    (asksZone(work) || (!isOpen && (options.timezone || report?.timezone_source))) &&
      zoneField("Time zone of the times", {
        id: `timezone${suffix}`,
        name: "timezone",
        value: options.timezone,
        placeholder: report ? "as last time" : "another city",
      }),
    !isOpen &&
      (report?.date_order || options.date_order) &&
      choice("date_order", "Dates", [
        ["", "as the file shows"],
        ["month", "month first"],
        ["day", "day first"],
      ]),
    !isOpen &&
      joinsRows(work) &&
      choice("one_trade_is", "One trade is", [
        ["", "as the account says"],
        ["position", "a position, from flat to flat"],
        ["row", "a row of the file"],
      ]),
    error && !isOpen && h("button", { class: "again" }, "Read again"),
  );
  element.addEventListener("change", ({ target }) => {
    if (SHOWN.includes(target.name)) again(Object.fromEntries(new FormData(element)));
  });
  if (!error || isOpen) return element;
  const message = element.querySelector(":scope > .error");
  if (error.details?.fields?.timezone) showError(element, message, error);
  else message.textContent = inPageWords(error);
  return element;
}

// Whether rows of pairs were joined to positions, or would be if the owner had not said otherwise.
const joinsRows = ({ options, report }) =>
  report?.has_pairs &&
  (Boolean(options.one_trade_is) || report.one_trade_is === "row" || report.rows.some((row) => row.rows > 1));

const inPageWords = ({ message, details }) =>
  details?.missing && !Object.keys(details.missing).length
    ? "There is no table with a header and rows in this file."
    : message;
