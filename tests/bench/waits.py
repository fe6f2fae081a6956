"""What a trader waits for, by the number of trades, beside a bare statement over the same rows.

The two alternate, and a ratio is taken within each round.
"""

import itertools
import json
import secrets
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import date, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from commands import new_key

from bench import bare
from bench.data import DAILY, fill_years, trade_file
from bench.measure import Pace, line, verdict
from bench.servers import Measured, journal

YESTERDAY = date.today() - timedelta(days=1)
GOALS = [
    DAILY,
    *({**DAILY, "timeframe": timeframe} for timeframe in ("weekly", "monthly")),
    {**DAILY, "metric": "max_drawdown"},
    {**DAILY, "metric": "balance_target", "timeframe": "monthly"},
]
Seconds = Callable[[], float]


class Wait(NamedTuple):
    """What takes so many seconds, what it is compared with, and how many times as long it may take."""

    what: str
    ours: Seconds
    other: Seconds | None = None
    target: float | None = None


class Waited(NamedTuple):
    """The median seconds at each size, and the median ratios to the bare statement."""

    what: str
    seconds: list[float]
    ratios: list[float]
    target: float | None


class Waits(NamedTuple):
    sizes: list[int]
    rows: list[Waited]


def measure_waits(folder: Path, pace: Pace, trades: int) -> Waits:
    """Each size is a journal of its own, a tenth of the next; the longest has so many trades."""
    sizes = [trades // shorter for shorter in pace.shorter]
    found: dict[str, Waited] = {}
    for size in sizes:
        db, empty = folder / f"{size}.db", folder / f"beside-{size}.db"
        keys = [new_key(db), new_key(empty)]
        fill_years(db, size)
        with ExitStack() as stack:
            trader, beginner = (
                Trader(stack.enter_context(journal(*one))) for one in zip((db, empty), keys, strict=True)
            )
            for wait in list_waits(trader, beginner, db, size):
                row = found.setdefault(wait.what, Waited(wait.what, [], [], wait.target))
                ours, ratios = alternate(wait, pace.rounds)
                row.seconds.append(ours)
                row.ratios.extend(ratios)
    return Waits(sizes, list(found.values()))


def list_lines(waits: Waits) -> Iterator[str]:
    """Yield a line for each operation: the time at each size, and the ratio at the largest."""
    for row in waits.rows:
        seconds = [f"{one * 1000:,.{0 if one > 0.01 else 1}f}" for one in row.seconds]
        ratio = f"{row.ratios[-1]:.1f} x" if row.ratios else ""
        target = verdict(f"at most {row.target:g} x", is_met=row.ratios[-1] <= row.target) if row.target else ""
        yield line(row.what, *seconds, ratio, target)


def alternate(wait: Wait, rounds: int) -> tuple[float, list[float]]:
    """The median seconds after a round to warm up, and the median ratio, none without an other side."""
    pairs = [(wait.ours(), wait.other() if wait.other else 0.0) for _ in range(rounds + 1)][1:]
    ratio = [statistics.median(ours / other for ours, other in pairs)] if wait.other else []
    return statistics.median(ours for ours, _ in pairs), ratio


def list_waits(trader: "Trader", beginner: "Trader", db: Path, size: int) -> Iterator[Wait]:
    """Every row, with the targets of docs/performance.md."""
    connection = bare.connected(db)

    def run(sql: str) -> Seconds:
        return lambda: seconds_of(lambda: connection.execute(sql).fetchall())

    for key, column in (("none", None), ("symbol", "contract"), ("weekday", bare.WEEKDAY)):
        report = trader.after_a_trade(f"/v1/reports?group_by={key}")
        yield Wait(f"report by {key}", report, run(bare.totals_by(column)), 4)
    report = trader.after_a_trade("/v1/reports?group_by=confirmation")
    yield Wait("report by confirmation", report, run(bare.totals_by("setup_id")), 6)
    pages = {"first page": "", "last page": f"offset={size - 50}", "won": "outcome=win", "with a tag": "tag_id=1"}
    for what, query in pages.items():
        read = trader.after_a_trade(f"/v1/trades?{query}")
        yield Wait(f"trades, {what}", read, run(bare.NEWEST_TRADES))
    yield Wait("five goals, first read", trader.first_read, run(bare.DRAWDOWNS), 3)
    yield Wait("five goals after a trade", trader.after_a_trade("/v1/goals?with=snapshot"))
    yield Wait("five goals after an import", trader.after_an_import, beginner.after_an_import, 1.5)
    yield Wait("a new trade", lambda: seconds_of(trader.add_trade))


def seconds_of(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


class Trader:
    """Writes, and then waits for what the server shows."""

    def __init__(self, server: Measured) -> None:
        self.server, self.numbers = server, itertools.count()
        self.account_id = server.create("accounts", name=f"Account {secrets.token_hex(4)}")
        self.goals: list[int] = []

    def add_trade(self) -> None:
        """A trade of yesterday."""
        at = f"{YESTERDAY}T14:00:00Z"
        trade = {"symbol": "ES", "direction": "long", "quantity": 1, "entry_price": 5000}
        result = {"exit_price": 5001 + next(self.numbers) / 4, "opened_at": at, "closed_at": at}
        self.server.create("trades", account_id=self.account_id, **trade, **result)

    def read(self, path: str) -> float:
        return seconds_of(lambda: self.server.send("GET", path))

    def after_a_trade(self, path: str) -> Seconds:
        def read() -> float:
            self.add_trade()
            return self.read(path)

        return read

    def first_read(self) -> float:
        """Of five new goals."""
        for goal_id in self.goals:
            self.server.send("DELETE", f"/v1/goals/{goal_id}")
        self.goals = [self.server.create("goals", **goal) for goal in GOALS]
        return self.read("/v1/goals?with=snapshot")

    def after_an_import(self) -> float:
        """Of five goals that were up to date before 10,000 trades of 100 days came."""
        if not self.goals:
            self.first_read()
        self.read("/v1/goals?with=snapshot")
        path = f"/v1/imports?account_id={self.account_id}"
        made: dict[str, Any] = json.loads(self.server.send("POST", path, trade_file(10_000), "text/csv"))
        took = self.read("/v1/goals?with=snapshot")
        self.server.send("DELETE", f"/v1/imports/{made['data']['import']['id']}?force=true")
        return took
