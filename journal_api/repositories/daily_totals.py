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
    """Return the totals of the days with a closed trade, oldest first.

    The high and low 32 bits are summed separately, because SQLite's sum() fails beyond 64 bits.
    """
    rows = await db.execute_fetchall(
        """
        SELECT trading_day, currency, count(*), sum(net_pnl >> 32), sum(net_pnl & 4294967295)
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
        DailyTotal(date.fromisoformat(day), currency, trades, from_units((high << 32) + low))
        for day, currency, trades, high, low in rows
    ]
