"""Answers to POSTs that were sent with an Idempotency-Key, kept for a day."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from aiosqlite import Connection
from msgspec import json

from journal_api.repositories.sql import fetch
from journal_api.values.clock import as_text, now

KEPT_FOR = timedelta(hours=24)


class Kept(NamedTuple):
    fingerprint: bytes
    status: int
    headers: dict[str, str]
    content: bytes


class Sent(NamedTuple):
    """Whose key was sent, and what makes the request the same."""

    user_id: int
    key: str
    fingerprint: bytes


async def find(db: Connection, sent: Sent) -> Kept | None:
    """What was answered under that key within the last day."""
    rows: Iterable[Any] = await db.execute_fetchall(
        """
        SELECT fingerprint, status, headers, content
        FROM idempotency_keys
        WHERE user_id = :user_id AND key = :key AND created_at > :a_day_ago
        """,
        {"user_id": sent.user_id, "key": sent.key, "a_day_ago": a_day_ago()},
    )
    for fingerprint, status, headers, content in rows:
        return Kept(fingerprint, status, json.decode(headers, type=dict[str, str]), content)
    return None


async def insert(db: Connection, sent: Sent, status: int, headers: Mapping[str, str], content: bytes) -> None:
    """Keep the answer, and forget those that are over a day old."""
    await delete_old(db)
    await db.execute_fetchall(
        """
        INSERT INTO idempotency_keys (user_id, key, fingerprint, status, headers, content, created_at)
        VALUES (:user_id, :key, :fingerprint, :status, :headers, :content, :now)
        """,
        {
            **sent._asdict(),
            "status": status,
            "headers": json.encode(dict(headers)).decode(),
            "content": content,
            "now": now(),
        },
    )


async def has_old(db: Connection) -> bool:
    """Whether an answer is over a day old; told without a turn to write."""
    old = "SELECT 1 FROM idempotency_keys WHERE created_at <= :a_day_ago LIMIT 1"
    return await fetch(db, old, {"a_day_ago": a_day_ago()}) is not None


async def delete_old(db: Connection) -> None:
    await db.execute_fetchall(
        "DELETE FROM idempotency_keys WHERE created_at <= :a_day_ago", {"a_day_ago": a_day_ago()}
    )


def a_day_ago() -> str:
    return as_text(datetime.now(UTC) - KEPT_FOR)
