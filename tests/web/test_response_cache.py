"""Responses that are cached until anybody writes (DECISIONS 29), and what else requests remember."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import factories
import pytest
import time_machine
from commands import change
from conftest import client_of, new_key_for
from factories import Client, error_of, list_names, unwrap
from proofs import examples
from sql_calls import every_sql_call, noted_statements
from starlette.applications import Starlette

from journal_api.web import response_cache

WRITES = examples(full=200, ci=50)


async def test_a_request_that_is_repeated_takes_no_statement(client: Client) -> None:
    await factories.create_tag(client, "FOMO")
    first = await client.get("/tags")

    with noted_statements() as noted:
        again = await client.get("/tags")
        head = await client.head("/tags")
        unchanged = await client.get("/tags", headers={"If-None-Match": first.headers["etag"]})

    assert noted == []
    assert unwrap(again) == unwrap(first)
    assert (head.status_code, head.headers["etag"]) == (200, first.headers["etag"])
    assert unchanged.status_code == 304
    assert again.json()["meta"]["request_id"] != first.json()["meta"]["request_id"]


async def test_a_cached_response_is_of_its_user_path_and_query_alone(app: Starlette, client: Client) -> None:
    tag = await factories.create_tag(client, "FOMO")
    other = await factories.create_tag(client, "Calm", category_id=tag["category_id"], type="mistake")
    async with client_of(app, await new_key_for(app, await factories.insert_user(app))) as other_user:
        for _ in range(2):
            assert await list_names(client, "/tags") == ["Calm", "FOMO"]
            assert await list_names(client, "/tags", type="mistake") == ["Calm"]
            assert unwrap(await client.get(f"/tags/{tag['id']}"))["name"] == "FOMO"
            assert unwrap(await client.get(f"/tags/{other['id']}"))["name"] == "Calm"
            assert await list_names(other_user, "/tags") == []


async def test_every_write_of_any_program_ends_the_responses_of_before(app: Starlette, client: Client) -> None:
    path = f"/tags/{(await factories.create_tag(client, 'FOMO'))['id']}"
    assert await list_names(client, "/tags") == ["FOMO"]

    # Neither a dry run nor a refused write is a write.
    assert (await client.delete(path, params={"dry_run": "true"})).status_code == 204
    assert (await client.patch(path, json={"type": "unknown"})).status_code == 400
    assert await list_names(client, "/tags") == ["FOMO"]

    await client.patch(path, json={"name": "Patience"})
    assert await list_names(client, "/tags") == ["Patience"]

    change(app.state.settings.db, "UPDATE tags SET name = 'Calm'")
    assert await list_names(client, "/tags") == ["Calm"]

    await client.delete(path)
    assert await list_names(client, "/tags") == []


async def test_a_cached_response_needs_a_valid_key_with_the_scope(app: Starlette, client: Client) -> None:
    assert await list_names(client, "/tags") == []

    async with client_of(app, await new_key_for(app, scopes=("read:goals",))) as without_scope:
        assert error_of(await without_scope.get("/tags")) == (403, "forbidden_scope")
    change(app.state.settings.db, "UPDATE api_keys SET revoked_at = created_at")
    assert error_of(await client.get("/tags")) == (401, "key_revoked")


async def test_snapshots_are_cached_for_one_trading_day(client: Client) -> None:
    account = await factories.create_account(client)
    with time_machine.travel("2026-03-02T12:00:00Z", tick=False):
        await factories.create_trade(
            client, account["id"], opened_at="2026-03-02T10:00:00Z", closed_at="2026-03-02T11:00:00Z"
        )
        goal = await factories.create_goal(client, metric="trade_count", timeframe="daily", target_value=1)
        for _ in range(3):  # the first read writes the snapshots, the second is cached
            (snapshot,) = await factories.snapshots_of(client, goal["id"])
            (listed,) = unwrap(await client.get("/goals", params={"with": "snapshot"}))
            assert not snapshot["closed"]
            assert listed["current"]["period_start"] == "2026-03-02"

    with time_machine.travel("2026-03-03T00:00:01Z", tick=False):
        newest, oldest = await factories.snapshots_of(client, goal["id"])
        (listed,) = unwrap(await client.get("/goals", params={"with": "snapshot"}))

    assert (newest["period_start"], oldest["period_start"]) == ("2026-03-03", "2026-03-02")
    assert oldest["closed"]
    assert listed["current"]["period_start"] == "2026-03-03"


async def test_the_cache_takes_a_bounded_amount_of_memory(
    app: Starlette, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(response_cache, "MAX_SUM", 20_000)
    await factories.create_tag(client, "FOMO")

    await list_names(client, "/tags")
    for limit in range(1, 100):
        assert (await client.get("/trades", params={"limit": limit})).status_code == 200
        assert app.state.response_cache.size <= 20_000
        with noted_statements() as noted:
            await list_names(client, "/tags")
        assert noted == []  # it stays, because it was used last

    with noted_statements() as noted:
        await client.get("/trades", params={"limit": 99})
        assert noted == []
        await client.get("/trades", params={"limit": 1})
        assert len(noted) == 1

    monkeypatch.setattr(response_cache, "MAX_SUM", 100)  # less than one response
    await factories.create_category(client, "A write empties the cache")
    assert await list_names(client, "/tags") == ["FOMO"]
    assert app.state.response_cache.size == 0


async def test_a_response_that_was_read_before_a_write_is_not_cached_after_it(client: Client) -> None:
    path = f"/trades/{(await factories.create_trade(client, symbol='OLD'))['id']}"
    has_read, goes_on = threading.Event(), threading.Event()

    def wait(sql: str, values: list[Any], call: Callable[[], Any]) -> Any:
        result = call()
        if "LIMIT" in sql and not has_read.is_set():
            has_read.set()
            goes_on.wait(10)
        return result

    with every_sql_call(wait):
        reading = asyncio.create_task(client.get("/trades"))
        assert await asyncio.to_thread(has_read.wait, 10)
        await client.patch(path, json={"symbol": "NEW"})
        await list_names(client, "/tags")  # sees the write and empties the cache
        goes_on.set()
        ((before,), (after,)) = unwrap(await reading), unwrap(await client.get("/trades"))

    assert (before["symbol"], after["symbol"]) == ("OLD", "NEW")


@pytest.mark.soak
async def test_a_reader_never_sees_less_than_what_was_acknowledged_before_it_asked(client: Client) -> None:
    path = f"/tags/{(await factories.create_tag(client, '0'))['id']}"
    acknowledged = 0

    async def write(number: int) -> None:
        nonlocal acknowledged
        assert (await client.patch(path, json={"name": str(number)})).status_code == 200
        acknowledged = number

    async def read_twice() -> None:
        for _ in range(2):
            least = acknowledged
            assert int(unwrap(await client.get(path))["name"]) >= least

    for number in range(1, WRITES + 1):
        await asyncio.gather(write(number), *(read_twice() for _ in range(4)))


async def test_a_path_that_was_found_before_is_still_told_from_others(client: Client) -> None:
    tag = await factories.create_tag(client, "FOMO")
    path = f"/tags/{tag['id']}"
    for _ in range(2):
        assert unwrap(await client.get(path)) == tag
        assert error_of(await client.get(path.replace("/tags/", "/tags%2F"))) == (404, "not_found")
        assert error_of(await client.post(path, json={})) == (405, "method_not_allowed")
        assert unwrap(await client.patch(path, json={})) == tag
