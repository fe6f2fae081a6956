"""Histories of goals are computed while others write: nothing is lost, nothing is late."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

import httpx
import pytest
from factories import Client, create_goal, create_tag, error_of, insert_account, insert_trade, run_sql, unwrap
from sql_calls import noted_statements
from starlette.applications import Starlette

from journal_api.database.database import Database
from journal_api.database.shared_runs import SharedRuns
from journal_api.statistics import snapshot_refreshes

THIS_CENTURY = {"custom_start": "2000-01-01", "custom_end": "2099-12-31"}
Meanwhile = Callable[[], Awaitable[Any]]


@pytest.fixture
def between(monkeypatch: pytest.MonkeyPatch) -> Callable[[Meanwhile, int], None]:
    """Runs a function between computing histories and storing them, the first time or the first times."""

    def run_between(meanwhile: Meanwhile, times: int = 1) -> None:
        async def store_later(database: Database, computed: Mapping[int, Any]) -> set[int]:
            nonlocal times
            if times:
                times -= 1
                await meanwhile()
            return await store_unchanged(database, computed)

        monkeypatch.setattr(snapshot_refreshes, "store_unchanged", store_later)

    store_unchanged = snapshot_refreshes.store_unchanged
    return run_between


async def actuals_of(client: Client, goal_id: int) -> list[Any]:
    found = unwrap(await client.get(f"/goals/{goal_id}/snapshots"))
    return [one["actual"] for one in reversed(found)]


async def test_others_write_while_the_histories_of_many_goals_are_computed(
    app: Starlette, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot_refreshes, "MAX_PERIODS", 0)
    trade = await insert_trade(app, await insert_account(app), gross_pnl=1)
    await run_sql(
        app,
        """
        INSERT INTO trades (user_id, account_id, symbol, direction, quantity, entry_price, opened_at,
            closed_at, trading_day, gross_pnl, created_at, updated_at)
        SELECT user_id, account_id, symbol, direction, quantity, entry_price, opened_at,
            date(closed_at, value || ' days') || 'T12:00:00Z', date(closed_at, value || ' days'), gross_pnl,
            created_at, updated_at
        FROM trades, json_each(:days)
        WHERE trades.id = :id
        """,
        {"id": trade, "days": str(list(range(-400, 0)))},
    )
    for number in range(10):
        await create_goal(client, metric="max_drawdown", timeframe="daily", target_value=number + 1)
    category = (await create_tag(client))["category_id"]
    reading = asyncio.create_task(client.get("/goals?with=snapshot"))
    written = 0

    while not reading.done():
        written += 1
        unwrap(await client.post("/tags", json={"category_id": category, "name": f"Tag {written}"}))

    assert len(unwrap(await reading)) == 10
    assert written > 5  # in one transaction for all goals, it was the first or the second alone


async def test_the_trades_of_a_scope_are_read_once_for_all_its_goals(
    app: Starlette, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot_refreshes, "MAX_PERIODS", 0)  # each history is stored by itself
    accounts = [await insert_account(app, name) for name in ("One", "Other")]
    for account in accounts:
        await insert_trade(app, account, gross_pnl=1)
    for metric, timeframe in itertools.product(("net_pnl", "win_rate", "balance_target"), ("daily", "weekly")):
        for scope in ({}, *({"account_id": account} for account in accounts)):
            await create_goal(client, metric=metric, timeframe=timeframe, target_value=1, **scope)

    with noted_statements() as noted:
        assert len(unwrap(await client.get("/goals?with=snapshot"))) == 18

    assert len([sql for sql, _ in noted if "FROM single\nGROUP BY" in sql]) == 3


async def test_a_trade_written_while_its_history_is_computed_is_in_the_next_answer(
    app: Starlette, client: Client, between: Callable[[Meanwhile], None]
) -> None:
    account = await insert_account(app)
    await insert_trade(app, account, closed_at="2026-02-10T12:00:00Z", gross_pnl=2)
    goal = await create_goal(client, timeframe="custom", custom_start="2026-01-01", custom_end="2026-12-31")
    between(lambda: insert_trade(app, account, closed_at="2026-01-05T12:00:00Z", gross_pnl=5))

    assert await actuals_of(client, goal["id"]) == [2]
    assert await actuals_of(client, goal["id"]) == [7]


async def test_two_trades_of_a_day_one_before_and_one_while_it_is_computed_are_both_in_the_next_answer(
    app: Starlette, client: Client, between: Callable[[Meanwhile], None]
) -> None:
    account = await insert_account(app)
    goal = await create_goal(client, timeframe="custom", custom_start="2026-01-01", custom_end="2026-12-31")
    assert await actuals_of(client, goal["id"]) == [0]
    await insert_trade(app, account, closed_at="2026-01-05T12:00:00Z", gross_pnl=1)
    between(lambda: insert_trade(app, account, closed_at="2026-01-05T13:00:00Z", gross_pnl=100))

    assert await actuals_of(client, goal["id"]) == [1]
    assert await actuals_of(client, goal["id"]) == [101]


async def test_a_goal_redefined_after_it_was_computed_is_not_listed_with_its_old_value(
    app: Starlette, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    await insert_trade(app, await insert_account(app), closed_at="2026-01-05T12:00:00Z", gross_pnl=5)
    window = {"timeframe": "custom", "custom_start": "2026-01-01", "custom_end": "2100-12-31"}
    goal = await create_goal(client, **window)
    changes = iter(["trade_count"])

    async def refresh_then_redefine(*arguments: Any) -> None:
        await refresh_all(*arguments)
        for metric in changes:
            unwrap(await client.patch(f"/goals/{goal['id']}", json={"metric": metric}))

    refresh_all = snapshot_refreshes.refresh_all
    monkeypatch.setattr(snapshot_refreshes, "refresh_all", refresh_then_redefine)

    (listed,) = unwrap(await client.get("/goals?with=snapshot"))

    assert (listed["metric"], listed["current"]["actual"]) == ("trade_count", 1)


async def test_many_who_ask_at_once_share_a_computation_that_begins_after_each_of_them(
    app: Starlette, client: Client, between: Callable[[Meanwhile, int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    account = await insert_account(app)
    await create_goal(client, metric="trade_count", timeframe="custom", **THIS_CENTURY)
    late: list[asyncio.Task[httpx.Response]] = []
    computed, numbers, run, all_wait = 0, itertools.count(1), SharedRuns.run, asyncio.Event()

    async def note_and_run(*given: Any) -> None:
        if next(numbers) == 20:
            all_wait.set()
        await run(*given)

    async def write_and_ask_again() -> None:
        """Between computing and storing, so that what is stored lacks this trade."""
        nonlocal computed
        computed += 1
        if computed == 1:
            await insert_trade(app, account)
            late.extend(asyncio.create_task(client.get("/goals?with=snapshot")) for _ in range(10))
            await all_wait.wait()  # however slowly they come

    monkeypatch.setattr(SharedRuns, "run", note_and_run)
    await insert_trade(app, account)
    between(write_and_ask_again, 100)

    early = await asyncio.gather(*(client.get("/goals?with=snapshot") for _ in range(10)))

    assert {unwrap(one)[0]["current"]["actual"] for one in early} <= {1, 2}
    assert {unwrap(await one)[0]["current"]["actual"] for one in late} == {2}
    assert computed <= 3


async def test_a_computation_goes_on_for_who_is_left_and_ends_when_all_have_gone() -> None:
    runs, may_end = SharedRuns(), asyncio.Event()
    began: list[list[int]] = []

    async def work(ids: list[int]) -> None:
        began.append(ids)
        await may_end.wait()

    async def settle() -> None:
        for _ in range(10):
            await asyncio.sleep(0)

    asked = [asyncio.create_task(runs.run([number], work)) for number in (1, 2, 2)]
    await settle()
    for one in (asked[0], asked[2]):
        one.cancel()
    later = asyncio.create_task(runs.run([3], work))
    await settle()
    later.cancel()
    await asyncio.wait([later])
    last = asyncio.create_task(runs.run([4], work))
    asked[1].cancel()
    await settle()
    may_end.set()
    await last

    assert began == [[1, 2], [4]]


async def test_the_history_of_one_user_waits_for_one_turn_of_another_who_asks_many_times(app: Starlette) -> None:
    database: Database = app.state.database
    order: list[int] = []

    async def take_a_turn(user_id: int, ids: list[int]) -> None:
        async with database.computing_history:
            order.append(user_id)
            await asyncio.sleep(0)

    async def ask(user_id: int) -> None:
        await database.histories[user_id].run([1], partial(take_a_turn, user_id))

    crowd = [asyncio.create_task(ask(1)) for _ in range(10)]
    await asyncio.sleep(0)
    await asyncio.gather(ask(2), *crowd)

    assert order in ([1, 2], [2, 1])


async def test_a_goal_redefined_while_its_history_is_computed_is_computed_again(
    app: Starlette, client: Client, between: Callable[[Meanwhile], None]
) -> None:
    await insert_trade(app, await insert_account(app), gross_pnl=5)
    goal = await create_goal(client, timeframe="custom", custom_start="2026-01-01", custom_end="2026-12-31")
    between(lambda: client.patch(f"/goals/{goal['id']}", json={"metric": "trade_count"}))

    assert await actuals_of(client, goal["id"]) == [1]


async def test_a_goal_deleted_while_its_history_is_computed_is_not_found(
    app: Starlette, client: Client, between: Callable[[Meanwhile], None]
) -> None:
    goal = await create_goal(client)
    between(lambda: client.delete(f"/goals/{goal['id']}"))

    response = await client.get(f"/goals/{goal['id']}/snapshots")

    assert error_of(response) == (404, "not_found")


async def test_a_goal_that_changes_again_and_again_is_busy_and_answers_later(
    app: Starlette, client: Client, between: Callable[[Meanwhile, int], None]
) -> None:
    goal = await create_goal(client)
    targets = iter(range(2, 10))
    between(lambda: client.patch(f"/goals/{goal['id']}", json={"target_value": next(targets)}), 3)

    refused = await client.get("/goals?with=snapshot")

    assert error_of(refused) == (503, "busy")
    (listed,) = unwrap(await client.get("/goals?with=snapshot"))
    assert listed["current"]["target"] == 4
