"""SQL of balances: the balance of accounts at the start of a day, and the cash that changes it."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any

from aiosqlite import Connection

from journal_api.database.sql import fetch, json_list
from journal_api.statistics.goal_history import GoalState
from journal_api.values.periods import Period, find_period

# What a row `moved` adds to the balance; a reset begins it anew.
CHANGE = """CASE
    WHEN moved.kind = 'reset' OR moved.outside THEN 0
    WHEN moved.kind IN ('withdrawal', 'payout', 'fee') THEN -moved.amount
    ELSE moved.amount END"""


async def read_opening_balance(
    db: Connection, state: GoalState, stale: Sequence[Period], changed: Sequence[date]
) -> int | None:
    """Return the balance at the start of the first stale period, in units of 10^-8.

    It is read from the stored snapshots if they are up to date, otherwise summed over cash and trades. None
    means that it does not fit into 64 bits.
    """
    first = stale[0].start
    if state.timeframe != "custom":
        return await read_closing_balance_before(db, state, first)
    if state.change_cursor is not None and all(day >= first for day in changed):
        stored: int | None = await fetch(
            db,
            "SELECT opening_balance FROM snapshots WHERE goal_id = :goal_id AND period_start = :first",
            {"goal_id": state.goal_id, "first": first.isoformat()},
        )
        if stored is not None:
            return stored
    return await sum_balance_before(db, state, first)


async def read_closing_balance_before(db: Connection, state: GoalState, first: date) -> int | None:
    """Return the closing balance of the last period before that day, without one the sum."""
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
    return await sum_balance_before(db, state, first)


async def sum_balance_before(db: Connection, state: GoalState, first: date) -> int:
    """Return the balance of all accounts of the goal at the start of that day."""
    return sum(await read_balances(db, [(account_id, first) for account_id in state.account_ids]))


async def read_balances(db: Connection, points: Sequence[tuple[int, date]]) -> list[int]:
    """Return the balance of each account at the start of its day, before a reset on that day."""
    rows = await db.execute_fetchall(
        f"""
        WITH
        point AS MATERIALIZED (
            SELECT key AS number, value ->> '$[0]' AS account_id, value ->> '$[1]' AS day
            FROM json_each(:points)),
        -- What the balance began with: the newest reset, else the starting balance.
        base AS MATERIALIZED (
            SELECT number, point.account_id, point.day AS until,
                coalesce(reset.day, '') AS since, coalesce(reset.amount, starting_balance) AS amount
            FROM point
            JOIN accounts ON accounts.id = point.account_id
            LEFT JOIN cash_movements AS reset ON reset.id = (
                SELECT id
                FROM cash_movements
                WHERE account_id = accounts.id AND kind = 'reset' AND day < point.day
                ORDER BY day DESC, id DESC
                LIMIT 1)),
        counted AS (
            SELECT number, amount FROM base
            UNION ALL
            SELECT number, {CHANGE}
            FROM base
            JOIN cash_movements AS moved USING (account_id)
            WHERE day >= since AND day < until
            UNION ALL
            SELECT number, net_pnl
            FROM base
            JOIN trades USING (account_id)
            WHERE trading_day >= since AND trading_day < until)
        SELECT sum_of_integers(amount)
        FROM counted
        GROUP BY number
        ORDER BY number
        """,
        {"points": json_list(points)},
    )
    return [int(balance) for (balance,) in rows]


async def read_cash(db: Connection, account_ids: Sequence[int], period: Period) -> dict[date, int]:
    """Return what the cash of the accounts adds to their balances, by day.

    A reset adds the difference between its amount and the balance before it.
    """
    rows: Iterable[Any] = await db.execute_fetchall(
        f"""
        SELECT account_id, day, sum_of_integers({CHANGE}),
            (SELECT amount
             FROM cash_movements AS reset
             WHERE reset.account_id = moved.account_id AND reset.day = moved.day AND kind = 'reset'
             ORDER BY id DESC
             LIMIT 1)
        FROM cash_movements AS moved
        WHERE account_id IN (SELECT value FROM json_each(:accounts))
          AND day BETWEEN :start AND :end
          AND NOT outside
        GROUP BY account_id, day
        """,
        {"accounts": json_list(account_ids), "start": period.start.isoformat(), "end": period.end.isoformat()},
    )
    cash = Counter[date]()
    resets: list[tuple[int, date]] = []
    for account_id, text, change, new_balance in rows:
        day = date.fromisoformat(text)
        cash[day] += int(change)
        if new_balance is not None:
            cash[day] += new_balance
            resets.append((account_id, day))
    for (_, day), balance in zip(resets, await read_balances(db, resets), strict=True):
        cash[day] -= balance
    return dict(cash)
