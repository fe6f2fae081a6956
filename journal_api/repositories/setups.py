"""SQL of the setups and confirmations of a strategy, one list. Foreign keys delete answers."""

from collections.abc import Sequence
from typing import NamedTuple

from aiosqlite import Connection
from msgspec import json

from journal_api.database.sql import build_json_array, build_object, fetch_json, find_row, json_list
from journal_api.rules.setup_diff import Changes, Diff, SetupBody, StoredSetups, diff_setups
from journal_api.structs.strategies import Confirmation, Setup

# The confirmations of a row of `setups`, and the setups of a row of `strategies`, as JSON arrays.
CONFIRMATIONS = build_json_array(
    "confirmation",
    f"""
    SELECT {build_object(Confirmation, confirmation_id="id")} AS confirmation
    FROM confirmations
    WHERE setup_id = setups.id
    ORDER BY sort_order, id
    """,
)
SETUPS = build_json_array(
    "setup",
    f"""
    SELECT {build_object(Setup, setup_id="id", confirmations=CONFIRMATIONS)} AS setup
    FROM setups
    WHERE strategy_id = strategies.id
    ORDER BY sort_order, id
    """,
)


async def list_of_strategy(db: Connection, user_id: int, strategy_id: int) -> str:
    return await find_row(db, "strategies", f"({SETUPS})", user_id, strategy_id)


class CascadeCounts(NamedTuple):
    """What deleted setups and confirmations take along."""

    trades_unlinked: int = 0  # trades that lose their strategy or their setup
    answers_deleted: int = 0


async def replace_all(db: Connection, strategy_id: int, setups: Sequence[SetupBody]) -> tuple[bool, CascadeCounts]:
    """Replace the setups, in at most six statements. Return whether anything changed. Raises ValidationFailed."""
    diff = diff_setups(strategy_id, await read_stored_setups(db, strategy_id), setups)
    counts = await count_cascade(db, diff)
    await write_changes(db, "setups", "strategy_id", diff.setups)
    await write_changes(db, "confirmations", "setup_id", diff.confirmations)
    return any(any(changes) for changes in diff), counts


async def count_cascade(db: Connection, diff: Diff) -> CascadeCounts:
    """Return what the rows to delete take along."""
    if not diff.setups.deleted and not diff.confirmations.deleted:
        return CascadeCounts()
    rows = await db.execute_fetchall(
        """
        SELECT (SELECT count(*) FROM trades WHERE setup_id IN (SELECT value FROM json_each(:setups))),
            (SELECT count(*)
             FROM confirmation_answers
             WHERE confirmation_id IN (
                 SELECT value FROM json_each(:confirmations)
                 UNION ALL
                 SELECT id FROM confirmations WHERE setup_id IN (SELECT value FROM json_each(:setups))))
        """,
        {"setups": json_list(diff.setups.deleted), "confirmations": json_list(diff.confirmations.deleted)},
    )
    return CascadeCounts(*next(iter(rows)))


async def read_stored_setups(db: Connection, strategy_id: int) -> StoredSetups:
    """Return the stored setups by id, and the last ids, from which new ones go on: the write lock keeps others out."""
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
    return json.decode(text, type=StoredSetups)


async def write_changes(db: Connection, table: str, parent: str, changes: Changes) -> None:
    """Write the changes of one table, with at most two statements."""
    if changes.deleted:
        await db.execute_fetchall(
            f"DELETE FROM {table} WHERE id IN (SELECT value FROM json_each(:ids))", {"ids": json_list(changes.deleted)}
        )
    if changes.written:
        await db.execute_fetchall(
            f"""
            INSERT INTO {table} (id, {parent}, name, description, sort_order)
            SELECT value ->> '$.id', value ->> '$.parent_id', value ->> '$.name',
                value ->> '$.description', value ->> '$.sort_order'
            FROM json_each(:rows)
            WHERE true
            ON CONFLICT (id) DO UPDATE
            SET name = excluded.name, description = excluded.description, sort_order = excluded.sort_order
            """,
            {"rows": json_list(changes.written)},
        )
