// Goals in the settings: what they measure, over which time and accounts.

import { refused, send } from "../client.js";
import { field, h, select } from "../dom.js";
import { GOAL_DIRECTIONS, GOAL_STATUSES, TIMEFRAMES } from "../enums.js";
import { span } from "../explanations.js";
import { accountName, inWords, valueOf } from "../format.js";
import { numberInput, numbersOf, write } from "../numbers.js";
import { settleGoal } from "./goal_doubts.js";

const UNITS = {
  currency: "An amount of money.",
  percent: "In percent.",
  ratio: "A ratio.",
  count: "A number.",
};
// What most traders want: a number without a sign is typed, and the rest of the goal follows from its name.
const READY = {
  "Daily loss limit": {
    metric: "worst_day",
    direction: "at_least",
    timeframe: "daily",
    sign: -1,
    hint: "The most that a day may lose",
  },
  "Weekly loss limit": {
    metric: "net_pnl",
    direction: "at_least",
    timeframe: "weekly",
    sign: -1,
    hint: "The most that a week may lose",
  },
  "Weekly profit target": {
    metric: "net_pnl",
    direction: "at_least",
    timeframe: "weekly",
    sign: 1,
    hint: "After fees",
  },
  "Monthly profit target": {
    metric: "net_pnl",
    direction: "at_least",
    timeframe: "monthly",
    sign: 1,
    hint: "After fees",
  },
  "Most trades a day": {
    metric: "max_trades_per_day",
    direction: "at_most",
    timeframe: "daily",
    sign: 1,
    hint: "A trade and its copies are one",
  },
  "Monthly drawdown limit": {
    metric: "max_drawdown",
    direction: "at_most",
    timeframe: "monthly",
    sign: 1,
    hint: "The largest fall from a peak",
  },
};

export const scopesOf = ({ accounts, copyGroups }) => [
  ["all", "all accounts"],
  ...accounts.map((one) => [`account_${one.id}`, accountName(one)]),
  ...copyGroups.map((one) => [`group_${one.id}`, one.name]),
  ["", "the accounts chosen in the bar"],
];

/** @param {Metric[]} metrics */
export const goalKind = (metrics) => ({
  path: "/goals",
  member: "goal",
  title: "goal",
  name: "goal_name",
  section: "goals",
  none: "No goals. A daily loss limit is a good first one.",
  loss: "Its history goes with it. A paused goal keeps its history.",
  fields(goal, context) {
    const metric = select(
      { name: "metric", value: goal.metric ?? "net_pnl" },
      metrics.map((one) => [one.key, one.title]),
    );
    const direction = select(
      { name: "direction", value: goal.direction ?? "at_least" },
      inWords(GOAL_DIRECTIONS),
    );
    const about = h("p.muted");
    const describe = (isNew) => {
      const chosen = metrics.find((one) => one.key === metric.value);
      about.textContent = `${chosen.description.replace(/[`_]/g, (mark) => (mark === "_" ? " " : ""))} ${UNITS[chosen.unit]}`;
      if (isNew) direction.value = chosen.natural_direction;
    };
    metric.addEventListener("change", () => describe(true));
    describe(!goal.id);
    const days = [
      ["From", "custom_start"],
      ["To", "custom_end"],
    ].map(([label, name]) => field(label, h("input", { type: "date", name, value: goal[name] ?? "" })));
    const timeframe = select({ name: "timeframe", value: goal.timeframe ?? "daily" }, inWords(TIMEFRAMES));
    const showDays = () =>
      days.forEach((day) => {
        day.hidden = timeframe.value !== "custom";
      });
    timeframe.addEventListener("change", showDays);
    showDays();
    const ready = select({ name: "ready", value: Object.keys(READY)[0] }, [
      ...Object.keys(READY).map((name) => [name, name]),
      ["", "Another goal"],
    ]);
    const target = field("Target", numberInput({ name: "target_value", value: goal.target_value }), " ");
    const free = [
      field("Name", h("input", { name: "goal_name", value: goal.goal_name ?? "", required: true })),
      h(".row", field("What", metric), field("Wanted", direction)),
      about,
    ];
    const time = field("Time", timeframe);
    const showReady = () => {
      const chosen = goal.id ? undefined : READY[ready.value];
      [...free, time, ...days].forEach((one) => {
        one.hidden = Boolean(chosen);
      });
      if (!chosen) showDays();
      target.querySelector("span").textContent = chosen ? "How much" : "Target";
      target.querySelector("small").textContent = chosen
        ? `${chosen.hint}; without a sign`
        : "A loss limit is negative";
    };
    ready.addEventListener("change", showReady);
    showReady();
    return [
      !goal.id && field("Goal", ready),
      ...free,
      h(
        ".row",
        target,
        time,
        days,
        field("Accounts", select({ name: "scope", value: goal.scope ?? "all" }, scopesOf(context))),
        goal.id && field("Status", select({ name: "status", value: goal.status }, inWords(GOAL_STATUSES))),
      ),
    ];
  },
  body(
    { ready, goal_name, metric, direction, timeframe, custom_start, custom_end, scope, status, ...values },
    goal,
  ) {
    const [kind, id] = scope.split("_");
    const accounts = goal.id
      ? { scope, status }
      : { account: { account_id: Number(id) }, group: { copy_group_id: Number(id) } }[kind];
    const { target_value } = numbersOf(values, ["target_value"]);
    if (ready) return { goal_name: ready, ...readyGoal(READY[ready], target_value), ...accounts };
    const dates = timeframe === "custom" ? { custom_start, custom_end } : {};
    return {
      goal_name,
      metric,
      direction,
      target_value: target_value ?? 0,
      timeframe,
      ...dates,
      ...accounts,
    };
  },
  settle: settleGoal,
  // POST takes no scope: a goal of the selection is made and then told to follow it.
  async after({ scope }, goal) {
    if (scope === "" && goal.scope !== "") await send("PATCH", `/goals/${goal.id}`, { body: { scope } });
  },
});

function readyGoal({ metric, direction, timeframe, sign }, typed) {
  if (!(typed > 0))
    throw refused({
      target_value: `Write a number over 0 without a sign, such as ${write(sign < 0 ? 500 : 5)}`,
    });
  return { metric, direction, timeframe, target_value: sign * typed };
}

/** @param {Goal[]} goals @param {Metric[]} metrics @param {Context} context */
export const goalRows = (goals, metrics, context) =>
  goals.map((goal) => {
    const metric = metrics.find((one) => one.key === goal.metric);
    const wanted = `${goal.direction === "at_least" ? "≥" : "≤"} ${valueOf(metric.unit, goal.target_value)}`;
    const scope = scopesOf(context).find(([value]) => value === goal.scope)?.[1];
    return {
      id: goal.id,
      name: goal.goal_name,
      cells: [
        `${metric.title} ${wanted}`,
        goal.timeframe === "custom" ? span(goal.custom_start, goal.custom_end) : goal.timeframe,
        scope,
        goal.status,
      ],
    };
  });
