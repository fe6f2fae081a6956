"""SQL of goals with the snapshot of today's period."""

from typing import Any

from aiosqlite import Connection

from journal_api.database.database import Database
from journal_api.database.sql import build_json_array
from journal_api.errors import Busy
from journal_api.repositories.goals import FIELDS, IS_STALE, MATCHING
from journal_api.repositories.snapshots import SNAPSHOT
from journal_api.statistics import snapshot_refreshes
from journal_api.structs.goals import GoalQuery
from journal_api.values.clock import now

# The newest period that has begun is read alone, so that a long history costs nothing.
GOALS = build_json_array(
    "goal",
    f"""
    SELECT json_object({FIELDS},
        'current', json((
            SELECT {SNAPSHOT}
            FROM (SELECT *
                  FROM snapshots
                  WHERE goal_id = goals.id AND period_start <= today
                  ORDER BY period_start DESC
                  LIMIT 1)
            WHERE period_end >= today))) AS goal
    FROM (SELECT goals.*, trading_day(:now, timezone, day_rollover) AS today
          FROM goals
          JOIN goal_calendars ON goal_id = goals.id) AS goals
    WHERE {MATCHING}
    ORDER BY id
    """,
)
# The goals, and whether one of them was redefined after its snapshots had been refreshed.
CURRENT_GOALS = f"""
    SELECT ({GOALS}), EXISTS (SELECT 1
                              FROM goals
                              WHERE {MATCHING} AND status = 'active' AND change_cursor IS NULL)"""


async def list_of_user(database: Database, user_id: int, query: GoalQuery) -> str:
    """Return the goals as a JSON array, oldest first, each with `current`, the snapshot of today's period.

    Stale snapshots are refreshed first. `current` is null for a goal without a snapshot of today.
    Raises Busy.
    """
    values = {"user_id": user_id, "now": now(), "status": query.status, "account_id": query.account_id}
    for _ in range(snapshot_refreshes.MAX_TRIES):
        await snapshot_refreshes.refresh_all(
            database, user_id, await list_stale_goals(database.reader, values)
        )
        goals, has_new_definition = next(iter(await database.reader.execute_fetchall(CURRENT_GOALS, values)))
        if not has_new_definition:
            return str(goals)
    raise Busy(snapshot_refreshes.CHANGING)


async def list_stale_goals(db: Connection, values: dict[str, Any]) -> list[int]:
    """Return the ids of the matching active goals whose snapshots must be refreshed."""
    rows = await db.execute_fetchall(
        f"""
        SELECT id
        FROM goals
        WHERE {MATCHING}
          AND status = 'active'
          AND {IS_STALE}
        """,
        values,
    )
    return [goal_id for (goal_id,) in rows]
