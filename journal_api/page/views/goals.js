// #/today

import { balanceCurve, equityCurve } from "../charts.js";
import { get } from "../client.js";
import { card, definitions, h } from "../dom.js";
import { METRICS } from "../enums.js";
import * as format from "../format.js";
import { costsNotice } from "./account_form.js";
import { calendar, moneyOf, sumsOf, weeksOf } from "./calendar.js";
import { goalCards, history } from "./goal_cards.js";
import { freshness } from "./past_imports.js";
import { differingCheckpoints, standingCards } from "./standings.js";
import { daysQuestion, emptyJournal, exampleNotice } from "./welcome.js";

const DAYS_BACK = 182; // 27 weeks, so that a page of the report has every day
const MONTH = /^[1-9]\d{3}-(0[1-9]|1[0-2])$/;

/** @param {Context} context */
export async function view(context) {
  const { me, query, selection } = context;
  const [{ data }, example] = await Promise.all([
    get("/goals", { with: "snapshot" }),
    !query.get("goal") && get("/example-journal"), // a view is ten requests at the most
  ]);
  const today = todayOf(data.goals, me);
  const from = format.plusDays(today, -DAYS_BACK);
  const month = MONTH.test(query.get("month")) ? query.get("month") : today.slice(0, 7);
  const weeks = weeksOf(month);
  const [report, days] = await Promise.all([
    get("/reports", { ...selection, group_by: "day", metrics: SHOWN.join(), from, to: today, limit: 200 }),
    get("/days", { ...selection, from: weeks[0][0], to: weeks.at(-1)[6], with: "text" }),
  ]);
  const recent = report.data.report;
  const isMixed = recent.total.reasons.net_pnl === "mixed_currencies";
  const traded = isMixed
    ? (await get("/days", { ...selection, from, to: today, limit: DAYS_BACK + 1 })).data.days.toReversed()
    : daysOf(recent);
  const goal = data.goals.find((one) => String(one.id) === query.get("goal"));
  const isEmpty =
    !context.accounts.some(({ standing, checkpoints }) => standing || checkpoints) &&
    !data.goals.length &&
    !recent.groups.length &&
    !(await get("/trades", { limit: 1 })).meta.pagination.total;
  const notices = [
    await daysQuestion(context, context.redraw, example),
    example && exampleNotice(context, example.data.example_journal),
  ];
  if (isEmpty) return [h("h1", "Today"), await freshness(context, []), ...notices, emptyJournal(context)];
  return [
    headline(
      today,
      recent,
      traded,
      context.accounts.find((one) => one.archived && one.id === selection.account_id),
    ),
    month === today.slice(0, 7) && dayQuestion(today, days.data.days, me),
    standingCards(context.accounts),
    await freshness(context, recent.groups),
    differingCheckpoints(context),
    await costsNotice(context, selection),
    goalCards(data.goals, context, goal),
    goal && (await history(goal, context)),
    ...notices,
    h(".split", calendar(month, today, days.data.days, context), await curve(recent, traded, context, from)),
  ];
}

// By the running daily goals, else by this machine's clock.
/** @param {Goal[]} goals @param {Me} me */
function todayOf(goals, me) {
  const daily = goals.find((goal) => goal.timeframe === "daily" && goal.current && !goal.current.closed);
  return daily?.current.period_start ?? format.tradingDay(me);
}

function headline(today, { groups }, days, archived) {
  const { values } = groups.find((group) => group.key === today) ?? {};
  return h(
    ".title",
    h("h1", `Today, ${format.longDay(today)}`),
    h(
      "p",
      values
        ? [
            h("strong", moneyOf(sumsOf(days.filter(({ date }) => date === today)))),
            ` in ${format.count(values.trade_count, "trade")}`,
          ]
        : h("span.muted", archived ? `Account ${archived.name} is archived` : "No closed trade today"),
    ),
  );
}

// The plan before the first trade; once trades are closed, the question what they taught.
/** @param {string} date @param {DayListItem[]} days @param {Me} me */
function dayQuestion(date, days, { trading_weekdays: weekdays }) {
  const { plan, review, trade_count: count } = days.find((day) => day.date === date) ?? {};
  const isIdle = !count && !plan && !weekdays.includes(format.weekdayOf(date));
  if (review || isIdle) return null;
  const verb = count ? "Write the review" : plan ? "Open the day" : "Write the plan";
  return h(
    "section#day.card.notice",
    { "aria-label": "The journal of today" },
    h(
      ".title",
      h("h2", count ? `${format.count(count, "trade")} closed: what did you learn?` : "Your plan for today"),
      h("a.button", { href: `#/day/${date}` }, verb),
    ),
    plan ? h("p.written", plan) : !count && h("p.muted", "Nothing is planned yet."),
  );
}

const SHOWN = ["net_pnl", "trade_count", "win_rate", "profit_factor"];

// Of one account, if it has a floor.
/** @param {Context} context */
async function balances({ accounts, selection }, from) {
  const account =
    accounts.length === 1 ? accounts[0] : accounts.find(({ id }) => id === selection.account_id);
  if (!account?.standing?.floor) return [];
  const { data } = await get(`/accounts/${account.id}/standing`, { with: "days" });
  const { floor, start_balance } = data.standing;
  return [{ ...floor.days[0], balance: start_balance }, ...floor.days].filter(
    ({ day, balance, floor }) => day >= from && balance != null && floor != null,
  );
}

// The days of a report as GET /v1/days has them: a sum of each currency.
/** @param {any} report @returns {Pick<DayListItem, "date" | "sums">[]} */
const daysOf = ({ groups }) =>
  groups.map(({ key, statistics, values }) => ({
    date: String(key),
    sums: [{ currency: statistics.currency, net_pnl: values.net_pnl }],
  }));

const rounded = (value) => format.number(Math.round(value));

/** @param {any} report @param {Pick<DayListItem, "date" | "sums">[]} days @param {Context} context */
async function curve({ total }, days, context, from) {
  const sums = sumsOf(days);
  const figures = SHOWN.map((key) => {
    const [title, unit, hasSign] = METRICS[key];
    return [title, hasSign && sums.length ? moneyOf(sums) : format.valueOf(unit, total.values[key])];
  });
  const floors = await balances(context, from);
  return card(
    `${floors.length ? "Balance and floor" : "Net P&L"}, last 6 months`,
    { "aria-label": "Net P&L" },
    definitions("dl.figures", figures),
    floors.length
      ? balanceCurve(floors, { format: rounded, dayFormat: format.dayOfYear })
      : sums.length
        ? sums.map(([currency]) => [sums.length > 1 && h("h3", currency), curveIn(currency, days)])
        : h("p.muted", "No closed trade in these months."),
  );
}

function curveIn(currency, days) {
  const ofOne = days.flatMap(({ date, sums }) =>
    sums
      .filter((sum) => sum.currency === currency && sum.net_pnl != null)
      .map((sum) => ({ day: date, value: sum.net_pnl })),
  );
  return ofOne.length > 0 && equityCurve(ofOne, { format: format.whole, dayFormat: format.dayOfYear });
}
