"""SQL of the groups of decisions by what happened earlier on their trading day."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from aiosqlite import Connection

from journal_api.metrics.earlier_decisions import Decision, PlaceDay
from journal_api.metrics.outcomes import sign
from journal_api.statistics.selection import (
    COLUMNS,
    FIRST,
    IS_SHARED,
    Selection,
    iterate,
    of_decision,
    with_sums_in_range,
)

# All trades in the accounts and on the days of a report, whatever else it is filtered by.
SCOPE = f"""
    SELECT NULL AS part, currency, {COLUMNS}
    FROM account
    CROSS JOIN facts ON facts.account_id = account.id
    WHERE (:since IS NULL OR trading_day >= :since)
      AND (:until IS NULL OR trading_day <= :until)"""
# Of a decision of several trades `decisions` would compute far more than its first open and close and its P&L.
IN_ORDER = f"""
SELECT trading_day, decision, opened_at, closed_at, {sign()}
FROM (
    SELECT trading_day, decision, opened_at, closed_at, id, net_pnl AS pnl
    FROM selected
    WHERE NOT {IS_SHARED}
    UNION ALL
    SELECT substr(first, 1, 10), decision, opened_at, substr(first, 11, 27), CAST(substr(first, 38) AS INTEGER), pnl
    FROM (
        SELECT decision, min(opened_at) AS opened_at, {FIRST} AS first, {of_decision("net_pnl")} AS pnl
        FROM copied
        GROUP BY decision))
ORDER BY trading_day, closed_at, id"""


async def store_groups(db: Connection, table: str, ctes: str, values: Mapping[str, Any], place_day: PlaceDay) -> None:
    """Store the group of each decision by its id; the CTEs are `facts` and `account`."""
    selection = Selection(ctes, SCOPE, values, by_trade=True)
    await with_sums_in_range(selection, partial(group_days, db, table, place_day=place_day))


async def group_days(db: Connection, table: str, selection: Selection, place_day: PlaceDay) -> None:
    groups: list[tuple[int, str | int]] = []
    day: list[Decision] = []
    last_day = None
    async for rows in iterate(db, selection, IN_ORDER):
        for trading_day, *decision in rows:
            if trading_day != last_day:
                groups += place_day(day)
                day, last_day = [], trading_day
            day.append(Decision(*decision))
        await store(db, table, groups)
    await store(db, table, [*place_day(day)])


async def store(db: Connection, table: str, groups: list[tuple[int, str | int]]) -> None:
    await db.executemany(f"INSERT OR REPLACE INTO {table} VALUES (?, ?)", groups)
    groups.clear()
