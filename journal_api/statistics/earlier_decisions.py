"""SQL of the groups of decisions by what happened earlier on their trading day."""

from functools import partial
from typing import Any

from aiosqlite import Connection

from journal_api.metrics.earlier_decisions import Decision, PlaceDay
from journal_api.metrics.outcomes import sign
from journal_api.statistics.selection import COLUMNS, Selection, iterate, with_sums_in_range

# All trades in the accounts and on the days of a report, whatever else it is filtered by.
SCOPE = f"""
    SELECT NULL AS part, currency, {COLUMNS}
    FROM account
    CROSS JOIN facts ON facts.account_id = account.id
    WHERE (:since IS NULL OR trading_day >= :since)
      AND (:until IS NULL OR trading_day <= :until)"""
IN_ORDER = f"""
SELECT trading_day, decision, coalesce(first_opened_at, opened_at), closed_at, {sign()}
FROM decisions
LEFT JOIN (SELECT decision, min(opened_at) AS first_opened_at FROM copied GROUP BY decision) USING (decision)
ORDER BY trading_day, closed_at, id"""


async def group_decisions(
    db: Connection, ctes: str, values: dict[str, Any], place_day: PlaceDay
) -> dict[int, str | int]:
    """Return the group of each decision by its id; the CTEs are `facts` and `account`."""
    selection = Selection(ctes, SCOPE, values, by_trade=True)
    return await with_sums_in_range(selection, partial(group_days, db, place_day=place_day))


async def group_days(db: Connection, selection: Selection, place_day: PlaceDay) -> dict[int, str | int]:
    groups: dict[int, str | int] = {}
    day: list[Decision] = []
    last_day = None
    async for rows in iterate(db, selection, IN_ORDER):
        for trading_day, *decision in rows:
            if trading_day != last_day:
                groups.update(place_day(day))
                day, last_day = [], trading_day
            day.append(Decision(*decision))
    groups.update(place_day(day))
    return groups
