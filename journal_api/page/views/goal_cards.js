// The goals as cards, the most urgent first.

import { bar, columnsChart } from "../charts.js";
import { get } from "../client.js";
import { trying } from "../dialogs.js";
import { h } from "../dom.js";
import { STATES, explained, filled, stateOf, whatIsLeft } from "../explanations.js";
import * as format from "../format.js";

const PERIODS = { daily: "today", weekly: "this week", monthly: "this month", quarterly: "this quarter" };
const URGENCY = Object.keys(STATES);

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
