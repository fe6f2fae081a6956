// How accounts stand by their rules.

import { bar } from "../charts.js";
import { href } from "../client.js";
import { trying } from "../dialogs.js";
import { checkbox, definitions, h, table, textField } from "../dom.js";
import { NONE, amount, count, dayOfYear, number, percent, plusDays, signed, tradingDay } from "../format.js";
import { numberField, numbersOf } from "../inputs.js";
import { edit } from "./editing.js";

// By urgency: a tone and a shape.
const STATES = {
  broken: ["loss", "✕"],
  near: ["warn", "▲"],
  within: ["gain", "●"],
  open: ["", "○"],
  met: ["gain", "✓"],
};
const LIMITS = { floor: "floor", daily_loss: "daily loss" };
const TARGETS = ["profit_target", "best_day_share", "qualifying_day", "minimum_days"];

/** @param {Standing} standing */
function stateOf(standing) {
  const limits = Object.keys(LIMITS).filter((name) => standing[name]);
  const targets = TARGETS.filter((name) => standing[name]);
  const first = (state) => limits.find((name) => standing[name].state === state);
  const [broken, near] = [first("broken"), first("near")];
  if (broken) return ["broken", `The ${LIMITS[broken]} is broken since ${dayOfYear(standing[broken].since)}`];
  if (near) return ["near", `Near the ${LIMITS[near]}`];
  if ([...limits, ...targets].some((name) => !standing[name].state)) return ["open", "Too large to compute"];
  if (targets.length && targets.every((name) => standing[name].state === "met"))
    return ["met", "Targets met"];
  return limits.length ? ["within", "Within its limits"] : ["open", "Targets open"];
}

/** @param {Account[]} accounts */
export function standingCards(accounts) {
  const rank = (/** @type {Account} */ { standing }) => Object.keys(STATES).indexOf(stateOf(standing)[0]);
  const ruled = accounts.filter(({ standing, archived }) => standing && !archived);
  return (
    ruled.length > 0 &&
    h(
      "section.grid.standings",
      { "aria-label": "Accounts with rules" },
      ruled.sort((a, b) => rank(a) - rank(b)).map(standingCard),
    )
  );
}

/** @param {Account} account */
export function standingCard({ id, name, currency, standing }) {
  const [state, word] = stateOf(standing);
  const [tone, mark] = STATES[state];
  return h(
    "section.card.goal",
    { class: tone, id: `account-${id}`, "aria-label": name },
    h("p", { class: `strong small ${tone}` }, `${mark} ${word}`),
    h("h2", h("a", { href: href("settings", { account: id }) }, name)),
    roomOf(standing, tone),
    definitions(
      "dl.facts",
      [
        ["Balance", `${amount(standing.balance)} ${currency}`],
        standing.floor && ["Peak", peakOf(standing)],
        ...linesOf(standing),
      ].filter(Boolean),
    ),
  );
}

// In one line.
/** @param {Account} account */
export function standingRow({ id, name, standing }) {
  const [state, word] = stateOf(standing);
  const [tone, mark] = STATES[state];
  const { balance, floor } = standing;
  return [
    h("a", { href: href("settings", { account: id }) }, name),
    amount(balance),
    floor ? amount(floor.room) : NONE,
    h("span", { class: tone }, `${mark} ${word}`),
  ];
}

// The one large number; the bar is what is left of it.
/** @param {Standing} standing */
function roomOf({ floor, daily_loss: loss }, tone) {
  const limit = floor ?? loss;
  if (!limit) return null;
  const left = limit.room / (floor ? floor.peak - floor.limit : -loss.limit);
  return [
    h(
      "p",
      h("span.big", amount(limit.room)),
      h(
        "strong",
        floor
          ? ` left above the floor of ${amount(floor.limit)}${floor.locked ? ", locked" : ""}`
          : " left for the day",
      ),
    ),
    bar(limit.state === "broken" ? 0 : left, tone),
    h("p.muted.small", "Not seen: open profit and loss"),
  ];
}

/** @param {Standing} standing */
function peakOf({ floor: { peak, peak_day: day, peak_trade_id: trade }, start_day: start }) {
  const when = !day
    ? start
      ? `the reset of ${dayOfYear(start)}`
      : "the start"
    : trade
      ? h("a", { href: href("trades", { id: trade }) }, `a trade of ${dayOfYear(day)}`)
      : `the end of ${dayOfYear(day)}`;
  return [`${amount(peak)} at `, when];
}

// What is left of a limit, what is missing of a target.
const days = ({ value, limit }) => `${number(value)} of ${number(limit)}`;
/** @type {Record<string, [string, (rule: any) => string]>} */
const LINES = {
  daily_loss: [
    "Daily loss",
    ({ state, since, room, limit }) =>
      state === "broken"
        ? `broken since ${dayOfYear(since)}`
        : `${amount(room)} left before a loss of ${amount(-limit)}`,
  ],
  profit_target: [
    "Profit target",
    ({ state, since, missing, limit }) =>
      state === "met"
        ? `met since ${dayOfYear(since)}`
        : `needs ${amount(missing)} more for a profit of ${amount(limit)}`,
  ],
  best_day_share: [
    "Best day",
    ({ state, value, remaining, limit }) => {
      if (state === "met") return `${percent(value)} of the profit, at most ${percent(limit)}`;
      return remaining
        ? `needs ${amount(remaining)} more, then your best day is ${percent(limit)}`
        : "no profit";
    },
  ],
  qualifying_day: ["Qualifying days", days],
  minimum_days: ["Days traded", days],
};

/** @param {Standing} standing */
const linesOf = (standing) =>
  Object.entries(LINES).map(([name, [term, text]]) => {
    const rule = standing[name];
    if (!rule) return null;
    if (!rule.state) return [term, "too large to compute"];
    const [tone, mark] = STATES[rule.state];
    // After a payout a target may count from another day than the balance.
    const { counts_from: day } = rule;
    const counted = day && day !== standing.start_day ? `, counted from ${dayOfYear(day)}` : "";
    const isOver = rule.state === "open" && standing.floor?.since;
    const words = isOver ? "ended with the account" : text(rule) + counted;
    return ["within", "open"].includes(rule.state) ? [term, words] : [term, `${mark} ${words}`, tone];
  });

// What the broker said the balance was.
/** @param {Context} context */
export const differingCheckpoints = (context) =>
  context.accounts
    .filter(({ checkpoints, archived }) => checkpoints && !archived)
    .map((one) => difference(one, context));

/** @param {Pick<CheckpointListItem, "unexplained">} checkpoint */
const whatDiffers = ({ unexplained }) =>
  unexplained == null
    ? "too large to compare"
    : !unexplained
      ? "nothing is left to explain"
      : `the journal has ${amount(Math.abs(unexplained))} ${unexplained > 0 ? "more" : "less"}`;

// Where it began: later ones may differ for the same reason.
/** @param {Account} account @param {Context} context */
function difference(account, context) {
  const { id, name, checkpoints } = account;
  const [{ id: checkpoint, day, since, balance, ...first }, ...later] = checkpoints;
  const accept = trying(() => edit(checkpointKind(account, true), checkpoint, context));
  return h(
    "section.card.notice.title",
    { "aria-label": `The broker's balance of ${name}` },
    h(
      "p",
      h("strong", name),
      `, end of ${dayOfYear(day)}: the broker said ${amount(balance)}, ${whatDiffers(first)}.`,
      later.length > 0 && ` ${count(later.length, "later checkpoint")} too.`,
    ),
    h(
      ".row",
      h(
        "a",
        { href: href("trades", { account_id: id, from: since && plusDays(since, 1), to: day }) },
        since ? `Trades since ${dayOfYear(since)}` : "Trades until then",
      ),
      h("a", { href: href("settings", { account: id }) }, "Enter cash"),
      h("button", { "aria-label": `Accept the difference of ${name}`, onclick: accept }, "Accept"),
    ),
  );
}

export const dayField = (label, day) => textField(label, "day", { day }, { type: "date" });
export const today = (/** @type {Account} */ { standing }, { me }) => standing?.at ?? tradingDay(me);

// What the broker said stays: a stored checkpoint is accepted or deleted.
/** @param {Account} account */
export const checkpointKind = (account, isAccepting = false) => ({
  path: `/accounts/${account.id}/checkpoints`,
  member: "checkpoint",
  title: "checkpoint",
  section: "checkpoints",
  name: "day",
  none: "Type the balance of a statement: the journal says whether it is complete.",
  loss: "Trades and cash stay.",
  stale: "Nothing was accepted: the journal has changed since this was shown. Here is what differs now.",
  fields: (checkpoint, context) => [
    ...(checkpoint.id
      ? stored(checkpoint, isAccepting)
      : [
          h(
            ".row",
            dayField("End of the trading day", today(account, context)),
            numberField("The broker's balance", "balance"),
          ),
        ]),
    textField("Note", "note", checkpoint),
  ],
  body: ({ day, note, accepted, ...values }, { id }) => ({
    note: note || null,
    ...(id ? { accepted: Boolean(accepted) } : { day, ...numbersOf(values, ["balance"]) }),
  }),
});

// The difference began on one of the days.
/** @param {Checkpoint} checkpoint */
const stored = ({ day, balance, days, accepted, unexplained }, isAccepting) => [
  h("p", `${dayOfYear(day)}: the broker said ${amount(balance)}, ${whatDiffers({ unexplained })}.`),
  table(
    {},
    ["Day", "Net P&L", "Cash", "Balance"],
    days.map((one) => [dayOfYear(one.day), signed(one.net_pnl), signed(one.cash), amount(one.balance)]),
    ["", "num", "num", "num"],
  ),
  checkbox("Accept the difference", { name: "accepted", checked: accepted || isAccepting }),
];

/** @param {CheckpointListItem} checkpoint */
export const checkpointRow = ({ id, day, balance, unexplained, difference, accepted, note }) => ({
  id,
  name: dayOfYear(day),
  cells: [
    amount(balance),
    accepted
      ? `${signed(difference)} accepted`
      : unexplained === 0
        ? "✓ agrees"
        : h("span.warn", `▲ ${whatDiffers({ unexplained })}`),
    note,
  ],
});
