"""SQL of imports: the list of imports, and undoing one."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from aiosqlite import Connection
from msgspec.structs import asdict

from journal_api.database import sql
from journal_api.structs.import_profiles import OneTradeIs
from journal_api.structs.imports import Counts, Import
from journal_api.values.clock import now
from journal_api.values.money import json_number

REFUSED = "refused"  # in place of a format: a file of a watched folder that could not be imported


class Source(NamedTuple):
    """The file of an import. `account_id` is None if the rows of the file name their accounts."""

    account_id: int | None
    file_name: str | None
    sha256: str


ACCOUNT_IDS = sql.build_json_array(
    "account_id",
    """
    SELECT imports.account_id AS account_id
    WHERE imports.account_id IS NOT NULL
    UNION
    SELECT account_id
    FROM trades
    WHERE import_id = imports.id AND imports.account_id IS NULL
    ORDER BY account_id
    """,
)
TABLE = sql.Table(
    "imports",
    Import,
    "id DESC",
    account_ids=ACCOUNT_IDS,
    counts="json_object('new', added, 'duplicate', duplicates, 'updated', updated, 'error', 0)",
    trade_count="(SELECT count(*) FROM trades WHERE import_id = imports.id)",
    merged_count="(SELECT count(*) FROM trades WHERE import_id = imports.id AND merged IS NOT NULL)",
    **{
        name: f"(SELECT {expression} FROM trades WHERE import_id = imports.id)"
        for name, expression in (
            ("first_day", "min(trading_day)"),
            ("last_day", "max(trading_day)"),
            ("net_pnl", json_number("sum(net_pnl)")),
        )
    },
)
list_of_user, get = TABLE.list_of_user, TABLE.get


async def insert(db: Connection, user_id: int, source: Source, /, **columns: str) -> int:
    """Return the new id. The counts are 0 until `set_counts`."""
    counts = {"added": 0, "updated": 0, "duplicates": 0}
    return await sql.insert_row(db, "imports", {"user_id": user_id, **source._asdict(), **columns, **counts})


async def insert_refused(db: Connection, user_id: int, source: Source) -> int:
    """Remember that a file of a watched folder was refused, once for each file."""
    await delete_refused(db, user_id, source)
    return await insert(db, user_id, source, format=REFUSED, timezone="UTC", source="folder")


async def delete_refused(db: Connection, user_id: int, source: Source) -> None:
    await db.execute_fetchall(
        """
        DELETE FROM imports
        WHERE user_id = :user_id AND format = :format AND sha256 = :sha256 AND file_name IS :file_name
        """,
        {"user_id": user_id, "format": REFUSED, **source._asdict()},
    )


async def list_trade_units(db: Connection, user_id: int, account_id: int | None) -> dict[str, OneTradeIs]:
    """Return what one trade was in the newest import of each format into the account.

    Imports of files that name their accounts count for all accounts.
    """
    rows: Iterable[Any] = await db.execute_fetchall(
        """
        -- SQLite takes the column without an aggregate from the row of max().
        SELECT format, one_trade_is, max(id)
        FROM imports
        WHERE user_id = :user_id
          AND (:account_id IS NULL OR account_id IS NULL OR account_id = :account_id)
        GROUP BY format
        """,
        {"user_id": user_id, "account_id": account_id},
    )
    return {file_format: unit for file_format, unit, _ in rows}


async def find_trade_unit(db: Connection, account_id: int | None) -> OneTradeIs | None:
    """Return what one trade is by the setting of the account, None without one."""
    unit: OneTradeIs | None = await sql.fetch(
        db, "SELECT one_trade_is FROM accounts WHERE id = :id", {"id": account_id}
    )
    return unit


async def set_trade_unit(db: Connection, user_id: int, import_id: int, unit: OneTradeIs) -> None:
    """Write what one trade is in all imports of the import's format, and so in later files of it."""
    await db.execute_fetchall(
        """
        UPDATE imports
        SET one_trade_is = :unit, updated_at = :now
        WHERE user_id = :user_id
          AND format = (SELECT format FROM imports WHERE id = :import_id)
          AND one_trade_is <> :unit
        """,
        {"user_id": user_id, "import_id": import_id, "unit": unit, "now": now()},
    )


async def set_counts(db: Connection, import_id: int, counts: Counts) -> None:
    await db.execute_fetchall(
        """
        UPDATE imports
        SET added = :new, updated = :updated, duplicates = :duplicate
        WHERE id = :id
        """,
        {**asdict(counts), "id": import_id},
    )


class AccountTimezone(NamedTuple):
    account_id: int
    account_name: str
    format: str
    timezone: str


async def list_timezones(db: Connection, user_id: int) -> list[AccountTimezone]:
    rows = await db.execute_fetchall(
        """
        -- SQLite takes the columns without an aggregate from the row of max().
        SELECT accounts.id, accounts.name, format, imports.timezone, max(imports.id)
        FROM imports
        JOIN import_timezones ON import_id = imports.id
        JOIN accounts ON accounts.id = import_timezones.account_id
        WHERE imports.user_id = :user_id
        GROUP BY accounts.id, format
        """,
        {"user_id": user_id},
    )
    return [AccountTimezone(*row[:4]) for row in rows]


async def insert_timezone(db: Connection, import_id: int, timezone: str, account_ids: Sequence[int]) -> None:
    """Store the zone of an import, and the accounts whose times were read in it."""
    await db.execute_fetchall("UPDATE imports SET timezone = ? WHERE id = ?", (timezone, import_id))
    await db.executemany(
        "INSERT INTO import_timezones (import_id, account_id) VALUES (?, ?)", [(import_id, one) for one in account_ids]
    )
