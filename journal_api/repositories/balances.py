"""What the accounts of a goal held when a period began."""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal

from aiosqlite import Connection
from msgspec import Struct, json

from journal_api.database import json_list
from journal_api.history import GoalState
from journal_api.money import units
from journal_api.periods import ONE_DAY, Period, period_of


class StoredBalance(Struct):
    """What a stored snapshot says of balances, in 10^-8."""

    opening_balance: Decimal | None = None
    net_pnl: Decimal | None = None

    @property
    def opening(self) -> int | None:
        return None if self.opening_balance is None else units(self.opening_balance)

    @property
    def net(self) -> int | None:
        return None if self.net_pnl is None else units(self.net_pnl)


async def opening_balance(
    db: Connection, state: GoalState, stale: Sequence[Period], changed: Sequence[date]
) -> int | None:
    """What the accounts in scope held when the first stale period began; None when that is out of range."""
    first = stale[0].start
    if state.timeframe != "custom":
        before = await stored_balance(db, state, state.first_day, first - ONE_DAY)
        if before is None:
            return sum(state.starting_balances)
        return None if before.opening is None or before.net is None else before.opening + before.net
    if state.seen_change is not None and all(day >= first for day in changed):
        now_stored = await stored_balance(db, state, first, first)
        if now_stored is not None and now_stored.opening is not None:
            return now_stored.opening
    # In halves, so that no sum leaves 64 bits.
    rows = await db.execute_fetchall(
        """
        SELECT coalesce(sum(net_pnl >> 32), 0), coalesce(sum(net_pnl & 4294967295), 0)
        FROM trades
        WHERE account_id IN (SELECT value FROM json_each(:accounts)) AND trading_day < :first
        """,
        {"accounts": json_list(state.account_ids), "first": first.isoformat()},
    )
    high, low = next(iter(rows))
    return sum(state.starting_balances) + (int(high) << 32) + int(low)


async def stored_balance(db: Connection, state: GoalState, first: date, last: date) -> StoredBalance | None:
    """What the newest snapshot says that starts between the two days; None without one."""
    rows = await db.execute_fetchall(
        """
        SELECT snapshot_data
        FROM snapshots
        WHERE goal_id = :goal_id AND period_start BETWEEN :first AND :last
        ORDER BY period_start DESC
        LIMIT 1
        """,
        {
            "goal_id": state.goal_id,
            "first": period_of(first, state.timeframe).start.isoformat(),
            "last": last.isoformat(),
        },
    )
    return next((json.decode(row[0], type=StoredBalance) for row in rows), None)
