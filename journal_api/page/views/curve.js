// The curve of the net P&L, or of the balance above its floor.

import { balanceCurve, equityCurve } from "../charts.js";
import { get } from "../client.js";
import { card, definitions, h } from "../dom.js";
import { METRICS } from "../enums.js";
import * as format from "../format.js";
import { moneyOf, sumsOf } from "./calendar.js";

export const SHOWN = ["net_pnl", "trade_count", "win_rate", "profit_factor"];

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
export const daysOf = ({ groups }) =>
  groups.map(({ key, statistics, values }) => ({
    date: String(key),
    sums: [{ currency: statistics.currency, net_pnl: values.net_pnl }],
  }));

const rounded = (value) => format.number(Math.round(value));

/** @param {any} report @param {Pick<DayListItem, "date" | "sums">[]} days @param {Context} context */
export async function curve({ total }, days, context, from) {
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
