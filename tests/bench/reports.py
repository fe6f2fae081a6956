"""What a report costs beside a bare pass of window functions over the same trades, and the memory it takes.

`PYTHONPATH=tests python -m bench.reports` prints the table.
"""

import sqlite3
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, get_args

import click
from commands import new_key

from bench.data import create, strategy
from bench.servers import Measured, journal
from journal_api.structs.reports import GroupBy

ACCOUNTS, SYMBOLS, TAGS, SETUPS, DAYS = 3, 12, 20, 4, 1000
# Net P&L over time and its peak, by trade: what a drawdown takes at least.
WINDOW_PASS = """
SELECT max(peak - equity)
FROM (SELECT equity, max(equity) OVER (ORDER BY trading_day, closed_at, id ROWS UNBOUNDED PRECEDING) AS peak
      FROM (SELECT trading_day, closed_at, id, sum(net_pnl) OVER (ORDER BY trading_day, closed_at, id
                ROWS UNBOUNDED PRECEDING) AS equity
            FROM trades
            WHERE user_id = 1 AND closed_at IS NOT NULL))"""
INSERT_TRADE = """
INSERT INTO trades (user_id, account_id, symbol, direction, quantity, entry_price, opened_at, closed_at,
    trading_day, gross_pnl, fees, initial_risk, grade, strategy_id, setup_id, source_trade_id, created_at,
    updated_at)
VALUES (1, ?, ?, ?, 100000000, 0, ?, ?, ?, ?, 204000000, ?, ?, ?, ?, ?, '', '')"""
INSERT_ANSWERS = """
INSERT INTO confirmation_answers
SELECT trades.id, confirmations.id, (trades.id * 7 + confirmations.id) % 3 > 0, NULL
FROM trades
JOIN confirmations ON confirmations.setup_id = trades.setup_id
WHERE (trades.id + confirmations.id) % 4"""


def filled(db: Path, trades: int) -> str:
    """Make a journal of so many trades, a fifth of them copies, half of them tagged; return a key."""
    key = new_key(db)
    with journal(db, key) as server:
        for number in range(ACCOUNTS):
            create(server, "accounts", name=f"Account {number}")
        category = create(server, "tag-categories", name="Tags")
        for number in range(TAGS):
            kind = "mistake" if number < TAGS // 4 else "custom"
            create(server, "tags", name=f"Tag {number}", category_id=category, type=kind)
        create(server, "strategies", **strategy("Strategy", SETUPS, 5))
    with closing(sqlite3.connect(db)) as opened, opened:
        # Triggers record changes for goals, of which the journal has none.
        triggers = opened.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            opened.execute(f"DROP TRIGGER {name}")
        opened.executemany(INSERT_TRADE, rows(trades))
        opened.execute("INSERT INTO trade_tags SELECT id, 1 + id % ? FROM trades WHERE id % 2", (TAGS,))
        opened.execute(INSERT_ANSWERS)
        for _, trigger in triggers:
            opened.execute(trigger)
    return key


def rows(trades: int) -> Iterator[tuple[Any, ...]]:
    random = Random(1)
    for number in range(1, trades + 1):
        month = number * 72 // (trades + 1)
        day = f"{2020 + month // 12}-{1 + month % 12:02}-{1 + number % 28:02}"
        minute = random.randrange(1380)
        setup = random.choice((None, *range(1, SETUPS + 1)))
        yield (
            1 + number % ACCOUNTS,
            f"S{random.randrange(SYMBOLS)}",
            random.choice(("long", "short")),
            *(f"{day}T{at // 60:02}:{at % 60:02}:00.000000Z" for at in (minute, minute + 1 + number % 55)),
            day,
            random.randrange(-40_000, 50_000) * 10**6,
            random.choice((None, *range(10**9, 10**10, 10**9))),
            random.choice((None, "A+", "A", "B", "C", "D", "F")),
            *(setup and 1, setup),
            number - 1 if number % 5 == 0 else None,
        )


def seconds_of_window_pass(db: Path, times: int) -> float:
    """CPU seconds, the median."""
    with closing(sqlite3.connect(db)) as opened:
        opened.execute("PRAGMA temp_store = MEMORY")
        return median(
            seconds_of(partial(opened.execute, WINDOW_PASS), time.process_time) for _ in range(times)
        )


def seconds_of_report(server: Measured, group_by: str, times: int) -> float:
    """CPU seconds of the server, the median. No two reports are the same, so that none is a kept one."""
    paths = [f"/v1/reports?group_by={group_by}&offset={number}" for number in range(times)]
    return median(seconds_of(partial(server.send, "GET", path), server.cpu) for path in paths)


def seconds_of(call: Callable[[], Any], clock: Callable[[], float]) -> float:
    begun = clock()
    result = call()
    if isinstance(result, sqlite3.Cursor):
        result.fetchall()
    return clock() - begun


def peak_of(server: Measured) -> float:
    """The most memory that the server has had, in MiB (Linux)."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


@click.command()
@click.option("--trades", type=int, multiple=True, default=(10**5, 10**6))
@click.option("--by", multiple=True, default=get_args(GroupBy))
@click.option("--times", default=3)
def main(trades: Sequence[int], by: Sequence[str], times: int) -> None:
    """Print the CPU time of each report, its ratio to the bare pass, and the memory that it took."""
    for size in trades:
        with TemporaryDirectory(prefix="bench-") as name:
            db = Path(name) / "journal.db"
            key = filled(db, size)
            bare = seconds_of_window_pass(db, times)
            sys.stdout.write(f"{size} trades: a bare pass of window functions {bare * 1000:.0f} ms\n")
            for group_by in by:
                with journal(db, key) as server:
                    idle = server.resident()
                    seconds = seconds_of_report(server, group_by, times)
                    ratio, memory = seconds / bare, peak_of(server) - idle
                sys.stdout.write(
                    f"  {group_by:12} {seconds * 1000:6.0f} ms {ratio:5.1f} x {memory:5.0f} MiB\n"
                )
                sys.stdout.flush()


if __name__ == "__main__":
    main()
