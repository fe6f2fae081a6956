"""SQL of users, the owners of journals, and their settings."""

import sqlite3

from aiosqlite import Connection
from msgspec import json

from journal_api.database import sql
from journal_api.errors import Conflict
from journal_api.structs.me import Me, MePatch
from journal_api.values.clock import now, now_after

ME = sql.build_object(
    Me, active_selection="coalesce('account_' || active_account_id, 'group_' || active_copy_group_id, 'all')"
)


TABLES = ("trades", "accounts", "copy_groups", "strategies", "goals", "tags", "days", "imports", "api_keys")


async def get(db: Connection, user_id: int) -> str:
    return await sql.fetch_json(db, f"SELECT {ME} FROM users WHERE id = :id", {"id": user_id})


async def find(db: Connection, user_id: int) -> Me:
    return json.decode(await get(db, user_id), type=Me)


async def find_id(db: Connection, name: str | None) -> int | None:
    """Return the id of the named user, by default of the first user; None without one."""
    user_id = await sql.fetch(
        db, "SELECT id FROM users WHERE :name IS NULL OR name = :name ORDER BY id LIMIT 1", {"name": name}
    )
    return None if user_id is None else int(user_id)


async def find_first_id(db: Connection) -> int:
    user_id = await find_id(db, None)
    assert user_id is not None, "a database is made with its owner"
    return user_id


def find_first(probe: sqlite3.Connection) -> tuple[int, str, str]:
    """Return the id of the first user with their zone and rollover."""
    ((user_id, *calendar),) = probe.execute("SELECT id, timezone, day_rollover FROM users ORDER BY id LIMIT 1")
    return user_id, *calendar


async def list_names(db: Connection) -> list[str]:
    return await sql.fetch_column(db, "SELECT name FROM users ORDER BY id", {})


async def count_rows(db: Connection, user_id: int) -> dict[str, int]:
    """Return how many rows of each kind belong to the user, by the name of the kind."""
    counts = {}
    for table in TABLES:
        kind = table.removeprefix("api_").replace("_", " ")
        counts[kind] = await sql.fetch(db, f"SELECT count(*) FROM {table} WHERE user_id = :id", {"id": user_id})
    return counts


async def delete(db: Connection, user_id: int) -> None:
    """Delete the user and everything that belongs to them. Raises Conflict for the only user."""
    rows = await db.execute_fetchall(
        """
        DELETE FROM users
        WHERE id = :id
          AND EXISTS (SELECT 1 FROM users WHERE id <> :id)
        RETURNING id
        """,
        {"id": user_id},
    )
    if not list(rows):
        raise Conflict("A journal needs a user, so its only user cannot be removed.")


async def insert(db: Connection, name: str, timezone: str, day_rollover: str) -> int:
    """Return the new id. Raises DuplicateName."""
    columns = {"name": name, "timezone": timezone, "day_rollover": day_rollover}
    columns["created_at"] = columns["updated_at"] = now()
    with sql.unique_name():
        return int(await sql.fetch(db, f"{sql.build_insert('users', columns)} RETURNING id", columns))


async def update(db: Connection, stored: Me, patch: MePatch) -> bool:
    """Write the members that differ; return whether trading days change. Raises DuplicateName."""
    columns = sql.find_changed(stored, patch)
    if not columns:
        return False
    if selection := columns.pop("active_selection", None):
        columns["active_account_id"] = selection.account_id
        columns["active_copy_group_id"] = selection.copy_group_id
    if weekdays := columns.pop("trading_weekdays", None):
        columns["trading_weekdays"] = sql.json_list(weekdays)
    if "breakeven_within" in columns:
        columns["breakeven_within"] = columns["breakeven_within"].units
    columns["updated_at"] = now_after(stored.updated_at)
    with sql.unique_name():
        await db.execute_fetchall(
            f"UPDATE users SET {sql.assignments(columns)} WHERE id = :id", {**columns, "id": stored.id}
        )
    return "timezone" in columns or "day_rollover" in columns
