"""Reads that take long in a large journal end when their client disconnects."""

import asyncio
import math
import sqlite3
from collections.abc import AsyncIterator
from typing import Any

import pytest
from conftest import client_of, new_key_for
from factories import Client, error_of, insert_account, insert_trade, insert_user, run_sql, write_day
from saved_journals import for_rows
from starlette.applications import Starlette

from journal_api.database import database as database_module
from journal_api.database.database import Database
from journal_api.errors import Busy

# It never ends by itself.
ENDLESS = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
PATHS = ("/v1/reports?", "/v1/search?q=late", "/v1/goals?with=snapshot", "/v1/goals/1/snapshots?")


async def send_to_disconnected_client(app: Starlette, target: str) -> list[Any]:
    """Return the messages of the response to a GET whose client disconnects at once."""
    path, query = target.split("?")
    headers = [(b"host", b"localhost"), (b"authorization", f"Bearer {await new_key_for(app)}".encode())]
    scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "query_string": query.encode(),
        "headers": headers,
        "client": ("127.0.0.1", 1),
        "http_version": "1.1",
    }
    received = iter([{"type": "http.request", "body": b"", "more_body": False}])
    sent: list[Any] = []

    async def receive() -> Any:
        return next(received, {"type": "http.disconnect"})

    async def send(message: Any) -> None:
        sent.append(message)

    await app(scope, receive, send)
    return sent


@for_rows("target", PATHS)
async def test_no_response_is_computed_for_a_client_that_has_left(app: Starlette, target: str) -> None:
    await insert_trade(app, await insert_account(app))
    await run_sql(
        app,
        """
        INSERT INTO goals (id, user_id, goal_name, metric, target_value, direction, timeframe,
            created_at, updated_at)
        VALUES (1, 1, 'Goal', 'net_pnl', 1, 'at_least', 'daily',
            '2026-01-01T00:00:00.000000Z', '2026-01-01T00:00:00.000000Z')
        """,
    )

    assert await send_to_disconnected_client(app, target) == []

    database: Database = app.state.database
    async with asyncio.timeout(5), database.computing_history, database.report_transaction():
        pass  # the locks are free again


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [("read_transaction", ()), ("report_transaction", ()), ("history_transaction", ()), ("search_transaction", (1,))],
    ids=lambda one: one if isinstance(one, str) else "",
)
async def test_a_statement_whose_request_was_cancelled_ends(
    database: Database, kind: str, arguments: tuple[int, ...]
) -> None:
    async def run() -> None:
        async with getattr(database, kind)(*arguments) as db:
            await db.execute_fetchall(ENDLESS)

    running = asyncio.create_task(run())
    await asyncio.sleep(0.05)
    running.cancel()

    async with asyncio.timeout(10):
        with pytest.raises(asyncio.CancelledError):
            await running
        async with getattr(database, kind)(*arguments) as db:
            assert list(await db.execute_fetchall("SELECT 1"))


async def test_a_statement_beyond_its_time_limit_is_interrupted(database: Database) -> None:
    with pytest.raises(sqlite3.OperationalError, match="interrupted"):
        async with asyncio.timeout(10), database.read_transaction(0.01) as db:
            await db.execute_fetchall(ENDLESS)


@pytest.fixture
async def endless_search(database: Database, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[asyncio.Task[None]]:
    """A search of the first user."""

    has_begun = asyncio.Event()

    async def search() -> None:
        async with database.search_transaction(1) as db:
            has_begun.set()
            await db.execute_fetchall(ENDLESS)

    monkeypatch.setattr(database_module, "MAX_SEARCH_SECONDS", math.inf)
    searching = asyncio.create_task(search())
    await has_begun.wait()
    yield searching
    searching.cancel()
    await asyncio.wait([searching])


@pytest.mark.promise(30)
async def test_nobody_waits_for_the_search_of_another_user_and_it_ends_when_the_server_stops(
    app: Starlette, database: Database, endless_search: asyncio.Task[None], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with client_of(app, await new_key_for(app, await insert_user(app))) as other:
        await write_day(other, plan="Late")
        for path in ("/search?q=late", "/changes", "/trades", "/reports", "/goals?with=snapshot"):
            assert (await other.get(path)).status_code == 200
    assert not endless_search.done()

    monkeypatch.setattr(database, "is_stopping", True)

    with pytest.raises(Busy):
        await endless_search


@pytest.mark.promise(30)
async def test_a_search_beyond_its_time_and_one_that_waits_too_long_for_it_are_busy(
    client: Client, endless_search: asyncio.Task[None], monkeypatch: pytest.MonkeyPatch
) -> None:
    await write_day(client, plan="Late")
    monkeypatch.setattr(database_module, "MAX_SEARCH_WAIT", 0.01)
    waiting = await client.get("/search", params={"q": "late"})
    endless_search.cancel()
    monkeypatch.setattr(database_module, "MAX_SEARCH_WAIT", 5.0)
    monkeypatch.setattr(database_module, "MAX_SEARCH_SECONDS", 0.0)
    monkeypatch.setattr(database_module, "SEARCH_STEPS", 1)

    assert error_of(waiting) == error_of(await client.get("/search", params={"q": "late"})) == (503, "busy")
