"""SQL of the time zones in which the files of an account were read."""

from collections.abc import Sequence
from typing import NamedTuple

from aiosqlite import Connection

from journal_api.database.sql import json_list


class AccountTimezone(NamedTuple):
    """The time zone of the newest import of an account and a format."""

    account_id: int
    account_name: str
    format: str
    timezone: str


async def list_of_user(db: Connection, user_id: int) -> list[AccountTimezone]:
    """Return the zones of all accounts and formats."""
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


async def insert(db: Connection, import_id: int, timezone: str, account_ids: Sequence[int]) -> None:
    """Store the zone of an import, and the accounts whose times were read in it."""
    values = {"id": import_id, "timezone": timezone, "account_ids": json_list(account_ids)}
    await db.execute_fetchall("UPDATE imports SET timezone = :timezone WHERE id = :id", values)
    await db.execute_fetchall(
        """
        INSERT INTO import_timezones (import_id, account_id)
        SELECT :id, value
        FROM json_each(:account_ids)
        """,
        values,
    )
