"""Idempotency-Key: every POST, sent again, is answered the same and done once."""

import asyncio
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any

import factories
import httpx
import pytest
import time_machine
from commands import dump, rows
from conftest import client_of, new_key_for, opened
from factories import Client, details_of, error_of, run_sql, unwrap
from operations import send
from starlette.applications import Starlette

from journal_api.routes.table import OPERATIONS
from journal_api.settings import Settings
from journal_api.web.operation import Operation

KEY = {"Idempotency-Key": "key-1"}
CSV = {"Content-Type": "text/csv"}
REPLAYED = "x-idempotent-replay"
# Those that create something of their own; for fills and merges see test_fills.py.
POSTS = [one for one in OPERATIONS if one.method == "POST" and 201 in one.success_statuses and "{" not in one.path]
each_post = pytest.mark.parametrize("operation", POSTS, ids=[one.documented_path for one in POSTS])


async def post_category(client: Client, name: str = "One", **headers: str) -> httpx.Response:
    """With the key, unless `headers` has another."""
    return await client.post("/tag-categories", json={"name": name}, headers=KEY | headers)


async def row_counts(app: Starlette) -> dict[str, int]:
    tables = (
        *("tag_categories", "tags", "strategies", "goals", "accounts", "copy_groups", "trades", "imports"),
        "import_profiles",
    )
    return {table: (await run_sql(app, f"SELECT count(*) FROM {table}"))[0][0] for table in tables}


def without_request_id(response: httpx.Response) -> tuple[int, Any, dict[str, str]]:
    headers = {name: value for name, value in response.headers.items() if name not in ("x-request-id", REPLAYED)}
    return response.status_code, response.json()["data"], headers


async def send_until_free(client: Client, operation: Operation) -> httpx.Response:
    """The response once the server is not busy: on a slow machine the example journal is written for seconds."""
    while (response := await send(client, operation, Idempotency_Key="key-1")).status_code == 503:
        pass
    return response


@each_post
async def test_a_request_that_is_repeated_is_answered_the_same_and_done_once(
    app: Starlette, client: Client, operation: Operation
) -> None:
    await factories.create_category(client)
    await factories.create_account(client)
    before = await row_counts(app)

    responses = await asyncio.gather(*(send_until_free(client, operation) for _ in range(5)))
    rows = await row_counts(app)
    responses.append(await send(client, operation, Idempotency_Key="key-1"))

    assert {response.status_code for response in responses} == {201}
    assert sum(REPLAYED in response.headers for response in responses) == 5
    assert responses[-1].headers[REPLAYED] == "true"
    assert [without_request_id(one) for one in responses] == [without_request_id(responses[0])] * 6
    assert len({response.headers["x-request-id"] for response in responses}) == 6
    grown = {table: rows[table] - before[table] for table in rows if rows[table] != before[table]}
    if operation.path == "/v1/example-journal":  # many trades, but
        grown = {"accounts": grown["accounts"] - 1}  # and the one that copies it
    assert set(grown.values()) == {1}
    assert await row_counts(app) == rows


async def test_another_request_under_the_same_key_is_409_and_does_nothing(client: Client) -> None:
    await post_category(client)

    refused = [
        await post_category(client, "Two"),
        await client.post("/tag-categories", content=b"not JSON", headers=KEY),
        await client.post("/accounts", json={"name": "One"}, headers=KEY),
        await client.post("/tag-categories?dry_run=false", json={"name": "One"}, headers=KEY),
    ]

    assert [error_of(response) for response in refused] == [(409, "idempotency_conflict")] * 4
    assert [one["name"] for one in unwrap(await client.get("/tag-categories"))] == ["One"]


async def test_a_request_that_failed_left_nothing_and_may_be_sent_again_under_its_key(
    app: Starlette, client: Client
) -> None:
    account = await factories.create_account(client)
    trades = [{"account_id": account["id"], **factories.A_TRADE}, {"account_id": 99, **factories.A_TRADE}]
    failed = await client.post("/trades/bulk", json={"trades": trades}, headers=KEY)
    rows = await run_sql(app, "SELECT (SELECT count(*) FROM trades), (SELECT count(*) FROM idempotency_keys)")
    again = await client.post("/trades/bulk", json={"trades": trades[:1]}, headers=KEY)

    assert error_of(failed) == (400, "validation_error")
    assert rows == [(0, 0)]
    assert (again.status_code, REPLAYED in again.headers) == (201, False)


async def test_what_was_deleted_since_is_still_answered_and_not_made_again(client: Client) -> None:
    made = unwrap(await post_category(client))
    await client.delete(f"/tag-categories/{made['id']}")

    assert unwrap(await post_category(client)) == made
    assert unwrap(await client.get("/tag-categories")) == []


async def test_a_key_is_of_its_user_and_a_replay_needs_the_scope(
    app: Starlette, client: Client, other_user_client: Client
) -> None:
    await post_category(client)

    theirs = await post_category(other_user_client)
    async with client_of(app, await new_key_for(app, scopes=("read:tags",))) as reader:
        refused = await post_category(reader)

    assert (theirs.status_code, REPLAYED in theirs.headers) == (201, False)
    assert error_of(refused) == (403, "forbidden_scope")


async def test_a_response_is_stored_for_a_day(app: Starlette, client: Client) -> None:
    start = datetime.now(UTC)
    await post_category(client)

    with time_machine.travel(start + timedelta(hours=23, minutes=59), tick=False):
        kept = await post_category(client)
    with time_machine.travel(start + timedelta(hours=24, minutes=1), tick=False):
        anew = await post_category(client)
        await post_category(client, "Two", **{"Idempotency-Key": "key-2"})

    assert kept.headers[REPLAYED] == "true"
    assert error_of(anew) == (409, "duplicate_name")
    assert await run_sql(app, "SELECT key FROM idempotency_keys") == [("key-2",)]


@pytest.mark.parametrize("key", ["", " ", "a b", "a" * 65, "a/b", "a.b"])
@pytest.mark.parametrize("path", ["/tag-categories", "/imports?account_id=1&dry_run=true"])
async def test_a_malformed_key_is_400_and_64_characters_are_none_too_many(client: Client, key: str, path: str) -> None:
    refused = await client.post(path, content=b"{}", headers={"Idempotency-Key": key})
    accepted = await post_category(client, **{"Idempotency-Key": "aZ09_-" + "x" * 58})

    assert error_of(refused) == (400, "validation_error")
    assert list(details_of(refused)["fields"]) == ["Idempotency-Key"]
    assert accepted.status_code == 201


async def test_the_header_means_nothing_on_other_methods(client: Client) -> None:
    path = f"/tags/{(await factories.create_tag(client))['id']}"

    renamed = [unwrap(await client.patch(path, json={"name": name}, headers=KEY)) for name in ("One", "Two")]

    assert [tag["name"] for tag in renamed] == ["One", "Two"]


@pytest.mark.promise(23)
async def test_a_dry_run_with_a_key_keeps_nothing_and_the_key_is_free_for_the_import(
    app: Starlette, client: Client, settings: Settings
) -> None:
    account_id = (await factories.create_account(client))["id"]
    query = {"account_id": account_id, "dry_run": "true"}
    before = dump(settings.db)

    dry = [await client.post("/imports", params=query, content=factories.A_FILE, headers=KEY | CSV) for _ in range(2)]
    kept = await run_sql(app, "SELECT count(*) FROM idempotency_keys")
    unchanged = dump(settings.db)
    query["dry_run"] = "false"
    done = [await client.post("/imports", params=query, content=factories.A_FILE, headers=KEY | CSV) for _ in range(2)]

    assert [one.status_code for one in dry] == [200, 200]
    assert (kept, unchanged) == ([(0,)], before)
    assert [REPLAYED in one.headers for one in dry + done] == [False, False, False, True]
    assert [one.status_code for one in done] == [201, 201]


@pytest.mark.promise(23)
async def test_neither_a_dry_run_nor_a_repeat_with_a_key_needs_a_turn_to_write(
    client: Client, settings: Settings
) -> None:
    account_id = (await factories.create_account(client))["id"]
    made = await post_category(client)
    with closing(sqlite3.connect(settings.db, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")

        dry = await client.post(
            "/imports",
            params={"account_id": account_id, "dry_run": "true"},
            content=factories.A_FILE,
            headers={"Idempotency-Key": "key-2", **CSV},
        )
        again = await post_category(client)

    assert dry.status_code == 200
    assert unwrap(again) == unwrap(made)


@pytest.mark.parametrize("hours", [23, 25])
async def test_a_restart_keeps_stored_responses_but_those_of_over_a_day_ago(settings: Settings, hours: int) -> None:
    async with opened(settings) as client:
        await post_category(client)

    with time_machine.travel(datetime.now(UTC) + timedelta(hours=hours)):
        async with opened(settings) as client:
            unwrap(await client.get("/tags"))
            unwrap(await client.post("/tag-categories", json={"name": "Two"}))
            again = await post_category(client)
            assert (REPLAYED in again.headers) == (hours < 24)

    assert rows(settings.db, "SELECT count(*) FROM idempotency_keys") == [(int(hours < 24),)]


async def test_a_running_server_deletes_stored_responses_after_a_day(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("journal_api.app.DELETE_EVERY", 0.01)
    async with opened(settings) as client:
        await post_category(client)

        with time_machine.travel(datetime.now(UTC) + timedelta(hours=25)):
            for _ in range(200):
                if rows(settings.db, "SELECT count(*) FROM idempotency_keys") == [(0,)]:
                    break
                await asyncio.sleep(0.01)

    assert rows(settings.db, "SELECT count(*) FROM idempotency_keys") == [(0,)]
