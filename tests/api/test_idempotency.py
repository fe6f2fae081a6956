"""Idempotency-Key: every POST, sent again, is answered the same and done once."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
import time_machine
from commands import dump, rows
from conftest import client_of, new_key_for, started
from factories import (
    A_FILE,
    A_TRADE,
    create_account,
    create_category,
    create_tag,
    details_of,
    error_of,
    run_sql,
    unwrap,
)
from operations import body_of, path_of
from starlette.applications import Starlette

from journal_api.app import create_app
from journal_api.routes.table import OPERATIONS
from journal_api.settings import Settings
from journal_api.web import idempotency
from journal_api.web.operation import Operation

KEY = {"Idempotency-Key": "key-1"}
CSV = {"Content-Type": "text/csv"}
POSTS = [operation for operation in OPERATIONS if operation.method == "POST"]
every_post = pytest.mark.parametrize(
    "operation", [pytest.param(one, id=one.documented_path) for one in POSTS]
)


async def post(
    client: httpx.AsyncClient, operation: Operation, headers: dict[str, str] = KEY
) -> httpx.Response:
    if operation.consumes_file:
        sent = {**headers, "Content-Type": operation.consumes[0]}
        return await client.post(path_of(operation), params={"account_id": 1}, content=A_FILE, headers=sent)
    return await client.post(path_of(operation), json=body_of(operation), headers=headers)


@asynccontextmanager
async def journal(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    """A journal for as long as the block, with a new key."""
    app = create_app(settings)
    async with started(app), client_of(app, await new_key_for(app)) as client:
        yield client


async def count(app: Starlette) -> dict[str, int]:
    tables = (
        *("tag_categories", "tags", "strategies", "goals", "accounts", "copy_groups", "trades", "imports"),
        "import_profiles",
    )
    return {table: (await run_sql(app, f"SELECT count(*) FROM {table}"))[0][0] for table in tables}


def answer_of(response: httpx.Response) -> tuple[int, Any, dict[str, str]]:
    """All of it but what names the request."""
    own = ("x-request-id", "x-idempotent-replay")
    headers = {name: value for name, value in response.headers.items() if name not in own}
    return response.status_code, response.json()["data"], headers


@every_post
async def test_the_same_request_is_answered_the_same_and_done_once(
    app: Starlette, client: httpx.AsyncClient, operation: Operation
) -> None:
    await create_category(client)
    await create_account(client)
    first = await post(client, operation)
    rows = await count(app)

    again = [await post(client, operation) for _ in range(3)]

    assert first.status_code == 201
    assert "x-idempotent-replay" not in first.headers
    assert [one.headers["x-idempotent-replay"] for one in again] == ["true"] * 3
    assert [answer_of(one) for one in again] == [answer_of(first)] * 3
    assert len({one.headers["x-request-id"] for one in (first, *again)}) == 4
    assert await count(app) == rows


@every_post
async def test_parallel_repeats_make_one_row(
    app: Starlette, client: httpx.AsyncClient, operation: Operation
) -> None:
    await create_category(client)
    await create_account(client)
    before = await count(app)

    answers = await asyncio.gather(*(post(client, operation) for _ in range(10)))

    after = await count(app)
    assert {one.status_code for one in answers} == {201}
    assert sum("x-idempotent-replay" in one.headers for one in answers) == 9
    grown = {table: after[table] - before[table] for table in after if after[table] != before[table]}
    if operation.path == "/v1/example-journal":  # many trades, but
        grown = {"accounts": grown["accounts"]}
    assert set(grown.values()) == {1}


async def test_another_body_under_the_same_key_is_409_and_does_nothing(client: httpx.AsyncClient) -> None:
    await client.post("/tag-categories", json={"name": "One"}, headers=KEY)

    refused = await client.post("/tag-categories", json={"name": "Two"}, headers=KEY)

    assert error_of(refused) == (409, "idempotency_conflict")
    assert [one["name"] for one in unwrap(await client.get("/tag-categories"))] == ["One"]


async def test_another_path_or_query_under_the_same_key_is_409(client: httpx.AsyncClient) -> None:
    await client.post("/tag-categories", json={"name": "One"}, headers=KEY)

    refused = [
        await client.post("/accounts", json={"name": "One"}, headers=KEY),
        await client.post("/tag-categories?dry_run=false", json={"name": "One"}, headers=KEY),
    ]

    assert [error_of(one) for one in refused] == [(409, "idempotency_conflict")] * 2


async def test_a_request_that_failed_may_be_sent_again_under_its_key(client: httpx.AsyncClient) -> None:
    category = await create_category(client, "Taken")
    failed = await client.post("/tag-categories", json={"name": "Taken"}, headers=KEY)
    await client.delete(f"/tag-categories/{category['id']}")

    again = await client.post("/tag-categories", json={"name": "Taken"}, headers=KEY)

    assert error_of(failed) == (409, "duplicate_name")
    assert again.status_code == 201
    assert "x-idempotent-replay" not in again.headers


async def test_a_request_that_failed_leaves_nothing_of_what_it_wrote(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    account = await create_account(client)
    trades = [{"account_id": account["id"], **A_TRADE}, {"account_id": 99, **A_TRADE}]

    refused = await client.post("/trades/bulk", json={"trades": trades}, headers=KEY)

    assert refused.status_code == 400
    assert await run_sql(app, "SELECT count(*) FROM trades") == [(0,)]
    assert await run_sql(app, "SELECT count(*) FROM idempotency_keys") == [(0,)]


async def test_what_was_deleted_since_is_still_answered_and_not_made_again(client: httpx.AsyncClient) -> None:
    made = unwrap(await client.post("/tag-categories", json={"name": "One"}, headers=KEY))
    await client.delete(f"/tag-categories/{made['id']}")

    again = await client.post("/tag-categories", json={"name": "One"}, headers=KEY)

    assert unwrap(again) == made
    assert unwrap(await client.get("/tag-categories")) == []


async def test_a_key_is_its_owners(client: httpx.AsyncClient, other_user_client: httpx.AsyncClient) -> None:
    await client.post("/tag-categories", json={"name": "Mine"}, headers=KEY)

    theirs = await other_user_client.post("/tag-categories", json={"name": "Theirs"}, headers=KEY)

    assert theirs.status_code == 201
    assert "x-idempotent-replay" not in theirs.headers


async def test_a_replay_needs_the_scope_of_the_operation(app: Starlette, client: httpx.AsyncClient) -> None:
    await client.post("/tag-categories", json={"name": "One"}, headers=KEY)

    async with client_of(app, await new_key_for(app, scopes=("read:tags",))) as reader:
        refused = await reader.post("/tag-categories", json={"name": "One"}, headers=KEY)

    assert error_of(refused) == (403, "forbidden_scope")


async def test_an_answer_is_kept_for_a_day(app: Starlette, client: httpx.AsyncClient) -> None:
    start = datetime.now(UTC)
    await client.post("/tag-categories", json={"name": "One"}, headers=KEY)

    with time_machine.travel(start + timedelta(hours=23, minutes=59), tick=False):
        kept = await client.post("/tag-categories", json={"name": "One"}, headers=KEY)
    with time_machine.travel(start + timedelta(hours=24, minutes=1), tick=False):
        anew = await client.post("/tag-categories", json={"name": "One"}, headers=KEY)
        await client.post("/tag-categories", json={"name": "Two"}, headers={"Idempotency-Key": "key-2"})

    assert kept.headers["x-idempotent-replay"] == "true"
    assert error_of(anew) == (409, "duplicate_name")
    assert await run_sql(app, "SELECT key FROM idempotency_keys") == [("key-2",)]


async def test_an_answer_is_kept_over_a_restart(settings: Settings) -> None:
    answers = []
    for _ in range(2):
        app = create_app(settings)
        async with started(app), client_of(app, await new_key_for(app)) as client:
            answers.append(await client.post("/tag-categories", json={"name": "One"}, headers=KEY))

    assert [one.headers.get("x-idempotent-replay") for one in answers] == [None, "true"]


@pytest.mark.parametrize("key", ["", " ", "a b", "a" * 65, "a/b", "a.b"])
async def test_what_is_no_key_is_400(client: httpx.AsyncClient, key: str) -> None:
    refused = await client.post("/tag-categories", json={"name": "One"}, headers={"Idempotency-Key": key})

    assert error_of(refused) == (400, "validation_error")
    assert list(details_of(refused)["fields"]) == ["Idempotency-Key"]


async def test_the_header_means_nothing_on_other_methods(client: httpx.AsyncClient) -> None:
    tag = await create_tag(client)

    renamed = [
        await client.patch(f"/tags/{tag['id']}", json={"name": name}, headers=KEY) for name in ("One", "Two")
    ]

    assert [unwrap(one)["name"] for one in renamed] == ["One", "Two"]


async def test_the_media_type_comes_before_the_size(client: httpx.AsyncClient) -> None:
    refused = await client.post(
        "/tag-categories", content=b"x" * 5_000_000, headers={**KEY, "Content-Type": "text/plain"}
    )

    assert error_of(refused) == (415, "unsupported_media_type")


# What is not written is not kept --------------------------------------------------------------------------


@pytest.mark.promise(23)
async def test_a_dry_run_with_a_key_keeps_nothing_and_the_key_is_free_for_the_import(
    app: Starlette, client: httpx.AsyncClient, settings: Settings
) -> None:
    account_id = (await create_account(client))["id"]
    query = {"account_id": account_id, "dry_run": "true"}
    before = dump(settings.db)

    dry = [await client.post("/imports", params=query, content=A_FILE, headers=KEY | CSV) for _ in range(2)]
    kept = await run_sql(app, "SELECT count(*) FROM idempotency_keys")
    unchanged = dump(settings.db)
    query["dry_run"] = "false"
    done = [await client.post("/imports", params=query, content=A_FILE, headers=KEY | CSV) for _ in range(2)]

    assert [one.status_code for one in dry] == [200, 200]
    assert (kept, unchanged) == ([(0,)], before)
    assert ["x-idempotent-replay" in one.headers for one in dry + done] == [False, False, False, True]
    assert [one.status_code for one in done] == [201, 201]


@pytest.mark.promise(23)
async def test_neither_a_dry_run_nor_a_repeat_with_a_key_needs_a_turn_to_write(
    client: httpx.AsyncClient, settings: Settings
) -> None:
    account_id = (await create_account(client))["id"]
    made = await client.post("/tag-categories", json={"name": "One"}, headers=KEY)
    with closing(sqlite3.connect(settings.db, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")

        dry = await client.post(
            "/imports",
            params={"account_id": account_id, "dry_run": "true"},
            content=A_FILE,
            headers={"Idempotency-Key": "key-2", **CSV},
        )
        again = await client.post("/tag-categories", json={"name": "One"}, headers=KEY)

    assert dry.status_code == 200
    assert unwrap(again) == unwrap(made)


async def test_what_is_no_key_is_400_for_a_dry_run_too(client: httpx.AsyncClient) -> None:
    refused = await client.post(
        "/imports?account_id=1&dry_run=true", content=A_FILE, headers={"Idempotency-Key": "a b", **CSV}
    )

    assert error_of(refused) == (400, "validation_error")
    assert list(details_of(refused)["fields"]) == ["Idempotency-Key"]


@pytest.mark.parametrize("hours", [23, 25])
async def test_a_server_that_starts_forgets_answers_of_over_a_day_ago(settings: Settings, hours: int) -> None:
    async with journal(settings) as client:
        await client.post("/tag-categories", json={"name": "One"}, headers=KEY)

    with time_machine.travel(datetime.now(UTC) + timedelta(hours=hours)):
        async with journal(settings) as client:
            unwrap(await client.get("/tags"))
            unwrap(await client.post("/tag-categories", json={"name": "Two"}))

    assert rows(settings.db, "SELECT count(*) FROM idempotency_keys") == [(int(hours < 24),)]


async def test_a_server_that_runs_on_forgets_them_without_another_key(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(idempotency, "DELETE_EVERY", 0.01)
    async with journal(settings) as client:
        await client.post("/tag-categories", json={"name": "One"}, headers=KEY)

        with time_machine.travel(datetime.now(UTC) + timedelta(hours=25)):
            for _ in range(200):
                if rows(settings.db, "SELECT count(*) FROM idempotency_keys") == [(0,)]:
                    break
                await asyncio.sleep(0.01)

    assert rows(settings.db, "SELECT count(*) FROM idempotency_keys") == [(0,)]
