"""Processes that are killed, and what is left: docs/reliability.md 1, 9, 10, 11 and 17."""

import os
import random
import shutil
import signal
import sqlite3
import statistics
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from commands import PATIENCE, Server, environment, new_key, run_ok, running, start
from factories import A_TRADE, unwrap
from journals import assert_sound, prepare, write_released
from proofs import SOAK, examples
from writers import Writer, parts_of_strategy

Record = Callable[[str], None]


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """Where the journal is, or is going to be."""
    folder = tmp_path / "data"
    folder.mkdir()
    return folder / "journal.db"


@contextmanager
def writing(server: Server, key: str, writers: Sequence[Writer]) -> Iterator[threading.Semaphore]:
    """All of them write during the block, and the server ends with it; counts what was acknowledged."""
    acknowledged = threading.Semaphore(0)
    with ThreadPoolExecutor(len(writers)) as pool:
        at_work = [pool.submit(writer.work, server, key, acknowledged.release) for writer in writers]
        try:
            yield acknowledged
        finally:
            server.process.kill()
            for one in at_work:
                one.result(PATIENCE)  # raises the error of the writer


def wait_for(acknowledged: threading.Semaphore, number: int) -> None:
    for _ in range(number):
        assert acknowledged.acquire(timeout=PATIENCE)


def end_at_random(server: Server, key: str, writers: Sequence[Writer], how: int) -> tuple[int, float]:
    """End the server at any moment while they write; return its exit code and the seconds that it took."""
    with writing(server, key, writers) as acknowledged:
        wait_for(acknowledged, random.randint(1, examples(200, 60)))
        time.sleep(random.uniform(0, 0.01))  # else it would always be just after a response
        began = time.monotonic()
        code = server.stop(how)
        took = time.monotonic() - began
    assert "Traceback" not in server.err.read_text()
    return code, took


def assert_as_acknowledged(db: Path, writers: Sequence[Writer]) -> None:
    assert_sound(db)
    for writer in writers:
        writer.compare(db)


def report(writers: Sequence[Writer]) -> str:
    acknowledged, cut_off, but_done, repeated = (
        sum(getattr(writer, name) for writer in writers)
        for name in ("acknowledged", "cut_off", "cut_off_but_done", "repeated")
    )
    return (
        f"{acknowledged} writes acknowledged, 0 lost; {cut_off} cut off, of which {but_done} done and 0"
        f" half-done; {repeated} POSTs repeated under their key, each there once"
    )


@pytest.mark.promise(1)
def test_a_kill_loses_no_acknowledged_write_and_leaves_none_half_written(db: Path, record_observation: Record) -> None:
    ends = end_often_under_load(db, signal.SIGKILL, examples(100, 2), record_observation)

    assert {code for code, _ in ends} == {-signal.SIGKILL}


@pytest.mark.promise(9)
def test_sigterm_under_load_loses_no_acknowledged_write(db: Path, record_observation: Record) -> None:
    ends = end_often_under_load(db, signal.SIGTERM, examples(20, 1), record_observation)

    assert {code for code, _ in ends} == {0}
    if SOAK:
        assert max(took for _, took in ends) < 6


def end_often_under_load(db: Path, how: signal.Signals, times: int, record: Record) -> list[tuple[int, float]]:
    """End servers under 6 writers, and look at the journal after each of them."""
    key, ends = new_key(db), []
    writers = [Writer(name) for name in ("Ada", "Ben", "Cleo", "Dora", "Emil", "Flo")]
    for _ in range(times):
        with running(db) as server:
            assert_as_acknowledged(db, writers)
            ends.append(end_at_random(server, key, writers, how))
    if how == signal.SIGKILL:
        with running(db):  # which takes in what was left in the log
            assert_as_acknowledged(db, writers)
    assert_as_acknowledged(db, writers)
    slowest = max(took for _, took in ends)
    record(f"{times} times {how.name} under 6 writers: {report(writers)}; gone within {slowest:.2f} s")
    return ends


MANY = examples(20_000, 500)


def kill_after(seconds: float, *arguments: str | Path) -> tuple[bool, float]:
    """Kill the command after that time; return whether it was still at work, and for how many seconds."""
    began = time.monotonic()
    with open(os.devnull, "wb") as nothing:
        process = start([str(one) for one in arguments], environment(), nothing.fileno(), nothing.fileno())
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    process.kill()
    code = process.wait(PATIENCE)
    assert code in (0, -signal.SIGKILL)
    return code != 0, time.monotonic() - began


Contents = dict[str, list[Any]]


def kill_at_moments(
    number: int, journal: Path, tmp_path: Path, *arguments: str | Path, before: Contents, after: Contents
) -> tuple[list[bool], list[bool]]:
    """Kill the command at moments spread over its time, the first at its beginning, each time on a copy.

    What it leaves is the journal as before or as after, every copy that it made is as before, and the next
    command does the work. Return whether the command was killed, and whether it was done, each time.
    """
    _, seconds = kill_after(PATIENCE, *arguments, "--db", copy_to(tmp_path / "undisturbed", journal))
    kills, ends = [], []
    for moment in range(number):
        db = copy_to(tmp_path / str(moment), journal)
        kills.append(kill_after(seconds * moment / number, *arguments, "--db", db)[0])
        # Seen on a copy: the next command has to repair what a kill has left.
        found = contents(copy_to(db.parent / "seen", db))
        assert found in (before, after)
        ends.append(found == after)
        assert all(contents(file) == before for file in db.parent.glob("*.before-*"))
        run_ok(*arguments, "--db", db)
        assert contents(db) == after
        kept = [contents(file) for file in db.parent.glob("*.before-*")]
        assert before in kept
        assert all(one in (before, found) for one in kept)
        shutil.rmtree(db.parent)
    return kills, ends


def write_large(db: Path) -> None:
    """A journal of the first release with thousands of imports and of trades that have a tag."""
    write_released(db, 1)
    with closing(sqlite3.connect(db)) as opened, opened:
        opened.execute("PRAGMA journal_mode = WAL").fetchone()
        multiply(opened, "imports")
        multiply(opened, "trades", without=("external_id", "fingerprint"))
        opened.execute("INSERT OR IGNORE INTO trade_tags SELECT id, 1 FROM trades")


def multiply(db: sqlite3.Connection, table: str, without: Sequence[str] = ()) -> None:
    """Copy the first row of the table many times, but for what has to be unique."""
    columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
    copied = ", ".join(column for column in columns if column not in ("id", *without))
    db.execute(
        f"""
        WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {MANY})
        INSERT INTO {table} ({copied}) SELECT {copied} FROM numbers JOIN {table} ON id = 1
        """
    )


def copy_to(folder: Path, db: Path) -> Path:
    """A copy of the journal, with its log and as it lies there, under the same name in a new folder."""
    folder.mkdir(parents=True)
    for suffix in ("", "-wal", "-journal"):
        with suppress(FileNotFoundError):
            shutil.copyfile(f"{db}{suffix}", folder / f"{db.name}{suffix}")
    return folder / db.name


def contents(db: Path) -> Contents:
    """Every row of a journal, which has to be sound, and its schema; but cursors, which a restore moves."""
    assert_sound(db)
    with closing(sqlite3.connect(db)) as opened:
        schema = opened.execute("SELECT type, name, sql FROM sqlite_schema ORDER BY type, name").fetchall()
        schema = [one for one in schema if not one[1].startswith("sqlite_stat")]
        tables = [name for kind, name, _ in schema if kind == "table" and name != "changed_objects"]
        found = {table: opened.execute(f"SELECT {columns(opened, table)} FROM {table}").fetchall() for table in tables}
        return {**found, "schema": schema, "version": opened.execute("PRAGMA user_version").fetchall()}


def columns(db: sqlite3.Connection, table: str) -> str:
    names = [name for _, name, *_ in db.execute(f"PRAGMA table_xinfo({table})") if name != "expired_cursor"]
    return ", ".join(f'"{name}"' for name in names)


@pytest.mark.promise(11)
def test_a_migration_that_is_killed_leaves_the_old_journal_or_the_new_one(
    db: Path, tmp_path: Path, record_observation: Record
) -> None:
    write_large(db)
    old = contents(db)
    migrated = copy_to(tmp_path / "migrated", db)
    run_ok("users", "list", "--db", migrated)
    new = contents(migrated)

    ends = kill_at_moments(examples(20, 2), db, tmp_path, "users", "list", before=old, after=new)[1]

    assert not all(ends)
    record_observation(
        f"{len(ends)} kills spread over a migration of {MANY} trades: {ends.count(False)} journals as before,"
        f" {ends.count(True)} migrated, 0 lost or damaged, all migrated by the next start"
    )


@pytest.mark.promise(10)
def test_a_restore_that_is_killed_leaves_the_journal_as_it_was_or_restored(
    db: Path, tmp_path: Path, record_observation: Record
) -> None:
    large, copy = tmp_path / "large.db", tmp_path / "copy.db"
    write_large(large)
    prepare(large)
    run_ok("backup", copy, "--db", large)
    run_ok("users", "add", "later", "--db", large)
    before, restored = contents(large), contents(copy)

    kills, ends = kill_at_moments(examples(10, 2), large, tmp_path, "restore", copy, before=before, after=restored)

    assert any(kills)
    record_observation(
        f"{sum(kills)} of {len(kills)} restores killed: {ends.count(False)} journals as before,"
        f" {ends.count(True)} restored, 0 damaged"
    )


@pytest.mark.promise(10)
def test_a_backup_under_load_holds_every_write_answered_before_it_began_and_is_restored(
    db: Path, tmp_path: Path, record_observation: Record
) -> None:
    key, writers = new_key(db), [Writer(name) for name in ("Ada", "Ben", "Cleo")]
    copies = [tmp_path / f"{number}.db" for number in range(examples(5, 1))]
    known = []
    with running(db) as server, writing(server, key, writers) as acknowledged:
        for copy in copies:
            wait_for(acknowledged, 50)
            known.append([writer.known.copy() for writer in writers])
            run_ok("backup", copy, "--db", db)

    for copy, before in zip(copies, known, strict=True):
        run_ok("restore", copy, "--db", db)
        assert contents(db) == contents(copy)
        with running(db) as server, server.client(key) as client:
            assert unwrap(client.post("/tag-categories", json={"name": "After"}))
        for writer, known_parts in zip(writers, before, strict=True):
            stored = writer.read_stored(db)
            trades = {name: parts for name, parts in known_parts.items() if parts == [A_TRADE["symbol"]]}
            assert trades.items() <= stored.items()
            strategies = stored.keys() - {name for name, parts in stored.items() if len(parts) == 1}
            assert all(stored[name] == parts_of_strategy(name) for name in strategies)
    record_observation(
        f"{len(copies)} of {len(copies)} backups taken under 3 writers restored, and a server works on each"
    )


@pytest.mark.promise(17)
def test_it_answers_at_once(db: Path, record_observation: Record) -> None:
    key = new_key(db)

    times = []
    for _ in range(examples(20, 1)):
        began = time.monotonic()
        with running(db) as server, server.client(key) as client:
            assert client.get("/tags").status_code == 200
            times.append(time.monotonic() - began)

    median = statistics.median(times)
    record_observation(
        f"{len(times)} cold starts to the first 200 of GET /v1/tags: median {median:.3f} s,"
        f" {min(times):.3f} to {max(times):.3f}"
    )
    if SOAK:
        assert median < 0.5
