// The goals as cards, the most urgent first.

import { bar, columnsChart } from "../charts.js";
import { get } from "../client.js";
import { trying } from "../dialogs.js";
import { h } from "../dom.js";
import { AMOUNTS } from "../enums.js";
import * as format from "../format.js";
import { amount, count, number, signed, span, valueOf, words } from "../format.js";

/** @type {Record<string, [string, string, string]>} */
const STATES = {
  missed: ["Missed", "loss", "✕"],
  near_limit: ["Near limit", "warn", "▲"],
  within_limit: ["Within limit", "gain", "●"],
  behind: ["Behind", "warn", "▼"],
  on_track: ["On track", "gain", "●"],
  achieved: ["Reached", "gain", "✓"],
};
const URGENCY = Object.keys(STATES);
const PERIODS = { daily: "today", weekly: "this week", monthly: "this month", quarterly: "this quarter" };

/** @param {Goal[]} goals @param {Context} context @param {Goal} chosen */
export function goalCards(goals, context, chosen) {
  const rank = (/** @type {Goal} */ { current, warnings }) =>
    warnings.length ? -1 : URGENCY.indexOf(current?.snapshot_data.pace?.state ?? "achieved");
  if (!goals.length) {
    return h(
      "section.card",
      h("p.muted", "No goals. A daily loss limit is a good first one."),
      h("button#first-goal", { onclick: editGoal(null, context) }, "Set a daily loss limit"),
    );
  }
  return h(
    "section.grid.goals",
    { "aria-label": "Goals" },
    [...goals]
      .sort((a, b) => rank(a) - rank(b) || a.id - b.id)
      .map((goal) => (goal.warnings.length ? doubtful(goal, context) : card(goal, context, goal === chosen))),
  );
}

const editGoal = (id, context) =>
  trying(async () => {
    const [{ data }, { edit }, { goalKind }] = await Promise.all([
      get("/metrics"),
      import("./editing.js"),
      import("./goal_form.js"),
    ]);
    await edit(goalKind(data.metrics), id, context);
  });

/** @param {Goal} goal @param {Context} context */
const doubtful = (goal, context) =>
  h(
    ".card.goal.warn",
    { id: `goal-${goal.id}` },
    h("p.strong.small.warn", "▲ Check this goal"),
    h("h2", goal.goal_name),
    h("p.small", format.sentences(goal.warnings)),
    h(
      "button",
      { "aria-label": `Edit the goal ${goal.goal_name}`, onclick: editGoal(goal.id, context) },
      "Edit it",
    ),
  );

/** @param {Goal} goal @param {Context} context */
function card(goal, context, isChosen) {
  const { current } = goal;
  const [word, tone, mark] = stateOf(goal.kind, current);
  return h(
    "a",
    {
      class: `card goal ${tone}`,
      id: `goal-${goal.id}`,
      href: isChosen ? "#/today" : `#/today?goal=${goal.id}`,
      "aria-expanded": String(isChosen),
    },
    h("p", { class: `strong small ${tone}` }, `${mark} ${word}`),
    h("h2", goal.goal_name),
    h(
      "p.muted.small",
      [
        PERIODS[goal.timeframe] ?? format.span(goal.custom_start, goal.custom_end),
        target(goal),
        context.accounts.length > 1 && scopeName(goal, context),
      ]
        .filter(Boolean)
        .join(" · "),
    ),
    current && h("p.big", format.valueOf(current.snapshot_data.unit, current.actual)),
    current && bar(filled(goal), tone),
    current && h("p.strong", whatIsLeft(goal)),
  );
}

/** @param {Goal} goal */
const target = (goal) =>
  `${goal.kind} ${format.valueOf(goal.current?.snapshot_data.unit, goal.current?.target ?? goal.target_value)}`;

/** @param {Goal} goal @param {Context} context */
function scopeName(goal, { accounts, copyGroups }) {
  if (goal.account_id) return format.nameIn(accounts, goal.account_id);
  if (goal.copy_group_id) return format.nameIn(copyGroups, goal.copy_group_id);
  return goal.scope === "" ? "selection" : "all accounts";
}

/** @param {Goal} goal @param {Context} context */
export async function history(goal, { query }) {
  const { data } = await get(`/goals/${goal.id}/snapshots`, { limit: 30 });
  const { snapshots } = data;
  const chosen = snapshots.find((one) => one.period_start === query.get("period")) ?? snapshots[0];
  if (!chosen) return h("section.card", h("p.muted", "No period yet."));
  const closed = snapshots.filter((one) => one.closed && one.achieved != null);
  const met = closed.filter((one) => one.achieved).length;
  const columns = snapshots
    .map((one) => {
      const [word, tone, mark] = stateOf(goal.kind, one);
      return {
        value: one.actual,
        target: one.target,
        tone,
        mark,
        isCurrent: one === chosen,
        href: `#/today?goal=${goal.id}&period=${one.period_start}`,
        label: `${format.span(one.period_start, one.period_end)}: ${format.valueOf(one.snapshot_data.unit, one.actual)}, ${word.toLowerCase()}`,
      };
    })
    .reverse();
  return h(
    "section.card",
    { "aria-label": `Periods of ${goal.goal_name}` },
    h(
      ".title",
      h("h2", goal.goal_name),
      h(
        "span",
        `${goal.kind === "limit" ? "kept" : "reached"} in ${met} of ${format.count(closed.length, "period")}`,
      ),
    ),
    h(
      ".split",
      columnsChart(columns),
      h(
        ".explained",
        explained(goal, chosen).map((line) => h("p", line)),
      ),
    ),
  );
}

// How a goal stands and where its value comes from, so that a trader can recompute it.
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
function whatIsLeft(goal) {
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
function filled(goal) {
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
function explained(goal, snapshot) {
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
