"""Trades, as far as imports write them and goals count them."""

from collections.abc import Iterable
from typing import Any

from aiosqlite import Connection

INSERT = """
    INSERT INTO trades (user_id, account_id, symbol, direction, quantity, multiplier, entry_price, exit_price,
        stop_loss, opened_at, closed_at, trading_day, gross_pnl, fees, initial_risk, grade, strategy_id,
        setup_id, source_trade_id, external_id, notes, import_id, fingerprint, occurrence, created_at,
        updated_at)
    SELECT users.id, :account_id, :symbol, :direction, :quantity, :multiplier, :entry_price, :exit_price,
        :stop_loss, :opened_at, :closed_at, trading_day(:closed_at, timezone, day_rollover), :gross_pnl,
        :fees, :initial_risk, :grade, :strategy_id, :setup_id, :source_trade_id, :external_id, :notes,
        :import_id, :fingerprint, :occurrence, :now, :now
    FROM users
    WHERE users.id = :user_id
    ON CONFLICT DO NOTHING"""


async def insert_new(db: Connection, rows: Iterable[dict[str, Any]]) -> None:
    """Insert the trades that are not there yet, told by external_id and by fingerprint and occurrence."""
    await db.executemany(INSERT, rows)


async def move_to_their_days(db: Connection, user_id: int) -> None:
    """Write the trading day of every trade anew, for the owner's zone and rollover as they are now."""
    await db.execute_fetchall(
        """
        UPDATE trades
        SET trading_day = trading_day(closed_at, timezone, day_rollover)
        FROM users
        WHERE users.id = :user_id
          AND trades.user_id = users.id
          AND trading_day <> trading_day(closed_at, timezone, day_rollover)
        """,
        {"user_id": user_id},
    )
