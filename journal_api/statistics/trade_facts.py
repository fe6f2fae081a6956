"""SQL of the facts of trades: what statistics read of each closed trade, worked out once and stored.

Triggers record the days on which anything changed. The facts of a user include all changes up to the
`facts_cursor` of the user. Who reads statistics stores the facts of newer days first; what could not be
stored, because the file is busy or full, is worked out while it is read (DECISIONS 18).
"""

import logging
import sqlite3
import time
from functools import partial

from aiosqlite import Connection

from journal_api.database.database import Database
from journal_api.database.sql import fetch, json_list
from journal_api.database.sqlite_errors import api_error
from journal_api.errors import Busy, StorageUnavailable
from journal_api.statistics.changed_days import select_changed_days

# Seconds after which a transaction that stores facts ends, and the days that it stores between two looks.
SPAN, DAYS = 0.1, 50

# The facts of the closed trades of some days, given as `day (account_id, trading_day)`. Nothing else says
# what they mean. The first confirmation that is missing ends the search for a checklist.
FACTS = """
    SELECT trades.account_id, trades.trading_day, closed_at, trades.id, opened_at,
        coalesce(source_trade_id, trades.id) AS decision,
        fees, net_pnl, initial_risk,
        ratio(net_pnl, initial_risk) AS r,
        grade,
        EXISTS (SELECT 1
                FROM trade_tags
                JOIN tags ON tags.id = tag_id
                WHERE trade_id = trades.id AND type = 'mistake') AS is_mistake,
        CASE WHEN EXISTS (SELECT 1 FROM confirmations WHERE confirmations.setup_id = trades.setup_id)
        THEN NOT EXISTS (SELECT 1
                         FROM confirmations
                         WHERE confirmations.setup_id = trades.setup_id
                           AND NOT EXISTS (SELECT 1
                                           FROM confirmation_answers
                                           WHERE trade_id = trades.id
                                             AND confirmation_id = confirmations.id
                                             AND was_present))
        END AS checklist,
        iif(setup_id IS NULL, NULL, (
            SELECT json_group_array(iif(was_present, confirmation_id, -confirmation_id))
            FROM confirmation_answers
            WHERE trade_id = trades.id)) AS answers,
        local_hour(opened_at, timezone) AS local_hour,
        -- unixepoch() would round a fraction.
        unixepoch(substr(closed_at, 1, 19)) - unixepoch(substr(opened_at, 1, 19))
            - (substr(closed_at, 20) < substr(opened_at, 20)) AS held,
        contract, root, direction, strategy_id, setup_id, mae, mfe
    FROM day
    CROSS JOIN trades ON trades.account_id = day.account_id AND trades.trading_day = day.trading_day
    CROSS JOIN users ON users.id = user_id"""
FACTS_CURSOR = "(SELECT facts_cursor FROM users WHERE id = :user_id)"
STALE_DAYS = select_changed_days(FACTS_CURSOR, "SELECT id FROM accounts WHERE user_id = :user_id")
# CTEs of the facts of a user's trades: as stored, and with the days of newer changes worked out.
STORED = "facts AS NOT MATERIALIZED (SELECT * FROM trade_facts)"
IS_CURRENT = """NOT EXISTS (
        SELECT 1 FROM day WHERE day.account_id = facts.account_id AND day.trading_day = facts.trading_day)"""
CURRENT = f"""
day (account_id, trading_day) AS MATERIALIZED ({STALE_DAYS}),
fresh AS MATERIALIZED ({FACTS}),
facts AS NOT MATERIALIZED (
    SELECT * FROM trade_facts AS facts WHERE {IS_CURRENT}
    UNION ALL
    SELECT * FROM fresh
)"""
# The tables of each, with the condition for their rows.
TABLES = {STORED: {"trade_facts": "true"}, CURRENT: {"trade_facts": IS_CURRENT, "fresh": "true"}}


def build_for_sources(select: str) -> dict[str, str]:
    """Return a SELECT from `{table} AS facts` where `{condition}`, by the CTE that `read_source` returns.

    For a SELECT that looks up days: SQLite looks nothing up in the compound `facts`.
    """
    return {
        source: " UNION ALL ".join(select.format(table=table, condition=tables[table]) for table in tables)
        for source, tables in TABLES.items()
    }


async def read_source(db: Connection, user_id: int) -> str:
    """Return the CTE `facts` of all closed trades of the user, as of the current transaction of `db`.

    A statement with it needs `:user_id`.
    """
    return CURRENT if await is_stale(db, user_id) else STORED


async def is_stale(db: Connection, user_id: int) -> bool:
    """Return whether facts of the user are older than their trades."""
    return bool(await fetch(db, f"SELECT EXISTS ({STALE_DAYS})", {"user_id": user_id}))


async def refresh(database: Database, user_id: int) -> None:
    """Store the facts of what has changed, in short transactions. Readers can do without any of them."""
    try:
        has_more = await is_stale(database.reader, user_id)
        while has_more:
            has_more = await database.write(partial(store_some, user_id=user_id))
    except (Busy, StorageUnavailable):
        return  # the file cannot be written now
    except sqlite3.Error as error:
        database.note(error)
        if not isinstance(api_error(error), Busy | StorageUnavailable):
            logging.getLogger("journal_api").exception("The facts of trades could not be stored.")


async def store_some(db: Connection, user_id: int) -> bool:
    """Store the facts of the days that have been stale for longest; return whether more are stale."""
    until = time.monotonic() + SPAN
    await record_checklists(db)
    while time.monotonic() < until:
        days = await list_stale_days(db, user_id)
        await replace_days(db, [day[:2] for day in days])
        is_last = len(days) < DAYS
        await db.execute_fetchall(
            """
            UPDATE users
            SET facts_cursor = coalesce(:cursor, (SELECT max(sequence) FROM changed_days), 0)
            WHERE id = :user_id
            """,
            {"user_id": user_id, "cursor": None if is_last else days[-1][2]},
        )
        if is_last:
            return False
    return True


async def record_checklists(db: Connection) -> None:
    """Record the days of trades with a changed checklist, instead of the checklist."""
    await db.execute_fetchall(
        """
        INSERT INTO record_change
        SELECT DISTINCT account_id, trading_day
        FROM trades
        WHERE setup_id IN (SELECT setup_id FROM changed_days WHERE setup_id IS NOT NULL)
        """
    )
    await db.execute_fetchall("DELETE FROM changed_days WHERE setup_id IS NOT NULL")


async def list_stale_days(db: Connection, user_id: int) -> list[tuple[int, str, int]]:
    rows = await db.execute_fetchall(
        f"""
        SELECT account_id, trading_day, sequence
        FROM changed_days
        WHERE sequence > {FACTS_CURSOR}
          AND +account_id IN (SELECT id FROM accounts WHERE user_id = :user_id)
        ORDER BY sequence
        LIMIT {DAYS}
        """,
        {"user_id": user_id},
    )
    return [(account_id, day, sequence) for account_id, day, sequence in rows]


async def replace_days(db: Connection, days: list[tuple[int, str]]) -> None:
    """Work out the facts of the trades of those accounts and days again.

    A trade that has moved may still have facts on its old day, if that is stale too: they are replaced.
    """
    await db.executemany("DELETE FROM trade_facts WHERE account_id = ? AND trading_day = ?", days)
    await db.execute_fetchall(
        f"""
        WITH day (account_id, trading_day) AS (SELECT value ->> 0, value ->> 1 FROM json_each(:days))
        INSERT OR REPLACE INTO trade_facts {FACTS}
        """,
        {"days": json_list(days)},
    )


async def read_breakeven_within(db: Connection, user_id: int) -> int:
    """Return how far from 0 a break-even decision may be, in units of 10^-8."""
    within = await fetch(db, "SELECT breakeven_within FROM users WHERE id = :id", {"id": user_id})
    return int(within)
