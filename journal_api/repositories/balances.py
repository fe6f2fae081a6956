"""SQL of balances: the balance of a goal's accounts at the start of a period."""

from collections.abc import Sequence
from datetime import date

from aiosqlite import Connection

from journal_api.repositories.sql import fetch, json_list
from journal_api.rules.goal_history import GoalState
from journal_api.values.periods import Period, find_period


async def read_opening_balance(
    db: Connection, state: GoalState, stale: Sequence[Period], changed: Sequence[date]
) -> int | None:
    """Return the balance at the start of the first stale period, in units of 10^-8.

    It is read from the stored snapshots if they are up to date, otherwise summed over the trades. None means
    that it does not fit into 64 bits.
    """
    first = stale[0].start
    if state.timeframe != "custom":
        return await read_closing_balance_before(db, state, first)
    if state.change_cursor is not None and all(day >= first for day in changed):
        stored = await read_stored_opening_balance(db, state.goal_id, first)
        if stored is not None:
            return stored
    return await sum_balance_before(db, state, first)


async def read_closing_balance_before(db: Connection, state: GoalState, first: date) -> int | None:
    """Return the closing balance of the last period before that day, without one the starting balances."""
    rows = await db.execute_fetchall(
        """
        SELECT closing_balance
        FROM snapshots
        WHERE goal_id = :goal_id
          AND period_start >= :history_start
          AND period_start < :first
        ORDER BY period_start DESC
        LIMIT 1
        """,
        {
            "goal_id": state.goal_id,
            "history_start": find_period(state.first_day, state.timeframe).start.isoformat(),
            "first": first.isoformat(),
        },
    )
    for (closing_balance,) in rows:
        return None if closing_balance is None else int(closing_balance)
    return sum(state.starting_balances)


async def read_stored_opening_balance(db: Connection, goal_id: int, period_start: date) -> int | None:
    """Return the opening balance in the snapshot of that period, None without a snapshot."""
    opening_balance: int | None = await fetch(
        db,
        "SELECT opening_balance FROM snapshots WHERE goal_id = :goal_id AND period_start = :period_start",
        {"goal_id": goal_id, "period_start": period_start.isoformat()},
    )
    return opening_balance


async def sum_balance_before(db: Connection, state: GoalState, first: date) -> int:
    """Return the starting balances plus the net P&L of all trades before that day."""
    net_pnl = await fetch(
        db,
        """
        SELECT sum_of_integers(net_pnl)
        FROM trades
        WHERE account_id IN (SELECT value FROM json_each(:accounts))
          AND trading_day < :first
        """,
        {"accounts": json_list(state.account_ids), "first": first.isoformat()},
    )
    return sum(state.starting_balances) + int(net_pnl or 0)
