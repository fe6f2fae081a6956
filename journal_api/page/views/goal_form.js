// Goals in the settings: what they measure, over which time and accounts.

import { send } from "../client.js";
import { field, h, select } from "../dom.js";
import { span } from "../explanations.js";
import { accountName, valueOf, words } from "../format.js";

const TIMEFRAMES = ["daily", "weekly", "monthly", "quarterly", "custom"];
const STATUSES = ["active", "paused", "archived"];
const pairs = (list) => list.map((one) => [one, words(one)]);
const UNITS = { currency: "An amount of money.", percent: "In percent.", ratio: "A ratio.", count: "A number." };
const DIRECTIONS = [["at_least", "at least"], ["at_most", "at most"]];

export const scopesOf = ({ accounts, copyGroups }) => [
  ["all", "all accounts"], ...accounts.map((one) => [`account_${one.id}`, accountName(one)]), ...copyGroups.map((one) => [`group_${one.id}`, one.name]),
  ["", "the accounts shown on the page"],
];

export const goalKind = (metrics) => ({
  path: "/goals", member: "goal", title: "goal", name: "goal_name", section: "goals",
  none: "No goals. A daily loss limit is a good first one: worst day, at least −500, daily.",
  loss: "Its history goes with it. A paused goal keeps its history.",
  fields(goal, context) {
    const metric = select({ name: "metric", value: goal.metric ?? "net_pnl" }, metrics.map((one) => [one.key, one.title]));
    const direction = select({ name: "direction", value: goal.direction ?? "at_least" }, DIRECTIONS);
    const about = h("p", { class: "muted" });
    const describe = (isNew) => {
      const chosen = metrics.find((one) => one.key === metric.value);
      about.textContent = `${chosen.description.replace(/[`_]/g, (mark) => (mark === "_" ? " " : ""))} ${UNITS[chosen.unit]}`;
      if (isNew) direction.value = chosen.natural_direction;
    };
    metric.addEventListener("change", () => describe(true));
    describe(!goal.id);
    const days = [["From", "custom_start"], ["To", "custom_end"]].map(([label, name]) => field(label, h("input", { type: "date", name, value: goal[name] ?? "" })));
    const timeframe = select({ name: "timeframe", value: goal.timeframe ?? "daily" }, pairs(TIMEFRAMES));
    const showDays = () => days.forEach((day) => { day.hidden = timeframe.value !== "custom"; });
    timeframe.addEventListener("change", showDays);
    showDays();
    return [
      field("Name", h("input", { name: "goal_name", value: goal.goal_name ?? "", required: true })),
      h("div", { class: "row" }, field("What", metric), field("Wanted", direction),
        field("Target", h("input", { name: "target_value", inputmode: "decimal", value: goal.target_value ?? "" }), "a loss limit is negative")),
      about,
      h("div", { class: "row" }, field("Time", timeframe), days, field("Accounts", select({ name: "scope", value: goal.scope ?? "all" }, scopesOf(context))),
        goal.id && field("Status", select({ name: "status", value: goal.status }, pairs(STATUSES)))),
    ];
  },
  body({ goal_name, metric, direction, target_value, timeframe, custom_start, custom_end, scope, status }, goal) {
    const [kind, id] = scope.split("_");
    const accounts = goal.id ? { scope, status } : { account: { account_id: Number(id) }, group: { copy_group_id: Number(id) } }[kind];
    const dates = timeframe === "custom" ? { custom_start, custom_end } : {};
    return { goal_name, metric, direction, target_value: Number(target_value.replace("\u2212", "-")), timeframe, ...dates, ...accounts };
  },
  // POST takes no scope: a goal of the selection is made and then told to follow it.
  async after({ scope }, goal) {
    if (scope === "" && goal.scope !== "") await send("PATCH", `/goals/${goal.id}`, { body: { scope } });
  },
});

export const goalRows = (goals, metrics, context) => goals.map((goal) => {
  const metric = metrics.find((one) => one.key === goal.metric);
  const wanted = `${goal.direction === "at_least" ? "≥" : "≤"} ${valueOf(metric.unit, goal.target_value)}`;
  const scope = scopesOf(context).find(([value]) => value === goal.scope)?.[1];
  return { id: goal.id, name: goal.goal_name, cells: [`${metric.title} ${wanted}`, goal.timeframe === "custom" ? span(goal.custom_start, goal.custom_end) : goal.timeframe, scope, goal.status] };
});
