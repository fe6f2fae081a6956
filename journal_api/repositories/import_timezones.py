"""SQL of the time zones in which the files of an account were read."""

from collections.abc import Sequence

from aiosqlite import Connection

from journal_api.repositories.sql import json_list


async def remembered(db: Connection, user_id: int, account_id: int | None) -> dict[tuple[str, str], str]:
    """Return the zones of the newest imports by account name and format.

    With `account_id`, only those of the account, and the empty string in place of its name.
    """
    rows = await db.execute_fetchall(
        """
        SELECT iif(:account_id IS NULL, accounts.name, ''), format, timezone, max(imports.id)
        FROM imports
        JOIN import_timezones ON import_id = imports.id
        JOIN accounts ON accounts.id = import_timezones.account_id
        WHERE imports.user_id = :user_id
          AND (:account_id IS NULL OR accounts.id = :account_id)
        GROUP BY accounts.id, format
        """,
        {"user_id": user_id, "account_id": account_id},
    )
    return {(account, file_format): timezone for account, file_format, timezone, _ in rows}


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
