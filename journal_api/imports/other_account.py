"""A file of another account: it covers a stretch of time that another file of its format covers otherwise."""

from collections.abc import Iterable, Sequence
from typing import Any

from aiosqlite import Connection

from journal_api.database.sql import json_list
from journal_api.errors import Conflict
from journal_api.imports.contracts import Settled


async def require_own_account(db: Connection, user_id: int, file_name: str | None, settled: Sequence[Settled]) -> None:
    """Raise Conflict if another file of the format covers the same stretch of time, and states nothing of the same.

    Files of one account that overlap share what both state. The error names both files, and the accounts that
    have fills of this file already or whose name is in its name.
    """
    related = {import_id for one in settled for stated in one.rows for import_id in stated.imports}
    strangers = {import_id for one in settled for import_id in one.plan.strangers} - related
    if not strangers:
        return
    contracts = sorted({one.contract.name for one in settled if not strangers.isdisjoint(one.plan.strangers)})
    keys = [row.key for one in settled for row in one.rows.values()]
    others = await list_files(db, strangers)
    accounts = await find_fitting_accounts(db, user_id, file_name, keys, strangers)
    named = " and ".join(f"{name or 'a file'} (import {import_id})" for import_id, name in others)
    fits = ", ".join(f"{name!r} ({because})" for _, name, because in accounts)
    advice = f" This one fits {fits}." if fits else ""
    raise Conflict(
        f"{file_name or 'This file'} and {named} cover the same time of {', '.join(contracts)} and no fill in"
        f" common, so one of them is of another account.{advice} Import it into its account, or undo the"
        " other; force=true (--force) imports it nevertheless.",
        imports=[{"id": import_id, "file_name": name} for import_id, name in others],
        accounts=[{"id": row_id, "name": name, "because": because} for row_id, name, because in accounts],
    )


async def list_files(db: Connection, import_ids: Iterable[int]) -> list[Any]:
    """Return the ids of imports and the names of their files."""
    return list(
        await db.execute_fetchall(
            """
            SELECT id, file_name
            FROM imports
            WHERE id IN (SELECT value FROM json_each(:ids))
            ORDER BY id
            """,
            {"ids": json_list(sorted(import_ids))},
        )
    )


async def find_fitting_accounts(
    db: Connection, user_id: int, file_name: str | None, keys: Sequence[int], strangers: Iterable[int]
) -> list[Any]:
    """Return the id and name of the accounts that a file fits, and why."""
    return list(
        await db.execute_fetchall(
            """
            SELECT id, name, iif(has_fills, 'has fills of it', 'by its name')
            FROM (
                SELECT id, name, EXISTS (
                    SELECT 1
                    FROM json_each(:keys)
                    JOIN statements ON account_id = accounts.id AND statements.key = CAST(value AS INTEGER)
                    WHERE import_id NOT IN (SELECT value FROM json_each(:strangers))) AS has_fills
                FROM accounts
                WHERE user_id = :user_id)
            WHERE has_fills OR instr(lower(:file_name), lower(name))
            ORDER BY NOT has_fills, id
            """,
            {
                "user_id": user_id,
                "file_name": file_name or "",
                "keys": json_list(keys),
                "strangers": json_list(sorted(strangers)),
            },
        )
    )
