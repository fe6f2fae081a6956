"""Writes one after the other: their queue, their thread, their cancellation (DECISIONS 27)."""

import asyncio
import random
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from itertools import count
from typing import Any

import pytest
from aiosqlite import Connection
from factories import Client, error_of, held_writes, run_sql, unwrap
from operations import dump
from sql_calls import every_sql_call, stopped_at
from starlette.applications import Starlette

from journal_api.database import connections
from journal_api.database import database as database_module
from journal_api.database.database import Database
from journal_api.database.sql import unique_name
from journal_api.database.sqlite_errors import api_error
from journal_api.errors import ApiError, Busy, Conflict, StorageUnavailable
from journal_api.settings import Settings


async def rename(db: Connection) -> None:
    """Append an exclamation mark to the name of every user."""
    await db.execute_fetchall("UPDATE users SET name = name || '!'")


async def create_table(db: Connection) -> None:
    await db.execute_fetchall("CREATE TABLE one (id)")


async def user_names(app: Starlette) -> list[str]:
    return [name for (name,) in await run_sql(app, "SELECT name FROM users")]


async def test_a_write_holds_the_lock_of_the_file_from_its_beginning(database: Database, settings: Settings) -> None:
    async with held_writes(database):
        with (
            closing(sqlite3.connect(settings.db, timeout=0)) as other,
            pytest.raises(sqlite3.OperationalError, match="locked"),
        ):
            other.execute("BEGIN IMMEDIATE")


FIRST_DECODES = """
import asyncio, pathlib, sys, threading
import msgspec
from journal_api.database.database import Database
from journal_api.routes.table import OPERATIONS

async def main():
    database = await Database.open(pathlib.Path(sys.argv[1]))
    for struct in {operation.body or operation.query for operation in OPERATIONS}:
        body = msgspec.json.encode(dict.fromkeys(struct.__struct_encode_fields__, {"id": [{}]}))
        barrier = threading.Barrier(8)

        def decode():
            barrier.wait()
            try:
                msgspec.json.decode(body, type=struct)
            except msgspec.ValidationError:
                pass

        threads = [threading.Thread(target=decode) for _ in range(8)]
        for each in (threading.Thread.start, threading.Thread.join):
            for thread in threads:
                each(thread)
    await database.close()

sys.setswitchinterval(1e-6)
asyncio.run(main())
"""


async def test_threads_that_decode_a_struct_at_once_do_not_crash_the_process(
    app: Starlette, settings: Settings
) -> None:
    command = [sys.executable, "-c", FIRST_DECODES, str(settings.db)]

    ran = await asyncio.to_thread(lambda: subprocess.run(command, capture_output=True, check=False))

    assert (ran.returncode, ran.stderr) == (0, b"")


async def test_a_connection_that_was_not_closed_does_not_keep_the_process_alive(database: Database) -> None:
    threads = [thread for thread in threading.enumerate() if "connection_worker" in thread.name]

    assert len(threads) >= 4
    assert all(thread.daemon for thread in threads)


async def test_a_database_that_is_closed_during_a_read_leaves_no_log(settings: Settings) -> None:
    settings.db.touch()
    database = await Database.open(settings.db)
    await database.write(create_table)

    with suppress(ValueError):  # of the read, whose connection is closed
        async with database.read_transaction() as db:
            await db.execute_fetchall("SELECT * FROM one")
            await database.close()

    assert [file.suffix for file in settings.db.parent.glob(f"{settings.db.name}*")] == [settings.db.suffix]


@pytest.mark.parametrize("seed", range(10))
async def test_reads_that_are_cancelled_while_the_database_closes_end_and_leave_no_log(
    settings: Settings, seed: int
) -> None:
    settings.db.touch()
    database = await Database.open(settings.db)
    await database.write(create_table)
    choose = random.Random(seed)
    numbers = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 100000) SELECT max(x) FROM n"

    async def read() -> None:
        async with database.report_transaction() if choose.random() < 0.5 else database.read_transaction() as db:
            for _ in range(3):
                await db.execute_fetchall(numbers)

    reads = [asyncio.create_task(read()) for _ in range(choose.randint(1, 6))]
    await asyncio.sleep(choose.random() / 20)
    for one in reads:
        one.cancel()
    await database.close()
    await asyncio.gather(*reads, return_exceptions=True)

    assert [file.suffix for file in settings.db.parent.glob(f"{settings.db.name}*")] == [settings.db.suffix]


async def test_a_reader_that_was_a_reports_sorts_in_memory_again(database: Database) -> None:
    async with database.report_transaction() as first:
        await first.execute_fetchall("PRAGMA temp_store = FILE")
    async with database.read_transaction() as again:
        ((where,),) = await again.execute_fetchall("PRAGMA temp_store")

    assert again is first
    assert where == 2


async def test_a_write_that_waits_while_the_file_is_moved_is_refused(app: Starlette, database: Database) -> None:
    path = app.state.settings.db
    elsewhere = path.with_name("elsewhere.db")
    before = await user_names(app)
    async with held_writes(database):
        waiting = asyncio.create_task(database.write(rename))
        await asyncio.sleep(0)
        path.rename(elsewhere)

    with pytest.raises(StorageUnavailable, match="moved, deleted or replaced"):
        await waiting
    elsewhere.rename(path)
    await database.write(rename)
    assert await user_names(app) == [f"{name}!" for name in before]


async def test_a_write_that_is_cancelled_while_it_waits_is_gone_at_once(app: Starlette, database: Database) -> None:
    before = await user_names(app)
    async with held_writes(database):
        waiting = asyncio.create_task(database.write(rename))
        await asyncio.sleep(0)
        waiting.cancel()
        with suppress(asyncio.CancelledError):
            await waiting

    assert waiting.cancelled()
    assert await user_names(app) == before


async def test_the_next_write_begins_after_a_cancelled_one_has_ended(app: Starlette, database: Database) -> None:
    before = await user_names(app)
    with stopped_at("BEGIN IMMEDIATE") as reached:
        cancelled = asyncio.create_task(database.write(rename))
        assert await asyncio.to_thread(reached.wait, 10)
        cancelled.cancel()
        following = asyncio.create_task(database.write(rename))
        await asyncio.sleep(0.02)
        are_done = cancelled.done(), following.done()
    await following

    assert are_done == (False, False)
    assert cancelled.cancelled()
    assert await user_names(app) == [f"{name}!" for name in before]


def test_a_write_waits_as_long_and_as_many_wait_as_documented() -> None:
    waits = database_module.MAX_WAITING, database_module.MAX_WAIT, connections.BUSY_TIMEOUT

    assert waits == (256, 1.5, 0.5)  # docs/reliability.md


async def test_a_write_that_waits_too_long_is_busy_and_was_never_begun(
    app: Starlette, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = dump(app)
    monkeypatch.setattr(database_module, "MAX_WAIT", 0.05)
    async with held_writes(app.state.database):
        refused = await client.post("/strategies", json={"name": "late"})
        read = await client.get("/strategies")

    assert error_of(refused) == (503, "busy")
    assert int(refused.headers["retry-after"]) > 0
    assert unwrap(read) == []
    assert dump(app) == before


async def test_a_write_that_finds_the_queue_full_is_busy_at_once(
    app: Starlette, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_module, "MAX_WAITING", 2)
    before = await user_names(app)
    for _ in range(2):  # the second time, too, two may wait
        async with held_writes(database):
            writes = [asyncio.create_task(database.write(rename)) for _ in range(3)]
            for _ in range(10):
                await asyncio.sleep(0)
            are_done = [write.done() for write in writes]
        *written, refused = await asyncio.gather(*writes, return_exceptions=True)

        assert are_done == [False, False, True]
        assert written == [None, None]
        assert isinstance(refused, Busy)
    assert await user_names(app) == [f"{name}!!!!" for name in before]


async def test_a_commit_that_fails_leaves_nothing_to_the_next_write(app: Starlette, database: Database) -> None:
    before = await user_names(app)
    commits = count()

    def fail_first(sql: str, values: list[Any], call: Callable[[], Any]) -> Any:
        if sql == "COMMIT" and next(commits) == 0:
            raise sqlite3.OperationalError("disk I/O error")
        return call()

    with every_sql_call(fail_first):
        failed, done = await asyncio.gather(database.write(rename), database.write(rename), return_exceptions=True)

    assert isinstance(failed, sqlite3.OperationalError)
    assert done is None
    assert await user_names(app) == [f"{name}!" for name in before]


async def test_a_write_that_awaits_anything_but_its_connection_is_rolled_back(
    app: Starlette, database: Database
) -> None:
    before = await user_names(app)

    async def rename_and_wait(db: Connection) -> None:
        await rename(db)
        await asyncio.sleep(0)

    with pytest.raises(RuntimeError, match="its connection only"):
        await database.write(rename_and_wait)

    await database.write(rename)
    assert await user_names(app) == [f"{name}!" for name in before]


@pytest.mark.own_journal  # whose file cannot grow any more
async def test_a_dry_run_after_a_full_disk_does_not_show_that_there_is_room_again(
    app: Starlette, database: Database
) -> None:
    ((pages,),) = await run_sql(app, "PRAGMA page_count")
    await run_sql(app, f"PRAGMA max_page_count = {pages}")
    with pytest.raises(sqlite3.OperationalError, match="full"):
        await run_sql(app, "UPDATE users SET name = hex(zeroblob(100000))")

    await database.write(rename, commit=False)

    async with held_writes(database):
        assert not await database.can_write()


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (sqlite3.SQLITE_BUSY, Busy),
        (sqlite3.SQLITE_LOCKED, Busy),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, Busy),
        (sqlite3.SQLITE_IOERR_FSYNC, StorageUnavailable),
        (sqlite3.SQLITE_CANTOPEN, StorageUnavailable),
        (sqlite3.SQLITE_READONLY, StorageUnavailable),
        (sqlite3.SQLITE_CORRUPT_INDEX, StorageUnavailable),
        (sqlite3.SQLITE_NOTADB, StorageUnavailable),
        (sqlite3.SQLITE_CONSTRAINT_UNIQUE, Conflict),
        (sqlite3.SQLITE_ERROR, type(None)),
    ],
)
def test_an_error_of_sqlite_is_told_as_this_error(code: int, error: type[ApiError]) -> None:
    raised = sqlite3.OperationalError("raised")
    raised.sqlite_errorcode = code

    assert type(api_error(raised)) is error


def test_only_a_value_that_is_taken_is_a_duplicate_name() -> None:
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE TABLE names (name TEXT NOT NULL)")

        with pytest.raises(sqlite3.IntegrityError), unique_name():
            db.execute("INSERT INTO names VALUES (NULL)")
