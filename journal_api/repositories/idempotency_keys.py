"""SQL of stored responses to POST requests with an Idempotency-Key, which are kept for a day."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from aiosqlite import Connection
from msgspec import json

from journal_api.database.sql import build_insert, fetch
from journal_api.values.clock import as_text, now

KEPT_FOR = timedelta(hours=24)


class StoredResponse(NamedTuple):
    """The response to an earlier request, and the fingerprint of that request."""

    fingerprint: bytes
    status: int
    headers: dict[str, str]
    content: bytes
    warnings: bytes


class KeyedRequest(NamedTuple):
    """The user and key of a request, and a fingerprint of its content."""

    user_id: int
    key: str
    fingerprint: bytes


async def find(db: Connection, request: KeyedRequest) -> StoredResponse | None:
    """Return the response that was stored for the key within the last day, None without one."""
    rows: Iterable[Any] = await db.execute_fetchall(
        """
        SELECT fingerprint, status, headers, content, warnings
        FROM idempotency_keys
        WHERE user_id = :user_id AND key = :key AND created_at > :a_day_ago
        """,
        {"user_id": request.user_id, "key": request.key, "a_day_ago": a_day_ago()},
    )
    for fingerprint, status, headers, *parts in rows:
        return StoredResponse(fingerprint, status, json.decode(headers, type=dict[str, str]), *parts)
    return None


async def insert(db: Connection, user_id: int, key: str, response: StoredResponse) -> None:
    """Store a response, and delete those that are over a day old."""
    await delete_old(db)
    columns = {
        "user_id": user_id,
        "key": key,
        **response._asdict(),
        "headers": json.encode(response.headers).decode(),
        "created_at": now(),
    }
    await db.execute_fetchall(build_insert("idempotency_keys", columns), columns)


async def has_old(db: Connection) -> bool:
    """Return whether a response is over a day old. A reader can run this, so no write lock is needed."""
    sql = "SELECT 1 FROM idempotency_keys WHERE created_at <= :a_day_ago LIMIT 1"
    return await fetch(db, sql, {"a_day_ago": a_day_ago()}) is not None


async def delete_old(db: Connection) -> None:
    await db.execute_fetchall("DELETE FROM idempotency_keys WHERE created_at <= :a_day_ago", {"a_day_ago": a_day_ago()})


def a_day_ago() -> str:
    return as_text(datetime.now(UTC) - KEPT_FOR)
