"""SQL of the rows of the example journal: which there are, and their removal."""

from collections.abc import Sequence

from aiosqlite import Connection

from journal_api.errors import AccountHasTrades, Conflict, NotFound
from journal_api.repositories.sql import fetch, fetch_json, json_list

# The rows of one table, for `IN`.
ROWS = "(SELECT row_id FROM example_rows WHERE user_id = :user_id AND resource = '{table}')"
# In this order nothing refers to a row that is deleted. What the owner has used since is kept.
KEPT = {
    "trades": "false",
    "goals": "false",
    "strategies": "EXISTS (SELECT 1 FROM trades WHERE strategy_id = strategies.id)",
    "tags": "EXISTS (SELECT 1 FROM trade_tags WHERE tag_id = tags.id)",
    "tag_categories": "EXISTS (SELECT 1 FROM tags WHERE category_id = tag_categories.id)",
    "accounts": "false",
}


async def get(db: Connection, user_id: int) -> str:
    """Return whether the example journal is loaded, as JSON."""
    return await fetch_json(
        db,
        f"""
        SELECT json_object(
            'is_loaded', json(iif(count(*) > 0, 'true', 'false')),
            'account_id', max(row_id) FILTER (WHERE resource = 'accounts'),
            'trade_count', (SELECT count(*) FROM trades WHERE id IN {ROWS.format(table="trades")}))
        FROM example_rows
        WHERE user_id = :user_id
        """,
        {"user_id": user_id},
    )


async def is_loaded(db: Connection, user_id: int) -> bool:
    return bool(
        await fetch(db, "SELECT 1 FROM example_rows WHERE user_id = :user_id LIMIT 1", {"user_id": user_id})
    )


async def insert(db: Connection, user_id: int, resource: str, ids: Sequence[int]) -> None:
    """Record rows of a table as part of the example journal."""
    await db.execute_fetchall(
        """
        INSERT INTO example_rows (user_id, resource, row_id)
        SELECT :user_id, :resource, value FROM json_each(:ids)
        """,
        {"user_id": user_id, "resource": resource, "ids": json_list(ids)},
    )


async def delete(db: Connection, user_id: int) -> None:
    """Delete the rows of the example journal, except for strategies and tags of the owner's own trades.

    Raises NotFound if it is not loaded, AccountHasTrades if the owner has entered trades in its account, and
    Conflict if the owner has made goals for it.
    """
    values = {"user_id": user_id}
    if not await is_loaded(db, user_id):
        raise NotFound("The example journal is not loaded.")
    trade_count = await fetch(
        db,
        f"""
        SELECT count(*)
        FROM trades
        WHERE account_id IN {ROWS.format(table="accounts")}
          AND id NOT IN {ROWS.format(table="trades")}
        """,
        values,
    )
    if trade_count:
        message = "The account of the example journal has trades of your own; delete or move them first."
        raise AccountHasTrades(message, trade_count=trade_count)
    goal_count = await fetch(
        db,
        f"""
        SELECT count(*)
        FROM goals
        WHERE account_id IN {ROWS.format(table="accounts")}
          AND id NOT IN {ROWS.format(table="goals")}
        """,
        values,
    )
    if goal_count:
        raise Conflict("The account of the example journal has goals of your own; delete or move them first.")
    for table, is_kept in KEPT.items():
        rows = ROWS.format(table=table)
        await db.execute_fetchall(f"DELETE FROM {table} WHERE id IN {rows} AND NOT {is_kept}", values)
    await db.execute_fetchall("DELETE FROM example_rows WHERE user_id = :user_id", values)
