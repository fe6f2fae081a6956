// #/settings

import { get, send } from "../client.js";
import { confirm, showConflict } from "../dialogs.js";
import { card, checkbox, field, find, findAll, form, h, table, textField } from "../dom.js";
import { NONE, WEEKDAYS, dayOfYear } from "../format.js";
import { numberField, numbersOf, zoneField } from "../inputs.js";
import { accountView } from "./account.js";
import { accountKind } from "./account_form.js";
import { accountRows, cashFlowCard, groupKind, groupRows } from "./accounts.js";
import { differences, listCard } from "./editing.js";
import { goalKind, goalRows } from "./goal_form.js";
import { categoryKind, tagKind, tagRows } from "./tags.js";

/** @param {Context} context */
export async function view(context) {
  const account = context.accounts.find((one) => String(one.id) === context.query.get("account"));
  if (account) return accountView(account, context);
  const paid = cashFlowCard(context);
  const [goals, metrics, categories, tags, keys] = (
    await Promise.all([
      get("/goals", { status: "all" }),
      get("/metrics"),
      get("/tag-categories"),
      get("/tags"),
      get("/keys"),
    ])
  ).map(({ data }) => Object.values(data)[0]);
  const cashFlow = await paid;
  const { accounts, copyGroups } = context;
  const list = (title, kind, heads, rows) => listCard(title, kind, context, heads, rows);
  return [
    h(".title", h("h1", "Settings"), h("button#sign-out", { onclick: context.signOut }, "Sign out")),
    h(
      ".split",
      h(
        ".stack",
        tradingDays(context),
        templates(context),
        list(
          "Goals",
          goalKind(metrics),
          ["Goal", "Wanted", "Time", "Accounts", "Status"],
          goalRows(goals, metrics, context),
        ),
      ),
      h(
        ".stack",
        list(
          "Accounts",
          accountKind,
          ["Account", "Broker", "Starting balance", "", ""],
          accountRows(accounts),
        ),
        cashFlow,
        list("Copy groups", groupKind, ["Group", "Accounts", "Master", ""], groupRows(copyGroups, context)),
        list("Tags", tagKind(categories), ["Tag", "Category", "Type", ""], tagRows(tags, categories)),
        list(
          "Tag categories",
          categoryKind,
          ["Category", "Tags", ""],
          categories.map((one) => ({
            id: one.id,
            name: one.name,
            cells: [one.tag_count, one.single && "one on a trade"],
          })),
        ),
        keysCard(keys, context),
      ),
    ),
  ];
}

/** @param {Context} context */
function tradingDays(context) {
  const { me } = context;
  return card(
    "Trading days",
    h(
      "p.muted",
      `A trading day begins at ${me.day_rollover} in ${me.timezone}. Daily limits, the calendar and all periods count by it; another time or zone moves every trade to its day.`,
    ),
    form(
      { id: "days" },
      ({ timezone, day_rollover, ...values }, element) =>
        saveMe(
          {
            timezone,
            day_rollover,
            trading_weekdays: findAll("[name=weekday]:checked", element).map(({ value }) => Number(value)),
            breakeven_within: numbersOf(values, ["breakeven_within"]).breakeven_within ?? 0,
          },
          context,
        ),
      h(
        ".row",
        zoneField("Time zone", { name: "timezone", value: me.timezone }, "America/New_York for futures"),
        textField(
          "Begins at",
          "day_rollover",
          me,
          { type: "time" },
          "17:00 for futures, 00:00 for calendar days",
        ),
      ),
      h(
        "fieldset.row",
        h("legend", "Days on which you trade"),
        WEEKDAYS.map((name, index) =>
          checkbox(name, {
            name: "weekday",
            value: index + 1,
            checked: me.trading_weekdays.includes(index + 1),
          }),
        ),
      ),
      h("small.error", { "data-field": "trading_weekdays" }),
      numberField(
        "Break-even within",
        "breakeven_within",
        me.breakeven_within,
        "In the account's currency. A trade that makes or loses no more is neither a win nor a loss, and ends no streak.",
      ),
      h("button.primary", "Save"),
    ),
  );
}

const isValid = ({ revoked_at: revoked, expires_at: expires }) =>
  !revoked && (!expires || new Date(expires) > new Date());

/** @param {ApiKey[]} all @param {Context} context */
function keysCard(all, context) {
  const keys = all.filter(isValid);
  return card(
    "Keys",
    { id: "keys" },
    h("p.muted", "Whoever has one of these keys can use this journal. Revoke those that you no longer need."),
    keys.length > 0 &&
      table(
        { class: "middle" },
        ["Name", "Ends in", "Last used", ""],
        keys.map((one) => cellsOf(one, context)),
      ),
  );
}

const day = (text) => dayOfYear(text.slice(0, 10));
const about = ({ is_current: isCurrent, expires_at: expires }) =>
  [isCurrent && "this browser", expires && `expires ${day(expires)}`].filter(Boolean).join(", ");
const lastUse = ({ is_current: isCurrent, last_used_on: used }) =>
  isCurrent ? "Now" : used ? day(used) : NONE;

/** @param {ApiKey} one @param {Context} context */
const cellsOf = (one, context) => [
  [h("div", one.name), h("small.muted", about(one))],
  h("code", `…${one.last_four}`),
  lastUse(one),
  h(
    "button",
    {
      "aria-label": `Revoke ${one.name}, which ends in ${one.last_four}`,
      onclick: () => askToRevoke(one, context),
    },
    "Revoke",
  ),
];

function askToRevoke({ id, name, last_four: lastFour, is_current: isCurrent }, { redraw, signOut }) {
  const loss = isCurrent ? "This browser is signed out." : "Whatever uses this key is signed out.";
  confirm(
    `Revoke ${name} (…${lastFour})?`,
    `${loss} A revoked key never works again.`,
    "Revoke",
    async () => {
      await send("DELETE", `/keys/${id}`);
      await (isCurrent ? signOut() : redraw());
    },
  );
}

// What an empty plan and review begin with; and saving one's own settings.
// Writes what was changed, and asks only if the same was changed meanwhile.
function saveMe(typed, { me, meEtag, redraw }) {
  const changed = Object.entries(typed).filter(([name, value]) => String(value) !== String(me[name]));
  return save(Object.fromEntries(changed), me, meEtag, redraw);
}

async function save(changed, before, etag, redraw) {
  try {
    if (Object.keys(changed).length) await send("PATCH", "/me", { body: changed, etag });
  } catch (error) {
    if (error.status !== 412) throw error;
    const {
      data: { me: now },
      etag: newer,
    } = await get("/me");
    const again = () => save(changed, now, newer, redraw);
    if (Object.keys(changed).every((name) => String(now[name]) === String(before[name]))) return again();
    return showConflict("setting", differences(changed, now), { keepMine: again, takeStored: redraw });
  }
  for (const name of Object.keys(changed))
    find(`form [name=${name}]`)?.closest("form").removeAttribute("data-changed");
  await redraw();
}

const NAMES = { plan_template: "Plan", review_template: "Review" };

/** @param {Context} context */
const templates = (context) =>
  card(
    "Templates",
    h("p.muted", "An empty plan or review begins with this, and is stored once you type into it."),
    form(
      { id: "templates", "data-draft": "The templates are not saved." },
      (values) =>
        saveMe(
          Object.fromEntries(
            Object.keys(NAMES).map((name) => [name, values[name].trim() ? values[name] : null]),
          ),
          context,
        ),
      Object.entries(NAMES).map(([name, label]) =>
        field(label, h("textarea", { name, rows: 4, value: context.me[name] ?? "" })),
      ),
      h("button.primary", "Save"),
    ),
  );
