"""Setups of a strategy, with their confirmations, written as one canonical list."""

from collections.abc import Iterable, Sequence
from itertools import count
from typing import Any

from aiosqlite import Connection

from journal_api.database import fetch_json, json_list
from journal_api.diff import SentSetup, diff_setups
from journal_api.repositories import confirmations
from journal_api.repositories.confirmations import CONFIRMATION
from journal_api.structs.setups import Setup

# The setups of the strategy in hand, as one JSON array.
SETUPS = f"""json((
    SELECT '[' || coalesce(group_concat(setup), '') || ']'
    FROM (SELECT json_object(
              'setup_id', setups.id,
              'name', setups.name,
              'description', setups.description,
              'sort_order', setups.sort_order,
              'confirmations', json((
                  SELECT '[' || coalesce(group_concat(confirmation), '') || ']'
                  FROM (SELECT {CONFIRMATION} AS confirmation
                        FROM confirmations
                        WHERE confirmations.setup_id = setups.id
                        ORDER BY confirmations.sort_order, confirmations.id)))) AS setup
          FROM setups
          WHERE setups.strategy_id = strategies.id
          ORDER BY setups.sort_order, setups.id)))"""


async def list_of_strategy(db: Connection, user_id: int, strategy_id: int) -> str:
    """Raises NotFound."""
    return await fetch_json(
        db,
        f"SELECT {SETUPS} FROM strategies WHERE id = :id AND user_id = :user_id",
        {"id": strategy_id, "user_id": user_id},
    )


async def replace_all(
    db: Connection, strategy_id: int, stored: Sequence[Setup], sent: Sequence[SentSetup]
) -> bool:
    """Make `sent` the list of setups; whether that changed anything.

    At most five statements, whatever the number of rows. Raises ValidationFailed with all offending ids.
    """
    # Ids are given out here, so that one statement can write the setups and one their confirmations. No other
    # connection can take them: this one holds the write lock.
    rows: Iterable[Any] = await db.execute_fetchall("SELECT name, seq FROM sqlite_sequence")
    last: dict[str, int] = dict(rows)
    setup_ids, confirmation_ids = count(last.get("setups", 0) + 1), count(last.get("confirmations", 0) + 1)
    diff = diff_setups(strategy_id, stored, sent, setup_ids, confirmation_ids)
    if diff.deleted_setups:
        await db.execute_fetchall(
            "DELETE FROM setups WHERE id IN (SELECT value FROM json_each(:ids))",
            {"ids": json_list(diff.deleted_setups)},
        )
    if diff.written_setups:
        await db.execute_fetchall(
            """
            INSERT INTO setups (id, strategy_id, name, description, sort_order)
            SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4
            FROM json_each(:rows)
            WHERE true
            ON CONFLICT (id) DO UPDATE
            SET name = excluded.name, description = excluded.description, sort_order = excluded.sort_order
            """,
            {"rows": json_list(diff.written_setups)},
        )
    await confirmations.replace(db, diff.deleted_confirmations, diff.written_confirmations)
    return any(diff)
