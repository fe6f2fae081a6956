"""SQL of the net P&L of single days, by currency."""

from datetime import date
from decimal import Decimal

from aiosqlite import Connection
from msgspec import Struct

from journal_api.values.money import from_units
from journal_api.values.periods import Period


class DailyTotal(Struct, frozen=True):
    """The closed trades of one day in the accounts of one currency."""

    day: date
    currency: str
    trades: int
    net_pnl: Decimal


async def list_of_user(db: Connection, user_id: int, period: Period) -> list[DailyTotal]:
    """Return the totals of the days with a closed trade, oldest first."""
    rows = await db.execute_fetchall(
        """
        SELECT trading_day, currency, count(*), sum_of_integers(net_pnl)
        FROM accounts
        CROSS JOIN trades ON trades.account_id = accounts.id
        WHERE accounts.user_id = :user_id
          AND trading_day BETWEEN :first AND :last
        GROUP BY trading_day, currency
        ORDER BY trading_day, currency
        """,
        {"user_id": user_id, "first": period.start.isoformat(), "last": period.end.isoformat()},
    )
    return [
        DailyTotal(date.fromisoformat(day), currency, trades, from_units(int(net_pnl)))
        for day, currency, trades, net_pnl in rows
    ]
