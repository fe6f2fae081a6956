"""Readers that share a connection: they go together, and none notices the others."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiosqlite import Connection

from journal_api.database.batching import BatchingConnection
from journal_api.database.connections import reading

COUNT_FAR = """
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) SELECT count(*) FROM n
"""


@pytest.fixture
async def reader(tmp_path: Path) -> AsyncIterator[BatchingConnection]:
    path = tmp_path / "some.db"
    sqlite3.connect(path).close()
    connection = await reading(path)
    assert isinstance(connection, BatchingConnection)
    yield connection
    await connection.close()


async def value_of(reader: Connection, sql: str) -> Any:
    ((value,),) = await reader.execute_fetchall(sql)
    return value


async def test_what_is_asked_in_one_turn_of_the_loop_takes_one_way_to_the_thread(
    reader: BatchingConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    ways: list[int] = []
    run = reader._run_batch

    def noted(loop: asyncio.AbstractEventLoop, requested: list[Any]) -> None:
        ways.append(len(requested))
        run(loop, requested)

    monkeypatch.setattr(reader, "_run_batch", noted)

    values = await asyncio.gather(*(value_of(reader, f"SELECT {number}") for number in range(50)))

    assert values == list(range(50))
    assert ways == [50]


async def test_each_gets_an_answer_of_its_own_though_others_fail(reader: BatchingConnection) -> None:
    requested = ["SELECT 1", "SELECT nothing", "SELECT 2", "NONSENSE", "SELECT 3"]

    answers = await asyncio.gather(*(value_of(reader, sql) for sql in requested), return_exceptions=True)

    failed = [isinstance(answer, sqlite3.OperationalError) for answer in answers]
    assert [answer for answer, has_failed in zip(answers, failed, strict=True) if not has_failed] == [1, 2, 3]
    assert failed == [False, True, False, True, False]


async def test_who_gives_up_takes_nobody_along(reader: BatchingConnection) -> None:
    tasks = [asyncio.create_task(value_of(reader, f"SELECT {number}")) for number in range(20)]
    await asyncio.sleep(0)  # all of them have requested

    for task in tasks[::2]:
        task.cancel()
    answers = await asyncio.gather(*tasks, return_exceptions=True)

    assert all(isinstance(answer, asyncio.CancelledError) for answer in answers[::2])
    assert answers[1::2] == list(range(1, 20, 2))


async def test_what_is_asked_while_the_thread_is_busy_is_answered_next(reader: BatchingConnection) -> None:
    first = asyncio.create_task(value_of(reader, COUNT_FAR))
    await asyncio.sleep(0.001)

    later = await asyncio.gather(*(value_of(reader, f"SELECT {number}") for number in range(5)))

    assert first.done()
    assert later == list(range(5))


async def test_an_answer_does_not_wait_for_a_long_statement_behind_it(reader: BatchingConnection) -> None:
    first = asyncio.create_task(value_of(reader, COUNT_FAR))
    behind = asyncio.create_task(value_of(reader, COUNT_FAR.replace("100000", "2000000")))

    await first

    assert not behind.done()
    assert await behind == 2_000_000


async def test_a_closed_connection_refuses(reader: BatchingConnection) -> None:
    await reader.close()

    with pytest.raises(ValueError, match="closed"):
        await value_of(reader, "SELECT 1")
