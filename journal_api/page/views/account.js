// #/settings?account=1: the rules, the cash and the checkpoints of an account.

import { get, send } from "../client.js";
import { showConflict, trying } from "../dialogs.js";
import { card, checkbox, choiceField, find, form, h, select, textField } from "../dom.js";
import { CASH_KINDS } from "../enums.js";
import { amount, dayOfYear, inWords, signed, words } from "../format.js";
import { numberField, numbersOf, parse, write } from "../inputs.js";
import { ruled } from "./account_form.js";
import { differences, listCard } from "./editing.js";
import { checkpointKind, checkpointRow, dayField, standingCard, today } from "./standings.js";

const MAX_CASH = 200; // of a page

/** @param {Account} account @param {Context} context */
export async function accountView(account, context) {
  const path = `/accounts/${account.id}`;
  const [rules, cash, { data }] = await Promise.all([
    account.standing ? get(`${path}/rules`) : { data: { rules: {} } },
    newestCash(`${path}/cash`),
    get(`${path}/checkpoints`),
  ]);
  const list = (title, kind, heads, rows, classes) =>
    listCard(title, kind(account), context, heads, [...rows].reverse(), classes);
  return [
    h(".title", h("h1", account.name), h("a", { href: "#/settings" }, "All settings")),
    h(
      ".split",
      h(".stack", account.standing && standingCard(account), rulesCard(account, rules, context)),
      h(
        ".stack",
        list("Cash", cashKind, ["Day", "Kind", "Amount", "Note"], cash.map(cashRow), ["", "", "num"]),
        list(
          "Checkpoints",
          checkpointKind,
          ["Day", "Broker's balance", "", "Note"],
          data.checkpoints.map(checkpointRow),
          ["", "num"],
        ),
      ),
    ),
  ];
}

async function newestCash(path) {
  const read = (offset) => get(path, { limit: MAX_CASH, offset });
  const { data, meta } = await read(0);
  const older = meta.pagination.total - MAX_CASH;
  return (older > 0 ? await read(older) : { data }).data.cash;
}

const FLOORS = {
  end_of_day: "follows daily closes",
  trade: "follows each trade",
  static: "never moves",
};
const NUMBERS = {
  "floor.distance": ["Distance below the peak"],
  "floor.locks_at": ["Floor stops at", "Empty: never"],
  daily_loss: ["Daily loss"],
  profit_target: ["Profit target"],
  best_day_share: ["Best day, %", "Of the profit; after a payout, from the next day"],
  "qualifying_day.amount": ["A qualifying day earns"],
  "qualifying_day.days": ["Qualifying days", "After a payout, from the next day"],
  minimum_days: ["Days with a trade"],
};

function rulesCard(account, { data: { rules }, etag }, { accounts, redraw }) {
  const path = `/accounts/${account.id}/rules`;
  const valueOf = (name) => name.split(".").reduce((part, one) => part?.[one], rules);
  const fields = [
    choiceField("Floor", "floor.kind", rules.floor?.kind ?? "end_of_day", Object.entries(FLOORS)),
    ...Object.entries(NUMBERS).map(([name, [label, hint]]) => numberField(label, name, valueOf(name), hint)),
  ];
  return card(
    "Rules",
    h("p.muted", "The numbers of your contract. What is empty does not apply."),
    form(
      { id: "rules", "data-draft": "The rules of this account are not saved." },
      (values) => saveRules(path, rulesOf(values), etag, redraw),
      [0, 3, 6].map((first) => h(".row", fields.slice(first, first + 3))),
      h(".row", h("button.primary", "Save"), rulesOfOthers(account, accounts)),
    ),
  );
}

// They are typed into the form: what is saved is what is seen.
function rulesOfOthers({ id }, accounts) {
  const others = ruled(accounts).filter(([other]) => other !== id);
  const fill = trying(async () => {
    const { rules } = (await get(`/accounts/${list.value}/rules`)).data;
    for (const name of ["floor.kind", ...Object.keys(NUMBERS)]) {
      const control = list.form.elements[name];
      const value = name.split(".").reduce((part, one) => part?.[one], rules);
      control.value = control.tagName === "SELECT" ? (value ?? control.value) : write(value);
    }
    list.form.dataset.changed = "";
  });
  const list = select({ "aria-label": "Copy rules from", onchange: fill, value: "" }, [
    ["", "Copy rules from…"],
    ...others,
  ]);
  return others.length > 0 && list;
}

function rulesOf(values) {
  const {
    "floor.distance": distance,
    "floor.locks_at": locks_at,
    "qualifying_day.amount": amount,
    "qualifying_day.days": days,
    ...others
  } = numbersOf(values, Object.keys(NUMBERS));
  return {
    floor: (distance ?? locks_at) === null ? null : { kind: values["floor.kind"], distance, locks_at },
    qualifying_day: (amount ?? days) === null ? null : { amount, days },
    ...others,
  };
}

function noneYet(error) {
  if (error.status !== 404) throw error;
}

async function saveRules(path, body, etag, redraw) {
  const hasRules = Object.values(body).some((one) => one !== null);
  const conflict = ({ data, etag: newer }) =>
    showConflict("account", differences(body, data.rules), {
      keepMine: () => saveRules(path, body, newer, redraw),
      takeStored: redraw,
    });
  try {
    // Rules that another program has made since are not replaced unseen.
    const found = hasRules && !etag && (await get(path).catch(noneYet));
    if (found) return conflict(found);
    if (hasRules) await send("PUT", path, { body, etag });
    else if (etag) await send("DELETE", path, { etag });
  } catch (error) {
    // Somebody else has deleted the rules.
    if (error.status === 404 && etag) return hasRules ? saveRules(path, body, undefined, redraw) : redraw();
    if (error.status !== 412) throw error;
    return conflict(await get(path));
  }
  await redraw();
}

/** @param {Account} account */
const cashKind = (account) => ({
  path: `/accounts/${account.id}/cash`,
  member: "cash",
  title: "cash",
  section: "cash",
  name: "day",
  none: "No deposits, payouts, fees or resets.",
  loss: "All balances from that day on change.",
  fields(cash, context) {
    const kind = choiceField("Kind", "kind", cash.kind ?? "payout", inWords(CASH_KINDS));
    const amount = numberField("Amount", "amount", cash.amount, "Only an adjustment may be negative");
    const day = dayField("Trading day", cash.day ?? today(account, context));
    return [
      h(".row", kind, amount, day),
      ofKind(account, cash, find("select", kind), find("input", amount)),
      textField("Note", "note", cash),
    ];
  },
  body({ kind, day, note, outside, ...values }, cash, { elements }) {
    const { amount, received } = numbersOf(values, ["amount", "received"]);
    const isStated = cash.received_source === "stated" || elements.received.dataset.stated;
    return {
      kind,
      day,
      amount,
      note: note || null,
      outside: kind === "fee" && Boolean(outside),
      received: kind === "payout" && isStated ? received : null,
    };
  },
});

// What is asked of a payout and of a fee. What arrived follows the amount until it is typed.
/** @param {Account} account @param {any} cash */
function ofKind({ payout_share: share, standing }, cash, kind, written) {
  const above = standing?.payout?.room;
  const hint = above > 0 ? `${amount(above)} is above the floor today` : "";
  const arrived = numberField("What arrived", "received", cash.received, hint);
  const outside = checkbox("Paid by card, not from the account", { name: "outside", checked: cash.outside });
  const control = find("input", arrived);
  const show = () => {
    arrived.hidden = kind.value !== "payout";
    outside.hidden = kind.value !== "fee";
    if (!control.dataset.stated && cash.received_source !== "stated")
      control.value = write(Math.round(parse(written.value) * (share ?? 100)) / 100 || null);
  };
  control.addEventListener("input", () => {
    control.dataset.stated = "true";
  });
  kind.addEventListener("change", show);
  written.addEventListener("input", show);
  show();
  return h("div", arrived, outside);
}

// As it moves the balance: an adjustment has its own sign, a reset is a balance.
const OUT = ["withdrawal", "payout", "fee"];
const amountOf = (kind, value) =>
  kind === "reset" ? amount(value) : signed(OUT.includes(kind) ? -value : value);

/** @param {Cash} cash */
const cashRow = ({ id, kind, amount: value, day, note, outside, received }) => ({
  id,
  name: dayOfYear(day),
  cells: [
    words(kind) +
      (outside
        ? ", by card"
        : kind === "payout" && received !== value
          ? `, ${amount(received)} arrived`
          : ""),
    amountOf(kind, value),
    note,
  ],
});
