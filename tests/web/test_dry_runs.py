"""Dry runs, and what a write takes along: docs/api.md#dry-runs."""

from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
import time_machine
from factories import Client, create_account, create_import, create_strategy, create_tag, create_trade, error_of, unwrap
from operations import CHANGES, body_of, create_needs, dump, file_of, for_each, path_of
from starlette.applications import Starlette

from journal_api.routes.table import OPERATIONS
from journal_api.web.operation import Operation

DRY = {"dry_run": "true"}
# The dry run of an import returns 200 with the report of what it would do (docs/imports.md).
WRITES = [one for one in OPERATIONS if one.method != "GET" and one.name != "create_import"]


def losses(response: httpx.Response) -> tuple[str, str]:
    return response.headers["x-trades-unlinked"], response.headers["x-answers-deleted"]


def everything(response: httpx.Response) -> tuple[int, bytes, list[tuple[bytes, bytes]]]:
    return response.status_code, response.content, response.headers.raw


@for_each(WRITES, rewind=True)
async def test_a_dry_run_answers_like_the_real_request_and_keeps_nothing(
    app: Starlette, client: Client, one_of_each: dict[str, Any], operation: Operation
) -> None:
    await create_needs(client, operation)
    path = path_of(operation, one_of_each.get(path_of(operation).split("/")[1]))
    body = CHANGES.get(operation.name, body_of(operation))
    sent: dict[str, Any] = file_of(operation) if operation.consumes_picture else {"json": body}
    key = {"Idempotency-Key": "for-the-real-request"} if operation.method == "POST" else {}
    sent["headers"] = {**sent.get("headers", {}), **key, "X-Request-Id": "always-the-same"}
    before = dump(app)

    with time_machine.travel(datetime.now(UTC), tick=False):
        tried = [await client.request(operation.method, path, params=DRY, **sent) for _ in range(2)]
        after_dry_runs = dump(app)
        done = await client.request(operation.method, path, **sent)

    assert done.is_success, done.text
    assert after_dry_runs == before
    assert [everything(response) for response in tried] == [everything(done)] * 2
    assert dump(app) != before


async def test_a_dry_run_is_refused_like_the_real_request(client: Client) -> None:
    tag, trade = await create_tag(client), await create_trade(client)
    strategy, other = await create_strategy(client), await create_strategy(client, "Other")

    refused = [
        await client.delete(f"/tag-categories/{tag['category_id']}", params=DRY),
        await client.delete(f"/accounts/{trade['account_id']}", params=DRY),
        await client.patch(f"/strategies/{strategy['id']}", params=DRY, json={"name": other["name"]}),
        await client.delete(f"/tags/{tag['id']}", params=DRY, headers={"If-Match": '"stale"'}),
        await client.delete(f"/tags/{tag['id']}", params={"dry_run": "maybe"}),
    ]

    assert [error_of(response) for response in refused] == [
        (409, "category_has_tags"),
        (409, "account_has_trades"),
        (409, "duplicate_name"),
        (412, "precondition_failed"),
        (400, "validation_error"),
    ]


async def test_a_dry_run_of_an_undo_keeps_the_trades(client: Client) -> None:
    done = await create_import(client)
    (trade,) = unwrap(await client.get("/trades"))
    await client.patch(f"/trades/{trade['id']}", json={"notes": "Edited"})

    tried = await client.delete(f"/imports/{done['id']}", params={**DRY, "keep": "true"})
    forced = await client.delete(f"/imports/{done['id']}", params={**DRY, "force": "true"})

    assert tried.headers["x-trades-kept"] == str(trade["id"])
    assert "x-trades-kept" not in forced.headers
    assert unwrap(await client.get(f"/trades/{trade['id']}"))["notes"] == "Edited"


# Answers and links that go with setups and confirmations --------------------------------------------------


@pytest.fixture
async def answered(client: Client) -> Any:
    """A strategy of two setups of two confirmations, with a trade of each setup that answers both."""
    checklist = [{"name": "x"}, {"name": "y"}]
    strategy = await create_strategy(client, setups=[{"name": name, "confirmations": checklist} for name in ("a", "b")])
    for setup in strategy["setups"]:
        account = await create_account(client, f"of {setup['name']}")
        trade = await create_trade(client, account["id"], setup_id=setup["setup_id"])
        answers = [{"confirmation_id": one["confirmation_id"], "was_present": True} for one in setup["confirmations"]]
        await client.put(f"/trades/{trade['id']}/confirmations", json={"confirmations": answers})
    return strategy


async def test_a_dry_run_of_a_patch_shows_the_strategy_as_it_would_be(client: Client, answered: Any) -> None:
    path, sent = f"/strategies/{answered['id']}", {"name": "New", "setups": answered["setups"][:1]}

    tried = await client.patch(path, params=DRY, json=sent)
    still = unwrap(await client.get(path))
    done = await client.patch(path, json=sent)

    assert still == answered
    assert losses(tried) == losses(done) == ("1", "2")
    assert [setup["name"] for setup in unwrap(tried)["setups"]] == ["a"]
    assert {**unwrap(tried), "updated_at": ""} == {**unwrap(done), "updated_at": ""}


async def test_deleted_confirmations_and_strategies_take_answers_along(client: Client, answered: Any) -> None:
    path, (first, second) = f"/strategies/{answered['id']}", answered["setups"]
    fewer = [{**first, "confirmations": first["confirmations"][1:]}, {**second, "confirmations": []}]
    await create_trade(client, strategy_id=answered["id"])

    nothing = await client.patch(path, json={**answered, "name": "New"})
    deleted = await client.delete(path, params=DRY)
    patched = await client.patch(path, json={"setups": fewer})

    assert (losses(nothing), losses(deleted), losses(patched)) == (("0", "0"), ("3", "4"), ("0", "3"))
