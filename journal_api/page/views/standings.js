// How accounts stand by their rules.

import { bar } from "../charts.js";
import { href } from "../client.js";
import { definitions, h } from "../dom.js";
import { amount, dayOfYear, number, percent } from "../format.js";

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
  for (const state of ["broken", "near"]) {
    const name = limits.find((one) => standing[one].state === state);
    const since = name && standing[name].since;
    if (name)
      return [
        state,
        since ? `The ${LIMITS[name]} is broken since ${dayOfYear(since)}` : `Near the ${LIMITS[name]}`,
      ];
  }
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
        ...Object.entries(LINES).map(([rule, [term, text]]) => lineOf(term, text, standing[rule])),
      ].filter(Boolean),
    ),
  );
}

// The one large number; the bar is full at the floor.
/** @param {Standing} standing */
function roomOf({ floor, daily_loss: loss }, tone) {
  const limit = floor ?? loss;
  if (!limit) return null;
  const used = floor ? (floor.peak - floor.value) / (floor.peak - floor.limit) : loss.value / loss.limit;
  return [
    h(
      "p",
      h("span.big", amount(limit.room)),
      h(
        "strong",
        floor ? ` left until ${amount(floor.limit)}${floor.locked ? ", locked" : ""}` : " left today",
      ),
    ),
    bar(limit.state === "broken" ? 1 : used, tone),
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
const LINES = {
  daily_loss: [
    "Daily loss",
    ({ state, since, room, limit }) =>
      state === "broken"
        ? `broken since ${dayOfYear(since)}`
        : `${amount(room)} left today of ${amount(-limit)}`,
  ],
  profit_target: [
    "Profit target",
    ({ state, since, missing, limit }) =>
      state === "met" ? `met since ${dayOfYear(since)}` : `${amount(missing)} missing of ${amount(limit)}`,
  ],
  best_day_share: [
    "Best day",
    ({ state, value, remaining, limit }) => {
      if (state === "met") return `${percent(value)} of the profit, at most ${percent(limit)}`;
      return remaining
        ? `${amount(remaining)} more until your best day is ${percent(limit)}`
        : "no profit yet";
    },
  ],
  qualifying_day: ["Qualifying days", days],
  minimum_days: ["Days traded", days],
};

function lineOf(term, text, rule) {
  if (!rule) return null;
  if (!rule.state) return [term, "too large to compute"];
  const [tone, mark] = STATES[rule.state];
  const isPlain = ["within", "open"].includes(rule.state);
  return isPlain ? [term, text(rule)] : [term, `${mark} ${text(rule)}`, tone];
}
