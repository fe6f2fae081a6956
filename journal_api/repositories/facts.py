"""The trades of periods as facts: one statement, one row a period (DECISIONS 12)."""

import sqlite3
from collections.abc import Sequence

from aiosqlite import Connection

from journal_api.database import json_text
from journal_api.metrics import Facts
from journal_api.periods import Period

# In order: the rows that count; money, row by row; days; decisions, each standing where it first closed;
# what the decisions come to. The statement reads the days asked for, by index, and nothing else.
FACTS = """
WITH
period (start, last) AS MATERIALIZED (
    SELECT value ->> 0, value ->> 1 FROM json_each(:periods)
),
account (id) AS MATERIALIZED (
    SELECT value FROM json_each(:accounts)
),
counted AS MATERIALIZED (
    SELECT start, trades.id, trading_day, closed_at, gross_pnl, fees, net_pnl, initial_risk, grade, setup_id,
        coalesce(source_trade_id, trades.id) AS decision,
        source_trade_id IS NOT NULL AS is_copy,
        EXISTS (SELECT 1
                FROM trade_tags
                JOIN tags ON tags.id = tag_id
                WHERE trade_id = trades.id AND type = 'mistake') AS is_mistake
    FROM period
    CROSS JOIN account
    CROSS JOIN trades ON trades.account_id = account.id AND trading_day BETWEEN start AND last
),
curve AS (
    SELECT start, trading_day, closed_at, id, gross_pnl, fees, net_pnl,
        sum(net_pnl) OVER (PARTITION BY start ORDER BY trading_day, closed_at, id
                           ROWS UNBOUNDED PRECEDING) AS equity
    FROM counted
),
money AS (
    SELECT start, count(*) AS trades, sum(gross_pnl) AS gross_pnl, sum(fees) AS fees, sum(net_pnl) AS net_pnl,
        max(max(peak, 0) - equity) AS max_drawdown
    FROM (SELECT start, gross_pnl, fees, net_pnl, equity,
              max(equity) OVER (PARTITION BY start ORDER BY trading_day, closed_at, id
                                ROWS UNBOUNDED PRECEDING) AS peak
          FROM curve)
    GROUP BY start
),
days AS (
    SELECT start, count(*) AS trading_days, sum(net_pnl > 0) AS winning_days, min(net_pnl) AS worst_day
    FROM (SELECT start, sum(net_pnl) AS net_pnl FROM counted GROUP BY start, trading_day)
    GROUP BY start
),
decision_rows AS (
    SELECT start, id, trading_day, closed_at, grade, setup_id,
        id = first_value(id) OVER whole AS is_first,
        -- The original speaks for the decision; where it does not count, the first copy does.
        iif(min(is_copy) OVER whole, id, decision) AS speaker,
        sum(net_pnl) OVER whole AS net_pnl,
        sum(initial_risk) OVER whole AS risk,
        max(is_mistake) OVER whole AS is_mistake
    FROM counted
    WINDOW whole AS (PARTITION BY start, decision ORDER BY trading_day, closed_at, id
                     ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
),
decisions AS MATERIALIZED (
    SELECT start, id, trading_day, closed_at, net_pnl, risk, is_mistake, speaker,
        iif(speaker = id, grade, (SELECT grade FROM trades WHERE id = speaker)) AS grade,
        iif(speaker = id, setup_id, (SELECT setup_id FROM trades WHERE id = speaker)) AS setup_id
    FROM decision_rows
    WHERE is_first
),
judged AS (
    SELECT start, count(*) AS decisions,
        sum(net_pnl > 0) AS wins,
        sum(net_pnl < 0) AS losses,
        sum(net_pnl = 0) AS breakevens,
        count(grade) AS graded,
        coalesce(sum(grade = 'A+'), 0) AS a_plus,
        count(risk) AS with_risk,
        sum(is_mistake) AS with_mistake,
        coalesce(sum(iif(net_pnl > 0, net_pnl, 0)), 0) AS winning_pnl,
        coalesce(sum(iif(net_pnl < 0, net_pnl, 0)), 0) AS losing_pnl,
        min(net_pnl) AS worst_trade,
        coalesce(sum(CASE WHEN risk IS NOT NULL THEN ratio(net_pnl, risk) END), 0) AS r_total
    FROM decisions
    GROUP BY start
),
checklists AS (
    SELECT start, count(*) AS with_checklist,
        sum(NOT EXISTS (
            SELECT 1
            FROM confirmations
            WHERE confirmations.setup_id = decisions.setup_id
              AND NOT EXISTS (SELECT 1
                              FROM confirmation_answers
                              WHERE trade_id = speaker
                                AND confirmation_id = confirmations.id
                                AND was_present))) AS checklists_confirmed
    FROM decisions
    WHERE setup_id IS NOT NULL
      AND EXISTS (SELECT 1 FROM confirmations WHERE confirmations.setup_id = decisions.setup_id)
    GROUP BY start
),
busiest AS (
    SELECT start, max(number) AS max_trades_per_day
    FROM (SELECT start, count(*) AS number FROM decisions GROUP BY start, trading_day)
    GROUP BY start
),
streaks AS (
    SELECT start, max(wins) AS win_streak
    FROM (SELECT start, sum(net_pnl > 0) AS wins
          FROM (SELECT start, net_pnl,
                    sum(net_pnl < 0) OVER (PARTITION BY start ORDER BY trading_day, closed_at, id
                                           ROWS UNBOUNDED PRECEDING) AS losses_before
                FROM decisions
                WHERE net_pnl <> 0)
          GROUP BY start, losses_before)
    GROUP BY start
)
SELECT period.start,
    coalesce(trades, 0), coalesce(decisions, 0), coalesce(wins, 0), coalesce(losses, 0),
    coalesce(breakevens, 0), coalesce(graded, 0), coalesce(a_plus, 0), coalesce(with_risk, 0),
    coalesce(with_checklist, 0), coalesce(checklists_confirmed, 0), coalesce(with_mistake, 0),
    coalesce(trading_days, 0), coalesce(winning_days, 0), coalesce(max_trades_per_day, 0),
    coalesce(win_streak, 0), coalesce(gross_pnl, 0), coalesce(fees, 0), coalesce(net_pnl, 0),
    coalesce(winning_pnl, 0), coalesce(losing_pnl, 0), coalesce(max_drawdown, 0), worst_trade, worst_day,
    coalesce(r_total, 0)
FROM period
LEFT JOIN money USING (start)
LEFT JOIN days USING (start)
LEFT JOIN judged USING (start)
LEFT JOIN checklists USING (start)
LEFT JOIN busiest USING (start)
LEFT JOIN streaks USING (start)
"""
COLUMNS = Facts.__struct_fields__[:-1]


async def of_periods(
    db: Connection, account_ids: Sequence[int], periods: Sequence[Period]
) -> dict[Period, Facts | None]:
    """The facts of each period over those accounts; None where a sum leaves 64 bits."""
    if not periods:
        return {}
    values = {
        "accounts": json_text(account_ids),
        "periods": json_text([(period.start.isoformat(), period.end.isoformat()) for period in periods]),
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
            **await of_periods(db, account_ids, periods[:half]),
            **await of_periods(db, account_ids, periods[half:]),
        }
    return {period: facts_of(rows[period.start.isoformat()]) for period in periods}


def facts_of(row: Sequence[int | float | None]) -> Facts:
    """The row as facts; a difference or a ratio that left 64 bits has become a float, and is None."""
    facts = {
        column: None if isinstance(value, float) else value
        for column, value in zip(COLUMNS, row, strict=True)
    }
    return Facts(**facts)  # type: ignore[arg-type]  # only the columns that may be None are ever floats
