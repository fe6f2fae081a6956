// How a goal stands and where its value comes from, so that a trader can recompute it.

import { AMOUNTS } from "./enums.js";
import { amount, count, number, span, signed, valueOf, words } from "./format.js";

/** @type {Record<string, [string, string, string]>} */
export const STATES = {
  missed: ["Missed", "loss", "✕"],
  near_limit: ["Near limit", "warn", "▲"],
  within_limit: ["Within limit", "gain", "●"],
  behind: ["Behind", "warn", "▼"],
  on_track: ["On track", "gain", "●"],
  achieved: ["Reached", "gain", "✓"],
};

// A limit is kept or broken, a target reached or missed.
const OF_LIMITS = { missed: "Broken", achieved: "Kept" };

// Word, tone and mark of a goal in a period, the same wherever it is shown.
/** @param {string} kind @param {Pick<Snapshot, "closed" | "achieved" | "snapshot_data"> | undefined} snapshot */
export function stateOf(kind, snapshot) {
  const { closed, achieved, snapshot_data: data } = snapshot ?? {};
  const decided = { true: "achieved", false: "missed" }[achieved];
  const state = closed ? decided : data?.pace?.state;
  const [word, tone, mark] = STATES[state] ?? [closed || data?.pace ? "No value" : "Not running", "", "–"];
  return [(kind === "limit" && OF_LIMITS[state]) || word, tone, mark];
}

/** @param {Partial<Pace>} pace */
const isKept = ({ state }) => ["within_limit", "near_limit"].includes(state);

// "325.50 over 500.00".
/** @param {Goal} goal */
const beyond = ({ direction, current: { actual, target } }, shown) =>
  `${shown(Math.abs(actual - target))} ${direction === "at_most" ? "over" : "below"} ${shown(target)}`;

// "120.00 left before −500.00", "950.00 above −500.00".
/** @param {Goal} goal */
function room({ direction, current: { target } }, remaining, shown) {
  if (remaining == null) return "Nothing used yet";
  const side = direction === "at_most" ? "below" : "above";
  return `${shown(remaining)} ${remaining > Math.abs(target) ? side : "left before"} ${shown(target)}`;
}

// "120.00 left before −500.00", "needs 84.00 a day for 9 days".
/** @param {Goal} goal */
export function whatIsLeft(goal) {
  const { snapshot_data: data, actual, target } = goal.current;
  const pace = /** @type {Partial<Pace>} */ (data.pace ?? {});
  const shown = (value) => valueOf(data.unit, value);
  if (pace.state == null) return data.reason ? words(data.reason) : "Not running now";
  if (isKept(pace)) return room(goal, pace.remaining, shown);
  if (pace.state === "missed" && goal.kind === "target" && data.unit === "count")
    return `${shown(pace.remaining)} short, too few days are left`;
  if (pace.state === "missed" || (pace.state === "behind" && goal.kind === "limit"))
    return beyond(goal, shown);
  if (pace.state === "achieved") return `Reached ${shown(target)}`;
  if (pace.needed_per_day != null)
    return `Needs ${shown(Math.ceil(pace.needed_per_day * 100) / 100)} a day for ${count(pace.days_left, "day")}`;
  if (actual == null) return data.reason ? words(data.reason) : "";
  const missing =
    data.unit === "percent" ? count(Math.round(pace.remaining * 10) / 10, "point") : shown(pace.remaining);
  return pace.remaining ? `${missing} short of ${shown(target)}` : `Meets ${shown(target)}`;
}

// What is left of a limit, how far a target is reached: the fuller, the better.
/** @param {Goal} goal */
export function filled(goal) {
  const { snapshot_data: data, actual, target } = goal.current;
  const pace = /** @type {Partial<Pace>} */ (data.pace ?? {});
  if (pace.state === "achieved") return 1;
  if (goal.kind === "limit") return isKept(pace) ? (pace.remaining ?? Infinity) / Math.abs(target || 1) : 0;
  const opening = goal.metric === "balance_target" ? data.opening_balance : 0;
  return ((actual ?? opening) - opening) / (target - opening || 1);
}

// "wins 3 / decisions 5 × 100"; a formula in words stays as it is.
/** @param {SnapshotData} data */
function withNumbers(formula, data) {
  const names = formula.match(/[a-z_]+/gi);
  const shown = (name) => (AMOUNTS.includes(name) ? amount : number)(data[name]);
  return names.every((name) => data[name] != null)
    ? formula.replace(
        /[a-z_]+/g,
        (name) => `${name.replaceAll("_", " ").replace("pnl", "P&L")} ${shown(name)}`,
      )
    : formula;
}

/** @param {Goal} goal @param {Snapshot} snapshot */
export function explained(goal, snapshot) {
  const {
    snapshot_data: data,
    actual,
    target,
    achieved,
    closed,
    period_start: start,
    period_end: end,
  } = snapshot;
  const shown = (value) => valueOf(data.unit, value);
  const wanted = `${goal.direction === "at_least" ? "at least" : "at most"} ${shown(target)}`;
  const verdict =
    achieved == null
      ? `not decided (${words(data.reason ?? "no value")})`
      : stateOf(goal.kind, snapshot)[0].toLowerCase();
  const lines = [`${span(start, end)}${closed ? "" : ", still running"}: wanted ${wanted}, ${verdict}.`];
  if (actual != null) lines.push(`${shown(actual)} = ${withNumbers(goal.formula, data)}.`);
  if (data.trades != null) {
    lines.push(
      `${count(data.trades, "trade")} on ${count(data.trading_days, "day")}: ${count(data.wins, "win")}, ` +
        `${count(data.losses, "loss", "losses")}, ${count(data.breakevens, "break-even")}; net P&L ${signed(data.net_pnl)}.`,
    );
  }
  lines.push(`Trading days begin at ${data.day_rollover} in ${data.timezone}.`);
  return lines;
}
