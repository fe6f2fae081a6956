"""The limit: sqlite3 alone, in a loop, in this process, with the pragmas of the service."""

import asyncio
import csv
import io
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.load import timed
from bench.measure import Side

WEEKDAY = "strftime('%w', trading_day)"
NEWEST_TRADES = "SELECT * FROM trades WHERE user_id = 1 ORDER BY opened_at DESC, id DESC LIMIT 50"
# The drawdown of each day: one pass over all trades in order.
DRAWDOWNS = """
    SELECT trading_day, max(max(peak, 0) - equity)
    FROM (SELECT trading_day, equity,
              max(equity) OVER (PARTITION BY trading_day ORDER BY closed_at, id
                                ROWS UNBOUNDED PRECEDING) AS peak
          FROM (SELECT trading_day, closed_at, id,
                    sum(net_pnl) OVER (PARTITION BY trading_day ORDER BY closed_at, id
                                       ROWS UNBOUNDED PRECEDING) AS equity
                FROM trades
                WHERE trading_day IS NOT NULL))
    GROUP BY trading_day
"""


def totals_by(column: str | None) -> str:
    """One pass over stored columns: the count and five sums, of all trades or of each group."""
    group = f"GROUP BY {column}" if column else ""
    return f"""
        SELECT count(*), sum(gross_pnl), sum(fees), sum(net_pnl), sum(max(net_pnl, 0)), sum(net_pnl > 0)
        FROM trades
        WHERE user_id = 1 AND closed_at IS NOT NULL
        {group}
    """


class Overheard:
    """Stands where a repository expects its connection, and takes down what it would run."""

    def __init__(self) -> None:
        self.statements: list[tuple[str, Any]] = []

    async def execute_fetchall(self, sql: str, values: Any = ()) -> list[Any]:
        self.statements.append((sql, values))
        return [("[]", 0)]


def connected(db: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(db, isolation_level=None)
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", "temp_store = MEMORY"):
        connection.execute(f"PRAGMA {pragma}")
    return connection


def loop_statements(db: Path, seconds: float, read: Callable[[Any], Any]) -> Side:
    """The statements of a repository's function over and over, for so long."""
    connection, overheard = connected(db), Overheard()
    asyncio.run(read(overheard))

    def run() -> float:
        started, times = time.perf_counter(), 0
        while (took := time.perf_counter() - started) < seconds:
            for sql, values in overheard.statements:
                connection.execute(sql, values).fetchall()
            times += 1
        return times / took

    return run


def imports(db: Path, file: bytes, rows: int) -> Side:
    """`csv.reader` into one table without an index, durable."""
    connection = connected(db)
    width = len(next(csv.reader([file.partition(b"\n")[0].decode()])))

    def bring_in() -> None:
        reader = csv.reader(io.TextIOWrapper(io.BytesIO(file), newline=""))
        next(reader)
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(f"INSERT INTO bare VALUES ({', '.join('?' * width)})", reader)
        connection.execute("COMMIT")

    def run() -> float:
        connection.execute("DROP TABLE IF EXISTS bare")
        connection.execute(f"CREATE TABLE bare ({', '.join(f'column_{number}' for number in range(width))})")
        return rows * timed(1, bring_in)

    return run
