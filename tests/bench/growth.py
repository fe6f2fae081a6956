"""What each operation costs as the number of trades grows."""

import itertools
import json
import re
import secrets
import statistics
import time
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from commands import new_key
from msgspec import Struct

from bench.data import DAILY, DRAWDOWN, make_long_journal, strategy, trade_file
from bench.measure import Pace
from bench.servers import Measured, journal

FEW = 20  # trades that a narrow filter finds
LEAST, SECONDS = 3, 0.3  # so many requests of an operation, and more until time is up
YESTERDAY = date.today() - timedelta(days=1)
GOALS: dict[str, dict[str, Any]] = {
    "daily net_pnl": DAILY,
    "monthly net_pnl": {**DAILY, "timeframe": "monthly"},
    "balance_target": {**DAILY, "metric": "balance_target", "timeframe": "monthly"},
    "daily max_drawdown": DRAWDOWN,
}


class Operation(NamedTuple):
    """A single request, and what happens before each of them: by default a small write, not measured."""

    what: str
    call: Callable[[], object]
    before: Callable[[], object] | None = None


class Grown(Struct, frozen=True):
    """The median seconds of an operation at each size."""

    what: str
    seconds: list[float]


class Growth(Struct, frozen=True):
    sizes: list[int]
    operations: list[Grown]


def measure_growth(folder: Path, pace: Pace, trades: int) -> Growth:
    """Each size is a journal of its own, the longest with so many trades; existing journals are used."""
    seconds: dict[str, list[float]] = {}
    sizes = [trades // shorter for shorter in pace.shorter]
    for size in sizes:
        db = folder / f"{size}.db"
        if not db.exists():
            make_long_journal(db, size)
        with journal(db, new_key(db)) as server:
            for operation in list_operations(Kit(server), size):
                took = measure_seconds(server, operation, pace.grown_calls)
                seconds.setdefault(operation.what, []).append(took)
    return Growth(sizes, [Grown(what, medians) for what, medians in seconds.items()])


def measure_seconds(server: Measured, operation: Operation, calls: int) -> float:
    """The median of so many requests, or of fewer that take longer."""
    found, begun = list[float](), time.perf_counter()
    for number in range(calls + 1):
        name = json.dumps({"name": unique("owner")}).encode()
        (operation.before or (lambda name=name: server.send("PATCH", "/v1/me", name)))()  # type: ignore[misc]
        started = time.perf_counter()
        operation.call()
        if number:  # the first fills the caches
            found.append(time.perf_counter() - started)
        if number >= LEAST and time.perf_counter() - begun > SECONDS:
            break
    return statistics.median(found)


class Kit:
    """What the operations work on: a few trades among many, and goals whose snapshots are true."""

    def __init__(self, server: Measured) -> None:
        self.server, self.number = server, itertools.count()
        accounts = server.read("/v1/accounts")["accounts"]
        self.account_id = next(one["id"] for one in accounts if one["name"] == "Sim")
        self.few_id = server.create("accounts", name=unique("Few"))
        category_id = server.create("tag-categories", name=unique("Category"))
        self.tag_id = server.create("tags", name=unique("Tag"), category_id=category_id)
        self.strategy_id = server.create("strategies", **strategy(unique("Strategy"), 4, 6))
        stored = server.read(f"/v1/strategies/{self.strategy_id}")["strategy"]
        self.setup_id = stored["setups"][0]["setup_id"]
        file = trade_file(FEW, a_day=FEW)
        server.send("POST", f"/v1/imports?account_id={self.few_id}", file, "text/csv")
        fields = {"account_id": self.few_id, "symbol": "NQ", "grade": "A", "setup_id": self.setup_id}
        self.trade_id, *_ = (self.add_trade(tag_ids=[self.tag_id], **fields) for _ in range(FEW))
        self.goals = {name: server.create("goals", **goal) for name, goal in GOALS.items()}

    def request(self, method: str, path: str, **fields: Any) -> Callable[[], bytes]:
        """The same request each time."""
        body = json.dumps(fields).encode() if fields else None
        return lambda: self.server.send(method, f"/v1{path}", body)

    def add_trade(self, **fields: Any) -> int:
        """A trade of yesterday."""
        trade = {
            "account_id": self.account_id,
            "symbol": "ES",
            "direction": "long",
            "quantity": 1,
            "entry_price": 5000,
            "exit_price": 5001 + next(self.number) / 4,
            "opened_at": f"{YESTERDAY}T14:00:00Z",
            "closed_at": f"{YESTERDAY}T14:05:00Z",
            **fields,
        }
        return self.server.create("trades", **trade)


def unique(name: str) -> str:
    return f"{name} {secrets.token_hex(4)}"


def named(request: str) -> str:
    """The request without its numbers, which differ from journal to journal."""
    return re.sub(r"\d[\d-]*", "N", request).rstrip()


def list_operations(kit: Kit, size: int) -> Iterator[Operation]:
    """Every operation whose cost may depend on the number of trades."""
    week = f"from={YESTERDAY - timedelta(days=6)}&to={YESTERDAY}"
    for query in (
        *("", f"offset={max(size - 50, 0)}", f"account_id={kit.account_id}", f"account_id={kit.few_id}"),
        *("symbol=ES", "symbol=NQ", "direction=long", "grade=A", f"tag_id={kit.tag_id}"),
        *(f"strategy_id={kit.strategy_id}", f"setup_id={kit.setup_id}", "outcome=win", "outcome=open"),
        *(week, f"{week}&account_id={kit.account_id}", f"to={YESTERDAY}"),
    ):
        what = query.replace(f"account_id={kit.few_id}", "an account of few")
        yield Operation(named(f"GET /trades {what}"), kit.request("GET", f"/trades?{query}"))
    paths = ("/goals", "/accounts", "/imports", "/strategies", "/tags", "/me", "/metrics")
    by_id = (f"/trades/{kit.trade_id}", f"/accounts/{kit.account_id}", f"/strategies/{kit.strategy_id}")
    for path in (*paths, *by_id):
        yield Operation(named(f"GET {path}"), kit.request("GET", path))
    for what, goal_id in kit.goals.items():
        read = kit.request("GET", f"/goals/{goal_id}/snapshots")
        yield Operation(f"GET snapshots, {what}", read)
        yield Operation(f"GET snapshots after a trade, {what}", read, kit.add_trade)
    yield from writes(kit)


def writes(kit: Kit) -> Iterator[Operation]:
    trade, goal = f"/trades/{kit.trade_id}", f"/goals/{kit.goals['daily net_pnl']}"
    numbers, added = itertools.count(300), list[int]()
    yield Operation("POST /trades", kit.add_trade)
    yield Operation("PATCH trade", lambda: kit.request("PATCH", trade, exit_price=5 + next(numbers))())
    tags = [kit.request("PUT", f"{trade}/tags", tag_ids=ids) for ids in ([kit.tag_id], [])]
    yield Operation("PUT tags of a trade", *tags)
    remove = lambda: kit.request("DELETE", f"/trades/{added.pop()}")()  # noqa: E731
    yield Operation("DELETE trade", remove, lambda: added.append(kit.add_trade()))
    yield Operation("POST /goals", kit.request("POST", "/goals", **DAILY))
    yield Operation("PATCH goal", lambda: kit.request("PATCH", goal, target_value=next(numbers))())
