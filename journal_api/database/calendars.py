"""SQL of calendars: by which time zones and rollovers trading days are counted (docs/accounts.md#the-day)."""

import sqlite3

from aiosqlite import Connection

from journal_api.values.periods import Calendar

# The calendar of the user with the id `{user_id}`, and each other one of an account, once.
OF_USER = """
    SELECT timezone, day_rollover FROM users WHERE id = {user_id}
    UNION
    SELECT timezone, day_rollover FROM calendars WHERE user_id = {user_id}"""


def select_current_days(user_id: str) -> str:
    """Return the SELECT of the current day in each of the user's calendars, as one text. It needs `:now`."""
    days = f"SELECT trading_day(:now, timezone, day_rollover) AS day FROM ({OF_USER.format(user_id=user_id)})"
    return f"SELECT group_concat(day, ' ') FROM ({days})"


def list_of_user(probe: sqlite3.Connection, user_id: int) -> list[Calendar]:
    return [Calendar(*row) for row in probe.execute(OF_USER.format(user_id="?1"), (user_id,))]


async def by_account(db: Connection, user_id: int) -> dict[int, Calendar]:
    """Return the calendars of the accounts of the user by id; 0 is an account that is not there yet."""
    rows = await db.execute_fetchall(
        """
        SELECT account_id, timezone, day_rollover FROM calendars WHERE user_id = :user_id
        UNION ALL
        SELECT 0, timezone, day_rollover FROM users WHERE id = :user_id
        """,
        {"user_id": user_id},
    )
    return {account_id: Calendar(timezone, day_rollover) for account_id, timezone, day_rollover in rows}
