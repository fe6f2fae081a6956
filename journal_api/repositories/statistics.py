"""SQL of the statistics of periods and groups: one statement returns one row for each (DECISIONS 15)."""

from collections.abc import Sequence
from datetime import date

from aiosqlite import Connection
from msgspec import json

from journal_api.repositories.sql import json_list
from journal_api.repositories.statistics_sql import OF_TRADE, STATISTICS, fetch_statistics
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
        source_trade_id, currency,{OF_TRADE}
    FROM period
    CROSS JOIN account
    CROSS JOIN trades ON trades.account_id = account.id AND trading_day BETWEEN first AND last
),
-- A part is a period, and so is a group.
members (part, group_key) AS (
    SELECT number, number FROM period
),
{STATISTICS}
SELECT * FROM statistics
"""


async def list_of_periods(
    db: Connection,
    account_ids: Sequence[int],
    periods: Sequence[Period],
    extra: ExtraStatistic | None,
    today: date,
) -> dict[Period, Statistics | None]:
    """Return the statistics of each period over the accounts, with the extra statistic if one is requested.

    The value is None for a period in which a sum does not fit into 64 bits.
    """
    rows = await fetch_statistics(
        db,
        OF_PERIODS,
        {
            "accounts": json_list(account_ids),
            "periods": json_list([period._asdict() for period in periods]),
            "with_drawdown": extra == "max_drawdown",
            "with_streak": extra == "win_streak",
            "with_squares": False,
            "today": today.isoformat(),
        },
    )
    by_number = {
        number: None if text is None else json.decode(text, type=Statistics) for number, text, _ in rows
    }
    return {period: by_number.get(number, NO_TRADES) for number, period in enumerate(periods)}
