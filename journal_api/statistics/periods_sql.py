"""SQL of the statistics of periods (DECISIONS 16)."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import date
from typing import Any, NamedTuple

from aiosqlite import Connection

from journal_api.database.sql import json_list
from journal_api.metrics.members import ExtraStatistic, Statistics
from journal_api.statistics.fold import Collected
from journal_api.statistics.selection import COLUMNS, IS_SHARED, Selection, collect, with_sums_in_range
from journal_api.statistics.trade_facts import build_for_sources, read_breakeven_within, read_source
from journal_api.values.periods import Period, merge_periods, split_period

ACCOUNTS = """
account (id, currency) AS MATERIALIZED (
    SELECT accounts.id, currency FROM json_each(:accounts) CROSS JOIN accounts ON accounts.id = value
)"""
# The trades of the parts, which are read by the primary key of the facts.
PARTS = """
part (number, first, last) AS MATERIALIZED (
    SELECT key, value ->> '$.start', value ->> '$.end' FROM json_each(:parts)
)"""

OF_PARTS = build_for_sources(f"""
    SELECT number AS part, currency, {COLUMNS}
    FROM part
    CROSS JOIN account
    CROSS JOIN {{table}} AS facts ON facts.account_id = account.id
        AND facts.trading_day BETWEEN first AND last
    WHERE {{condition}}""")


async def list_of_periods(
    db: Connection,
    user_id: int,
    account_ids: Sequence[int],
    periods: Collection[Period],
    extras: Collection[ExtraStatistic | None],
    today: date,
) -> dict[Period, Statistics | None]:
    """Return the statistics of each period over accounts of the user, with those extra statistics.

    Each day is summed once, for all periods that contain it. A decision with trades on several days counts once in a
    period, so these days are summed together. The value is None for a period in which a sum does not fit into 64 bits.
    """
    values = {
        "user_id": user_id,
        "accounts": json_list(account_ids),
        "breakeven_within": await read_breakeven_within(db, user_id),
    }
    scope = Scope(await read_source(db, user_id), values)
    days = await read_days(db, scope)
    spans = await list_spans(db, scope, [within(period, days) for period in periods])
    ends = {day: span.end for span in spans for day in span.days()}
    of_part = defaultdict[Period, list[Period]](list)
    for period in periods:
        for part in split_period(within(period, days), ends):
            of_part[part].append(period)
    groups = list(of_part.values())
    selection = Selection(
        f"{scope.facts},{ACCOUNTS},{PARTS}", OF_PARTS[scope.facts], scope.with_parts(of_part), by_trade=True
    )
    collected = await with_sums_in_range(
        selection, lambda selection: collect(db, selection, {*extras, "days"}, lambda part, _: groups[part])
    )
    none = Collected()
    return {period: collected.get(period, none).compute(today.isoformat()) for period in periods}


class Scope(NamedTuple):
    """The CTE of the facts of a user, and the values of statements over accounts of the user."""

    facts: str
    values: dict[str, Any]

    def with_parts(self, parts: Iterable[Period]) -> dict[str, Any]:
        return {**self.values, "parts": json_list([part._asdict() for part in parts])}


def within(period: Period, days: Period) -> Period:
    """Return the days of a period that are among others; the end is before the start if there are none."""
    return Period(max(period.start, days.start), min(period.end, days.end))


async def read_days(db: Connection, scope: Scope) -> Period:
    """Return the first and the last day with a trade, an empty period without a trade."""
    rows = await db.execute_fetchall(
        f"""
        WITH
        {ACCOUNTS}
        SELECT min((SELECT min(trading_day)
                    FROM trades
                    WHERE account_id = account.id AND trading_day IS NOT NULL)),
            max((SELECT max(trading_day) FROM trades WHERE account_id = account.id))
        FROM account
        """,
        scope.values,
    )
    ((first, last),) = rows
    return Period(date.fromisoformat(first or "9999-12-31"), date.fromisoformat(last or "0001-01-01"))


async def list_spans(db: Connection, scope: Scope, periods: Iterable[Period]) -> list[Period]:
    """Return the days of each decision with trades on several days, from the first to the last of them."""
    rows: Iterable[Any] = await db.execute_fetchall(
        f"""
        WITH
        {scope.facts},{ACCOUNTS},{PARTS},
        selected AS NOT MATERIALIZED ({OF_PARTS[scope.facts]})
        SELECT DISTINCT min(trading_day), max(trading_day)
        FROM selected
        WHERE {IS_SHARED}
        GROUP BY decision
        HAVING min(trading_day) < max(trading_day)
        """,
        scope.with_parts(merge_periods(periods)),
    )
    return merge_periods(Period(*map(date.fromisoformat, row)) for row in rows)
