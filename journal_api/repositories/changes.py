"""SQL of the changes of objects, which the triggers of schema.sql record (DECISIONS 7)."""

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from aiosqlite import Connection
from msgspec import json

from journal_api.database.sql import build_json_array, build_object, fetch, json_list
from journal_api.errors import CursorExpired
from journal_api.structs.changes import Change, ChangeQuery
from journal_api.values.clock import as_text

# The scope that reads the objects of each resource.
SCOPES = {
    **dict.fromkeys(("accounts", "cash", "checkpoints"), "read:accounts"),
    **dict.fromkeys(("tag_categories", "tags"), "read:tags"),
    **dict.fromkeys(("trades", "imports", "import_profiles", "instruments"), "read:trades"),
    **dict.fromkeys(("me", "keys"), "read:settings"),
    **{name: f"read:{name}" for name in ("copy_groups", "strategies", "goals", "days")},
}
# The resources from whose objects values of another resource are computed.
SOURCES = {
    "goals": ("trades", "cash", "accounts", "copy_groups", "tags", "strategies", "me"),
    "checkpoints": ("trades", "cash", "accounts", "checkpoints"),
    "imports": ("trades",),
    "days": ("trades", "accounts", "copy_groups", "me"),
    "tag_categories": ("tags",),
}
LAST_CHANGE = "(SELECT coalesce(max(seq), 0) FROM changed_objects WHERE user_id = users.id)"
# The newest change before the first that is young enough.
LAST_OLD = f"""(
    SELECT max(seq)
    FROM changed_objects
    WHERE user_id = users.id
      AND seq < coalesce((
          SELECT seq
          FROM changed_objects
          WHERE user_id = users.id AND at >= :since
          ORDER BY seq
          LIMIT 1), {LAST_CHANGE}))"""
CHANGE = build_object(
    Change,
    account_id="""CASE resource
        WHEN 'cash' THEN (SELECT account_id FROM cash_movements WHERE id = listed.id)
        WHEN 'checkpoints' THEN (SELECT account_id FROM checkpoints WHERE id = listed.id) END""",
)
LISTED = build_json_array("change", f"SELECT {CHANGE} AS change FROM listed ORDER BY seq, id IS NULL, resource")


async def list_since(db: Connection, user_id: int, cursor: int) -> list[Any]:
    """Return the resources of the objects that changed since, whether they are deleted, and of trades the id,
    account, root and external id.
    """
    return list(
        await db.execute_fetchall(
            """
            SELECT resource, deleted OR changed_objects.id IS NULL, trades.id, account_id, root, external_id
            FROM changed_objects
            LEFT JOIN trades ON resource = 'trades' AND trades.id = changed_objects.id
            WHERE changed_objects.user_id = :user_id AND seq > :cursor
            """,
            {"user_id": user_id, "cursor": cursor},
        )
    )


class Page(NamedTuple):
    """Changes as a JSON array, the cursor after them, and whether there are more."""

    changes: str
    cursor: int
    more: bool


async def read_page(db: Connection, user_id: int, scopes: Collection[str], query: ChangeQuery) -> Page:
    """Return the objects that changed since the cursor, by their last change. Raises CursorExpired."""
    readable = [name for name, scope in SCOPES.items() if scope in scopes]
    computed = {name: SOURCES[name] for name in readable if name in SOURCES}
    watched = {*readable, *(source for sources in computed.values() for source in sources)}
    rows = await db.execute_fetchall(
        f"""
        WITH
        -- One more than a page, which tells whether there are more.
        found AS MATERIALIZED (
            SELECT seq, resource, id, deleted, at
            FROM changed_objects
            WHERE user_id = :user_id
              AND seq > :since
              AND resource IN (SELECT value FROM json_each(:watched))
            ORDER BY seq
            LIMIT :limit + 1),
        page AS MATERIALIZED (SELECT * FROM found ORDER BY seq LIMIT :limit),
        listed AS (
            SELECT *
            FROM page
            WHERE resource IN (SELECT value FROM json_each(:readable))
            UNION ALL
            SELECT max(seq), computed.key, NULL, 0, max(at)
            FROM json_each(:computed) AS computed
            JOIN json_each(computed.value) AS source
            JOIN page ON page.resource = source.value
            GROUP BY computed.key)
        SELECT ({LISTED}),
            iif((SELECT count(*) FROM found) > :limit, (SELECT max(seq) FROM page), {LAST_CHANGE}),
            (SELECT count(*) FROM found) > :limit,
            :since BETWEEN expired_cursor AND {LAST_CHANGE}
        FROM users
        WHERE id = :user_id
        """,
        {
            "user_id": user_id,
            "since": query.since,
            "limit": query.limit,
            "readable": json_list(readable),
            "computed": json.encode(computed).decode(),
            "watched": json_list(sorted(watched)),
        },
    )
    ((changes, cursor, more, is_known),) = rows
    if query.since is not None and not is_known:
        raise CursorExpired
    return Page(changes, cursor, bool(more))


async def read_cursor(db: Connection, user_id: int) -> int:
    """Return the newest change of the user's objects, in the caller's transaction."""
    cursor: int = await fetch(db, f"SELECT {LAST_CHANGE} FROM users WHERE id = :id", {"id": user_id})
    return cursor


async def has_old(db: Connection, kept_for: timedelta) -> bool:
    """Return whether there are changes to delete. A reader can run this, so no write lock is needed."""
    return bool(await fetch(db, f"SELECT count({LAST_OLD}) FROM users", age(kept_for)))


async def delete_old(db: Connection, kept_for: timedelta) -> None:
    """Delete older changes, but no user's newest, and let the cursors before them expire."""
    await db.execute_fetchall(
        f"UPDATE users SET expired_cursor = max(coalesce({LAST_OLD}, 0), expired_cursor)", age(kept_for)
    )
    await db.execute_fetchall(
        """
        DELETE FROM changed_objects
        WHERE seq <= (SELECT expired_cursor FROM users WHERE users.id = user_id)
        """
    )


def age(kept_for: timedelta) -> dict[str, str]:
    return {"since": as_text(datetime.now(UTC) - kept_for)}
