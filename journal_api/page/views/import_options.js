// How a file is read: what it does not say is asked.

import { send } from "../client.js";
import { trying } from "../dialogs.js";
import { field, find, form, h, select, showError, textField } from "../dom.js";
import { accountName, count } from "../format.js";
import { here, zoneField } from "../inputs.js";
import { accountKind, copyRules } from "./account_form.js";
import { edit } from "./editing.js";
import { accountIn, accountNameIn, read, readAll, works } from "./import_file.js";

const unknownNames = ({ report }) =>
  report?.accounts.filter((one) => one.account_id == null).map((one) => one.name) ?? [];

const asked = ({ error }) => error?.details?.fields ?? {};
const asksZone = (work) => Boolean(asked(work).timezone) && !work.options.timezone;
const asksDay = (work) => Boolean(asked(work).day) && !work.options.day;
const asksOrder = (work) => Boolean(asked(work).date_order) && !work.options.date_order;
const asksNames = (work) => unknownNames(work).length > 0;
export const isAsking = (work) =>
  asksZone(work) || asksDay(work) || asksOrder(work) || Boolean(asked(work).account_id) || asksNames(work);

/** @param {Context} context */
export function questionsOf(work, context) {
  const names = unknownNames(work);
  return [
    asked(work).account_id &&
      accountQuestion(work, context, "Which account are these trades from?", "", (id) => ({
        account_id: String(id),
      })),
    asksZone(work) && zoneQuestion(context),
    asksDay(work) && h("p", h("strong", "The times in this file have no day. Which is it?")),
    asksOrder(work) && orderQuestion(context),
    names.length > 1 && createAll(names, context),
    ...names.map((name) =>
      accountQuestion(work, context, `Which account is ${name}?`, name, (id) => ({
        account_id: "",
        accounts: [...(work.options.accounts ?? []), `${name}:${id}`],
      })),
    ),
  ];
}

const question = (text, buttons) =>
  h("p.row", { role: "group", "aria-label": text }, h("strong", text), buttons);

const choice = (label, onclick, isFirst = false) =>
  h("button", { class: isFirst && "primary", onclick }, label);

function zoneQuestion(context) {
  const use = (timezone) => () => readAll(works.filter(asksZone), { timezone }, context);
  return question(
    "The times in this file have no time zone. Which is it? It is remembered.",
    [...new Set([context.me.timezone, here()])].map((zone, place) =>
      choice(`Use ${zone}`, use(zone), !place),
    ),
  );
}

function orderQuestion(context) {
  const use = (date_order) => () => readAll(works.filter(asksOrder), { date_order }, context);
  return question("Dates of this file may begin with the year or with the day. Which is first?", [
    choice("The year", use("year"), true),
    choice("The day", use("day")),
  ]);
}

function accountQuestion(work, context, text, name, optionsOf) {
  const { accounts } = context;
  const answer = ({ id }) => readAll([work], optionsOf(id), context);
  const meant = accountIn(work.file.name, accounts);
  const open = accounts.filter((one) => !one.archived && one !== meant);
  const suggested = name || accountNameIn(work.file.name);
  const then = async (account) => {
    await readAll([work], optionsOf(account.id), context);
    await readAll(works.filter(asksNames), {}, context); // another file may name the same account
  };
  const createOne = async () => {
    const { data } = await send("POST", "/accounts", {
      body: { name: suggested },
    });
    await then(data.account);
  };
  const create = () => newAccount(context, suggested, then);
  return question(text, [
    !accounts.length && suggested && choice(`Create ${suggested}`, trying(createOne), true),
    [meant, ...open].filter(Boolean).map((one) => choice(accountName(one), () => answer(one), one === meant)),
    choice("New account…", trying(create), !accounts.length && !suggested),
  ]);
}
const newAccount = (context, name, then) =>
  edit(
    {
      ...accountKind,
      async after(values, account) {
        await copyRules(values, account);
        void then(account);
      },
    },
    null,
    context,
    { name },
  );

function createAll(names, context) {
  const create = async () => {
    for (const name of names) await send("POST", "/accounts", { body: { name } });
    await readAll(works.filter(asksNames), {}, context);
  };
  return h(
    "button#create-accounts.primary",
    { onclick: trying(create) },
    `Create ${count(names.length, "account")}`,
  );
}

// A change of these reads the file again: what is imported is what was shown.
const SHOWN = ["account_id", "timezone", "day", "date_order", "one_trade_is", "long_only"];

/** @param {Context} context */
export function optionsForm(work, context, suffix) {
  const { file, options, error, report } = work;
  const { accounts } = context;
  const isOpen = isAsking(work);
  const choice = (name, label, choices) =>
    field(label, select({ id: `${name}${suffix}`, name, value: options[name] ?? "" }, choices));
  const again = async (values) => {
    const shown = Object.fromEntries(SHOWN.map((name) => [name, values[name] ?? options[name] ?? ""]));
    // A typed answer is for all files with the question, as a pressed one.
    if (asksZone(work) && shown.timezone)
      return readAll(works.filter(asksZone), { timezone: shown.timezone }, context);
    await read(
      {
        file,
        options: {
          ...options,
          ...shown,
          accounts: shown.account_id ? [] : options.accounts,
        },
      },
      context,
    );
  };
  const element = form(
    { id: `options${suffix}`, class: "row options" },
    again,
    !isOpen &&
      choice("account_id", "Account", [
        ["", "as named in the file"],
        ...accounts.map((one) => [String(one.id), accountName(one)]),
      ]),
    (asksZone(work) || (!isOpen && (options.timezone || report?.timezone_source))) &&
      zoneField("Time zone of the times", {
        id: `timezone${suffix}`,
        name: "timezone",
        value: options.timezone,
        placeholder: report ? "as last time" : "another city",
      }),
    (asksDay(work) || options.day) && textField("Day", "day", options, { id: `day${suffix}`, type: "date" }),
    !isOpen && [
      (report?.date_order || options.date_order) &&
        choice("date_order", "Dates", [
          ["", "as the file shows"],
          ["month", "month first"],
          ["day", "day first"],
          ["year", "year first"],
        ]),
      report?.has_pairs &&
        choice("one_trade_is", "One trade is", [
          ["", "as the account says"],
          ["position", "a position, from flat to flat"],
          ["row", "a row of the file"],
        ]),
      (options.long_only || report?.warnings.some((text) => text.includes("long_only"))) &&
        choice("long_only", "Sold, not bought", [
          ["", "short"],
          ["true", "held before"],
        ]),
    ],
    error && !isOpen && h("button.again", "Read again"),
  );
  element.addEventListener("change", ({ target }) => {
    if (SHOWN.includes(target.name)) again(Object.fromEntries(new FormData(element)));
  });
  if (!error || isOpen) return element;
  const message = find(":scope > .error", element);
  if (error.details?.fields?.timezone) showError(element, message, error);
  else message.textContent = inPageWords(error);
  return element;
}

const inPageWords = ({ message, details }) =>
  details?.missing && !Object.keys(details.missing).length
    ? "There is no table with a header and rows in this file."
    : message;
