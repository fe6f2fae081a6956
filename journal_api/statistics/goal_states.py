"""SQL of the state of a goal, from which its snapshots are refreshed, and of the days that changed."""

from datetime import date

from aiosqlite import Connection
from msgspec import json

from journal_api.database.calendars import select_current_days
from journal_api.database.sql import build_json_array, build_object, fetch, json_list
from journal_api.statistics.changed_days import select_changed_days
from journal_api.statistics.goal_history import GoalState
from journal_api.values.clock import now

# The targets of a goal as an array of [since, target_value], oldest first.
TARGETS = build_json_array(
    "target",
    """
    SELECT json_array(since, target_value) AS target
    FROM goal_targets
    WHERE goal_id = :id
    ORDER BY since
    """,
)
CALENDAR = "goal_calendars.timezone, goal_calendars.day_rollover"
STATE = build_object(
    GoalState,
    goal_id="goals.id",
    timezone="goal_calendars.timezone",
    day_rollover="goal_calendars.day_rollover",
    custom_window="json_array(custom_start, custom_end)",
    is_stopped="status <> 'active'",
    created_on=f"trading_day(goals.created_at, {CALENDAR})",
    today=f"coalesce(stopped_on, trading_day(:now, {CALENDAR}))",
    current_days=f"({select_current_days('goals.user_id')})",
    account_ids="SELECT json_group_array(id) FROM account",
    starting_balances="SELECT json_group_array(starting_balance) FROM account",
    currencies="SELECT json_group_array(DISTINCT currency) FROM account",
    targets=TARGETS,
    latest_change="(SELECT coalesce(max(sequence), 0) FROM changed_days)",
    first_trade="""(
        SELECT min((SELECT min(trading_day)
                    FROM trades
                    WHERE account_id = account.id AND trading_day IS NOT NULL))
        FROM account)""",
    newest_day="""(
        SELECT max((SELECT max(trading_day)
                    FROM trades
                    WHERE account_id = account.id
                      AND trading_day <= trading_day(:now, account.timezone, account.day_rollover)))
        FROM account)""",
    oldest="(SELECT min(period_start) FROM snapshots WHERE goal_id = :id)",
    newest="(SELECT max(period_start) FROM snapshots WHERE goal_id = :id)",
)


async def find(db: Connection, goal_id: int, *, is_stopped: bool = False) -> GoalState | None:
    """Return the state of an active goal, None for any other goal.

    With `is_stopped` return the state of a paused or archived goal, whose `today` is the day it was stopped.
    """
    text = await fetch(
        db,
        f"""
        WITH
        -- The accounts in the scope of the goal.
        account AS (
            SELECT accounts.id, starting_balance, currency, calendars.timezone, calendars.day_rollover
            FROM goals
            JOIN users ON users.id = goals.user_id
            JOIN accounts ON accounts.user_id = users.id
            JOIN calendars ON calendars.account_id = accounts.id
            LEFT JOIN copy_group_members ON copy_group_members.account_id = accounts.id
            WHERE goals.id = :id
              AND CASE
                  WHEN goals.account_id IS NOT NULL THEN accounts.id = goals.account_id
                  WHEN goals.copy_group_id IS NOT NULL
                      THEN copy_group_members.copy_group_id = goals.copy_group_id
                  WHEN follows_selection AND active_account_id IS NOT NULL
                      THEN accounts.id = active_account_id
                  WHEN follows_selection AND active_copy_group_id IS NOT NULL
                      THEN copy_group_members.copy_group_id = active_copy_group_id
                  ELSE true
              END
        )
        SELECT {STATE}
        FROM goals
        JOIN goal_calendars ON goal_id = goals.id
        JOIN users ON users.id = user_id
        WHERE goals.id = :id AND (status <> 'active') = :is_stopped
        """,
        {"id": goal_id, "now": now(), "is_stopped": is_stopped},
    )
    return None if text is None else json.decode(text, type=GoalState)


async def list_changed_days(db: Connection, state: GoalState) -> list[date]:
    """Return the trading days in scope that changed since the change cursor, oldest first."""
    if state.change_cursor is None:
        return []
    changed_days = select_changed_days(":cursor", "SELECT value FROM json_each(:accounts)")
    rows = await db.execute_fetchall(
        f"SELECT DISTINCT trading_day FROM ({changed_days}) ORDER BY trading_day",
        {"cursor": state.change_cursor, "accounts": json_list(state.account_ids)},
    )
    return [date.fromisoformat(row[0]) for row in rows]
