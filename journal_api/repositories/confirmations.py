"""Confirmations: the checklist of a setup. Answers on a deleted one go by their foreign key."""

from collections.abc import Sequence

from aiosqlite import Connection

from journal_api.database import json_list
from journal_api.diff import Row

CONFIRMATION = """json_object(
    'confirmation_id', confirmations.id,
    'name', confirmations.name,
    'description', confirmations.description,
    'sort_order', confirmations.sort_order)"""


async def replace(db: Connection, deleted: Sequence[int], written: Sequence[Row]) -> None:
    """Two statements, whatever the number of rows."""
    if deleted:
        await db.execute_fetchall(
            "DELETE FROM confirmations WHERE id IN (SELECT value FROM json_each(:ids))",
            {"ids": json_list(deleted)},
        )
    if written:
        await db.execute_fetchall(
            """
            INSERT INTO confirmations (id, setup_id, name, description, sort_order)
            SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4
            FROM json_each(:rows)
            WHERE true
            ON CONFLICT (id) DO UPDATE
            SET name = excluded.name, description = excluded.description, sort_order = excluded.sort_order
            """,
            {"rows": json_list(written)},
        )
