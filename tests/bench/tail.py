"""How long the slowest requests of front ends take, with and without an import beside them."""

import secrets
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, timedelta
from pathlib import Path
from typing import NamedTuple

from commands import command
from msgspec import Struct, json

from bench.data import DAILY, Contents, copy_of, create, fill, get_data, trade_file
from bench.mixed import Load, Seen
from bench.servers import TESTS, Measured, journal

NOTHING, BY_HTTP, BY_COMMAND = "nothing beside", "POST /imports beside", "journal-api import beside"
KINDS = ("list", "single", "snapshots", "write")


class Crowd(NamedTuple):
    """How many at once, for how long, beside what, in a journal of so many trades."""

    connections: Sequence[int]
    seconds: float
    beside: Sequence[str]
    trades: int
    import_rows: int


CROWDS = Crowd((1, 16, 64), 5, (NOTHING, BY_HTTP, BY_COMMAND), trades=10_000, import_rows=20_000)
FEW = Crowd((4,), 0.3, (NOTHING, BY_HTTP), trades=100, import_rows=200)


class Latency(Struct, frozen=True):
    """Seconds; all 0 where there were no answers."""

    answers: int
    p50: float
    p99: float
    p999: float
    most: float


class Tail(Struct, frozen=True):
    """Front ends on so many connections. `kinds` are the answers that were successes."""

    beside: str
    connections: int
    rate: float
    kinds: dict[str, Latency]
    busy: Latency
    failed: int
    imports: int


def measured(folder: Path, crowd: Crowd) -> Iterator[Tail]:
    """Each from the same journal."""
    db = folder / "crowd.db"
    key, contents = fill(db)
    with journal(db, key) as server:
        fields = {**DAILY, "goal_name": "A quarter", "timeframe": "quarterly"}
        goal_id = create(server, "goals", **fields)
        account_id = create(server, "accounts", name="Much traded")
        server.send("POST", f"/v1/imports?account_id={account_id}", trade_file(crowd.trades), "text/csv")
        trades = get_data(server.send("GET", "/v1/trades"))["trades"]
    for beside in crowd.beside:
        for connections in crowd.connections:
            copy = copy_of(db, f"crowd-{connections}-{secrets.token_hex(4)}.db")
            with journal(copy, key) as server:
                load = load_of(server, contents, goal_id, trades[0])
                load.connections, load.seconds = connections, crowd.seconds
                with over_and_over(work_beside(beside, server, copy, crowd.import_rows)) as times:
                    seen = seen_by(load)
                yield tail_of(beside, load, seen, len(times))


def load_of(server: Measured, contents: Contents, goal_id: int, trade: dict[str, int]) -> Load:
    """What the pages of a front end poll."""
    goals = (contents.goal_id, goal_id)
    yesterday = date.today() - timedelta(days=1)
    return Load(
        url=server.url,
        key=server.key,
        connections=1,
        seconds=1,
        reads={
            "list": [f"/v1/{name}" for name in ("tags", "tag-categories", "strategies", "goals", "trades")],
            "single": [
                f"/v1/strategies/{contents.small_strategy_id}",
                f"/v1/trades/{trade['id']}",
                *(f"/v1/goals/{one}" for one in goals),
            ],
            "snapshots": [f"/v1/goals/{one}/snapshots" for one in goals],
        },
        category_id=contents.category_id,
        goal_id=goal_id,
        trade={
            "account_id": trade["account_id"],
            "symbol": "ES",
            "direction": "long",
            "quantity": 1,
            "entry_price": 5000,
            "exit_price": 5001,
            "opened_at": f"{yesterday}T14:00:00Z",
            "closed_at": f"{yesterday}T14:05:00Z",
        },
    )


def seen_by(load: Load) -> Seen:
    """What another process saw that sent the load."""
    ran = subprocess.run(
        [sys.executable, "-m", "bench.mixed"],
        input=json.encode(load),
        stdout=subprocess.PIPE,
        cwd=TESTS,
        check=True,
    )
    return json.decode(ran.stdout, type=Seen)


def tail_of(beside: str, load: Load, seen: Seen, imports: int) -> Tail:
    every = [one for kind in seen.seconds.values() for one in kind]
    kinds = {"all": latency_of(every)}
    kinds |= {kind: latency_of(seen.seconds.get(kind, [])) for kind in KINDS}
    rate, busy = len(every) / seen.took, latency_of(seen.busy)
    return Tail(beside, load.connections, rate, kinds, busy, seen.failed, imports)


def latency_of(seconds: Sequence[float]) -> Latency:
    ordered = sorted(seconds) or [0.0]
    p50, p99, p999 = (ordered[int(len(ordered) * share)] for share in (0.5, 0.99, 0.999))
    return Latency(len(seconds), p50, p99, p999, ordered[-1])


def work_beside(beside: str, server: Measured, db: Path, rows: int) -> Callable[[], None] | None:
    """An import of new trades into an account of its own, which takes a while."""
    if beside == NOTHING:
        return None
    file = db.with_suffix(".csv")
    file.write_bytes(trade_file(rows))
    if beside == BY_COMMAND:
        return lambda: import_by_command(db, file)
    return lambda: import_by_http(server, file.read_bytes())


def import_by_command(db: Path, file: Path) -> None:
    """It may be told that others write; then it is tried again, as a trader would."""
    command("import", str(file), "--account", f"Import {secrets.token_hex(8)}", "--db", str(db))


def import_by_http(server: Measured, file: bytes) -> None:
    beside = server.again()
    account_id = create(beside, "accounts", name=f"Import {secrets.token_hex(8)}")
    beside.send("POST", f"/v1/imports?account_id={account_id}", file, "text/csv")


@contextmanager
def over_and_over(work: Callable[[], None] | None) -> Iterator[list[None]]:
    """The work again and again on another thread while the block runs; as many items as were begun."""
    times: list[None] = []
    ended = threading.Event()

    def run() -> None:
        while work and not ended.is_set():
            times.append(None)
            work()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield times
    finally:
        ended.set()
        thread.join()
