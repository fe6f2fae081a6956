"""The cases with their targets, each run as soon as its servers are up."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from bench import bare, load
from bench.data import Contents, copy_journal, fill, memory_of_import, trade_file
from bench.measure import Case, Pace, compare, limited
from bench.servers import Measured, journal, seconds_to_first_answer, uvicorn
from journal_api.repositories import strategies

NOOP, SQLITE, PEER = "an empty route", "sqlite3", "FastAPI + SQLAlchemy"
OWNER = 1


def measure_cases(folder: Path, pace: Pace) -> Iterator[str]:
    """Yield a line for every case in turn."""
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
        yield limited("memory after the run", "MiB", [ours.resident()], 80)
    starts = [seconds_to_first_answer(for_start, key) for _ in range(pace.rounds)]
    yield limited("start to the first response", "s", starts, 0.5)
    peak = memory_of_import(folder / "import.db", pace.most_rows)
    yield limited(f"memory of an import of {pace.most_rows:,} trades", "MiB", [peak], 200)


def requests(
    ours: Measured, peer: Measured, noop: Measured, contents: Contents, for_sqlite: Path, pace: Pace
) -> Iterator[Case]:
    """Requests from 16 connections, and the largest strategy after a write."""
    small, goal = f"/v1/strategies/{contents.small_strategy_id}", f"/v1/goals/{contents.goal_id}"
    for what, path in (("200 tags", "/v1/tags"), ("a strategy, 4 x 6", small), ("one goal", goal)):
        again = load.under_load(ours, pace, path)
        yield Case(f"{what}, asked again", again, NOOP, load.under_load(noop, pace, "/"), 0.35)
    assert ours.read("/v1/tags") == peer.read("/v1/tags")
    after = load.reads_after_a_write(ours, pace.calls, "/v1/tags")
    yield Case("200 tags, after a write", after, PEER, load.reads(peer, pace.calls, "/v1/tags"))
    large = contents.large_strategy_id
    after = load.reads_after_a_write(ours, pace.calls, f"/v1/strategies/{large}")
    same = bare.loop_statements(for_sqlite, pace.seconds, lambda db: strategies.get(db, OWNER, large))
    yield Case("a strategy, 50 x 100, after a write", after, SQLITE, same, 0.7)
    category = contents.category_id
    new = load.new_tags(ours, pace, category)
    yield Case("create a tag, durable", new, PEER, load.new_tags(peer, pace, category), 3)


def import_of_a_file(ours: Measured, db: Path, pace: Pace) -> Case:
    """A file of trades, recognised, with zones and exact money."""
    file = trade_file(pace.import_rows)
    return Case(
        f"import of {pace.import_rows:,} trades",
        load.imports(ours, file, pace.import_rows),
        "csv.reader + executemany",
        bare.imports(db, file, pace.import_rows),
        0.05,
    )
