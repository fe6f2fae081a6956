"""Imports: the rows of a file become trades, all of them or none, and none of them twice; and back again."""

from typing import NamedTuple

from aiosqlite import Connection

from journal_api.repositories.sql import fetch, fetch_json
from journal_api.repositories.trades import LATER
from journal_api.rules.trade_identity import BROKER_FIELDS
from journal_api.structs.imports import Counts
from journal_api.values.clock import now


class Source(NamedTuple):
    """Where trades come from, and into which account unless the file says."""

    account_id: int | None
    file_name: str | None
    sha256: str
    timezone: str


IMPORT = """json_object(
    'id', id,
    'account_id', account_id,
    'format', format,
    'file_name', file_name,
    'sha256', sha256,
    'timezone', timezone,
    'counts', json_object('new', added, 'duplicate', duplicates, 'updated', updated, 'error', 0),
    'trade_count', added - deleted,
    'created_at', created_at,
    'updated_at', updated_at)"""


async def list_of_user(db: Connection, user_id: int) -> str:
    """Newest first."""
    return await fetch_json(
        db,
        f"""
        SELECT '[' || coalesce(group_concat(item), '') || ']'
        FROM (SELECT {IMPORT} AS item
              FROM imports
              WHERE user_id = :user_id
              ORDER BY id DESC)
        """,
        {"user_id": user_id},
    )


async def get(db: Connection, user_id: int, import_id: int) -> str:
    """Raises NotFound."""
    return await fetch_json(
        db,
        f"SELECT {IMPORT} FROM imports WHERE id = :id AND user_id = :user_id",
        {"id": import_id, "user_id": user_id},
    )


async def insert(db: Connection, user_id: int, source: Source, form: str) -> int:
    """The new id."""
    return int(
        await fetch(
            db,
            """
            INSERT INTO imports (user_id, account_id, format, file_name, sha256, timezone, added, updated,
                duplicates, created_at, updated_at)
            VALUES (:user_id, :account_id, :format, :file_name, :sha256, :timezone, 0, 0, 0, :now, :now)
            RETURNING id
            """,
            {**source._asdict(), "user_id": user_id, "format": form, "now": now()},
        )
    )


async def set_counts(db: Connection, import_id: int, counts: Counts) -> None:
    await db.execute_fetchall(
        """
        UPDATE imports
        SET added = :new, updated = :updated, duplicates = :duplicate
        WHERE id = :id
        """,
        {"new": counts.new, "updated": counts.updated, "duplicate": counts.duplicate, "id": import_id},
    )


async def undo(db: Connection, user_id: int, import_id: int, *, force: bool) -> list[int]:
    """Take back what the import added and changed; the ids of the trades that were edited since and so kept.

    With `force` none is kept. The import itself goes when nothing of it is left. Raises NotFound.
    """
    await get(db, user_id, import_id)
    values = {"id": import_id, "force": force, "now": now()}
    await db.execute_fetchall(
        f"""
        UPDATE trades
        SET {", ".join(f"{fact} = before.{fact}" for fact in BROKER_FIELDS)},
            trading_day = trading_day(before.closed_at, timezone, day_rollover),
            content = before.content,
            updated_at = iif(
                trades.updated_at IN (SELECT written_at FROM import_updates WHERE trade_id = trades.id),
                before.updated_at, {LATER})
        FROM import_updates AS before, users
        WHERE before.import_id = :id
          AND trades.id = before.trade_id
          AND users.id = trades.user_id
          AND (:force OR trades.updated_at = before.written_at)
        """,
        values,
    )
    # What a later import has made of a trade goes with what it was made from.
    await db.execute_fetchall(
        """
        DELETE FROM import_updates
        -- The + has it look among the imports of each trade, not through all later imports.
        WHERE +import_id >= :id
          AND trade_id IN (
            SELECT undone.trade_id
            FROM import_updates AS undone
            JOIN trades ON trades.id = undone.trade_id
            WHERE undone.import_id = :id
              AND (:force OR trades.updated_at = undone.updated_at))
        """,
        values,
    )
    await db.execute_fetchall(
        "DELETE FROM trades WHERE import_id = :id AND (:force OR updated_at = created_at)", values
    )
    kept = await db.execute_fetchall(
        """
        SELECT id FROM trades WHERE import_id = :id
        UNION
        SELECT trade_id FROM import_updates WHERE import_id = :id
        """,
        values,
    )
    if kept:
        await db.execute_fetchall("UPDATE imports SET updated_at = :now WHERE id = :id", values)
    else:
        await db.execute_fetchall("DELETE FROM imports WHERE id = :id", values)
    return [row[0] for row in kept]
