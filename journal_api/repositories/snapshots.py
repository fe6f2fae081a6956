"""SQL of snapshots: a goal's history, goals with today's snapshot, daily goals. Stale ones are refreshed first."""

from typing import Any

from aiosqlite import Connection
from msgspec.structs import asdict

from journal_api.database.database import Database
from journal_api.database.sql import build_json_array, build_object, fetch_column, stored_columns
from journal_api.errors import Busy, NotFound
from journal_api.repositories import goals
from journal_api.repositories.goals import IS_STALE
from journal_api.repositories.goals import MATCHING as MATCHING_GOALS
from journal_api.statistics import snapshot_refreshes
from journal_api.structs.days import DayGoal
from journal_api.structs.goals import GoalQuery
from journal_api.structs.snapshots import GoalPeriod, Snapshot, SnapshotQuery
from journal_api.values.clock import now

SNAPSHOT = build_object(Snapshot)

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


async def read_current_page(database: Database, user_id: int, goal_id: int, query: SnapshotQuery) -> tuple[str, int]:
    """Return a page of current snapshots, newest first, and their total number. Raises NotFound, Busy."""
    values = {"user_id": user_id, "goal_id": goal_id, "now": now(), **stored_columns(asdict(query))}
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


DAY_GOALS = build_json_array(
    "goal",
    f"""
    SELECT {build_object(DayGoal, kind="goal_kind(metric, direction, target)")} AS goal
    FROM goals
    CROSS JOIN snapshots ON goal_id = goals.id AND period_start = listed.date
    WHERE user_id = :user_id AND timeframe = 'daily'
    ORDER BY goals.id
    """,
)


async def refresh_daily(database: Database, user_id: int) -> None:
    """Bring the facts of trades and the snapshots of active daily goals up to date. Raises Busy."""
    values = {"user_id": user_id, "now": now()}
    stale = await list_stale(database.reader, "user_id = :user_id AND timeframe = 'daily'", values)
    await snapshot_refreshes.refresh_all(database, user_id, stale)


MAX_PERIODS = 366
PERIODS = build_json_array(
    "period",
    f"""
    SELECT {build_object(GoalPeriod)} AS period
    FROM snapshots
    WHERE goal_id = goals.id
      AND (:since IS NULL OR period_start >= :since)
      AND (:until IS NULL OR period_start <= :until)
    ORDER BY period_start DESC
    LIMIT {MAX_PERIODS}
    """,
)
# The newest period that has begun is read alone, so that a long history costs nothing.
PARTS = {
    "snapshot": f"""'current', json((
            SELECT {SNAPSHOT}
            FROM (SELECT *
                  FROM snapshots
                  WHERE goal_id = goals.id AND period_start <= today
                  ORDER BY period_start DESC
                  LIMIT 1)
            WHERE period_end >= today))""",
    "periods": f"'periods', json(({PERIODS}))",
}


def select_goals(part: str) -> str:
    """Return the SELECT of the goals, and of whether one was redefined after its snapshots had been refreshed."""
    listed = build_json_array(
        "goal",
        f"""
        SELECT json_object({goals.TABLE.members}, {PARTS[part]}) AS goal
        FROM (SELECT goals.*, trading_day(:now, timezone, day_rollover) AS today
              FROM goals
              JOIN goal_calendars ON goal_id = goals.id) AS goals
        WHERE {MATCHING_GOALS}
        ORDER BY id
        """,
    )
    return f"""
        SELECT ({listed}), EXISTS (SELECT 1
                                   FROM goals
                                   WHERE {MATCHING_GOALS} AND status = 'active' AND change_cursor IS NULL)"""


async def list_with_goals(database: Database, user_id: int, query: GoalQuery) -> str:
    """Return the goals as JSON, oldest first, each with `current`, null without one, or `periods`. Raises Busy."""
    select = select_goals(query.parts or "snapshot")
    values = {"user_id": user_id, "now": now(), **stored_columns(asdict(query))}
    for _ in range(snapshot_refreshes.MAX_TRIES):
        if stale := await list_stale(database.reader, MATCHING_GOALS, values):
            await snapshot_refreshes.refresh_all(database, user_id, stale)
        goals, has_new_definition = next(iter(await database.reader.execute_fetchall(select, values)))
        if not has_new_definition:
            return str(goals)
    raise Busy(snapshot_refreshes.CHANGING)


async def list_stale(db: Connection, condition: str, values: dict[str, Any]) -> list[int]:
    """Return the ids of the active goals that meet the condition and whose snapshots must be refreshed."""
    return await fetch_column(
        db, f"SELECT id FROM goals WHERE {condition} AND status = 'active' AND {IS_STALE}", values
    )
