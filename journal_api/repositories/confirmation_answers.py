"""SQL of the confirmation answers of a trade, written as one set."""

from collections.abc import Sequence

from aiosqlite import Connection

from journal_api.repositories.sql import json_list
from journal_api.structs.trades import AnswerBody, Trade
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


async def replace_all(db: Connection, stored: Trade, answers: Sequence[AnswerBody]) -> None:
    """Replace the confirmation answers of the trade. The caller has checked them."""
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
