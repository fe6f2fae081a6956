"""Snapshots: the stored history of a goal, kept true by the log of changes (DECISIONS 13).

A goal remembers the newest change that it has seen. Reading its snapshots first computes the periods of the
days that changed since, and those from the newest stored period to today's; the others stay as they are.
"""

from collections.abc import Sequence
from datetime import date
from typing import Any

from aiosqlite import Connection
from msgspec import json

from journal_api.database import fetch, fetch_json, json_list
from journal_api.errors import NotFound
from journal_api.history import GoalState, Snapshot, carried_forward, is_kept, snapshot_of, stale_periods
from journal_api.money import json_number
from journal_api.periods import Period, period_of
from journal_api.repositories import balances, facts
from journal_api.structs.snapshots import SnapshotQuery
from journal_api.values import now

SNAPSHOT = f"""json_object(
    'goal_id', goal_id,
    'period_start', period_start,
    'period_end', period_end,
    'target', {json_number("target")},
    'actual', {json_number("actual")},
    'achieved', json(CASE achieved WHEN 1 THEN 'true' WHEN 0 THEN 'false' ELSE 'null' END),
    'closed', json(iif(closed, 'true', 'false')),
    'snapshot_data', json(snapshot_data),
    'computed_at', computed_at)"""

MATCHING = """goal_id = :goal_id
    AND (:since IS NULL OR period_start >= :since)
    AND (:until IS NULL OR period_start <= :until)"""
PAGE = f"""
    SELECT '[' || coalesce(group_concat(snapshot), '') || ']'
    FROM (SELECT {SNAPSHOT} AS snapshot
          FROM snapshots
          WHERE {MATCHING}
          ORDER BY period_start DESC
          LIMIT :limit OFFSET :offset)"""
TOTAL = f"SELECT count(*) FROM snapshots WHERE {MATCHING}"
# Those of a paused or archived goal stay as they were.
ARE_TRUE = """
    SELECT status <> 'active'
        OR (seen_change IS NOT NULL
            AND fresh_on IS :today
            AND NOT EXISTS (SELECT 1 FROM changes WHERE sequence > seen_change)) AS are_true
    FROM goals
    WHERE id = :goal_id AND user_id = :user_id"""


# Read ----------------------------------------------------------------------------------------------------


async def are_true(db: Connection, user_id: int, goal_id: int, today: str) -> bool:
    """Whether the stored snapshots are what a refresh would make of them; raises NotFound."""
    values = {"goal_id": goal_id, "user_id": user_id, "today": today}
    return await fetch_json(db, ARE_TRUE, values) == "1"


async def page(db: Connection, goal_id: int, query: SnapshotQuery) -> tuple[str, int]:
    """One page of the snapshots, newest first, and how many there are in all."""
    rows = await db.execute_fetchall(f"SELECT ({PAGE}), ({TOTAL})", bounds(goal_id, query))
    text, total = next(iter(rows))
    return text, total


async def true_page(
    db: Connection, user_id: int, goal_id: int, today: str, query: SnapshotQuery
) -> tuple[str, int] | None:
    """The page if the snapshots are true, of the same moment, else None; raises NotFound."""
    rows = await db.execute_fetchall(
        f"SELECT iif(are_true, ({PAGE}), NULL), iif(are_true, ({TOTAL}), NULL) FROM ({ARE_TRUE})",
        {**bounds(goal_id, query), "user_id": user_id, "today": today},
    )
    for text, total in rows:
        return None if text is None else (text, total)
    raise NotFound


def bounds(goal_id: int, query: SnapshotQuery) -> dict[str, Any]:
    return {
        "goal_id": goal_id,
        "since": str(query.since) if query.since else None,
        "until": str(query.until) if query.until else None,
        "limit": query.limit,
        "offset": query.offset,
    }


# Refresh -------------------------------------------------------------------------------------------------


async def refresh(db: Connection, goal_id: int) -> None:
    """Make the stored snapshots true again, in the transaction of the caller.

    Those of a goal that is gone, paused or archived by now stay as they are.
    """
    state = await state_of(db, goal_id)
    if state is None:
        return
    changed = await days_changed(db, state)
    if state.is_of_today and not changed:
        await note_seen(db, state)  # what changed is somebody else's, or not in scope
        return
    stale = list(dict.fromkeys(stale_periods(state, changed)))
    found = await facts.of_periods(db, state.account_ids, stale, state.special)
    if state.carries_forward:
        found = carried_forward(found, await balances.opening_balance(db, state, stale, changed))
    rows = [snapshot_of(state, period, one) for period, one in found.items() if is_kept(state, period, one)]
    await replace_some(db, state, stale, rows)


async def state_of(db: Connection, goal_id: int) -> GoalState | None:
    """None unless the goal is active."""
    text = await fetch(
        db,
        """
        WITH account AS (
            SELECT accounts.id, starting_balance
            FROM goals
            JOIN users ON users.id = goals.user_id
            JOIN accounts ON accounts.user_id = users.id
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
        SELECT json_object(
            'goal_id', goals.id,
            'metric', metric,
            'direction', direction,
            'timeframe', timeframe,
            'custom_window', json_array(custom_start, custom_end),
            'timezone', timezone,
            'day_rollover', day_rollover,
            'created_on', trading_day(goals.created_at, timezone, day_rollover),
            'today', trading_day(:now, timezone, day_rollover),
            'account_ids', json((SELECT json_group_array(id) FROM account)),
            'starting_balances', json((SELECT json_group_array(starting_balance) FROM account)),
            'targets', json((SELECT json_group_array(json_array(since, target_value))
                             FROM (SELECT since, target_value
                                   FROM goal_targets
                                   WHERE goal_id = :id
                                   ORDER BY since))),
            'seen_change', seen_change,
            'fresh_on', fresh_on,
            'last_change', (SELECT coalesce(max(sequence), 0) FROM changes),
            'first_trade', (SELECT min((SELECT min(trading_day)
                                        FROM trades
                                        WHERE account_id = account.id AND trading_day IS NOT NULL))
                            FROM account),
            'oldest', (SELECT min(period_start) FROM snapshots WHERE goal_id = :id),
            'newest', (SELECT max(period_start) FROM snapshots WHERE goal_id = :id))
        FROM goals
        JOIN users ON users.id = user_id
        WHERE goals.id = :id AND status = 'active'
        """,
        {"id": goal_id, "now": now()},
    )
    return None if text is None else json.decode(text, type=GoalState)


async def days_changed(db: Connection, state: GoalState) -> list[date]:
    """The trading days in scope whose numbers may have moved since the goal last looked, oldest first."""
    if state.seen_change is None:
        return []
    rows = await db.execute_fetchall(
        """
        -- The + keeps SQLite from looking through all days or trades of the accounts.
        SELECT trading_day
        FROM changes
        WHERE sequence > :seen
          AND +account_id IN (SELECT value FROM json_each(:accounts))
        UNION
        SELECT trading_day
        FROM trades
        WHERE setup_id IN (SELECT setup_id FROM changes WHERE sequence > :seen AND setup_id IS NOT NULL)
          AND +account_id IN (SELECT value FROM json_each(:accounts))
          AND trading_day IS NOT NULL
        ORDER BY 1
        """,
        {"seen": state.seen_change, "accounts": json_list(state.account_ids)},
    )
    return [date.fromisoformat(row[0]) for row in rows]


async def replace_some(
    db: Connection, state: GoalState, stale: Sequence[Period], snapshots: Sequence[Snapshot]
) -> None:
    """Drop what is stale or no longer of the history, write what there is, note what was seen."""
    anew = state.seen_change is None or state.timeframe == "custom"
    first = date.max if anew else period_of(state.first_day, state.timeframe).start
    await db.execute_fetchall(
        """
        DELETE FROM snapshots
        WHERE goal_id = :goal_id
          -- Looked up, so that those that stay are not looked at.
          AND period_start IN (
              SELECT value FROM json_each(:stale)
              UNION ALL
              SELECT period_start FROM snapshots WHERE goal_id = :goal_id AND period_start < :first
              UNION ALL
              SELECT period_start FROM snapshots WHERE goal_id = :goal_id AND period_start > :last)
        """,
        {
            "goal_id": state.goal_id,
            "first": first.isoformat(),
            "last": state.today.isoformat(),
            "stale": json_list([period.start.isoformat() for period in stale]),
        },
    )
    await db.execute_fetchall(
        """
        INSERT INTO snapshots (goal_id, period_start, period_end, target, actual, achieved, closed,
            snapshot_data, computed_at)
        SELECT :goal_id, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5,
            value ->> 6, :now
        FROM json_each(:rows)
        """,
        {"goal_id": state.goal_id, "rows": json_list(snapshots), "now": now()},
    )
    await note_seen(db, state)


async def note_seen(db: Connection, state: GoalState) -> None:
    await db.execute_fetchall(
        "UPDATE goals SET seen_change = :seen, fresh_on = :today WHERE id = :goal_id",
        {"seen": state.last_change, "today": state.today.isoformat(), "goal_id": state.goal_id},
    )
