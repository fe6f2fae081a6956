"""Write transactions as one call of the writer's thread: DECISIONS 28."""

import asyncio
import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from aiosqlite import Connection
from factories import create_category, create_strategy, error_of, run_sql, unwrap
from operations import dump
from starlette.applications import Starlette

from journal_api.database import database
from journal_api.errors import ApiError, Busy, StorageUnavailable


class CountingQueue:
    """The queue of the writer's thread; `number` is how many calls were sent."""

    def __init__(self, queue: Any) -> None:
        self.queue, self.number = queue, 0

    def put_nowait(self, call: Any) -> None:
        self.number += 1
        self.queue.put_nowait(call)


@contextmanager
def calls_of(app: Starlette) -> Iterator[CountingQueue]:
    """The calls that the block sends to the writer's thread."""
    writer = app.state.database._writer
    queue = writer._tx
    writer._tx = counting = CountingQueue(queue)
    try:
        yield counting
    finally:
        writer._tx = queue


@contextmanager
def thread_stopped_at(app: Starlette, sql: str) -> Iterator[threading.Event]:
    """The writer's thread stops at that statement until the block ends; the event says that it is there."""
    connection = app.state.database._writer._conn
    execute, reached, goes_on = connection.execute, threading.Event(), threading.Event()

    def stop(statement: str, values: Any = ()) -> Any:
        if statement == sql and not reached.is_set():
            reached.set()
            goes_on.wait(10)
        return execute(statement, values)

    connection.execute = stop
    try:
        yield reached
    finally:
        goes_on.set()
        connection.execute = execute


async def until(event: threading.Event) -> None:
    assert await asyncio.to_thread(event.wait, 10)


async def rename(db: Connection) -> None:
    await db.execute_fetchall("UPDATE users SET name = name || '!'")


async def names_of_users(app: Starlette) -> list[str]:
    return [name for (name,) in await run_sql(app, "SELECT name FROM users")]


async def test_a_write_is_one_call_of_the_thread_also_with_a_condition(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    category = await create_category(client)
    strategy = await create_strategy(client, "Old", setups=[{"name": "a"}])
    path = f"/strategies/{strategy['id']}"
    etag = (await client.get(path)).headers["etag"]

    with calls_of(app) as calls:
        created = await client.post("/tags", json={"category_id": category["id"], "name": "FOMO"})
        patched = await client.patch(path, json={"name": "New"}, headers={"If-Match": etag})
        refused = await client.patch(path, json={"name": "Newer"}, headers={"If-Match": etag})

    assert [created.status_code, patched.status_code, refused.status_code] == [201, 200, 412]
    assert calls.number == 3


async def test_writes_that_are_refused_take_nothing_of_the_writes_beside_them(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    await create_strategy(client, "taken")
    # Refused after the strategy and some of its setups were written: an id of somebody else's setup.
    setups = [{"name": "new"}, {"setup_id": 10**6}]

    answers = await asyncio.gather(
        *(client.post("/strategies", json={"name": f"good {number}"}) for number in range(10)),
        *(client.patch("/strategies/1", json={"name": f"bad {n}", "setups": setups}) for n in range(10)),
        *(client.post("/strategies", json={"name": "taken"}) for _ in range(10)),
    )

    assert [answer.status_code for answer in answers] == [201] * 10 + [400] * 10 + [409] * 10
    names = {item["name"] for item in unwrap(await client.get("/strategies"))}
    assert names == {"taken", *(f"good {number}" for number in range(10))}
    assert await run_sql(app, "SELECT name FROM setups") == []


async def test_a_write_that_waits_while_the_file_is_moved_is_refused(app: Starlette) -> None:
    path = app.state.database._path
    elsewhere = path.with_name("elsewhere.db")
    before = await names_of_users(app)
    with thread_stopped_at(app, "COMMIT") as reached:
        first = asyncio.create_task(app.state.database.write(rename))
        await until(reached)
        second = asyncio.create_task(app.state.database.write(rename))
        await asyncio.sleep(0)
        path.rename(elsewhere)

    await first
    with pytest.raises(StorageUnavailable, match="moved, deleted or replaced"):
        await second
    with pytest.raises(StorageUnavailable):
        async with app.state.database.transaction() as db:
            await rename(db)
    elsewhere.rename(path)
    await app.state.database.write(rename)
    assert await names_of_users(app) == [f"{name}!!" for name in before]


async def test_a_write_whose_request_ends_before_its_turn_is_never_begun(app: Starlette) -> None:
    before = await names_of_users(app)
    with thread_stopped_at(app, "BEGIN IMMEDIATE") as reached:
        first = asyncio.create_task(app.state.database.write(rename))
        await until(reached)
        second = asyncio.create_task(app.state.database.write(rename))
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.wait([second])
        is_cancelled_before_the_first_ends = second.cancelled() and not first.done()
    await first

    assert is_cancelled_before_the_first_ends
    assert await names_of_users(app) == [f"{name}!" for name in before]


async def test_a_write_whose_request_ends_amid_it_runs_no_further_statement(app: Starlette) -> None:
    before = await names_of_users(app)
    done = []

    async def rename_twice(db: Connection) -> None:
        for number in range(2):
            await rename(db)
            done.append(number)

    with thread_stopped_at(app, "BEGIN IMMEDIATE") as reached:
        write = asyncio.create_task(app.state.database.write(rename_twice))
        await until(reached)
        write.cancel()
        await asyncio.sleep(0.01)
    await asyncio.wait([write])

    assert write.cancelled()
    assert done == []
    assert await names_of_users(app) == before


async def test_a_write_whose_request_ends_during_the_commit_is_told_as_done(app: Starlette) -> None:
    before = await names_of_users(app)
    with thread_stopped_at(app, "COMMIT") as reached:
        write = asyncio.create_task(app.state.database.write(rename))
        await until(reached)
        write.cancel()
        await asyncio.sleep(0.01)
    await write

    assert await names_of_users(app) == [f"{name}!" for name in before]


async def test_a_write_that_does_not_get_its_turn_is_busy_and_never_begun(
    app: Starlette, client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = dump(app)
    with thread_stopped_at(app, "BEGIN IMMEDIATE") as reached:
        first = asyncio.create_task(app.state.database.write(rename, commit=False))
        await until(reached)
        monkeypatch.setattr(database, "MAX_WAIT", 0.05)
        refused = await client.post("/strategies", json={"name": "late"})
        with pytest.raises(Busy):
            async with app.state.database.transaction() as db:
                await db.execute_fetchall("SELECT 1")
        is_first_at_work = not first.done()
    await first

    assert is_first_at_work
    assert error_of(refused) == (503, "busy")
    assert dump(app) == before


async def test_a_write_that_waits_for_anything_but_its_connection_is_rolled_back(app: Starlette) -> None:
    before = await names_of_users(app)

    async def rename_and_wait(db: Connection) -> None:
        await rename(db)
        await asyncio.sleep(0)

    with pytest.raises(RuntimeError, match="its connection only"):
        await app.state.database.write(rename_and_wait)

    assert await names_of_users(app) == before
    await app.state.database.write(rename)
    assert await names_of_users(app) == [f"{name}!" for name in before]


async def test_a_refused_write_is_freed_at_once(client: httpx.AsyncClient) -> None:
    gc.collect()
    gc.disable()  # it goes at once, not when the garbage is collected
    try:
        for number in range(10):
            refused = await client.patch("/tags/1", json={"name": f"{number}"})
            assert error_of(refused) == (404, "not_found")
        kept = [one for one in gc.get_objects() if isinstance(one, ApiError)]
    finally:
        gc.enable()

    assert len(kept) <= 1  # the last one, to which the writer's thread refers until its next call
