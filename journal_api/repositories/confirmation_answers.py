"""The answers of a trade to the checklist of its setup, written as one set."""

from collections import Counter
from collections.abc import Sequence

from aiosqlite import Connection

from journal_api.errors import ValidationFailed
from journal_api.repositories.sql import json_list
from journal_api.structs.trades import AnswerPut, Trade
from journal_api.values.clock import now_after


async def replace(db: Connection, stored: Trade, answers: Sequence[AnswerPut]) -> None:
    """Make these the checklist answers of the trade.

    Raises ValidationFailed naming the confirmations that are not of the trade's setup, or are sent twice.
    """
    sent = [answer.confirmation_id for answer in answers]
    rows = await db.execute_fetchall(
        "SELECT id FROM confirmations WHERE setup_id = :setup_id", {"setup_id": stored.setup_id}
    )
    known = {row[0] for row in rows}
    offenders = {
        "unknown_confirmation_ids": [row_id for row_id in dict.fromkeys(sent) if row_id not in known],
        "duplicate_confirmation_ids": [row_id for row_id, times in Counter(sent).items() if times > 1],
    }
    if any(offenders.values()):
        details = {name: row_ids for name, row_ids in offenders.items() if row_ids}
        raise ValidationFailed("Some confirmations are not of the trade's setup, or sent twice.", **details)
    before = {(one.confirmation_id, one.was_present, one.notes) for one in stored.confirmations}
    after = [(one.confirmation_id, one.was_present, one.notes) for one in answers]
    if before == set(after):
        return
    values = {"id": stored.id, "rows": json_list(after), "now": now_after(stored.updated_at)}
    await db.execute_fetchall(
        """
        DELETE FROM confirmation_answers
        WHERE trade_id = :id AND confirmation_id NOT IN (SELECT value ->> 0 FROM json_each(:rows))
        """,
        values,
    )
    await db.execute_fetchall(
        """
        INSERT INTO confirmation_answers (trade_id, confirmation_id, was_present, notes)
        SELECT :id, value ->> 0, value ->> 1, value ->> 2
        FROM json_each(:rows)
        WHERE true
        ON CONFLICT DO UPDATE SET was_present = excluded.was_present, notes = excluded.notes
        """,
        values,
    )
    await db.execute_fetchall("UPDATE trades SET updated_at = :now WHERE id = :id", values)
