"""Setups of a strategy, with their confirmations, written as one canonical list."""

from collections.abc import Mapping, Sequence

from aiosqlite import Connection
from msgspec import json

from journal_api.repositories.confirmations import CONFIRMATIONS
from journal_api.repositories.sql import fetch_json, json_list
from journal_api.rules.setup_diff import Changes, SentSetup, Stored, diff_setups

# The setups of the strategy in hand, as one JSON array. What comes out of a subquery is text, so `json()`
# makes it JSON again: up to SQLite 3.53 it need not, since 3.54 it must. Each object is made where it is put
# into its array, because a column of the inner SELECT would be one more text to parse.
SETUPS = f"""json((
    SELECT json_group_array(json_object(
        'setup_id', id,
        'name', name,
        'description', description,
        'sort_order', sort_order,
        'confirmations', {CONFIRMATIONS}))
    FROM (SELECT id, name, description, sort_order
          FROM setups
          WHERE strategy_id = strategies.id
          ORDER BY sort_order, id) AS setup))"""


async def list_of_strategy(db: Connection, user_id: int, strategy_id: int) -> str:
    """Raises NotFound."""
    return await fetch_json(
        db,
        f"SELECT {SETUPS} FROM strategies WHERE id = :id AND user_id = :user_id",
        {"id": strategy_id, "user_id": user_id},
    )


async def replace_all(db: Connection, strategy_id: int, sent: Sequence[SentSetup]) -> bool:
    """Make `sent` the list of setups; whether that changed anything.

    At most eleven statements, whatever the number of rows. Raises ValidationFailed with all offending ids.
    """
    diff = diff_setups(strategy_id, await stored_setups(db, strategy_id), sent)
    await write(db, "setups", "strategy_id", diff.setups)
    await write(db, "confirmations", "setup_id", diff.confirmations)
    return any(any(changes) for changes in diff)


async def stored_setups(db: Connection, strategy_id: int) -> Stored:
    """What the diff needs to know: without the names of the members, by id, in no order.

    For 50 x 100 that is two thirds of the time of the setups as they are answered.
    """
    # The last ids are among it, because new ones are given out here: so one statement can write the setups
    # and one their confirmations. No other connection can take them, this one holds the write lock.
    text = await fetch_json(
        db,
        """
        SELECT json_object(
            'setups', json((
                SELECT json_group_object(setups.id, json_array(name, description, sort_order, json((
                    SELECT json_group_object(id, json_array(name, description, sort_order))
                    FROM confirmations
                    WHERE setup_id = setups.id))))
                FROM setups
                WHERE strategy_id = :id)),
            'last_setup_id', (SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'setups'),
            'last_confirmation_id', (
                SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'confirmations'))
        """,
        {"id": strategy_id},
    )
    return json.decode(text, type=Stored)


async def write(db: Connection, table: str, parent: str, changes: Changes) -> None:
    """At most five statements, whatever the number of rows."""
    if changes.deleted:
        await db.execute_fetchall(
            f"DELETE FROM {table} WHERE id IN (SELECT value FROM json_each(:ids))",
            {"ids": json_list(changes.deleted)},
        )
    if changes.inserted:
        await db.execute_fetchall(
            f"""
            INSERT INTO {table} (id, {parent}, name, description, sort_order)
            SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4
            FROM json_each(:rows)
            """,
            {"rows": json_list(changes.inserted)},
        )
    # A column at a time: the values need not be taken out of rows, and a sort_order that stays need not be
    # written into the index again. For 5,000 names that is a third of the time.
    await update(db, table, "name", changes.names)
    await update(db, table, "description", changes.descriptions)
    await update(db, table, "sort_order", changes.sort_orders)


async def update(db: Connection, table: str, column: str, values: Mapping[int, object]) -> None:
    """Give the rows of these ids these values."""
    if values:
        await db.execute_fetchall(
            f"UPDATE {table} SET {column} = value FROM json_each(:values) WHERE {table}.id = key",
            {"values": json.encode(values, enc_hook=str).decode()},
        )
