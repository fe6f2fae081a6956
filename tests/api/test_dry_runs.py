"""Dry runs, and what a write takes along: docs/api.md#dry-runs."""

from typing import Any

import httpx
import pytest
from commands import dump
from factories import (
    create_account,
    create_category,
    create_copy_group,
    create_goal,
    create_strategy,
    create_tag,
    create_trade,
    error_of,
    unwrap,
)
from operations import create_thing_of, path_of
from starlette.applications import Starlette

from journal_api.routes.table import OPERATIONS
from journal_api.structs.dry_run import DryRunQuery
from journal_api.web.operation import Operation

DRY = {"dry_run": "true"}
BODIES = {
    "update_strategy": {"description": "New"},
    "create_goal": {"goal_name": "New", "metric": "worst_day", "target_value": -500},
    "update_goal": {"goal_name": "New"},
}
WITH_DRY_RUN = [operation for operation in OPERATIONS if operation.query is DryRunQuery]


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


@pytest.mark.parametrize("operation", WITH_DRY_RUN, ids=lambda operation: operation.name)
async def test_a_dry_run_answers_like_the_real_request_and_keeps_nothing(
    app: Starlette, client: httpx.AsyncClient, operation: Operation
) -> None:
    path = path_of(operation, await create_thing_of(client, operation))
    body: dict[str, Any] = {"json": BODIES[operation.name]} if operation.name in BODIES else {}
    before = dump(app.state.settings.db)

    tried = await client.request(operation.method, path, params=DRY, **body)
    after_dry_run = dump(app.state.settings.db)
    done = await client.request(operation.method, path, **body)

    assert after_dry_run == before
    assert (tried.status_code, headers_of(tried)) == (done.status_code, headers_of(done))
    assert dump(app.state.settings.db) != before


def headers_of(response: httpx.Response) -> list[str]:
    return sorted(response.headers.keys())


def test_the_requests_that_destroy_can_be_tried() -> None:
    assert {operation.name for operation in WITH_DRY_RUN} == {
        "update_strategy",
        "delete_strategy",
        "delete_tag",
        "delete_tag_category",
        "delete_account",
        "delete_copy_group",
        "create_goal",
        "update_goal",
    }


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
