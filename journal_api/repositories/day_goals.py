"""SQL of the daily goals of a day: their snapshots, as they are stored."""

from journal_api.database.database import Database
from journal_api.database.sql import build_json_array, build_object
from journal_api.repositories.goals import IS_STALE
from journal_api.repositories.snapshots import EXPRESSIONS
from journal_api.statistics import snapshot_refreshes
from journal_api.structs.days import DayGoal
from journal_api.values.clock import now

GOALS = build_json_array(
    "goal",
    f"""
    SELECT {build_object(DayGoal, **EXPRESSIONS, kind="goal_kind(metric, direction, target)")} AS goal
    FROM goals
    CROSS JOIN snapshots ON goal_id = goals.id AND period_start = listed.date
    WHERE user_id = :user_id AND timeframe = 'daily'
    ORDER BY goals.id
    """,
)


async def refresh(database: Database, user_id: int) -> None:
    """Bring the facts of trades and the snapshots of active daily goals up to date. Raises Busy."""
    rows = await database.reader.execute_fetchall(
        f"""
        SELECT id
        FROM goals
        WHERE user_id = :user_id AND status = 'active' AND timeframe = 'daily' AND {IS_STALE}
        """,
        {"user_id": user_id, "now": now()},
    )
    await snapshot_refreshes.refresh_all(database, user_id, [goal_id for (goal_id,) in rows])
