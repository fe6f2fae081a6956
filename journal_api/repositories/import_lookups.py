"""SQL that resolves the names in a file to ids of the user's objects."""

from typing import Any

from aiosqlite import Connection

from journal_api.repositories import accounts
from journal_api.rules.import_rows import Names


async def names_of(db: Connection, user_id: int) -> Names:
    """Return the ids of all named objects of the user."""

    async def read(sql: str) -> list[Any]:
        return list(await db.execute_fetchall(sql, {"user_id": user_id}))

    return Names(
        await accounts.ids_by_name(db, user_id),
        dict(await read("SELECT name, id FROM strategies WHERE user_id = :user_id")),
        grouped(
            await read(
                """
                SELECT strategy_id, setups.name, setups.id
                FROM setups
                JOIN strategies ON strategies.id = strategy_id
                WHERE user_id = :user_id
                ORDER BY setups.id
                """
            )
        ),
        grouped(
            await read(
                """
                SELECT setup_id, confirmations.name, confirmations.id
                FROM confirmations
                JOIN setups ON setups.id = setup_id
                JOIN strategies ON strategies.id = strategy_id
                WHERE user_id = :user_id
                ORDER BY confirmations.sort_order, confirmations.id
                """
            )
        ),
        dict(await read("SELECT name, id FROM tags WHERE user_id = :user_id")),
    )


def grouped(rows: list[Any]) -> dict[tuple[int, str], list[int]]:
    """Return the ids by parent id and name, in the order of the rows."""
    ids: dict[tuple[int, str], list[int]] = {}
    for parent_id, name, row_id in rows:
        ids.setdefault((parent_id, name), []).append(row_id)
    return ids
