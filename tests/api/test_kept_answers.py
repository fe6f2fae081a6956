"""Answers that are kept until anybody writes: DECISIONS 30."""

import asyncio
import sqlite3
from contextlib import closing
from typing import Any, TypeVar

import httpx
import pytest
import time_machine
from conftest import client_of, new_key_for
from factories import (
    create_account,
    create_category,
    create_goal,
    create_tag,
    create_trade,
    error_of,
    insert_user,
    snapshots_of,
    unwrap,
)
from proofs import examples
from starlette.applications import Starlette
from test_statement_counts import statements_of

from journal_api.web import dispatch, kept_answers, middleware


async def names(client: httpx.AsyncClient, **query: Any) -> list[str]:
    return [tag["name"] for tag in unwrap(await client.get("/tags", params=query))]


async def test_an_answer_that_is_asked_again_takes_no_statement(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    await create_tag(client, "FOMO")
    first = await client.get("/tags")

    with statements_of(app) as statements:
        again = await client.get("/tags")
        head = await client.head("/tags")
        unchanged = await client.get("/tags", headers={"If-None-Match": first.headers["etag"]})

    assert statements == []
    assert unwrap(again) == unwrap(first)
    assert (head.status_code, head.headers["etag"]) == (200, first.headers["etag"])
    assert unchanged.status_code == 304
    assert again.json()["meta"]["request_id"] != first.json()["meta"]["request_id"]


async def test_another_query_and_another_path_are_other_answers(client: httpx.AsyncClient) -> None:
    category = await create_category(client)
    tag = await create_tag(client, "FOMO", category_id=category["id"])
    other = await create_tag(client, "Calm", category_id=category["id"], type="mistake")
    for _ in range(2):
        assert await names(client) == ["Calm", "FOMO"]
        assert await names(client, type="mistake") == ["Calm"]
        assert unwrap(await client.get(f"/tags/{tag['id']}"))["name"] == "FOMO"
        assert unwrap(await client.get(f"/tags/{other['id']}"))["name"] == "Calm"


async def test_every_write_of_the_service_ends_the_answers_of_before(client: httpx.AsyncClient) -> None:
    tag = await create_tag(client, "FOMO")
    assert await names(client) == ["FOMO"]

    await client.patch(f"/tags/{tag['id']}", json={"name": "Patience"})
    assert await names(client) == ["Patience"]

    await client.delete(f"/tags/{tag['id']}")
    assert await names(client) == []


async def test_a_write_of_another_program_ends_the_answers_of_before(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    await create_tag(client, "FOMO")
    assert await names(client) == ["FOMO"]

    with closing(sqlite3.connect(app.state.settings.db)) as other_program, other_program:
        other_program.execute("UPDATE tags SET name = 'Patience'")

    assert await names(client) == ["Patience"]


async def test_a_dry_run_and_a_refused_write_leave_the_answers_as_they_are(client: httpx.AsyncClient) -> None:
    tag = await create_tag(client, "FOMO")
    before = await client.get("/tags")

    assert (await client.delete(f"/tags/{tag['id']}", params={"dry_run": "true"})).status_code == 204
    assert (await client.patch(f"/tags/{tag['id']}", json={"type": "unknown"})).status_code == 400

    after = await client.get("/tags")
    assert (unwrap(after), after.headers["etag"]) == (unwrap(before), before.headers["etag"])


async def test_an_answer_is_kept_for_its_user_alone(app: Starlette, client: httpx.AsyncClient) -> None:
    await create_tag(client, "FOMO")
    assert await names(client) == ["FOMO"]

    async with client_of(app, await new_key_for(app, await insert_user(app))) as other:
        for _ in range(2):
            assert await names(other) == []
            assert await names(client) == ["FOMO"]


async def test_a_kept_answer_needs_the_scope_of_its_operation(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    assert await names(client) == []

    async with client_of(app, await new_key_for(app, scopes=("read:goals",))) as without_scope:
        assert error_of(await without_scope.get("/tags")) == (403, "forbidden_scope")


async def test_a_revoked_key_reads_no_kept_answer(app: Starlette, client: httpx.AsyncClient) -> None:
    async with client_of(app, await new_key_for(app)) as revoked:
        assert await names(revoked) == []
        with closing(sqlite3.connect(app.state.settings.db)) as db, db:
            db.execute(
                "UPDATE api_keys SET revoked_at = created_at WHERE id = (SELECT max(id) FROM api_keys)"
            )

        assert error_of(await revoked.get("/tags")) == (401, "key_revoked")


async def test_snapshots_are_kept_for_one_trading_day(client: httpx.AsyncClient) -> None:
    account = await create_account(client)
    with time_machine.travel("2026-03-02T12:00:00Z", tick=False):
        await create_trade(
            client, account["id"], opened_at="2026-03-02T10:00:00Z", closed_at="2026-03-02T11:00:00Z"
        )
        goal = await create_goal(client, metric="trade_count", timeframe="daily", target_value=1)
        for _ in range(3):  # the first read writes the snapshots, the second is kept
            (snapshot,) = await snapshots_of(client, goal["id"])
            (listed,) = unwrap(await client.get("/goals", params={"with": "snapshot"}))
            assert not snapshot["closed"]
            assert listed["current"]["period_start"] == "2026-03-02"

    with time_machine.travel("2026-03-03T00:00:01Z", tick=False):
        newest, oldest = await snapshots_of(client, goal["id"])
        (listed,) = unwrap(await client.get("/goals", params={"with": "snapshot"}))

    assert (newest["period_start"], oldest["period_start"]) == ("2026-03-03", "2026-03-02")
    assert oldest["closed"]
    assert listed["current"]["period_start"] == "2026-03-03"


async def test_kept_answers_take_a_bounded_amount_of_memory(
    app: Starlette, client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_answers, "MAX_SUM", 20_000)
    await create_tag(client, "FOMO")

    for limit in range(1, 100):
        assert (await client.get("/trades", params={"limit": limit})).status_code == 200
        assert app.state.kept_answers.size <= 20_000

    with statements_of(app) as statements:
        await client.get("/trades", params={"limit": 99})
        assert statements == []
        await client.get("/trades", params={"limit": 1})
        assert len(statements) == 1


async def test_an_answer_larger_than_the_memory_is_given_and_not_kept(
    app: Starlette, client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_answers, "MAX_SUM", 100)

    assert await names(client) == []
    assert app.state.kept_answers.size == 0


WRITES = examples(full=200, ci=50)


@pytest.mark.soak
async def test_a_reader_never_sees_less_than_what_was_acknowledged_before_it_asked(
    client: httpx.AsyncClient,
) -> None:
    tag = await create_tag(client, "0")
    path = f"/tags/{tag['id']}"
    acknowledged = 0
    reads = 0

    async def write() -> None:
        nonlocal acknowledged
        for number in range(1, WRITES + 1):
            assert (await client.patch(path, json={"name": str(number)})).status_code == 200
            acknowledged = number

    async def read() -> None:
        nonlocal reads
        while acknowledged < WRITES:
            least = acknowledged
            assert int(unwrap(await client.get(path))["name"]) >= least
            reads += 1

    await asyncio.gather(write(), *(read() for _ in range(4)))

    assert reads > WRITES


async def test_a_client_in_the_process_that_polls_leaves_turns_to_other_tasks(
    client: httpx.AsyncClient,
) -> None:
    await create_tag(client, "FOMO")
    turns = 0

    async def work() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    working = asyncio.create_task(work())
    for _ in range(50):
        await client.get("/tags")
    working.cancel()

    assert turns >= 50


async def test_a_path_that_was_found_before_is_still_told_from_others(client: httpx.AsyncClient) -> None:
    tag = await create_tag(client, "FOMO")
    path = f"/tags/{tag['id']}"
    for _ in range(2):
        assert unwrap(await client.get(path)) == tag
        assert error_of(await client.get(path.replace("/tags/", "/tags%2F"))) == (404, "not_found")
        assert error_of(await client.post(path, json={})) == (405, "method_not_allowed")
        assert unwrap(await client.patch(path, json={})) == tag


L = TypeVar("L")


def layer_of(app: Starlette, kind: type[L]) -> L:
    """The middleware of that type."""
    layer: Any = app.middleware_stack
    while not isinstance(layer, kind):
        layer = layer.app
    return layer


@pytest.mark.own_journal
async def test_as_many_paths_are_remembered_as_there_is_room_for(
    app: Starlette, client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch, "MAX_FOUND", 3)
    tags = [await create_tag(client, name) for name in "abcdefg"]
    remembered = layer_of(app, dispatch.Dispatch).found

    for _ in range(2):
        for tag in tags:
            assert unwrap(await client.get(f"/tags/{tag['id']}")) == tag
            assert 1 <= len(remembered) <= 3


@pytest.mark.own_journal
async def test_long_paths_are_not_remembered(
    app: Starlette, client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch, "MAX_FOUND_LENGTH", len("/v1/tags"))
    remembered = layer_of(app, dispatch.Dispatch).found
    remembered.clear()

    for path in ("/tags", "/tags/1", "/strategies"):
        await client.get(path)

    assert list(remembered) == [("GET", "", "/v1/tags")]


@pytest.mark.own_journal
async def test_as_many_hosts_are_remembered_as_there_is_room_for(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    for port in range(1, middleware.MAX_ACCEPTED + 20):
        answer = await client.get("/me", headers={"Host": f"localhost:{port}"})
        assert answer.status_code == 200

    remembered = layer_of(app, middleware.RequestContextMiddleware).accepted
    assert len(remembered) == middleware.MAX_ACCEPTED
    assert error_of(await client.get("/me", headers={"Host": "evil:1"})) == (421, "misdirected_request")
