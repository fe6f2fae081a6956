"""The cases with their targets, each run as soon as its servers are up."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from commands import new_key

from bench import bare, load
from bench.data import (
    DRAWDOWN,
    Contents,
    copy_journal,
    fill,
    make_long_journal,
    trade_file,
)
from bench.measure import PEER, Case, Other, Pace, Result, compare, limited
from bench.servers import Measured, journal, seconds_to_first_answer, uvicorn
from journal_api.repositories import strategies

NOOP, SQLITE = "a route that does nothing", "sqlite3, the same statement"
OWNER = 1


def measure_cases(folder: Path, pace: Pace, trades: int) -> Iterator[Result]:
    """Every case in turn; the long journal has so many trades."""
    db = folder / "journal.db"
    key, contents = fill(db)
    for_peer, for_sqlite, for_start = (copy_journal(db, f"{name}.db") for name in ("peer", "sqlite", "start"))
    with ExitStack() as stack:
        ours = stack.enter_context(journal(db, key))
        peer = stack.enter_context(uvicorn("peer", key, folder, BENCH_DB=str(for_peer)))
        noop = stack.enter_context(uvicorn("noop", key, folder))
        for case in requests(ours, peer, noop, contents, for_sqlite, pace):
            yield compare(case, pace)
        yield compare(import_of_a_file(ours, folder / "bare.db", pace), pace)
        yield limited("memory after all of this", "MiB", [ours.resident()], 80)
    starts = [seconds_to_first_answer(for_start, key) for _ in range(pace.rounds)]
    yield limited("start of the process to the first 200", "s", starts, 0.5)
    yield from measure_long_journal(folder, pace, trades)


def requests(
    ours: Measured, peer: Measured, noop: Measured, contents: Contents, for_sqlite: Path, pace: Pace
) -> Iterator[Case]:
    """Requests from 16 connections."""
    goal = f"/v1/goals/{contents.goal_id}"
    small = f"/v1/strategies/{contents.small_strategy_id}"
    for what, path, target in (("200 tags", "/v1/tags", 0.35), ("a strategy, 4 x 6", small, 0.4)):
        assert ours.read(path) == peer.read(path), path
        yield asked_again(what, path, ours, [(NOOP, noop, "/", target), (PEER, peer, path, 15)], pace)
        yield after_a_write(what, path, ours, [(NOOP, noop, "/"), (PEER, peer, path)], pace)
    yield asked_again("one goal", goal, ours, [(NOOP, noop, "/", 0.4)], pace)
    yield after_a_write("one goal", goal, ours, [(NOOP, noop, "/")], pace)
    yield Case(
        "one goal, 304",
        "requests",
        load.under_load(ours, pace, goal, etag=ours.etag(goal)),
        [Other(NOOP, load.under_load(noop, pace, "/"), target=0.45)],
    )
    yield from large_strategy(ours, peer, contents.large_strategy_id, for_sqlite, pace)
    category = contents.category_id
    yield Case(
        "create a tag, durable",
        "requests",
        load.new_tags(ours, pace, category),
        [Other(PEER, load.new_tags(peer, pace, category), target=4.5)],
    )


def asked_again(
    what: str, path: str, ours: Measured, others: Sequence[tuple[str, Measured, str, float]], pace: Pace
) -> Case:
    """A read that is asked for again and again from 16 connections, while nobody writes."""
    return Case(
        f"{what}, asked again",
        "requests",
        load.under_load(ours, pace, path),
        [Other(name, load.under_load(server, pace, path), target) for name, server, path, target in others],
    )


def after_a_write(
    what: str, path: str, ours: Measured, others: Sequence[tuple[str, Measured, str]], pace: Pace
) -> Case:
    """A read by one client, which writes before each read; the others keep nothing and need no write."""
    return Case(
        f"{what}, after a write",
        "requests",
        load.reads_after_a_write(ours, pace.calls, path),
        [Other(name, load.reads(server, pace.calls, path)) for name, server, path in others],
    )


def large_strategy(
    ours: Measured, peer: Measured, strategy_id: int, for_sqlite: Path, pace: Pace
) -> Iterator[Case]:
    """A read of 200 kB, which SQLite makes once until somebody writes."""
    what, path = "a strategy, 50 x 100", f"/v1/strategies/{strategy_id}"
    assert ours.read(path) == peer.read(path), path
    same = bare.loop_statements(for_sqlite, pace.seconds, lambda db: strategies.get(db, OWNER, strategy_id))
    alone = Other(SQLITE, same, target=0.8)
    written = after_a_write(what, path, ours, [(PEER, peer, path)], pace)
    yield written._replace(others=[alone, *written.others])
    again = asked_again(what, path, ours, [], pace)
    yield again._replace(others=[alone._replace(target=15)])


def import_of_a_file(ours: Measured, db: Path, pace: Pace) -> Case:
    """A file of trades, recognised, with zones and exact money."""
    file = trade_file(pace.import_rows)
    return Case(
        f"import of {pace.import_rows:,} trades",
        "rows",
        load.imports(ours, file, pace.import_rows),
        [Other("csv.reader + executemany", bare.imports(db, file, pace.import_rows), target=0.1)],
    )


def measure_long_journal(folder: Path, pace: Pace, trades: int) -> Iterator[Result]:
    """The memory of a large import, and the first history of a goal over it."""
    long = folder / f"{trades}.db"
    peak = make_long_journal(long, trades)
    yield limited(f"memory of an import of {trades:,} trades", "MiB", [peak], 200)
    with ExitStack() as stack:
        in_long = stack.enter_context(journal(long, new_key(long)))
        first = Case(
            f"first daily history of {trades:,} trades",
            "time",
            load.first_reads(in_long, DRAWDOWN),
            [Other("one pass of window functions", bare.pass_over_trades(long), target=3, at_most=True)],
        )
        yield compare(first, pace)
