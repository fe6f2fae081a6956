"""SQL of the days of an account: the results of its trades, and its cash."""

from typing import NamedTuple

from aiosqlite import Connection
from msgspec import json

from journal_api.database.sql import fetch
from journal_api.errors import NotFound
from journal_api.statistics.account_days import AccountDay, Movement, build_days
from journal_api.statistics.account_floor import Peak
from journal_api.statistics.trade_facts import FACTS_CURSOR
from journal_api.values.clock import now

# Rows of (part, day, value): the account with the day at which its history ends and its share of payouts, its cash in
# the order of entry, and the results of each day as one text, because 10^5 rows take twice as long. The primary key of
# the facts has the order of the closes. Days that changed since the facts were stored are read from the trades.
DAYS = f"""
    WITH
    account AS MATERIALIZED (
        SELECT id, starting_balance, payout_share,
            coalesce(:at, trading_day(:now, timezone, day_rollover)) AS until
        FROM (SELECT id, starting_balance, payout_share
              FROM accounts
              WHERE id = :account_id AND user_id = :user_id)
        CROSS JOIN calendars ON calendars.account_id = id
    ),
    stale (day) AS MATERIALIZED (
        SELECT trading_day FROM changed_days WHERE sequence > {FACTS_CURSOR} AND +account_id = :account_id
    )
    SELECT 'account', until, json_array(starting_balance, payout_share)
    FROM account
    UNION ALL
    SELECT 'cash', NULL, json_group_array(json_array(day, kind, amount))
    FROM (SELECT day, kind, amount
          FROM account
          CROSS JOIN cash_movements ON account_id = account.id AND day <= until AND NOT outside
          ORDER BY cash_movements.day, cash_movements.id)
    UNION ALL
    SELECT 'trades', trading_day, group_concat(net_pnl)
    FROM trade_facts
    WHERE account_id = (SELECT id FROM account)
      AND trading_day <= (SELECT until FROM account)
    GROUP BY trading_day
    HAVING trading_day NOT IN (SELECT day FROM stale)
    UNION ALL
    SELECT 'trades', stale.day, (
        SELECT group_concat(net_pnl)
        FROM (SELECT net_pnl
              FROM trades
              WHERE trades.account_id = account.id AND trading_day = stale.day
              ORDER BY closed_at, trades.id))
    FROM account
    CROSS JOIN stale
    WHERE stale.day <= until"""
RESULTS, MOVEMENTS = json.Decoder(list[int]), json.Decoder(list[Movement])


class AccountHistory(NamedTuple):
    starting_balance: int
    until: str
    days: list[AccountDay]
    payout_share: int | None


async def read_history(db: Connection, user_id: int, account_id: int, until: str | None) -> AccountHistory:
    """Return the days of an account, by default to its current trading day. Raises NotFound."""
    values = {"user_id": user_id, "account_id": account_id, "at": until, "now": now()}
    rows = await db.execute_fetchall(DAYS, values)
    results: dict[str, list[int]] = {}
    movements: list[Movement] = []
    account = None
    for part, day, value in rows:
        if part == "account":
            account = day, *json.decode(value)
        elif part == "cash":
            movements = MOVEMENTS.decode(value)
        elif value is not None:  # a changed day may have no trade left
            results[day] = RESULTS.decode(f"[{value}]")
    if account is None:
        raise NotFound
    until, starting_balance, share = account
    return AccountHistory(starting_balance, until, build_days(results, movements), share)


async def find_trade(db: Connection, account_id: int, peak: Peak) -> int:
    return int(
        await fetch(
            db,
            """
            SELECT id
            FROM trades
            WHERE account_id = :account_id AND trading_day = :day
            ORDER BY closed_at, id
            LIMIT 1 OFFSET :place
            """,
            {"account_id": account_id, "day": peak.day, "place": peak.place},
        )
    )
