"""SQL of reports: the statistics of groups of trades, by the same statement as those of periods.

A report reads all selected trades, so it has a connection of its own: no other request waits for it.
"""

import asyncio
import sqlite3
from collections.abc import Sequence
from typing import Any

from aiosqlite import Connection

from journal_api.database.transactions import Transactions
from journal_api.repositories.sql import fetch, json_list
from journal_api.repositories.statistics import CHECKLIST, IS_MISTAKE, IS_SHARED, LARGEST_SUM, STATISTICS, R
from journal_api.repositories.trade_filters import TradeFilters
from journal_api.rules import reports
from journal_api.rules.reports import TOTAL, Key, Names, Row
from journal_api.structs.reports import GroupBy, ReportQuery
from journal_api.values.metrics import METRICS

# The group of a trade, as an expression over its columns.
KEYS: dict[GroupBy, str] = {
    "none": "NULL",
    "day": "trading_day",
    "week": "date(trading_day, '-6 days', 'weekday 1')",
    "month": "substr(trading_day, 1, 8) || '01'",
    "quarter": "printf('%s-%02d-01', substr(trading_day, 1, 4), (substr(trading_day, 6, 2) - 1) / 3 * 3 + 1)",
    "year": "substr(trading_day, 1, 5) || '01-01'",
    "weekday": "(strftime('%w', trading_day) + 6) % 7 + 1",
    "hour": "local_hour(opened_at, :timezone)",
    "holding": "holding_time(opened_at, closed_at)",
    "account": "account_id",
    "symbol": "symbol",
    "direction": "direction",
    "grade": "grade",
    "strategy": "strategy_id",
    "setup": "setup_id",
    "confirmation": "id",
    "tag": "NULL",
}
# Each trade has the group of its own. In all other reports a decision has the group of its speaker.
BY_TRADE = ("day", "week", "month", "quarter", "year", "account")
COLUMNS = """id, trading_day, closed_at, gross_pnl, fees, net_pnl, initial_risk, grade,
    source_trade_id, currency, is_shared, is_mistake, r, checklist"""
OF_TRADE = f"SELECT json_quote(key) AS number, {COLUMNS} FROM selected"
# The speaker of a decision is the original, or the first copy if the original is not selected.
SPEAKERS = """
    SELECT *, key AS speaker_key FROM selected WHERE NOT is_shared
    UNION ALL
    SELECT *, first_value(key) OVER (PARTITION BY coalesce(source_trade_id, id)
                                     ORDER BY source_trade_id IS NOT NULL, trading_day, closed_at, id)
    FROM selected
    WHERE is_shared"""
OF_SPEAKER = f"SELECT json_quote(speaker_key) AS number, {COLUMNS} FROM ({SPEAKERS})"
# A decision is in the group of each tag that any of its trades has.
OF_TAG = f"""
    SELECT json_quote(tagged.tag_id) AS number, {COLUMNS}
    FROM selected
    LEFT JOIN (SELECT DISTINCT coalesce(source_trade_id, id) AS decision, tag_id
               FROM selected
               CROSS JOIN trade_tags ON trade_id = id) AS tagged
        ON tagged.decision = coalesce(source_trade_id, id)"""


# The answers are those of the speaker of a decision, whose setup has the confirmations.
OF_CONFIRMATION = f"""
    SELECT json_array(confirmation_id, CASE was_present WHEN 1 THEN 'present' WHEN 0 THEN 'absent'
                                       ELSE 'unanswered' END) AS number, {COLUMNS}
    FROM ({SPEAKERS})
    LEFT JOIN (SELECT speaker.id AS speaker_id, confirmations.id AS confirmation_id, was_present
               FROM selected AS speaker
               CROSS JOIN confirmations ON confirmations.setup_id = speaker.setup_id
               LEFT JOIN confirmation_answers
                   ON trade_id = speaker.id AND confirmation_id = confirmations.id) AS answer
        ON answer.speaker_id = speaker_key"""
ROWS = "SELECT number, statistics FROM statistics"
# The edge of a confirmation needs the squares too.
ROWS_WITH_SQUARES = """
    SELECT number, statistics, squares
    FROM statistics
    JOIN (SELECT number, sum_of_squares(net_pnl) AS squares FROM decisions GROUP BY number) USING (number)"""
# The names of groups whose keys are ids.
NAMES: dict[GroupBy, str] = {
    "account": "SELECT id, name FROM accounts WHERE id IN (SELECT value FROM json_each(:ids))",
    "strategy": "SELECT id, name FROM strategies WHERE id IN (SELECT value FROM json_each(:ids))",
    "setup": "SELECT id, name FROM setups WHERE id IN (SELECT value FROM json_each(:ids))",
    "tag": "SELECT id, name FROM tags WHERE id IN (SELECT value FROM json_each(:ids))",
    "confirmation": """
        SELECT confirmations.id, confirmations.name, setup_id, setups.name, strategy_id, strategies.name
        FROM confirmations
        JOIN setups ON setups.id = setup_id
        JOIN strategies ON strategies.id = strategy_id
        WHERE confirmations.id IN (SELECT value FROM json_each(:ids))""",
}


async def get(
    database: Transactions, user_id: int, timezone: str, day_rollover: str, query: ReportQuery
) -> tuple[str, int]:
    """Return the report with one page of its groups as JSON, and the number of all groups."""
    extras = {METRICS[key].extra for key in query.evaluated}
    values = {
        **query.values(),
        "user_id": user_id,
        "timezone": timezone,
        "with_drawdown": "max_drawdown" in extras,
        "with_streak": "win_streak" in extras,
    }
    async with database.read_transaction() as db:
        # In memory, the rows that SQLite sorts would take 600 MiB for a million trades; in files 25 MiB. The
        # files have no name, and a small report needs none.
        await db.execute_fetchall("PRAGMA temp_store = FILE")
        rows = await rows_of(db, query, values)
        # Many groups take long to decode.
        page = await asyncio.to_thread(reports.page_of, rows, query)
        names = await names_of(db, query.group_by, [group.key for group in page.groups])
    return reports.report_of(query, page, names, timezone, day_rollover), page.group_count


async def rows_of(
    db: Connection, query: ReportQuery, values: dict[str, Any], numbers: Sequence[str] | None = None
) -> list[Row]:
    """Return the row of each group, or of the groups with those numbers.

    A group in which a sum does not fit into 64 bits has no statistics. SQLite fails then without naming the
    group, so the groups are halved until the failing group is alone.
    """
    is_sampled = query.group_by == "confirmation"
    values = {**values, "numbers": None if numbers is None else json_list(numbers)}
    try:
        rows = await db.execute_fetchall(
            f"{groups_with(query)} {ROWS_WITH_SQUARES if is_sampled else ROWS}", values
        )
        return [Row(*row) for row in rows]
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_ERROR:
            raise
        if numbers is None:
            found = await db.execute_fetchall(
                f"{groups_with(query)} SELECT DISTINCT number FROM counted", values
            )
            numbers = [number for (number,) in found]
        if len(numbers) < 2:
            if await fetch(db, f"{groups_with(query)} SELECT {LARGEST_SUM} FROM counted", values) < 2**63:
                raise
            return [Row(number, None) for number in numbers]
    half = len(numbers) // 2
    return [
        *await rows_of(db, query, values, numbers[:half]),
        *await rows_of(db, query, values, numbers[half:]),
    ]


async def names_of(db: Connection, group_by: GroupBy, keys: Sequence[Key]) -> dict[Key, Names]:
    """Return the names of groups by id, nothing for groups whose keys are not ids."""
    if group_by not in NAMES:
        return {}
    rows = await db.execute_fetchall(NAMES[group_by], {"ids": json_list(keys)})
    return {row[0]: Names(*row[1:]) for row in rows}


def groups_with(query: ReportQuery) -> str:
    """Return the WITH clause of the statistics of each group, the total among them."""
    groups = "" if query.group_by == "none" else f"UNION ALL SELECT * FROM ({groups_of(query)})"
    return f"""
WITH
-- The selected trades, each with the key of its group.
selected AS MATERIALIZED (
    SELECT id, {KEYS[query.group_by]} AS key, trading_day, closed_at, gross_pnl, fees, net_pnl, initial_risk,
        grade, setup_id, source_trade_id,
        (SELECT currency FROM accounts WHERE accounts.id = account_id) AS currency,
        {IS_SHARED} AS is_shared,
        {IS_MISTAKE} AS is_mistake,
        {R} AS r,
        {CHECKLIST} AS checklist
    FROM trades
    WHERE {TradeFilters(query).closed()}
),
-- The trades with the number of their group, which is its key in JSON, and once more for the total.
counted AS MATERIALIZED (
    SELECT *
    FROM (SELECT '{TOTAL}' AS number, {COLUMNS} FROM selected
          {groups})
    WHERE :numbers IS NULL OR number IN (SELECT value FROM json_each(:numbers))
),
{STATISTICS}"""


def groups_of(query: ReportQuery) -> str:
    """Return the SELECT of the selected trades with the number of their group, for a tag several times."""
    if query.group_by == "confirmation":
        return OF_CONFIRMATION
    if query.group_by == "tag":
        return OF_TAG
    return OF_TRADE if query.group_by in BY_TRADE else OF_SPEAKER
