"""The SQL of statistics that goals and reports share (DECISIONS 15, 20)."""

import re
import sqlite3
from collections.abc import Mapping
from typing import Any

from aiosqlite import Connection

from journal_api.values.money import OUT_OF_RANGE
from journal_api.values.statistics import Statistics

# Of each trade: whether it is a copy or has copies, and whether it has a tag of type mistake.
IS_SHARED = """source_trade_id IS NOT NULL
            OR EXISTS (SELECT 1 FROM trades AS copy WHERE copy.source_trade_id = trades.id)"""
IS_MISTAKE = """EXISTS (SELECT 1
                FROM trade_tags
                JOIN tags ON tags.id = tag_id
                WHERE trade_id = trades.id AND type = 'mistake')"""
# R of the trade alone; NULL without a risk and for a quotient over 10^10.
R = "ratio(net_pnl, initial_risk)"
# Whether the trade has every confirmation of its setup, NULL without any. The first that is missing ends the
# search.
CHECKLIST = """CASE WHEN EXISTS (SELECT 1 FROM confirmations WHERE confirmations.setup_id = trades.setup_id)
            THEN NOT EXISTS (SELECT 1
                             FROM confirmations
                             WHERE confirmations.setup_id = trades.setup_id
                               AND NOT EXISTS (SELECT 1
                                               FROM confirmation_answers
                                               WHERE trade_id = trades.id
                                                 AND confirmation_id = confirmations.id
                                                 AND was_present))
            END"""
OF_TRADE = f"""
        {IS_SHARED} AS is_shared,
        {IS_MISTAKE} AS is_mistake,
        {R} AS r,
        {CHECKLIST} AS checklist"""
# The members of Statistics that are expressions, that are columns as they are, and that are sums over days.
EXPRESSIONS = ("currency", "mixes_currencies", "r_total", "max_drawdown", "win_streak", "opening_balance")
MEMBERS = [name for name in Statistics.__struct_fields__ if name not in EXPRESSIONS]
OF_DAYS = ("trading_days", "winning_days", "max_trades_per_day", "decisions_today", "worst_day")
SUMS = [name for name in MEMBERS if name not in (*OF_DAYS, "worst_trade", "peak_pnl")] + ["with_r", "r_total"]
# The CTEs after `counted (part, ...)`, whose rows are trades, and `members (part, group_key)`. A part is a
# set of trades that are counted together. `members` has the groups of each part: periods of a goal or groups
# of a report. The last CTE, `statistics (group_key, statistics, squares)`, has one row for each group.
# Amounts are summed over trades, all other statistics are over decisions. A decision belongs to the day of
# its first close in the part.
STATISTICS = f"""
-- The decisions of trades that are copies or have copies. `id` is the first trade to close: timestamps have a
-- fixed width, so texts that begin with them are in the order of trades. Grade and setup come from the
-- representative trade: the original, or the first copy if the original is not in the part.
shared AS MATERIALIZED (
    SELECT part,
        CAST(substr(min(trading_day || closed_at || printf('%019d', id)), -19) AS INTEGER) AS id,
        iif(count(source_trade_id) = count(*), NULL, coalesce(source_trade_id, id)) AS original,
        sum(net_pnl) AS net_pnl,
        -- A trade without a risk adds nothing to R.
        sum(net_pnl) FILTER (WHERE initial_risk IS NOT NULL) AS risked_pnl,
        sum(initial_risk) AS initial_risk,
        min(currency) <> max(currency) AS mixes_currencies,
        max(is_mistake) AS is_mistake
    FROM counted
    WHERE is_shared
    GROUP BY part, coalesce(source_trade_id, id)
),
-- Trades that are copies or have copies. The first of a decision also has the columns of the decision, `pnl`
-- to `checklist`, which are NULL for the others. r is NULL without a risk and for a quotient over 10^10. A
-- decision in different currencies has the P&L and the risk of its representative trade.
copies AS MATERIALIZED (
    SELECT counted.part, counted.id, counted.trading_day, counted.closed_at, counted.gross_pnl, counted.fees,
        counted.net_pnl, currency,
        iif(mixes_currencies, trades.net_pnl, shared.net_pnl) AS pnl,
        iif(mixes_currencies, trades.initial_risk, shared.initial_risk) AS initial_risk,
        iif(mixes_currencies, ratio(trades.net_pnl, trades.initial_risk),
            ratio(risked_pnl, shared.initial_risk)) AS r,
        shared.is_mistake, trades.grade, {CHECKLIST} AS checklist
    FROM counted
    LEFT JOIN shared ON shared.id = counted.id AND shared.part IS counted.part
    LEFT JOIN trades ON trades.id = coalesce(original, shared.id)
    WHERE is_shared
),
-- All trades with the same columns: a trade without copies is a decision. `checklist` is NULL if the setup
-- has no checklist, else whether all of it is confirmed. Only streaks read the rows again.
entries AS NOT MATERIALIZED (
    SELECT part, id, trading_day, closed_at, gross_pnl, fees, net_pnl, currency,
        net_pnl AS pnl, initial_risk, r, is_mistake, grade, checklist
    FROM counted
    WHERE NOT is_shared
    UNION ALL
    SELECT * FROM copies
),
-- The sums of each part and day: of decisions, and of the amounts of all trades.
daily AS MATERIALIZED (
    SELECT part, trading_day,
        count(pnl) AS decisions,
        sum(pnl > 0) AS wins,
        sum(pnl < 0) AS losses,
        sum(pnl = 0) AS breakevens,
        count(grade) AS graded,
        sum(grade IS 'A+') AS a_plus,
        count(initial_risk) AS with_risk,
        count(checklist) AS with_checklist,
        sum(checklist IS 1) AS checklists_confirmed,
        sum(is_mistake) AS with_mistake,
        sum(max(pnl, 0)) AS winning_pnl,
        sum(min(pnl, 0)) AS losing_pnl,
        min(pnl) AS worst_trade,
        count(r) AS with_r,
        sum(r) AS r_total,
        count(*) AS trades,
        sum(gross_pnl) AS gross_pnl,
        sum(fees) AS fees,
        sum(net_pnl) AS net_pnl,
        min(currency) AS first_currency,
        max(currency) AS last_currency,
        sum_of_squares(pnl) FILTER (WHERE :with_squares) AS squares
    FROM entries
    GROUP BY part, trading_day
),
-- The sums of each group and day, for the days that won or lost.
days AS (
    SELECT group_key, trading_day, {", ".join(f"sum({name}) AS {name}" for name in SUMS)},
        min(worst_trade) AS worst_trade,
        min(first_currency) AS first_currency,
        max(last_currency) AS last_currency,
        sum_of_integers(squares) FILTER (WHERE :with_squares) AS squares
    FROM daily
    JOIN members ON members.part IS daily.part
    GROUP BY group_key, trading_day
),
sums AS (
    SELECT group_key, {", ".join(f"sum({name}) AS {name}" for name in SUMS)},
        count(*) AS trading_days,
        sum(net_pnl > 0) AS winning_days,
        max(decisions) AS max_trades_per_day,
        coalesce(sum(decisions) FILTER (WHERE trading_day = :today), 0) AS decisions_today,
        min(net_pnl) AS worst_day,
        min(worst_trade) AS worst_trade,
        min(first_currency) AS first_currency,
        max(last_currency) AS last_currency,
        sum_of_integers(squares) FILTER (WHERE :with_squares) AS squares
    FROM days
    GROUP BY group_key
),
-- The drawdown, computed only on request because it needs the trades in order.
curve AS (
    SELECT group_key, max(max(peak, 0) - equity) AS max_drawdown, max(0, max(peak)) AS peak_pnl
    FROM (SELECT group_key, equity,
              max(equity) OVER (PARTITION BY group_key ORDER BY trading_day, closed_at, id
                                ROWS UNBOUNDED PRECEDING) AS peak
          FROM (SELECT group_key, trading_day, closed_at, id,
                    sum(net_pnl) OVER (PARTITION BY group_key ORDER BY trading_day, closed_at, id
                                       ROWS UNBOUNDED PRECEDING) AS equity
                FROM counted
                JOIN members ON members.part IS counted.part
                WHERE :with_drawdown))
    GROUP BY group_key
),
-- The longest run of wins, computed only on request. A loss ends a run.
streaks AS (
    SELECT group_key, max(wins) AS win_streak
    FROM (SELECT group_key, sum(pnl > 0) AS wins
          FROM (SELECT group_key, pnl,
                    sum(pnl < 0) OVER (PARTITION BY group_key ORDER BY trading_day, closed_at, id
                                           ROWS UNBOUNDED PRECEDING) AS losses_before
                FROM entries
                JOIN members ON members.part IS entries.part
                WHERE :with_streak AND pnl IS NOT NULL)
          GROUP BY group_key, losses_before)
    GROUP BY group_key
),
statistics (group_key, statistics, squares) AS (
    SELECT group_key, json_object(
        'currency', iif(first_currency = last_currency, first_currency, NULL),
        'mixes_currencies', json(iif(first_currency = last_currency, 'false', 'true')),
        {", ".join(f"'{name}', {name}" for name in MEMBERS)},
        'r_total', iif(with_r = with_risk, coalesce(r_total, 0), NULL),
        -- SQLite returns a REAL for a difference that does not fit into 64 bits.
        'max_drawdown', iif(typeof(max_drawdown) = 'integer', max_drawdown, NULL),
        'win_streak', coalesce(win_streak, 0)), squares
    FROM sums
    LEFT JOIN curve USING (group_key)
    LEFT JOIN streaks USING (group_key)
)
"""


async def fetch_statistics(
    db: Connection, sql: str, values: Mapping[str, Any]
) -> list[tuple[Any, str | None, str | None]]:
    """Return the rows of a statement with STATISTICS: group key, statistics in JSON, and sum of squares.

    The statistics are None if a sum does not fit into 64 bits. SQLite's sum() fails then for all rows, so the
    statement runs once more with a sum that notices it for each row, but takes longer.
    """
    try:
        rows = await db.execute_fetchall(sql, values)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_ERROR:
            raise
        rows = await db.execute_fetchall(re.sub(r"\bsum\(", "sum_or_out_of_range(", sql), values)
    return [(key, None if OUT_OF_RANGE in text else text, squares) for key, text, squares in rows]
