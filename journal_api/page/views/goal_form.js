// Goals in the settings.

import { refused, send } from "../client.js";
import { open } from "../dialogs.js";
import { field, find, h, select, textField } from "../dom.js";
import { GOAL_DIRECTIONS, GOAL_STATUSES, TIMEFRAMES } from "../enums.js";
import { inWords, number, scopeOf, scopeOptions, sentences, span, valueOf } from "../format.js";
import { numberField, numbersOf, write } from "../inputs.js";

const UNITS = {
  currency: "An amount of money.",
  percent: "In percent.",
  ratio: "A ratio.",
  count: "A number.",
};

// A number without a sign is typed; the rest follows from the name.
const READY = {
  "Daily loss limit": ["worst_day", "at_least", "daily", -1, "The most that a day may lose"],
  "Weekly loss limit": ["net_pnl", "at_least", "weekly", -1, "The most that a week may lose"],
  "Weekly profit target": ["net_pnl", "at_least", "weekly", 1, "After fees"],
  "Monthly profit target": ["net_pnl", "at_least", "monthly", 1, "After fees"],
  "Most trades a day": ["max_trades_per_day", "at_most", "daily", 1, "A trade and its copies are one"],
  "Monthly drawdown limit": ["max_drawdown", "at_most", "monthly", 1, "The largest fall from a peak"],
};

const scopesOf = (context) => [
  ["all", "all accounts"],
  ...scopeOptions(context),
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
    const choice = (name, otherwise, options) => select({ name, value: goal[name] ?? otherwise }, options);
    const metric = choice(
      "metric",
      "net_pnl",
      metrics.map((one) => [one.key, one.title]),
    );
    const direction = choice("direction", "at_least", inWords(GOAL_DIRECTIONS));
    const about = h("p.muted");
    const describe = (isNew) => {
      const chosen = metrics.find((one) => one.key === metric.value);
      about.textContent = `${chosen.description.replace(/[\x60_]/g, (mark) => (mark === "_" ? " " : ""))} ${UNITS[chosen.unit]}`;
      if (isNew) direction.value = chosen.natural_direction;
    };
    metric.addEventListener("change", () => describe(true));
    describe(!goal.id);
    const days = [
      textField("From", "custom_start", goal, { type: "date" }),
      textField("To", "custom_end", goal, { type: "date" }),
    ];
    const timeframe = choice("timeframe", "daily", inWords(TIMEFRAMES));
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
    const target = numberField("Target", "target_value", goal.target_value, " ");
    const free = [
      textField("Name", "goal_name", goal, { required: true }),
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
      find("span", target).textContent = chosen ? "How much" : "Target";
      find("small", target).textContent = chosen
        ? `${chosen[4]}; without a sign`
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
        field("Accounts", choice("scope", "all", scopesOf(context))),
        goal.id && field("Status", choice("status", "", inWords(GOAL_STATUSES))),
      ),
    ];
  },
  body({ ready, scope, status, custom_start, custom_end, ...values }, goal) {
    const accounts = goal.id ? { scope, status } : scopeOf(scope);
    const { target_value } = numbersOf(values, ["target_value"]);
    if (ready) return { goal_name: ready, ...readyGoal(READY[ready], target_value), ...accounts };
    const dates = values.timeframe === "custom" ? { custom_start, custom_end } : {};
    return { ...values, target_value: target_value ?? 0, ...dates, ...accounts };
  },
  settle: settleGoal,
  // POST takes no scope.
  async after({ scope }, goal) {
    if (scope === "" && goal.scope !== "") await send("PATCH", `/goals/${goal.id}`, { body: { scope } });
  },
});

function readyGoal([metric, direction, timeframe, sign], typed) {
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

// The body as typed, or with the other direction or sign.
async function settleGoal(method, path, body) {
  const warningsAbout = async (tried) =>
    (await send(method, path, { body: tried, query: { dry_run: true } })).meta.warnings ?? [];
  const warnings = await warningsAbout(body);
  if (!warnings.length) return body;
  const chosen = await ask(warnings, body, await likelier(body, warningsAbout));
  if (!chosen) throw refused({ target_value: sentences(warnings) });
  return chosen;
}

// What the API refuses is no better.
async function likelier(body, warningsAbout) {
  const direction = body.direction === "at_least" ? "at_most" : "at_least";
  const target_value = -body.target_value;
  for (const change of [{ direction }, { target_value }, { direction, target_value }]) {
    const other = { ...body, ...change };
    const isClear = await warningsAbout(other).then(
      (warnings) => !warnings.length,
      () => false,
    );
    if (isClear) return other;
  }
  return null;
}

function ask(warnings, body, other) {
  return new Promise((resolve) => {
    const choose = (chosen) => () => {
      resolve(chosen);
      dialog.close();
    };
    const said =
      other &&
      (other.direction === body.direction ? "" : `${other.direction.replace("_", " ")} `) +
        number(other.target_value);
    const dialog = open(
      other ? `Did you mean ${said}?` : "Is this goal meant?",
      h("p", sentences(warnings)),
      h(
        ".row",
        other && h("button.primary", { onclick: choose(other) }, `Save ${said}`),
        h("button", { onclick: choose(null) }, "Change it"),
        h("button", { onclick: choose(body) }, "Save it as it is"),
      ),
    );
    dialog.addEventListener("close", () => resolve(null));
  });
}
