"""SQL of API keys. Only the hash and the last four characters of a key are stored."""

import sqlite3
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec
from aiosqlite import Connection

from journal_api.database.sql import build_insert, build_object, fetch, fetch_json, fetch_json_array
from journal_api.structs.api_keys import ApiKey
from journal_api.values.api_keys import hash_key, make_key
from journal_api.values.clock import now

# A key changes only by its revocation. The use of a key is not a change.
KEY = build_object(
    ApiKey,
    scopes="""'["' || replace(scopes, ' ', '","') || '"]'""",
    updated_at="coalesce(revoked_at, created_at)",
    is_current="id = :current_id",
)


class KeyRow(NamedTuple):
    """The columns of a key and its owner that authorising a request needs."""

    key_id: int
    user_id: int
    scopes: str
    expires_at: str | None
    revoked_at: str | None
    timezone: str
    day_rollover: str
    last_used_on: str | None


KEY_ROW = """
    SELECT api_keys.id, user_id, scopes, expires_at, revoked_at, timezone, day_rollover, last_used_on
    FROM api_keys
    JOIN users ON users.id = user_id
    WHERE hash = :hash"""


class ListedKey(NamedTuple):
    """The columns of a key that `journal-api keys list` shows."""

    key_id: int
    user: str
    name: str
    last_four: str
    scopes: str
    expires_at: str | None
    revoked_at: str | None
    last_used_on: str | None


def find_by_hash(probe: sqlite3.Connection, key_hash: bytes) -> KeyRow | None:
    rows = probe.execute(KEY_ROW, {"hash": key_hash}).fetchall()
    return next((KeyRow(*row) for row in rows), None)


async def find_validity(db: Connection, key_id: int) -> tuple[str | None, str | None] | None:
    """Return when the key with that id expires and was revoked, None without one."""
    rows = await db.execute_fetchall("SELECT expires_at, revoked_at FROM api_keys WHERE id = :id", {"id": key_id})
    return next(((expires_at, revoked_at) for expires_at, revoked_at in rows), None)


async def insert(db: Connection, user_id: int, name: str, scopes: Sequence[str], expires_at: str | None = None) -> str:
    """Create a key and return it. It cannot be read again later."""
    key = make_key()
    columns = {
        "user_id": user_id,
        "name": name,
        "hash": hash_key(key),
        "last_four": key[-4:],
        "scopes": " ".join(scopes),
        "created_at": now(),
        "expires_at": expires_at,
    }
    await db.execute_fetchall(build_insert("api_keys", columns), columns)
    return key


async def list_all(db: Connection) -> list[ListedKey]:
    """Return every key, oldest first."""
    rows = await db.execute_fetchall(
        """
        SELECT api_keys.id, users.name, api_keys.name, last_four, scopes, expires_at, revoked_at, last_used_on
        FROM api_keys
        JOIN users ON users.id = user_id
        ORDER BY api_keys.id
        """
    )
    return [ListedKey(*row) for row in rows]


async def list_of_user(db: Connection, user_id: int, current_id: int) -> str:
    """Return the user's keys as a JSON array, oldest first, revoked ones included."""
    return await fetch_json_array(
        db,
        f"SELECT {KEY} AS item FROM api_keys WHERE user_id = :user_id ORDER BY id",
        {"user_id": user_id, "current_id": current_id},
    )


async def get(db: Connection, user_id: int, key_id: int, current_id: int) -> str:
    """Return the key as JSON. Raises NotFound, also for a revoked key."""
    return await fetch_json(
        db,
        f"SELECT {KEY} FROM api_keys WHERE id = :id AND user_id = :user_id AND revoked_at IS NULL",
        {"id": key_id, "user_id": user_id, "current_id": current_id},
    )


async def save_last_use(db: Connection, days: Mapping[int, str]) -> None:
    """Store the days of the last use of keys, by id. An earlier day than the stored one has no effect."""
    await db.execute_fetchall(
        """
        UPDATE api_keys
        SET last_used_on = max(coalesce(last_used_on, ''), used.value)
        FROM json_each(:days) AS used
        WHERE api_keys.id = used.key
        """,
        {"days": msgspec.json.encode(days).decode()},
    )


async def is_empty(db: Connection) -> bool:
    """Return whether there are no keys at all."""
    return await fetch(db, "SELECT 1 FROM api_keys LIMIT 1", {}) is None


async def revoke(db: Connection, key_id: int) -> bool:
    """Revoke the key and return whether it exists. A revoked key keeps the time of its first revocation."""
    rows = await db.execute_fetchall(
        "UPDATE api_keys SET revoked_at = coalesce(revoked_at, :now) WHERE id = :id RETURNING id",
        {"id": key_id, "now": now()},
    )
    return bool(list(rows))
