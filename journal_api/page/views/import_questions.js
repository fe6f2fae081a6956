// @ts-check
// What a file does not say: whose trades they are, and in which time zone. One press answers each question.

import { send } from "../client.js";
import { h, trying } from "../dom.js";
import { accountName, count } from "../format.js";
import { here } from "../zones.js";
import { accountKind } from "./accounts.js";
import { edit } from "./editing.js";
import { accountIn, readAll, works } from "./import_file.js";

// The names of accounts in the file that the journal does not know.
const unknownNames = ({ report }) =>
  report?.accounts.filter((one) => one.account_id == null).map((one) => one.name) ?? [];

const asked = ({ error }) => error?.details?.fields ?? {};
export const asksZone = (work) => Boolean(asked(work).timezone) && !work.options.timezone;
const asksNames = (work) => unknownNames(work).length > 0;
export const isAsking = (work) => asksZone(work) || Boolean(asked(work).account_id) || asksNames(work);

/** @param {any} work @param {Context} context */
export function questionsOf(work, context) {
  const names = unknownNames(work);
  if (asksZone(work)) return zoneQuestion(context);
  if (asked(work).account_id)
    return accountQuestion(work, context, "Which account are these trades from?", "", (id) => ({
      account_id: String(id),
    }));
  return [
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
  h("p", { class: "row", role: "group", "aria-label": text }, h("strong", null, text), buttons);

const choice = (label, onclick, isFirst = false) =>
  h("button", { type: "button", class: isFirst && "primary", onclick }, label);

// Files of one drop are asked for their zone once.
function zoneQuestion(context) {
  const use = (timezone) => () => readAll(works.filter(asksZone), { timezone }, context);
  return question(
    "The times in this file have no time zone. Which is it? It is remembered.",
    [...new Set([context.me.timezone, here()])].map((zone, place) =>
      choice(`Use ${zone}`, use(zone), !place),
    ),
  );
}

// A choice of accounts, the one that the name of the file has in it first; `optionsOf` an account answers the question.
function accountQuestion(work, context, text, name, optionsOf) {
  const { accounts } = context;
  const answer = ({ id }) => readAll([work], optionsOf(id), context);
  const meant = accountIn(work.file.name, accounts);
  const open = accounts.filter((one) => !one.archived && one !== meant);
  const create = () =>
    newAccount(context, name, async (account) => {
      await readAll([work], optionsOf(account.id), context);
      await readAll(works.filter(asksNames), {}, context); // another file may name the same account
    });
  return question(text, [
    [meant, ...open].filter(Boolean).map((one) => choice(accountName(one), () => answer(one), one === meant)),
    choice("New account…", trying(create), !accounts.length),
  ]);
}

// Asks for an account in a dialog; `then` gets it.
const newAccount = (context, name, then) =>
  edit({ ...accountKind, after: (values, account) => void then(account) }, null, context, { name });

function createAll(names, context) {
  const create = async () => {
    for (const name of names) await send("POST", "/accounts", { body: { name } });
    await readAll(works.filter(asksNames), {}, context);
  };
  return h(
    "button",
    { type: "button", class: "primary", id: "create-accounts", onclick: trying(create) },
    `Create ${count(names.length, "account")}`,
  );
}
