"""SQL of the confirmation answers of a trade, written as one set."""

from collections import Counter
from collections.abc import Sequence

from aiosqlite import Connection

from journal_api.errors import ValidationFailed
from journal_api.repositories.sql import json_list
from journal_api.structs.trades import AnswerPut, Trade
from journal_api.values.clock import now_after


async def insert_many(db: Connection, rows: Sequence[tuple[int, int, bool, str | None]]) -> None:
    """Add answers to trades that have none: the ids of the trade and the confirmation, was_present, notes."""
    if not rows:
        return
    await db.executemany(
        """
        INSERT INTO confirmation_answers (trade_id, confirmation_id, was_present, notes)
        VALUES (?, ?, ?, ?)
        """,
        rows,
    )


async def replace_all(db: Connection, stored: Trade, answers: Sequence[AnswerPut]) -> None:
    """Replace the confirmation answers of the trade.

    Raises ValidationFailed with the ids that do not belong to the trade's setup or are repeated.
    """
    ids = [answer.confirmation_id for answer in answers]
    rows = await db.execute_fetchall(
        "SELECT id FROM confirmations WHERE setup_id = :setup_id", {"setup_id": stored.setup_id}
    )
    ids_of_setup = {row[0] for row in rows}
    offenders = {
        "unknown_confirmation_ids": [row_id for row_id in dict.fromkeys(ids) if row_id not in ids_of_setup],
        "duplicate_confirmation_ids": [row_id for row_id, times in Counter(ids).items() if times > 1],
    }
    if any(offenders.values()):
        details = {name: row_ids for name, row_ids in offenders.items() if row_ids}
        raise ValidationFailed(
            "Some confirmations do not belong to the trade's setup or are repeated.", **details
        )
    before = {(answer.confirmation_id, answer.was_present, answer.notes) for answer in stored.confirmations}
    if before == {(answer.confirmation_id, answer.was_present, answer.notes) for answer in answers}:
        return
    values = {"id": stored.id, "answers": json_list(answers), "now": now_after(stored.updated_at)}
    await db.execute_fetchall(
        """
        DELETE FROM confirmation_answers
        WHERE trade_id = :id
          AND confirmation_id NOT IN (SELECT value ->> '$.confirmation_id' FROM json_each(:answers))
        """,
        values,
    )
    await db.execute_fetchall(
        """
        INSERT INTO confirmation_answers (trade_id, confirmation_id, was_present, notes)
        SELECT :id, value ->> '$.confirmation_id', value ->> '$.was_present', value ->> '$.notes'
        FROM json_each(:answers)
        WHERE true
        ON CONFLICT DO UPDATE SET was_present = excluded.was_present, notes = excluded.notes
        """,
        values,
    )
    await db.execute_fetchall("UPDATE trades SET updated_at = :now WHERE id = :id", values)
