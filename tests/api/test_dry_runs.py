"""Dry runs, and what a write takes along: docs/api.md#dry-runs."""

from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
import time_machine
from commands import dump
from factories import (
    create_account,
    create_category,
    create_copy_group,
    create_example_journal,
    create_goal,
    create_import,
    create_strategy,
    create_tag,
    create_trade,
    error_of,
    unwrap,
)
from operations import body_of, create_one_of_each, path_of
from starlette.applications import Starlette

from journal_api.routes.table import OPERATIONS
from journal_api.web.operation import Operation

DRY = {"dry_run": "true"}
WRITES = [operation for operation in OPERATIONS if operation.method != "GET" and not operation.consumes_file]
# A body that changes something of `create_one_of_each`, where the one of BODIES does not.
CHANGES: dict[str, dict[str, Any]] = {
    "update_tag_category": {"name": "Another"},
    "update_tag": {"name": "Another"},
    "update_strategy": {"setups": [{"setup_id": 1, "confirmations": []}, {"name": "Another"}]},
    "update_goal": {"status": "paused"},
    "update_account": {"starting_balance": 5},
    "update_copy_group": {"name": "Another"},
    "update_trade": {"exit_price": 103},
    "update_me": {"timezone": "Asia/Tokyo"},
    "replace_answers": {"confirmations": [{"confirmation_id": 1, "was_present": True}]},
}


def lost(response: httpx.Response) -> tuple[str, str]:
    """X-Trades-Unlinked and X-Answers-Deleted."""
    return response.headers["x-trades-unlinked"], response.headers["x-answers-deleted"]


async def create_answered(client: httpx.AsyncClient) -> Any:
    """A strategy of two setups of two confirmations, with a trade of each setup that answers both."""
    checklist = [{"name": "x"}, {"name": "y"}]
    strategy = await create_strategy(
        client, setups=[{"name": name, "confirmations": checklist} for name in ("a", "b")]
    )
    for setup in strategy["setups"]:
        trade = await create_trade(
            client,
            (await create_account(client, f"of {setup['name']}"))["id"],
            setup_id=setup["setup_id"],
        )
        answers = [
            {"confirmation_id": confirmation["confirmation_id"], "was_present": True}
            for confirmation in setup["confirmations"]
        ]
        await client.put(f"/trades/{trade['id']}/confirmations", json={"confirmations": answers})
    return strategy


@pytest.mark.parametrize("operation", WRITES, ids=lambda operation: operation.name)
async def test_a_dry_run_answers_like_the_real_request_and_keeps_nothing(
    app: Starlette, client: httpx.AsyncClient, operation: Operation
) -> None:
    made = await create_one_of_each(client)
    if operation.name == "delete_example_journal":
        await create_example_journal(client)
    path = path_of(operation, made.get(path_of(operation).split("/")[1]))
    body = CHANGES.get(operation.name, body_of(operation))
    client.headers["X-Request-Id"] = "always-the-same"
    before = dump(app.state.settings.db)

    with time_machine.travel(datetime.now(UTC), tick=False):
        tried = [await client.request(operation.method, path, params=DRY, json=body) for _ in range(2)]
        after_dry_runs = dump(app.state.settings.db)
        done = await client.request(operation.method, path, json=body)

    assert done.is_success, done.text
    assert after_dry_runs == before
    assert [whole(answer) for answer in tried] == [whole(done)] * 2
    assert dump(app.state.settings.db) != before


def whole(answer: httpx.Response) -> tuple[int, bytes, list[tuple[bytes, bytes]]]:
    return answer.status_code, answer.content, answer.headers.raw


def test_every_write_but_the_import_is_tried() -> None:
    """The dry run of an import answers 200 with the report of what it would do (docs/imports.md)."""
    writes = {operation.name for operation in OPERATIONS if operation.method != "GET"}
    assert writes - {operation.name for operation in WRITES} == {"create_import"}


async def test_a_dry_run_leaves_the_idempotency_key_free(app: Starlette, client: httpx.AsyncClient) -> None:
    key, body = {"Idempotency-Key": "once"}, {"name": "New"}
    before = dump(app.state.settings.db)

    tried = await client.post("/accounts", params=DRY, json=body, headers=key)
    after_dry_run = dump(app.state.settings.db)
    done = await client.post("/accounts", json=body, headers=key)

    assert after_dry_run == before
    assert tried.headers["location"] == done.headers["location"]
    assert "x-idempotent-replay" not in done.headers


async def test_the_undo_of_an_import_can_be_tried(client: httpx.AsyncClient) -> None:
    done = await create_import(client)
    (trade,) = unwrap(await client.get("/trades"))
    await client.patch(f"/trades/{trade['id']}", json={"notes": "Edited"})

    tried = await client.delete(f"/imports/{done['id']}", params=DRY)
    forced = await client.delete(f"/imports/{done['id']}", params={**DRY, "force": "true"})

    assert tried.headers["x-trades-kept"] == str(trade["id"])
    assert "x-trades-kept" not in forced.headers
    assert unwrap(await client.get(f"/trades/{trade['id']}"))["notes"] == "Edited"


async def test_a_dry_run_of_a_patch_shows_the_strategy_as_it_would_be(client: httpx.AsyncClient) -> None:
    strategy = await create_answered(client)
    path = f"/strategies/{strategy['id']}"
    sent = {"name": "New", "setups": strategy["setups"][:1]}

    tried = await client.patch(path, params=DRY, json=sent)
    still = unwrap(await client.get(path))
    done = await client.patch(path, json=sent)

    assert still == strategy
    assert lost(tried) == lost(done) == ("1", "2")
    assert [setup["name"] for setup in unwrap(tried)["setups"]] == ["a"]
    assert {**unwrap(tried), "updated_at": ""} == {**unwrap(done), "updated_at": ""}


async def test_a_dry_run_is_refused_like_the_real_request(client: httpx.AsyncClient) -> None:
    tag = await create_tag(client)
    trade = await create_trade(client)
    strategy, other = await create_strategy(client), await create_strategy(client, "Other")

    category = await client.delete(f"/tag-categories/{tag['category_id']}", params=DRY)
    account = await client.delete(f"/accounts/{trade['account_id']}", params=DRY)
    taken = await client.patch(f"/strategies/{strategy['id']}", params=DRY, json={"name": other["name"]})
    stale = await client.delete(f"/tags/{tag['id']}", params=DRY, headers={"If-Match": '"stale"'})
    flag = await client.delete(f"/tags/{tag['id']}", params={"dry_run": "maybe"})

    assert error_of(category) == (409, "category_has_tags")
    assert error_of(account) == (409, "account_has_trades")
    assert error_of(taken) == (409, "duplicate_name")
    assert error_of(stale) == (412, "precondition_failed")
    assert error_of(flag) == (400, "validation_error")


async def test_a_dry_run_of_a_group_keeps_its_goals(client: httpx.AsyncClient) -> None:
    group = await create_copy_group(client)
    goal = await create_goal(client, copy_group_id=group["id"])

    await client.delete(f"/copy-groups/{group['id']}", params=DRY)

    assert unwrap(await client.get(f"/goals/{goal['id']}")) == goal


async def test_deleted_confirmations_take_their_answers_along(client: httpx.AsyncClient) -> None:
    strategy = await create_answered(client)
    first, second = strategy["setups"]
    sent = [{**first, "confirmations": first["confirmations"][1:]}, {**second, "confirmations": []}]

    patched = await client.patch(f"/strategies/{strategy['id']}", json={"setups": sent})

    assert lost(patched) == ("0", "3")


async def test_a_patch_that_deletes_nothing_takes_nothing_along(client: httpx.AsyncClient) -> None:
    strategy = await create_answered(client)

    patched = await client.patch(f"/strategies/{strategy['id']}", json={**strategy, "name": "New"})

    assert lost(patched) == ("0", "0")


async def test_a_deleted_strategy_takes_all_answers_along(client: httpx.AsyncClient) -> None:
    strategy = await create_answered(client)
    await create_trade(client, strategy_id=strategy["id"])

    deleted = await client.delete(f"/strategies/{strategy['id']}")

    assert (deleted.status_code, *lost(deleted)) == (204, "3", "4")


async def test_the_category_of_a_tag_can_be_tried_without_its_tag(client: httpx.AsyncClient) -> None:
    category = await create_category(client)

    tried = await client.delete(f"/tag-categories/{category['id']}", params=DRY)

    assert tried.status_code == 204
    assert unwrap(await client.get(f"/tag-categories/{category['id']}")) == category
