// #/today: how the goals stand, the month as a calendar, the curve of net P&L.

import { equityCurve, bar, columnsChart } from "../charts.js";
import { get } from "../client.js";
import { h, trying } from "../dom.js";
import { explained, filled, span, STATES, whatIsLeft } from "../explanations.js";
import * as format from "../format.js";
import { calendar, weeksOf } from "./calendar.js";
import { daysQuestion, emptyJournal, exampleNotice } from "./welcome.js";

const METRICS = "net_pnl,trade_count,win_rate,profit_factor";
const DAYS_BACK = 182; // 27 weeks, so that a page of the report has every day
const PERIODS = { daily: "today", weekly: "this week", monthly: "this month", quarterly: "this quarter" };
const MONTH = /^[1-9]\d{3}-(0[1-9]|1[0-2])$/;
const URGENCY = Object.keys(STATES);

export async function view(context) {
  const { me, query, selection } = context;
  const [{ data }, example] = await Promise.all([get("/goals", { with: "snapshot" }), get("/example-journal")]);
  const today = todayOf(data.goals, me);
  const from = format.plusDays(today, -DAYS_BACK);
  const month = MONTH.test(query.get("month")) ? query.get("month") : today.slice(0, 7);
  const days = (begin, end) => get("/reports", { ...selection, group_by: "day", metrics: METRICS, from: begin, to: end, limit: 200 });
  const recent = (await days(from, today)).data.report;
  const weeks = weeksOf(month);
  const shown = weeks[0][0] >= from ? recent : (await days(weeks[0][0], weeks.at(-1)[6])).data.report;
  const goal = data.goals.find((one) => String(one.id) === query.get("goal"));
  const isEmpty = !data.goals.length && !recent.groups.length && !(await get("/trades", { limit: 1 })).meta.pagination.total;
  const notices = [await daysQuestion(context), exampleNotice(context, example.data.example_journal)];
  if (isEmpty) return [h("h1", null, "Today"), ...notices, emptyJournal(context)];
  return [
    headline(today, recent, context.accounts.find((one) => one.archived && one.id === selection.account_id)),
    goalCards(data.goals, context, goal),
    goal && await history(goal, context),
    ...notices,
    h("div", { class: "split" }, calendar(month, today, shown.groups, context), curve(recent)),
  ];
}

// The trading day that the journal has now, by the running daily goals; else by the clock of this machine.
function todayOf(goals, me) {
  const daily = goals.find((goal) => goal.timeframe === "daily" && goal.current && !goal.current.closed);
  return daily?.current.period_start ?? format.tradingDay(me);
}

function headline(today, { groups }, archived) {
  const { values, reasons } = groups.find((group) => group.key === today) ?? {};
  return h("div", { class: "title" }, h("h1", null, `Today, ${format.longDay(today)}`),
    h("p", null, values
      ? [h("span", { class: `strong ${format.gainOrLoss(values.net_pnl)}` }, format.signed(values.net_pnl)), ` in ${format.count(values.trade_count, "trade")}`,
        reasons.net_pnl && h("span", { class: "muted" }, `. ${format.whyNone(reasons.net_pnl)}`)]
      : h("span", { class: "muted" }, archived ? `Account ${archived.name} is archived` : "No closed trade today")));
}

function goalCards(goals, context, chosen) {
  const rank = ({ current, warnings }) => (warnings.length ? -1 : URGENCY.indexOf(current?.snapshot_data.pace?.state ?? "achieved"));
  if (!goals.length) {
    return h("section", { class: "card" }, h("p", { class: "muted" }, "No goals. A daily loss limit is a good first one."),
      h("button", { id: "first-goal", onclick: editGoal(null, context) }, "Set a daily loss limit"));
  }
  return h("section", { class: "grid goals", "aria-label": "Goals" },
    [...goals].sort((a, b) => rank(a) - rank(b) || a.id - b.id).map((goal) => (goal.warnings.length ? doubtful(goal, context) : card(goal, context, goal === chosen))));
}

const editGoal = (id, context) => trying(async () => {
  const [{ data }, { edit }, { goalKind }] = await Promise.all([get("/metrics"), import("./editing.js"), import("./goal_form.js")]);
  await edit(goalKind(data.metrics), id, context);
});

// A goal that is probably a mistake says so instead of how it stands.
const doubtful = (goal, context) => h("div", { class: "card goal warn", id: `goal-${goal.id}` },
  h("p", { class: "strong small warn" }, "▲ Check this goal"), h("h2", null, goal.goal_name), h("p", { class: "small" }, format.sentences(goal.warnings)),
  h("button", { "aria-label": `Edit the goal ${goal.goal_name}`, onclick: editGoal(goal.id, context) }, "Edit it"));

function card(goal, context, isChosen) {
  const { current } = goal;
  const [word, tone, mark] = STATES[current?.snapshot_data.pace?.state] ?? ["Not running", "", "–"];
  return h("a", { class: `card goal ${tone}`, id: `goal-${goal.id}`, href: isChosen ? "#/today" : `#/today?goal=${goal.id}`, "aria-expanded": String(isChosen) },
    h("p", { class: `strong small ${tone}` }, `${mark} ${word}`),
    h("h2", null, goal.goal_name),
    h("p", { class: "muted small" }, [PERIODS[goal.timeframe] ?? span(goal.custom_start, goal.custom_end), target(goal),
      context.accounts.length > 1 && scopeName(goal, context)].filter(Boolean).join(" · ")),
    current && h("p", { class: "big" }, format.valueOf(current.snapshot_data.unit, current.actual)),
    current && bar(filled(goal), tone),
    current && h("p", { class: "strong" }, whatIsLeft(goal)));
}

const target = (goal) => `${goal.kind} ${format.valueOf(goal.current?.snapshot_data.unit, goal.current?.target ?? goal.target_value)}`;

function scopeName(goal, { accounts, copyGroups }) {
  if (goal.account_id) return accounts.find((one) => one.id === goal.account_id)?.name;
  if (goal.copy_group_id) return copyGroups.find((one) => one.id === goal.copy_group_id)?.name;
  return goal.scope === "" ? "selection" : "all accounts";
}

// The periods of a goal, and the explanation of one of them.
async function history(goal, { query }) {
  const { data } = await get(`/goals/${goal.id}/snapshots`, { limit: 30 });
  const { snapshots } = data;
  const chosen = snapshots.find((one) => one.period_start === query.get("period")) ?? snapshots[0];
  if (!chosen) return h("section", { class: "card" }, h("p", { class: "muted" }, "No period yet."));
  const closed = snapshots.filter((one) => one.closed && one.achieved != null);
  const met = closed.filter((one) => one.achieved).length;
  const columns = snapshots.map((one) => {
    const [word, tone, mark] = verdictOf(one);
    return {
      value: one.actual, target: one.target, tone, mark, isCurrent: one === chosen,
      href: `#/today?goal=${goal.id}&period=${one.period_start}`,
      label: `${span(one.period_start, one.period_end)}: ${format.valueOf(one.snapshot_data.unit, one.actual)}, ${word}`,
    };
  }).reverse();
  return h("section", { class: "card", "aria-label": `Periods of ${goal.goal_name}` },
    h("div", { class: "title" }, h("h2", null, goal.goal_name),
      h("span", null, `met in ${met} of ${format.count(closed.length, "period")}`)),
    h("div", { class: "split" }, columnsChart(columns),
      h("div", { class: "explained" }, explained(goal, chosen).map((line) => h("p", null, line)))));
}

const verdictOf = (snapshot) => !snapshot.closed ? ["running", "", "…"]
  : snapshot.achieved == null ? ["without a value", "", "–"]
  : snapshot.achieved ? ["met", "gain", "✓"] : ["missed", "loss", "✕"];

function curve({ groups, total }) {
  const figures = [
    ["Net P&L", format.signed(total.values.net_pnl), format.gainOrLoss(total.values.net_pnl)],
    ["Trades", format.number(total.values.trade_count)],
    ["Win rate", format.percent(total.values.win_rate)],
    ["Profit factor", format.ratio(total.values.profit_factor)],
  ];
  const days = groups.filter((group) => group.values.net_pnl != null).map((group) => ({ day: group.key, value: group.values.net_pnl }));
  return h("section", { class: "card", "aria-label": "Net P&L" },
    h("h2", null, "Net P&L, last 6 months"),
    h("dl", { class: "figures" }, figures.map(([name, text, tone]) => h("div", null, h("dt", null, name), h("dd", { class: tone }, text)))),
    total.reasons.net_pnl ? h("p", { class: "muted" }, format.whyNone(total.reasons.net_pnl))
      : days.length ? equityCurve(days, { format: format.whole, dayFormat: format.dayOfYear })
      : h("p", { class: "muted" }, "No closed trade in these months."));
}
