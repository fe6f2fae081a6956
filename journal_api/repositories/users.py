"""The owners of journals, and what they set for themselves."""

from typing import Any

from aiosqlite import Connection
from msgspec import json

from journal_api.repositories.sql import assignments, fetch, fetch_json, unique_name
from journal_api.rules.partial_update import changes
from journal_api.settings import Settings
from journal_api.structs.me import Me, MePatch
from journal_api.values.clock import now

ME = """json_object(
    'id', id,
    'name', name,
    'timezone', timezone,
    'day_rollover', day_rollover,
    'active_selection', coalesce('account_' || active_account_id, 'group_' || active_copy_group_id, 'all'),
    'created_at', created_at,
    'updated_at', updated_at)"""


async def get(db: Connection, user_id: int) -> str:
    """Raises NotFound."""
    return await fetch_json(db, f"SELECT {ME} FROM users WHERE id = :id", {"id": user_id})


async def find(db: Connection, user_id: int) -> Me:
    """Raises NotFound."""
    return json.decode(await get(db, user_id), type=Me)


async def id_of(db: Connection, name: str | None) -> int | None:
    """The user of that name, or without one the first; None when there is no such user."""
    found = await fetch(
        db, "SELECT id FROM users WHERE :name IS NULL OR name = :name ORDER BY id LIMIT 1", {"name": name}
    )
    return None if found is None else int(found)


async def names(db: Connection) -> list[str]:
    return [row[0] for row in await db.execute_fetchall("SELECT name FROM users ORDER BY id")]


async def insert(db: Connection, name: str, settings: Settings) -> int:
    """The new id; raises DuplicateName."""
    with unique_name():
        return int(
            await fetch(
                db,
                """
                INSERT INTO users (name, timezone, day_rollover, created_at, updated_at)
                VALUES (:name, :timezone, :day_rollover, :now, :now)
                RETURNING id
                """,
                {
                    "name": name,
                    "timezone": settings.timezone,
                    "day_rollover": settings.day_rollover,
                    "now": now(),
                },
            )
        )


async def update(db: Connection, stored: Me, patch: MePatch) -> bool:
    """Whether the trading days of the user's trades move; raises DuplicateName."""
    changed: dict[str, Any] = changes(stored, patch)
    if not changed:
        return False
    if selection := changed.pop("active_selection", None):
        changed["active_account_id"] = selection.account_id
        changed["active_copy_group_id"] = selection.copy_group_id
    changed["updated_at"] = now()
    with unique_name():
        await db.execute_fetchall(
            f"UPDATE users SET {assignments(changed)} WHERE id = :id", {**changed, "id": stored.id}
        )
    return "timezone" in changed or "day_rollover" in changed


async def today(db: Connection, user_id: int) -> str:
    """The trading day of this moment, in the user's zone and rollover."""
    day = await fetch(
        db,
        "SELECT trading_day(:now, timezone, day_rollover) FROM users WHERE id = :id",
        {"now": now(), "id": user_id},
    )
    return str(day)
