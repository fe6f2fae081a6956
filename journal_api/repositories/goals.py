"""Goals, and which target was in force when."""

from typing import Any

from aiosqlite import Connection
from msgspec import json

from journal_api.repositories.sql import assignments, fetch, fetch_json
from journal_api.structs.goals import Goal, GoalCreate, GoalPatch, GoalQuery, changes_of
from journal_api.values.clock import now
from journal_api.values.metrics import METRICS
from journal_api.values.money import json_number

GOAL = f"""json_object(
    'id', id,
    'goal_name', goal_name,
    'metric', metric,
    'target_value', {json_number("target_value")},
    'direction', direction,
    'timeframe', timeframe,
    'custom_start', custom_start,
    'custom_end', custom_end,
    'account_id', account_id,
    'copy_group_id', copy_group_id,
    'status', status,
    'scope', coalesce('account_' || account_id, 'group_' || copy_group_id, iif(follows_selection, '', 'all')),
    'created_at', created_at,
    'updated_at', updated_at)"""

# A goal that changes in one of these is a new goal under an old name: its history is built anew.
DEFINITION = frozenset(
    {"metric", "direction", "timeframe", "custom_start", "custom_end", "account_id", "copy_group_id"}
    | {"follows_selection"}
)
# Since when the first target of a goal counts: periods before the goal take it too.
BEGINNING = "0001-01-01"


async def list_of_user(db: Connection, user_id: int, query: GoalQuery) -> str:
    return await fetch_json(
        db,
        f"""
        SELECT '[' || coalesce(group_concat(goal), '') || ']'
        FROM (SELECT {GOAL} AS goal
              FROM goals
              WHERE user_id = :user_id
                AND (:status = 'all' OR status = :status)
                AND (:account_id IS NULL OR account_id = :account_id)
              ORDER BY id)
        """,
        {"user_id": user_id, "status": query.status, "account_id": query.account_id},
    )


async def get(db: Connection, user_id: int, goal_id: int) -> str:
    """Raises NotFound."""
    return await fetch_json(
        db,
        f"SELECT {GOAL} FROM goals WHERE id = :id AND user_id = :user_id",
        {"id": goal_id, "user_id": user_id},
    )


async def find(db: Connection, user_id: int, goal_id: int) -> Goal:
    """Raises NotFound."""
    return json.decode(await get(db, user_id, goal_id), type=Goal)


async def insert(db: Connection, user_id: int, goal: GoalCreate) -> int:
    """The new id."""
    goal_id = int(
        await fetch(
            db,
            """
            INSERT INTO goals (user_id, goal_name, metric, carries_balance, target_value, direction,
                timeframe, custom_start, custom_end, account_id, copy_group_id, created_at, updated_at)
            VALUES (:user_id, :goal_name, :metric, :carries_balance, :target_value, :direction,
                :timeframe, :custom_start, :custom_end, :account_id, :copy_group_id, :now, :now)
            RETURNING id
            """,
            {
                "user_id": user_id,
                "goal_name": goal.goal_name,
                "metric": goal.metric,
                "carries_balance": METRICS[goal.metric].carries_balance,
                "target_value": goal.target_value.units,
                "direction": goal.direction,
                "timeframe": goal.timeframe,
                "custom_start": str(goal.custom_start) if goal.custom_start else None,
                "custom_end": str(goal.custom_end) if goal.custom_end else None,
                "account_id": goal.account_id,
                "copy_group_id": goal.copy_group_id,
                "now": now(),
            },
        )
    )
    await set_target(db, goal_id, goal.target_value.units, BEGINNING)
    return goal_id


async def update(db: Connection, stored: Goal, patch: GoalPatch, today: str) -> None:
    """Raises ValidationFailed for what is wrong with the merged goal."""
    changed = columns_of(changes_of(stored, patch))
    if not changed:
        return
    redefined = not DEFINITION.isdisjoint(changed)
    if redefined:
        await db.execute_fetchall("DELETE FROM goal_targets WHERE goal_id = :id", {"id": stored.id})
    if redefined or "target_value" in changed:
        changed["evaluated_on"] = None
    changed["updated_at"] = now()
    target = await fetch(
        db,
        f"UPDATE goals SET {assignments(changed)} WHERE id = :id RETURNING target_value",
        {**changed, "id": stored.id},
    )
    if "evaluated_on" in changed:
        await set_target(db, stored.id, target, BEGINNING if redefined else today)


async def delete(db: Connection, stored: Goal) -> None:
    await db.execute_fetchall("DELETE FROM goals WHERE id = :id", {"id": stored.id})


async def set_target(db: Connection, goal_id: int, target: int, since: str) -> None:
    """The target from that day on; the last one of a day is the one in force when the day closed."""
    await db.execute_fetchall(
        """
        INSERT INTO goal_targets (goal_id, since, target_value)
        VALUES (:goal_id, :since, :target)
        ON CONFLICT DO UPDATE SET target_value = excluded.target_value
        """,
        {"goal_id": goal_id, "since": since, "target": target},
    )


def columns_of(changed: dict[str, Any]) -> dict[str, Any]:
    """The members of a goal as its columns."""
    columns = dict(changed)
    if "target_value" in columns:
        columns["target_value"] = columns["target_value"].units
    if "metric" in columns:
        columns["carries_balance"] = METRICS[columns["metric"]].carries_balance
    if "scope" in columns:
        scope = columns.pop("scope")
        columns["account_id"] = scope.account_id
        columns["copy_group_id"] = scope.copy_group_id
        columns["follows_selection"] = scope == ""
    return columns
