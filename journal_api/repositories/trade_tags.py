"""SQL of the tags of a trade, written as one set."""

from collections.abc import Sequence

from aiosqlite import Connection

from journal_api.repositories.sql import json_list
from journal_api.structs.trades import Trade
from journal_api.values.clock import now_after


async def insert_many(db: Connection, rows: Sequence[tuple[int, int]]) -> None:
    """Add tags to trades that have none: pairs of the ids of a trade and a tag."""
    if not rows:
        return
    await db.executemany("INSERT INTO trade_tags (trade_id, tag_id) VALUES (?, ?)", rows)


async def replace_all(db: Connection, stored: Trade, tag_ids: Sequence[int]) -> None:
    """Replace the tags of the trade. The caller has checked that they are the user's."""
    if sorted(set(tag_ids)) == stored.tag_ids:
        return
    values = {"id": stored.id, "tag_ids": json_list(tag_ids), "now": now_after(stored.updated_at)}
    await db.execute_fetchall(
        """
        DELETE FROM trade_tags
        WHERE trade_id = :id AND tag_id NOT IN (SELECT value FROM json_each(:tag_ids))
        """,
        values,
    )
    await db.execute_fetchall(
        """
        INSERT INTO trade_tags (trade_id, tag_id)
        SELECT DISTINCT :id, value
        FROM json_each(:tag_ids)
        WHERE value NOT IN (SELECT tag_id FROM trade_tags WHERE trade_id = :id)
        """,
        values,
    )
    await db.execute_fetchall("UPDATE trades SET updated_at = :now WHERE id = :id", values)
