"""The cases with their targets, each run as soon as its servers are up."""

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from datetime import date, timedelta
from pathlib import Path

from commands import new_key

from bench import bare, load
from bench.data import (
    DAILY,
    DRAWDOWN,
    Contents,
    copy_of,
    create,
    fill,
    get_data,
    long_journal,
    rows_of,
    trade_file,
    two_versions,
)
from bench.measure import PEER, Case, Other, Pace, Result, Side, compare, limited
from bench.servers import Measured, journal, seconds_to_first_answer, uvicorn
from journal_api.repositories import snapshots, strategies
from journal_api.structs.snapshots import SnapshotQuery

NOOP, SQLITE = "a route that does nothing", "sqlite3, the same statement"
A_PAGE = 365
OWNER = 1


def measured(folder: Path, pace: Pace, trades: int) -> Iterator[Result]:
    """Every case in turn; the long journal has so many trades, the short one a hundredth of them."""
    db = folder / "journal.db"
    key, contents = fill(db)
    for_peer, for_sqlite, for_start = (copy_of(db, f"{name}.db") for name in ("peer", "sqlite", "start"))
    with ExitStack() as stack:
        ours = stack.enter_context(journal(db, key))
        peer = stack.enter_context(uvicorn("peer", key, folder, BENCH_DB=str(for_peer)))
        noop = stack.enter_context(uvicorn("noop", key, folder))
        for case in requests(ours, peer, noop, contents, for_sqlite, pace):
            yield compare(case, pace)
        yield compare(patch(ours, contents, for_sqlite, pace), pace)
        yield compare(import_of_a_file(ours, folder / "bare.db", pace), pace)
        yield limited("memory after all of this", "MiB", [ours.resident()], 80)
    starts = [seconds_to_first_answer(for_start, key) for _ in range(pace.rounds)]
    yield limited("start of the process to the first 200", "s", starts, 0.5)
    yield from long_journals(folder, pace, trades)


def requests(
    ours: Measured, peer: Measured, noop: Measured, contents: Contents, for_sqlite: Path, pace: Pace
) -> Iterator[Case]:
    """Requests from 16 connections."""
    goal = f"/v1/goals/{contents.goal_id}"
    small = f"/v1/strategies/{contents.small_strategy_id}"
    for what, path, target in (("200 tags", "/v1/tags", 0.35), ("a strategy, 4 x 6", small, 0.4)):
        assert get_data(ours.send("GET", path)) == get_data(peer.send("GET", path)), path
        yield asked_again(what, path, ours, [(NOOP, noop, "/", target), (PEER, peer, path, 15)], pace)
        yield after_a_write(what, path, ours, [(NOOP, noop, "/"), (PEER, peer, path)], pace)
    yield asked_again("one goal", goal, ours, [(NOOP, noop, "/", 0.4)], pace)
    yield after_a_write("one goal", goal, ours, [(NOOP, noop, "/")], pace)
    yield Case(
        "one goal, 304",
        "requests",
        load.Load(ours, pace, goal, etag=ours.etag(goal)),
        [Other(NOOP, load.Load(noop, pace, "/"), target=0.45)],
    )
    yield from large_strategy(ours, peer, contents.large_strategy_id, for_sqlite, pace)
    values = {
        **snapshots.build_page_values(contents.goal_id, SnapshotQuery(limit=A_PAGE)),
        "user_id": 1,
        "today": "",
    }
    page = bare.statements_of(lambda db: snapshots.read_page_if_current(db, {**values, "is_refreshed": True}))
    yield Case(
        f"{A_PAGE} snapshots, nothing stale",
        "requests",
        load.Load(ours, pace, f"{goal}/snapshots?limit={A_PAGE}"),
        [Other(SQLITE, bare.loop_of(for_sqlite, pace.seconds, page), target=0.6)],
    )
    category = contents.category_id
    yield Case(
        "create a tag, durable",
        "requests",
        load.NewTags(ours, pace, category),
        [Other(PEER, load.NewTags(peer, pace, category), target=4.5)],
    )


def asked_again(
    what: str, path: str, ours: Measured, others: Sequence[tuple[str, Measured, str, float]], pace: Pace
) -> Case:
    """A read that is asked for again and again from 16 connections, while nobody writes."""
    return Case(
        f"{what}, asked again",
        "requests",
        load.Load(ours, pace, path),
        [Other(name, load.Load(server, pace, path), target) for name, server, path, target in others],
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
    assert get_data(ours.send("GET", path)) == get_data(peer.send("GET", path)), path
    same = bare.statements_of(lambda db: strategies.get(db, OWNER, strategy_id))
    alone = Other(SQLITE, bare.loop_of(for_sqlite, pace.seconds, same), target=0.8)
    written = after_a_write(what, path, ours, [(PEER, peer, path)], pace)
    yield written._replace(others=[alone, *written.others])
    again = asked_again(what, path, ours, [], pace)
    yield again._replace(others=[alone._replace(target=15)])


def patch(ours: Measured, contents: Contents, for_sqlite: Path, pace: Pace) -> Case:
    """All of 50 x 100 changed in place."""
    path = f"/v1/strategies/{contents.large_strategy_id}"
    versions = two_versions(ours, contents.large_strategy_id)
    bodies = [json.dumps({"setups": setups}).encode() for setups in versions]
    rows = [rows_of(setups) for setups in versions]
    # The first version is what is stored.
    return Case(
        "PATCH 50 x 100, all in place",
        "time",
        load.one_by_one(ours, pace.calls, load.edits(ours, path, reversed(bodies))),
        [
            Other(
                "executemany of the same rows",
                bare.edits(for_sqlite, pace.calls, reversed(rows)),
                target=4,
                at_most=True,
            )
        ],
    )


def import_of_a_file(ours: Measured, db: Path, pace: Pace) -> Case:
    """A file of trades, recognised, with zones and exact money."""
    file = trade_file(pace.import_rows)
    return Case(
        f"import of {pace.import_rows:,} trades",
        "rows",
        load.imports(ours, file, pace.import_rows),
        [Other("csv.reader + executemany", bare.imports(db, file), target=0.1)],
    )


def long_journals(folder: Path, pace: Pace, trades: int) -> Iterator[Result]:
    """What must not cost more in a long journal than in a short one."""
    short, long = (folder / f"{count}.db" for count in (trades // 100, trades))
    long_journal(short, trades // 100)
    peak = long_journal(long, trades)
    yield limited(f"memory of an import of {trades:,} trades", "MiB", [peak], 200)
    with ExitStack() as stack:
        in_short = stack.enter_context(journal(short, new_key(short)))
        in_long = stack.enter_context(journal(long, new_key(long)))
        yield compare(next_read(in_long, in_short, pace, trades), pace)
        first = Case(
            f"first daily history of {trades:,} trades",
            "time",
            load.first_reads(in_long, json.dumps(DRAWDOWN).encode()),
            [
                Other(
                    "one pass of window functions",
                    bare.pass_over_trades(long),
                    target=3,
                    at_most=True,
                )
            ],
        )
        yield compare(first, pace)


def next_read(in_long: Measured, in_short: Measured, pace: Pace, trades: int) -> Case:
    """One more trade of yesterday, and then the snapshots of a daily goal."""
    long, short = (reads_after_a_trade(server, pace) for server in (in_long, in_short))
    return Case(
        f"the read after one more trade, of {trades:,}",
        "time",
        long,
        [Other(f"the same, of {trades // 100:,}", short, target=1.5, at_most=True)],
    )


def reads_after_a_trade(server: Measured, pace: Pace) -> Side:
    goal_id = create(server, "goals", **DAILY)
    server.send("GET", f"/v1/goals/{goal_id}/snapshots")
    (accounts,) = get_data(server.send("GET", "/v1/accounts")).values()
    yesterday = date.today() - timedelta(days=1)
    trade = {
        "account_id": accounts[0]["id"],
        "symbol": "NQ",
        "direction": "long",
        "quantity": 1,
        "entry_price": 20000,
        "exit_price": 20001,
        "opened_at": f"{yesterday}T14:00:00Z",
        "closed_at": f"{yesterday}T14:05:00Z",
    }
    return load.reads_after_a_trade(server, pace.calls, goal_id, json.dumps(trade).encode())
