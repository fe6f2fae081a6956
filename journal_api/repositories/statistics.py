"""SQL of the statistics of periods and groups: one statement returns one row for each (DECISIONS 12)."""

import sqlite3
from collections.abc import Sequence

from aiosqlite import Connection
from msgspec import json

from journal_api.repositories.sql import json_list
from journal_api.repositories.statistics_sql import (
    CHECKLIST,
    IS_MISTAKE,
    IS_SHARED,
    LARGEST_SUM,
    STATISTICS,
    R,
)
from journal_api.values.periods import Period
from journal_api.values.statistics import NO_TRADES, ExtraStatistic, Statistics

# The statement for the periods of goals reads the requested days by index and no other trades.
OF_PERIODS = f"""
WITH
-- The requested periods, numbered.
period (number, first, last) AS MATERIALIZED (
    SELECT key, value ->> '$.start', value ->> '$.end' FROM json_each(:periods)
),
-- The accounts in scope.
account (id, currency) AS MATERIALIZED (
    SELECT accounts.id, currency FROM json_each(:accounts) CROSS JOIN accounts ON accounts.id = value
),
-- The trades in scope with the number of their period.
counted AS MATERIALIZED (
    SELECT number AS part, trades.id, trading_day, closed_at, gross_pnl, fees, net_pnl, initial_risk, grade,
        source_trade_id, currency,
        {IS_SHARED} AS is_shared,
        {IS_MISTAKE} AS is_mistake,
        {R} AS r,
        {CHECKLIST} AS checklist
    FROM period
    CROSS JOIN account
    CROSS JOIN trades ON trades.account_id = account.id AND trading_day BETWEEN first AND last
),
-- A part is a period.
members (part, number) AS (
    SELECT number, number FROM period
),
{STATISTICS}
SELECT number, statistics FROM statistics
"""


async def of_periods(
    db: Connection, account_ids: Sequence[int], periods: Sequence[Period], extra: ExtraStatistic | None
) -> dict[Period, Statistics | None]:
    """Return the statistics of each period over the accounts, with the extra statistic if one is requested.

    The value is None for a period in which a sum does not fit into 64 bits. SQLite fails then without naming
    the period, so the list is halved until the failing period is alone.
    """
    if not periods:
        return {}
    try:
        return await of_periods_in_range(db, account_ids, periods, extra)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_ERROR:
            raise
        if len(periods) == 1:
            if await fits_64_bits(db, account_ids, periods[0]):
                raise
            return {periods[0]: None}
    half = len(periods) // 2
    return {
        **await of_periods(db, account_ids, periods[:half], extra),
        **await of_periods(db, account_ids, periods[half:], extra),
    }


async def of_periods_in_range(
    db: Connection, account_ids: Sequence[int], periods: Sequence[Period], extra: ExtraStatistic | None
) -> dict[Period, Statistics | None]:
    """Return the statistics of each period. Raises sqlite3.OperationalError when a sum exceeds 64 bits."""
    rows = await db.execute_fetchall(
        OF_PERIODS,
        {
            "accounts": json_list(account_ids),
            "periods": json_list([period._asdict() for period in periods]),
            "with_drawdown": extra == "max_drawdown",
            "with_streak": extra == "win_streak",
            "with_squares": False,
        },
    )
    by_number = {number: json.decode(text, type=Statistics) for number, text in rows}
    return {period: by_number.get(number, NO_TRADES) for number, period in enumerate(periods)}


async def fits_64_bits(db: Connection, account_ids: Sequence[int], period: Period) -> bool:
    """Return whether all sums over the trades of the period fit into 64 bits."""
    ((largest_sum,),) = await db.execute_fetchall(
        f"""
        SELECT {LARGEST_SUM}
        FROM trades
        WHERE account_id IN (SELECT value FROM json_each(:accounts))
          AND trading_day BETWEEN :first AND :last
        """,
        {
            "accounts": json_list(account_ids),
            "first": period.start.isoformat(),
            "last": period.end.isoformat(),
        },
    )
    return bool(largest_sum < 2**63)
