"""SQL of snapshots: pages of the stored history of a goal, which is refreshed first if it is stale."""

from typing import Any

from journal_api.database.database import Database
from journal_api.database.sql import build_json_array, build_object, json_boolean
from journal_api.errors import Busy, NotFound
from journal_api.repositories.goals import IS_STALE
from journal_api.statistics import snapshot_refreshes
from journal_api.structs.snapshots import Snapshot, SnapshotQuery
from journal_api.values.clock import now
from journal_api.values.money import json_number

# The members of a snapshot whose JSON differs from the column.
EXPRESSIONS = {
    "target": json_number("target"),
    "actual": json_number("actual"),
    "achieved": "json(CASE achieved WHEN 1 THEN 'true' WHEN 0 THEN 'false' ELSE 'null' END)",
    "closed": json_boolean("closed"),
    "snapshot_data": "json(snapshot_data)",
}
SNAPSHOT = build_object(Snapshot, **EXPRESSIONS)

MATCHING = """goal_id = :goal_id
    AND (:since IS NULL OR period_start >= :since)
    AND (:until IS NULL OR period_start <= :until)"""
PAGE = build_json_array(
    "snapshot",
    f"""
    SELECT {SNAPSHOT} AS snapshot
    FROM snapshots
    WHERE {MATCHING}
    ORDER BY period_start DESC
    LIMIT :limit OFFSET :offset
    """,
)
TOTAL = f"SELECT count(*) FROM snapshots WHERE {MATCHING}"
# The snapshots of a paused or archived goal are not refreshed, so they are always current.
IS_CURRENT = f"""
    SELECT (:is_refreshed AND change_cursor IS NOT NULL) OR status <> 'active' OR NOT {IS_STALE} AS is_current
    FROM goals
    WHERE id = :goal_id AND user_id = :user_id"""
CURRENT_PAGE = f"""
    SELECT is_current, iif(is_current, ({PAGE}), NULL), iif(is_current, ({TOTAL}), NULL)
    FROM ({IS_CURRENT})"""


async def read_current_page(
    database: Database, user_id: int, goal_id: int, query: SnapshotQuery
) -> tuple[str, int]:
    """Return one page of the snapshots, newest first, and their total number.

    Stale snapshots are refreshed first. Raises NotFound, Busy.
    """
    values: dict[str, Any] = {
        "user_id": user_id,
        "goal_id": goal_id,
        "now": now(),
        "since": query.since and str(query.since),
        "until": query.until and str(query.until),
        "limit": query.limit,
        "offset": query.offset,
    }
    for tries in range(1 + snapshot_refreshes.MAX_TRIES):
        if tries:
            await snapshot_refreshes.refresh_all(database, user_id, [goal_id])
        values["is_refreshed"] = tries > 0
        # One statement checks and reads.
        rows = list(await database.reader.execute_fetchall(CURRENT_PAGE, values))
        if not rows:
            raise NotFound
        is_current, text, total = rows[0]
        if is_current:
            return text, total
    raise Busy(snapshot_refreshes.CHANGING)
