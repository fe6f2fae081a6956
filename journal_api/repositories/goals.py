"""SQL of goals and the history of their targets."""

from typing import Any

from aiosqlite import Connection
from msgspec.structs import asdict

from journal_api.database import sql
from journal_api.database.calendars import select_current_days
from journal_api.errors import LimitReached
from journal_api.metrics.metrics import METRICS
from journal_api.structs.goals import Goal, GoalCreate, GoalPatch, GoalQuery, find_changes
from journal_api.values.clock import now
from journal_api.values.money import units

SCOPE = "coalesce('account_' || account_id, 'group_' || copy_group_id, iif(follows_selection, '', 'all'))"
TABLE = sql.Table(
    "goals", Goal, scope=SCOPE, kind="goal_kind(metric, direction, target_value)", formula="goal_formula(metric)"
)
get, find, delete = TABLE.get, TABLE.find, TABLE.delete

MATCHING = """user_id = :user_id
    AND (:status = 'all' OR status = :status)
    AND (:account_id IS NULL OR account_id = :account_id)"""
# Whether the snapshots of an active goal must be refreshed.
IS_STALE = f"""(change_cursor IS NULL
    OR evaluated_on IS NOT ({select_current_days(":user_id")})
    OR EXISTS (SELECT 1 FROM changed_days WHERE sequence > change_cursor))"""
# A change of one of these columns makes it a different goal: its target history starts again.
DEFINITION = frozenset(
    {"metric", "direction", "timeframe", "custom_start", "custom_end", "account_id", "copy_group_id"}
    | {"follows_selection"}
)
# Of a user: each read of all goals computes those whose trades have changed.
MAX_GOALS = 500
# The `since` of the first target of a goal, which also applies to periods before its creation.
BEGINNING = "0001-01-01"


async def list_of_user(db: Connection, user_id: int, query: GoalQuery) -> str:
    return await sql.fetch_json_array(
        db,
        f"SELECT {TABLE.object} AS item FROM goals WHERE {MATCHING} ORDER BY id",
        {"user_id": user_id, "status": query.status, "account_id": query.account_id},
    )


async def insert(db: Connection, user_id: int, goal: GoalCreate) -> int:
    """Return the new id. Raises LimitReached beyond MAX_GOALS."""
    number = await sql.fetch(db, "SELECT count(*) FROM goals WHERE user_id = :user_id", {"user_id": user_id})
    if number >= MAX_GOALS:
        raise LimitReached(
            f"You have {MAX_GOALS} goals, archived ones included; delete one.", limit=MAX_GOALS, current=number
        )
    columns = {
        **asdict(goal),
        "user_id": user_id,
        "carries_balance": METRICS[goal.metric].carries_balance,
        "custom_start": goal.custom_start or None,
        "custom_end": goal.custom_end or None,
    }
    goal_id = await sql.insert_row(db, "goals", columns)
    await set_target(db, goal_id, goal.target_value.units, BEGINNING)
    return goal_id


async def update(db: Connection, stored: Goal, patch: GoalPatch) -> bool:
    """Write the members that differ; return whether it is a different goal now. Raises ValidationFailed."""
    columns = build_columns(find_changes(stored, patch))
    if not columns:
        return False
    is_redefined = not DEFINITION.isdisjoint(columns)
    has_new_target = is_redefined or "target_value" in columns
    if is_redefined:
        await db.execute_fetchall("DELETE FROM goal_targets WHERE goal_id = :id", {"id": stored.id})
    if has_new_target:
        columns["evaluated_on"] = None
    if "status" in columns and "active" in (stored.status, columns["status"]):
        columns["stopped_on"] = None
        columns["evaluated_on"] = None  # an active goal has a pace, a stopped goal has none
    await sql.update_row(db, "goals", stored, columns)
    today, created_on = await read_days(db, stored.id)
    if "stopped_on" in columns and columns["status"] != "active":
        await db.execute_fetchall(
            "UPDATE goals SET stopped_on = :today WHERE id = :id", {"id": stored.id, "today": today}
        )
    if has_new_target:
        target = units(columns.get("target_value", stored.target_value))
        is_first = is_redefined or created_on == today  # a new target is then the first of the goal
        await set_target(db, stored.id, target, BEGINNING if is_first else today)
        if is_first:
            await db.execute_fetchall("UPDATE goals SET change_cursor = NULL WHERE id = :id", {"id": stored.id})
    return is_redefined


async def read_days(db: Connection, goal_id: int) -> tuple[str, str]:
    """Return the current trading day, and the one on which the goal was created, in its calendar."""
    ((today, created_on),) = await db.execute_fetchall(
        """
        SELECT trading_day(:now, timezone, day_rollover),
            trading_day(goals.created_at, timezone, day_rollover)
        FROM goals
        JOIN goal_calendars ON goal_id = goals.id
        WHERE goals.id = :id
        """,
        {"id": goal_id, "now": now()},
    )
    return today, created_on


async def set_target(db: Connection, goal_id: int, target: int, since: str) -> None:
    """Set the target from that day on. The last target of a day replaces the others of that day."""
    columns = {"goal_id": goal_id, "since": since, "target_value": target}
    await db.execute_fetchall(sql.build_upsert("goal_targets", columns, ["target_value"]), columns)


def build_columns(changed: dict[str, Any]) -> dict[str, Any]:
    columns = dict(changed)
    if "metric" in columns:
        columns["carries_balance"] = METRICS[columns["metric"]].carries_balance
    if "scope" in columns:
        scope = columns.pop("scope")
        columns["account_id"] = scope.account_id
        columns["copy_group_id"] = scope.copy_group_id
        columns["follows_selection"] = scope == ""
    return columns
