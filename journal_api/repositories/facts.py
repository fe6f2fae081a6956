"""The trades of periods as facts: one statement, one row a period (DECISIONS 12)."""

import sqlite3
from collections.abc import Sequence

from aiosqlite import Connection

from journal_api.database import json_list
from journal_api.facts import Facts, SpecialFact
from journal_api.periods import Period

# In order: the rows that count; money, summed over rows by day; copies of one decision, gathered; decisions,
# each standing where it first closed; what they come to by day; and, only for a metric that asks, drawdown
# and streaks, which need the rows in order. It reads the days asked for, by index, and nothing else.
FACTS = """
WITH
period (number, first, last) AS MATERIALIZED (
    SELECT key, value ->> 0, value ->> 1 FROM json_each(:periods)
),
account (id) AS MATERIALIZED (
    SELECT value FROM json_each(:accounts)
),
counted AS MATERIALIZED (
    SELECT number, trades.id, trading_day, closed_at, gross_pnl, fees, net_pnl, initial_risk, grade, setup_id,
        source_trade_id,
        source_trade_id IS NOT NULL
            OR EXISTS (SELECT 1 FROM trades AS copy WHERE copy.source_trade_id = trades.id) AS is_shared,
        EXISTS (SELECT 1
                FROM trade_tags
                JOIN tags ON tags.id = tag_id
                WHERE trade_id = trades.id AND type = 'mistake') AS is_mistake
    FROM period
    CROSS JOIN account
    CROSS JOIN trades ON trades.account_id = account.id AND trading_day BETWEEN first AND last
),
money AS (
    SELECT number, sum(trades) AS trades, sum(gross_pnl) AS gross_pnl, sum(fees) AS fees,
        sum(net_pnl) AS net_pnl, count(*) AS trading_days, sum(net_pnl > 0) AS winning_days,
        min(net_pnl) AS worst_day
    FROM (SELECT number, count(*) AS trades, sum(gross_pnl) AS gross_pnl, sum(fees) AS fees,
              sum(net_pnl) AS net_pnl
          FROM counted
          GROUP BY number, trading_day)
    GROUP BY number
),
shared AS (
    SELECT number, id, trading_day, closed_at,
        id = first_value(id) OVER whole AS is_first,
        sum(net_pnl) OVER whole AS net_pnl,
        sum(initial_risk) OVER whole AS initial_risk,
        max(is_mistake) OVER whole AS is_mistake,
        -- The original speaks for the decision; where it does not count, the first copy does.
        iif(min(source_trade_id IS NOT NULL) OVER whole, id, coalesce(source_trade_id, id)) AS speaker
    FROM counted
    WHERE is_shared
    WINDOW whole AS (PARTITION BY number, coalesce(source_trade_id, id) ORDER BY trading_day, closed_at, id
                     ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
),
decisions AS (
    SELECT number, id, trading_day, closed_at, net_pnl, initial_risk, is_mistake, id AS speaker, grade,
        setup_id
    FROM counted
    WHERE NOT is_shared
    UNION ALL
    SELECT number, shared.id, shared.trading_day, shared.closed_at, shared.net_pnl, shared.initial_risk,
        is_mistake, speaker, trades.grade, trades.setup_id
    FROM shared
    JOIN trades ON trades.id = speaker
    WHERE is_first
),
judged AS (
    SELECT number, sum(decisions) AS decisions, max(decisions) AS max_trades_per_day, sum(wins) AS wins,
        sum(losses) AS losses, sum(breakevens) AS breakevens, sum(graded) AS graded, sum(a_plus) AS a_plus,
        sum(with_risk) AS with_risk, sum(with_checklist) AS with_checklist,
        sum(checklists_confirmed) AS checklists_confirmed, sum(with_mistake) AS with_mistake,
        sum(winning_pnl) AS winning_pnl, sum(losing_pnl) AS losing_pnl, min(worst_trade) AS worst_trade,
        sum(r_total) AS r_total
    FROM (SELECT number, count(*) AS decisions,
              sum(net_pnl > 0) AS wins,
              sum(net_pnl < 0) AS losses,
              sum(net_pnl = 0) AS breakevens,
              count(grade) AS graded,
              sum(grade IS 'A+') AS a_plus,
              count(initial_risk) AS with_risk,
              sum(checklist IS NOT NULL) AS with_checklist,
              sum(checklist IS 1) AS checklists_confirmed,
              sum(is_mistake) AS with_mistake,
              sum(max(net_pnl, 0)) AS winning_pnl,
              sum(min(net_pnl, 0)) AS losing_pnl,
              min(net_pnl) AS worst_trade,
              -- A ratio that is out of range makes a float of the sum, which is how it is known.
              sum(iif(initial_risk IS NULL, 0, coalesce(ratio(net_pnl, initial_risk), 9e99))) AS r_total
          FROM (SELECT *,
                    (SELECT min(EXISTS (SELECT 1
                                        FROM confirmation_answers
                                        WHERE trade_id = speaker
                                          AND confirmation_id = confirmations.id
                                          AND was_present))
                     FROM confirmations
                     WHERE confirmations.setup_id = decisions.setup_id) AS checklist
                FROM decisions)
          GROUP BY number, trading_day)
    GROUP BY number
),
curve AS (
    SELECT number, max(max(peak, 0) - equity) AS max_drawdown
    FROM (SELECT number, equity,
              max(equity) OVER (PARTITION BY number ORDER BY trading_day, closed_at, id
                                ROWS UNBOUNDED PRECEDING) AS peak
          FROM (SELECT number, trading_day, closed_at, id,
                    sum(net_pnl) OVER (PARTITION BY number ORDER BY trading_day, closed_at, id
                                       ROWS UNBOUNDED PRECEDING) AS equity
                FROM counted
                WHERE :with_drawdown))
    GROUP BY number
),
streaks AS (
    SELECT number, max(wins) AS win_streak
    FROM (SELECT number, sum(net_pnl > 0) AS wins
          FROM (SELECT number, net_pnl,
                    sum(net_pnl < 0) OVER (PARTITION BY number ORDER BY trading_day, closed_at, id
                                           ROWS UNBOUNDED PRECEDING) AS losses_before
                FROM decisions
                WHERE :with_streak)
          GROUP BY number, losses_before)
    GROUP BY number
)
SELECT number, trades, decisions, wins, losses, breakevens, graded, a_plus, with_risk, with_checklist,
    checklists_confirmed, with_mistake, trading_days, winning_days, max_trades_per_day, gross_pnl, fees,
    net_pnl, winning_pnl, losing_pnl, worst_trade, worst_day, r_total,
    max_drawdown, coalesce(win_streak, 0)
FROM money
JOIN judged USING (number)
LEFT JOIN curve USING (number)
LEFT JOIN streaks USING (number)
"""
# The columns after the number of the period, as the statement names them.
COLUMNS = Facts.__struct_fields__[:24]


async def of_periods(
    db: Connection, account_ids: Sequence[int], periods: Sequence[Period], special: SpecialFact | None
) -> dict[Period, Facts | None]:
    """The facts of each period over those accounts, the special one included if it is asked for.

    None stands for a period in which a sum leaves 64 bits.
    """
    if not periods:
        return {}
    values = {
        "accounts": json_list(account_ids),
        "periods": json_list([(period.start.isoformat(), period.end.isoformat()) for period in periods]),
        "with_drawdown": special == "max_drawdown",
        "with_streak": special == "win_streak",
    }
    try:
        rows = {row[0]: row[1:] for row in await db.execute_fetchall(FACTS, values)}
    except sqlite3.OperationalError as error:
        if "integer overflow" not in str(error):
            raise
        # Which period it was is not said, so the list is halved until it is alone.
        if len(periods) == 1:
            return {periods[0]: None}
        half = len(periods) // 2
        return {
            **await of_periods(db, account_ids, periods[:half], special),
            **await of_periods(db, account_ids, periods[half:], special),
        }
    nothing = [None if column.startswith("worst") else 0 for column in COLUMNS]
    return {period: facts_of(rows.get(number, nothing)) for number, period in enumerate(periods)}


def facts_of(row: Sequence[int | float | None]) -> Facts:
    """The row as facts; a difference or a sum of ratios that is out of range is a float there, None here."""
    numbers = [None if isinstance(value, float) else value for value in row]
    return Facts(**dict(zip(COLUMNS, numbers, strict=True)))  # type: ignore[arg-type]  # None only where it may be
