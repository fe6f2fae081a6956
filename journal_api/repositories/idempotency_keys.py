"""Answers to POSTs that were sent with an Idempotency-Key, kept for a day."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from aiosqlite import Connection
from msgspec import json

from journal_api.envelope import Envelope
from journal_api.values import as_text, now

KEPT_FOR = timedelta(hours=24)


class Kept(NamedTuple):
    fingerprint: bytes
    status: int
    headers: dict[str, str]
    content: bytes


async def find(db: Connection, user_id: int, key: str) -> Kept | None:
    """What was answered under that key within the last day."""
    rows: Iterable[Any] = await db.execute_fetchall(
        """
        SELECT fingerprint, status, headers, content
        FROM idempotency_keys
        WHERE user_id = :user_id AND key = :key AND created_at > :since
        """,
        {"user_id": user_id, "key": key, "since": as_text(datetime.now(UTC) - KEPT_FOR)},
    )
    for fingerprint, status, headers, content in rows:
        return Kept(fingerprint, status, json.decode(headers, type=dict[str, str]), content)
    return None


async def insert(db: Connection, user_id: int, key: str, fingerprint: bytes, answer: Envelope) -> None:
    """Keep the answer, and forget those that are over a day old."""
    await db.execute_fetchall(
        "DELETE FROM idempotency_keys WHERE created_at <= :until",
        {"until": as_text(datetime.now(UTC) - KEPT_FOR)},
    )
    await db.execute_fetchall(
        """
        INSERT INTO idempotency_keys (user_id, key, fingerprint, status, headers, content, created_at)
        VALUES (:user_id, :key, :fingerprint, :status, :headers, :content, :now)
        """,
        {
            "user_id": user_id,
            "key": key,
            "fingerprint": fingerprint,
            "status": answer.status,
            "headers": json.encode(dict(answer.headers)).decode(),
            "content": answer.content,
            "now": now(),
        },
    )
