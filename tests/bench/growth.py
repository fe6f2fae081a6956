"""What each operation costs as the number of trades grows."""

import itertools
import json
import secrets
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from commands import new_key
from msgspec import Struct

from bench.data import DAILY, DRAWDOWN, create, get_data, make_long_journal, strategy, trade_file
from bench.measure import Patience
from bench.servers import Measured, journal

FEW = 20  # trades that a narrow filter finds
GROWS = 3  # times as much at the largest size as at the smallest
MONTHLY = {"goal_name": "A month", "metric": "net_pnl", "target_value": 4000, "timeframe": "monthly"}
BALANCE = {"goal_name": "Balance", "metric": "balance_target", "target_value": 9, "timeframe": "monthly"}
GOALS = {"daily net_pnl": DAILY, "monthly net_pnl": MONTHLY, "balance_target": BALANCE}
GOALS["daily max_drawdown"] = DRAWDOWN


class Operation(NamedTuple):
    """A single request, and what is to happen before each of them, which is not measured.

    By default that is a small write, so that no answer is one that was kept.
    """

    what: str
    call: Callable[[], bytes]
    before: Callable[[], object] | None = None


class Cost(NamedTuple):
    """Medians of single requests."""

    seconds: float
    cpu: float


class Grown(Struct, frozen=True):
    """An operation at each size; the factors are those from the smallest to the largest."""

    what: str
    seconds: list[float]
    cpu: list[float]
    factor: float
    factor_by_cpu: float

    @property
    def grows(self) -> bool:
        return min(self.factor, self.factor_by_cpu) >= GROWS


class Growth(Struct, frozen=True):
    """All operations, by the number of one thing."""

    of: str
    sizes: list[int]
    operations: list[Grown]


def measure_growth(folder: Path, patience: Patience, trades: int) -> Growth:
    """Each size is a journal of its own, the longest with so many trades; existing journals are used."""
    costs: list[dict[str, Cost]] = []
    sizes = [trades // shorter for shorter in patience.shorter]
    for size in sizes:
        db = folder / f"{size}.db"
        if not db.exists():
            make_long_journal(db, size)
        with journal(db, new_key(db)) as server:
            operations = list_operations(server, Kit(server), size)
            costs.append({one.what: measure_cost(server, one, patience) for one in operations})
    return Growth("trades", sizes, [compare_sizes(what, [cost[what] for cost in costs]) for what in costs[0]])


def measure_cost(server: Measured, operation: Operation, patience: Patience) -> Cost:
    """Until there are enough requests, or time is up and there are a few."""
    seconds, cpus, begun = [], [], time.perf_counter()
    before = operation.before or partial(write, server)
    for number in range(patience.most + 1):
        before()
        cpu, started = server.cpu(), time.perf_counter()
        operation.call()
        took = time.perf_counter() - started
        if number:  # the first fills the caches
            seconds.append(took)
            cpus.append(server.cpu() - cpu)
        if number >= patience.least and time.perf_counter() - begun > patience.seconds:
            break
    return Cost(statistics.median(seconds), statistics.median(cpus))


def write(server: Measured) -> None:
    """Write something that no other request depends on."""
    server.send("PATCH", "/v1/me", json.dumps({"name": unique("owner")}).encode())


def compare_sizes(what: str, costs: Sequence[Cost]) -> Grown:
    least, most = costs[0], costs[-1]
    return Grown(
        what,
        [one.seconds for one in costs],
        [one.cpu for one in costs],
        most.seconds / least.seconds,
        most.cpu / least.cpu if least.cpu else 1,
    )


class Kit:
    """What the operations work on: a few trades among many, and goals whose snapshots are true."""

    def __init__(self, server: Measured) -> None:
        self.server, self.number = server, itertools.count()
        self.yesterday = date.today() - timedelta(days=1)
        (accounts,) = self.get("/accounts")
        self.account_id = next(one["id"] for one in accounts if one["name"] == "Sim")
        self.few_id = create(server, "accounts", name=unique("Few"))
        self.category_id = create(server, "tag-categories", name=unique("Category"))
        self.tag_id = create(server, "tags", name=unique("Tag"), category_id=self.category_id)
        self.strategy_id = create(server, "strategies", **strategy(unique("Strategy"), 4, 6))
        (stored,) = self.get(f"/strategies/{self.strategy_id}")
        self.setup_id = stored["setups"][0]["setup_id"]
        answer = server.send(
            "POST", f"/v1/imports?account_id={self.few_id}", trade_file(FEW, a_day=FEW), "text/csv"
        )
        (report,) = get_data(answer).values()
        self.import_id = report["id"]
        (self.trade_id, *_) = [self.add_few() for _ in range(FEW)]
        self.goals = {name: create(server, "goals", **goal) for name, goal in GOALS.items()}
        for goal_id in self.goals.values():
            server.send("GET", f"/v1/goals/{goal_id}/snapshots")

    def get(self, path: str) -> Any:
        return get_data(self.server.send("GET", f"/v1{path}")).values()

    def write(self, method: str, path: str, **fields: Any) -> Callable[[], bytes]:
        """The same request each time."""
        body = json.dumps(fields).encode() if fields else None
        return lambda: self.server.send(method, f"/v1{path}", body)

    def trade(self, **fields: Any) -> dict[str, Any]:
        """One of yesterday."""
        return {
            "account_id": self.account_id,
            "symbol": "ES",
            "direction": "long",
            "quantity": 1,
            "entry_price": 5000,
            "exit_price": 5001 + next(self.number) / 4,
            "opened_at": f"{self.yesterday}T14:00:00Z",
            "closed_at": f"{self.yesterday}T14:05:00Z",
            **fields,
        }

    def add_trade(self) -> int:
        return create(self.server, "trades", **self.trade())

    def add_few(self) -> int:
        """A trade that the narrow filters find."""
        fields = {"account_id": self.few_id, "symbol": "NQ", "grade": "A", "setup_id": self.setup_id}
        trade_id = create(self.server, "trades", **self.trade(strategy_id=self.strategy_id, **fields))
        self.write("PUT", f"/trades/{trade_id}/tags", tag_ids=[self.tag_id])()
        return trade_id


def unique(name: str) -> str:
    return f"{name} {secrets.token_hex(4)}"


def list_operations(server: Measured, kit: Kit, size: int) -> Iterator[Operation]:
    """Every operation whose cost may depend on the number of trades."""
    yield from lists_of_trades(kit, size)
    goal_id = kit.goals["daily net_pnl"]
    for path in ("/goals", "/accounts", "/imports", "/strategies", "/tags", "/me", "/metrics"):
        yield Operation(f"GET {path}", kit.write("GET", path))
    for path in (
        f"/trades/{kit.trade_id}",
        f"/goals/{goal_id}",
        f"/accounts/{kit.account_id}",
        f"/imports/{kit.import_id}",
        f"/strategies/{kit.strategy_id}",
    ):
        yield Operation(f"GET {path.rpartition('/')[0]}/{{id}}", kit.write("GET", path))
    yield from reads_of_snapshots(kit)
    yield from writes_of_trades(server, kit)
    yield from writes_of_the_rest(server, kit)


def lists_of_trades(kit: Kit, size: int) -> Iterator[Operation]:
    """Whole, and by each filter; a filter that finds a few of them, or nearly all."""
    week = kit.yesterday - timedelta(days=6)
    for what, query in {
        "": "",
        ", last page": f"?offset={max(size - 50, 0)}",
        ", account of all": f"?account_id={kit.account_id}",
        ", account of few": f"?account_id={kit.few_id}",
        ", symbol of all": "?symbol=ES",
        ", symbol of few": "?symbol=NQ",
        ", direction": "?direction=long",
        ", grade of few": "?grade=A",
        ", tag of few": f"?tag_id={kit.tag_id}",
        ", strategy of few": f"?strategy_id={kit.strategy_id}",
        ", setup of few": f"?setup_id={kit.setup_id}",
        ", import of few": f"?import_id={kit.import_id}",
        ", outcome win": "?outcome=win",
        ", outcome open": "?outcome=open",
        ", a week": f"?from={week}&to={kit.yesterday}",
        ", a week of an account": f"?from={week}&to={kit.yesterday}&account_id={kit.account_id}",
        ", up to yesterday": f"?to={kit.yesterday}",
    }.items():
        yield Operation(f"GET /trades{what}", kit.write("GET", f"/trades{query}"))


def reads_of_snapshots(kit: Kit) -> Iterator[Operation]:
    """First with nothing stale, then each after one more trade of yesterday."""
    reads = {what: kit.write("GET", f"/goals/{goal_id}/snapshots") for what, goal_id in kit.goals.items()}
    for what, read in reads.items():
        yield Operation(f"GET snapshots, {what}", read)
    for what, read in reads.items():
        yield Operation(f"GET snapshots after a trade, {what}", read, kit.add_trade)


def writes_of_trades(server: Measured, kit: Kit) -> Iterator[Operation]:
    one, numbers = f"/trades/{kit.trade_id}", itertools.count()
    yield Operation("POST /trades", lambda: kit.write("POST", "/trades", **kit.trade())())
    yield Operation("PATCH /trades/{id}", lambda: kit.write("PATCH", one, exit_price=5 + next(numbers))())
    yield Operation(
        "PUT /trades/{id}/tags",
        kit.write("PUT", f"{one}/tags", tag_ids=[kit.tag_id]),
        kit.write("PUT", f"{one}/tags", tag_ids=[]),
    )
    added: list[int] = []
    yield Operation(
        "DELETE /trades/{id}",
        lambda: server.send("DELETE", f"/v1/trades/{added.pop()}"),
        lambda: added.append(kit.add_trade()),
    )


def writes_of_the_rest(server: Measured, kit: Kit) -> Iterator[Operation]:
    """Each new one is gone again before the next, so that their number stays."""
    goal, numbers = f"/goals/{kit.goals['daily net_pnl']}", itertools.count(300)
    new: dict[str, dict[str, Any]] = {
        "tags": {"category_id": kit.category_id, "name": "One more"},
        "tag-categories": {"name": "One more"},
        "goals": DAILY,
        "strategies": strategy("One more", 4, 6),
    }
    for resource, fields in new.items():
        yield from comes_and_goes(server, resource, fields)
    yield Operation("PATCH /goals/{id}", lambda: kit.write("PATCH", goal, target_value=next(numbers))())


def comes_and_goes(server: Measured, resource: str, fields: dict[str, Any]) -> Iterator[Operation]:
    """POST with the DELETE between unmeasured, then the other way round."""
    body, there = json.dumps(fields).encode(), list[int]()

    def post() -> bytes:
        answer = server.send("POST", f"/v1/{resource}", body)
        (made,) = get_data(answer).values()
        there.append(made["id"])
        return answer

    def delete() -> bytes:
        return server.send("DELETE", f"/v1/{resource}/{there.pop()}") if there else b""

    yield Operation(f"POST /{resource}", post, delete)
    delete()
    yield Operation(f"DELETE /{resource}/{{id}}", delete, post)
