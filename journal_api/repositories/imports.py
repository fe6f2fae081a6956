"""Imports: the rows of a file become trades, all of them or none, and none of them twice; and back again."""

import asyncio
from collections import Counter
from collections.abc import Callable
from itertools import islice
from typing import NamedTuple

from aiosqlite import Connection

from journal_api.database import fetch, fetch_json
from journal_api.errors import ValidationFailed
from journal_api.importing import Candidate, TradeFile
from journal_api.importing.found import Rejected
from journal_api.importing.threads import in_thread
from journal_api.recognition import FACTS
from journal_api.repositories import imported_rows
from journal_api.repositories.trades import LATER
from journal_api.structs.imports import Counts, Verdict
from journal_api.values import now

AT_ONCE = 500
MOST_ERRORS = 1000


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


async def bring_in(
    db: Connection,
    user_id: int,
    source: Source,
    file: TradeFile,
    tell: Callable[[list[Verdict]], object],
    *,
    dry_run: bool,
) -> tuple[int | None, Counts]:
    """Import the file: its id, None for a dry run, and how many rows there were of each verdict.

    `tell` is given the verdicts, some at a time; those of copies of rows further down come last, and errors
    beyond the first 1,000 are only counted. A dry run only reads. Raises ValidationFailed, unless it is a
    dry run, when a row cannot be imported; then nothing may be kept.
    """
    import_id = None if dry_run else await insert(db, user_id, source, file.format)
    rows = await imported_rows.Writer.prepare(db, user_id, source.account_id, import_id)
    counts = Counts()
    errors: list[Verdict] = []

    def count(verdicts: list[Verdict]) -> None:
        for word, number in Counter(one.verdict for one in verdicts).items():
            setattr(counts, word, getattr(counts, word) + number)
        told = []
        for one in verdicts:
            if one.reason is None:
                told.append(one)
            elif len(errors) < MOST_ERRORS:
                errors.append(one)
                told.append(one)
        tell(told)

    def next_rows() -> list[Candidate | Rejected]:
        return list(islice(file.candidates, AT_ONCE))

    while batch := await in_thread(user_id, next_rows):
        count(await rows.take(batch))
    copies = await rows.finish()
    for begin in range(0, len(copies), AT_ONCE):
        count(copies[begin : begin + AT_ONCE])
        await asyncio.sleep(0)  # others have their turn
    if import_id is not None:
        if errors:
            raise refused(counts, sorted(errors, key=lambda one: one.line))
        await set_counts(db, import_id, counts)
    return import_id, counts


def refused(counts: Counts, errors: list[Verdict]) -> ValidationFailed:
    first = errors[0]
    others = f" (and {counts.error - 1} more)" if counts.error > 1 else ""
    return ValidationFailed(
        f"line {first.line}: {first.reason}{others}",
        line=first.line,
        reason=first.reason,
        counts=counts,
        rows=errors,
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
        SET {", ".join(f"{fact} = before.{fact}" for fact in FACTS)},
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
