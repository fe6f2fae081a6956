// @ts-check
// How a file is read: account, time zone, order of dates, what one trade is, and the accounts that it names.

import { send } from "../client.js";
import { field, form, h, select, showError } from "../dom.js";
import * as format from "../format.js";
import { here, zoneField } from "../zones.js";
import { accountIn, read, readAll, works } from "./import_file.js";

// The options that are read again as soon as they change, because what is imported is what was shown.
const SHOWN = ["account_id", "timezone", "date_order", "one_trade_is", "force"];
const shownOf = (values) => Object.fromEntries(SHOWN.map((name) => [name, values[name] ?? ""]));

// The form of the options; a change reads the file again. `suffix` makes the ids of several files differ.
/** @param {any} work @param {Context} context @param {string} suffix */
export function optionsForm(work, { accounts, me, redraw }, suffix) {
  const { file, options, error } = work;
  const names = work.report?.accounts.filter((one) => one.account_id == null).map((one) => one.name) ?? [];
  // A file that names one unknown account is most likely of the account that its own name has in it.
  const meant = String((names.length === 1 && accountIn(file.name, accounts)?.id) || "new");
  const element = form(
    { id: `options${suffix}`, class: "row options" },
    async (values) => {
      const shown = shownOf(values);
      const mapped = await mappingOf(names, values);
      if (mapped.length) shown.account_id = "";
      await read({ file, options: { ...shown, accounts: [...(options.accounts ?? []), ...mapped] } }, redraw);
    },
    field(
      "Account",
      select({ id: `account_id${suffix}`, name: "account_id", value: options.account_id }, [
        ["", "as named in the file"],
        ...accounts.map((one) => [String(one.id), format.accountName(one)]),
      ]),
    ),
    zoneField(
      "Time zone of the times",
      { id: `timezone${suffix}`, name: "timezone", value: options.timezone, placeholder: "as last time" },
      options.timezone ? null : `For example ${here()}`,
    ),
    field(
      "Dates",
      select({ id: `date_order${suffix}`, name: "date_order", value: options.date_order }, [
        ["", "as the file shows"],
        ["month", "month first"],
        ["day", "day first"],
      ]),
    ),
    hasPositions(work) &&
      field(
        "One trade is",
        select({ id: `one_trade_is${suffix}`, name: "one_trade_is", value: options.one_trade_is }, [
          ["", "as the account says"],
          ["position", "a position, from flat to flat"],
          ["row", "a row of the file"],
        ]),
      ),
    hasSuspects(work) &&
      h(
        "label",
        { class: "check wide" },
        h("input", { type: "checkbox", name: "force", value: "true", checked: Boolean(options.force) }),
        "Import those that may be in the journal already too",
      ),
    names.map((name, index) =>
      field(
        `Account ${name}`,
        select({ name: `account_${index}`, value: meant }, [
          ["new", "create it"],
          ...accounts.map((one) => [String(one.id), format.accountName(one)]),
        ]),
      ),
    ),
    h("button", {
      class: `again ${names.length || (error && !error.details?.fields?.timezone) ? "primary" : ""}`,
    }),
  );
  const nameButton = () => {
    const made = names.filter((_, index) => element.elements[`account_${index}`].value === "new").length;
    element.querySelector(".again").textContent = made
      ? `Create the account${made > 1 ? "s" : ""} and read again`
      : "Read again";
  };
  nameButton();
  element.addEventListener("change", ({ target }) => {
    nameButton();
    if (!SHOWN.includes(target.name)) return;
    const shown = shownOf(Object.fromEntries(new FormData(element)));
    read({ file, options: { ...shown, accounts: shown.account_id ? [] : options.accounts } }, redraw);
  });
  if (!error) return element;
  if (error.details?.fields?.timezone && options.timezone)
    showError(element, element.querySelector(":scope > .error"), error);
  else if (error.details?.fields?.timezone) {
    element.prepend(
      h(
        "p",
        { class: "row wide" },
        h("strong", null, inPageWords(error)),
        [...new Set([me.timezone, here()])].map((timezone, index) =>
          h(
            "button",
            {
              type: "button",
              class: !index && "primary",
              onclick: () => readAll(works.filter(hasNoZone), { timezone }, { accounts, redraw }),
            },
            `Use ${timezone}`,
          ),
        ),
      ),
    );
  } else element.querySelector(":scope > .error").textContent = inPageWords(error);
  return element;
}

// Whether rows of the file were joined to positions, or would be if the owner had not said otherwise.
const hasPositions = ({ options, report }) =>
  Boolean(options.one_trade_is) || report?.one_trade_is === "row" || report?.rows.some((row) => row.rows > 1);

const hasSuspects = ({ options, report }) => Boolean(options.force || report?.counts.suspect);

// Files of one drop are asked for their zone once.
const hasNoZone = ({ options, error }) => !options.timezone && Boolean(error?.details?.fields?.timezone);

// What the service asks for, in words for who reads a page; everything else in the words of the service.
function inPageWords({ message, details }) {
  const { timezone, account_id } = details?.fields ?? {};
  if (timezone) return "The times in this file have no time zone. State it once; it is remembered.";
  if (account_id) return "Which account are these trades from? Choose it.";
  return details?.missing && !Object.keys(details.missing).length
    ? "There is no table with a header and rows in this file."
    : message;
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
