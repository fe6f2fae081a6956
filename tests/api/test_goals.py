"""Goals: docs/api.md#goals, and what hostile goals get."""

from itertools import product
from typing import Any

import httpx
import pytest
from factories import (
    create_goal,
    details_of,
    error_of,
    insert_account,
    insert_copy_group,
    insert_trade,
    run_sql,
    snapshots_of,
    unwrap,
)
from starlette.applications import Starlette

from journal_api.values.metrics import METRICS

INVALID = (400, "validation_error")

AT_MOST = {"max_drawdown", "max_trades_per_day"}
STATUSES = ["active", "paused", "archived"]
JUNE = {"timeframe": "custom", "custom_start": "2026-06-01", "custom_end": "2026-06-30"}


def goal_body(**fields: Any) -> dict[str, Any]:
    return {"goal_name": "Goal", "metric": "net_pnl", "target_value": 100, **fields}


async def refused_on_post(client: httpx.AsyncClient, **fields: Any) -> httpx.Response:
    """A POST that must leave no goal behind."""
    response = await client.post("/goals", json=goal_body(**fields))
    assert unwrap(await client.get("/goals?status=all")) == []
    return response


async def refused_on_patch(client: httpx.AsyncClient, goal: dict[str, Any], **fields: Any) -> httpx.Response:
    """A PATCH that must leave the goal as it was."""
    response = await client.patch(f"/goals/{goal['id']}", json=fields)
    assert unwrap(await client.get(f"/goals/{goal['id']}")) == goal
    return response


async def patched(client: httpx.AsyncClient, goal: dict[str, Any], **fields: Any) -> Any:
    return unwrap(await client.patch(f"/goals/{goal['id']}", json=fields))


# POST: the fields of docs/api.md#goals -------------------------------------------------------------------


async def test_a_goal_is_created_whole_with_a_location(client: httpx.AsyncClient) -> None:
    response = await client.post("/goals", json=goal_body(goal_name="Grow"))

    assert response.status_code == 201
    goal = response.json()["data"]["goal"]
    assert response.headers["location"] == f"/v1/goals/{goal['id']}"
    assert goal == {
        "id": goal["id"],
        "goal_name": "Grow",
        "metric": "net_pnl",
        "target_value": 100,
        "direction": "at_least",
        "timeframe": "monthly",
        "custom_start": None,
        "custom_end": None,
        "account_id": None,
        "copy_group_id": None,
        "status": "active",
        "scope": "all",
        "kind": "target",
        "formula": "gross_pnl - fees",
        "created_at": goal["created_at"],
        "updated_at": goal["created_at"],
    }
    assert unwrap(await client.get(response.headers["location"].removeprefix("/v1"))) == goal


async def test_two_goals_may_have_one_name(client: httpx.AsyncClient) -> None:
    first = await create_goal(client, goal_name="Same")

    second = await create_goal(client, goal_name="Same")

    assert second["id"] > first["id"]


async def test_a_goal_takes_every_metric_in_its_natural_direction(client: httpx.AsyncClient) -> None:
    goals = [await create_goal(client, metric=metric) for metric in METRICS]

    assert {goal["metric"]: goal["direction"] for goal in goals} == {
        metric: "at_most" if metric in AT_MOST else "at_least" for metric in METRICS
    }


async def test_a_direction_that_is_sent_wins_over_the_natural_one(client: httpx.AsyncClient) -> None:
    for metric in ("net_pnl", "max_drawdown", "max_trades_per_day"):
        for direction in ("at_least", "at_most"):
            goal = await create_goal(client, metric=metric, direction=direction)

            assert goal["direction"] == direction


async def test_a_goal_takes_every_timeframe(client: httpx.AsyncClient) -> None:
    for timeframe in ("daily", "weekly", "monthly", "quarterly"):
        goal = await create_goal(client, timeframe=timeframe)

        assert (goal["timeframe"], goal["custom_start"], goal["custom_end"]) == (timeframe, None, None)


async def test_a_custom_goal_keeps_its_window(client: httpx.AsyncClient) -> None:
    goal = await create_goal(client, **JUNE)

    assert {field: goal[field] for field in JUNE} == JUNE


async def test_a_goal_of_an_account_says_so_in_its_scope(app: Starlette, client: httpx.AsyncClient) -> None:
    account = await insert_account(app)

    goal = await create_goal(client, account_id=account, copy_group_id=None)

    assert (goal["account_id"], goal["copy_group_id"]) == (account, None)
    assert goal["scope"] == f"account_{account}"


async def test_a_goal_of_a_copy_group_says_so_in_its_scope(app: Starlette, client: httpx.AsyncClient) -> None:
    group = await insert_copy_group(app)

    goal = await create_goal(client, account_id=None, copy_group_id=group)

    assert (goal["account_id"], goal["copy_group_id"]) == (None, group)
    assert goal["scope"] == f"group_{group}"


# Rule 1: target_value -----------------------------------------------------------------------------------


ZEROS = ["0", "0.0", "-0", "-0.0", "1e-400", "0e5"]


def with_target(metric: str, target: str) -> str:
    return f'{{"goal_name": "Goal", "metric": "{metric}", "target_value": {target}}}'


async def test_rule_1_a_target_of_zero_is_refused(client: httpx.AsyncClient) -> None:
    goal = await create_goal(client)
    refused = {}
    for zero in ZEROS:
        for metric in set(METRICS) - {"max_drawdown"}:
            refused[metric, zero] = await client.post("/goals", content=with_target(metric, zero))
        refused["PATCH", zero] = await client.patch(
            f"/goals/{goal['id']}", content=f'{{"target_value": {zero}}}'
        )

    reasons = {case: (error_of(one), list(details_of(one)["fields"])) for case, one in refused.items()}
    assert reasons == dict.fromkeys(refused, (INVALID, ["target_value"]))
    assert unwrap(await client.get("/goals?status=all")) == [goal]


async def test_rule_1_a_target_of_zero_means_no_drawdown_allowed(client: httpx.AsyncClient) -> None:
    created = [await client.post("/goals", content=with_target("max_drawdown", zero)) for zero in ZEROS]

    assert [unwrap(answer)["target_value"] for answer in created] == [0] * len(ZEROS)
    assert all('"target_value":0,' in answer.text for answer in created)


async def test_rule_1_holds_for_the_merged_goal_when_the_metric_leaves_max_drawdown(
    client: httpx.AsyncClient,
) -> None:
    goal = await create_goal(client, metric="max_drawdown", target_value=0)

    refused = await refused_on_patch(client, goal, metric="net_pnl")
    allowed = await patched(client, goal, metric="net_pnl", target_value=5)

    assert error_of(refused) == INVALID
    assert (allowed["metric"], allowed["target_value"]) == ("net_pnl", 5)


async def test_rule_1_a_patch_to_max_drawdown_may_bring_a_target_of_zero(client: httpx.AsyncClient) -> None:
    goal = await create_goal(client)

    changed = await patched(client, goal, metric="max_drawdown", target_value=0)

    assert (changed["metric"], changed["target_value"]) == ("max_drawdown", 0)


async def test_a_target_is_kept_to_the_last_digit(client: httpx.AsyncClient) -> None:
    targets = ["-500", "0.1", "-0.00000001", "1234567.12345678", "10000000000", "-10000000000"]
    targets += ["9999999999.99999"]

    for target in targets:
        created = await client.post("/goals", content=with_target("net_pnl", target))

        assert created.status_code == 201
        assert f'"target_value":{target},' in created.text


# G4 to G7: the custom window ----------------------------------------------------------------------------


BOTH_DATES = ["custom_start", "custom_end"]
SOME_DATES = [["custom_start"], ["custom_end"], BOTH_DATES]


async def test_rule_4_custom_requires_both_dates(client: httpx.AsyncClient) -> None:
    goals = [await create_goal(client), await create_goal(client, **JUNE)]
    for sent in ([], ["custom_start"], ["custom_end"]):
        fields = {"timeframe": "custom", **{field: JUNE[field] for field in sent}}

        refused = [
            await client.post("/goals", json=goal_body(**fields)),
            *[await refused_on_patch(client, goal, **fields) for goal in goals],
        ]

        assert [error_of(answer) for answer in refused] == [INVALID] * 3
        assert [set(details_of(answer)["fields"]) for answer in refused] == [{*BOTH_DATES} - {*sent}] * 3
    assert unwrap(await client.get("/goals")) == goals


async def test_rule_4_dates_require_timeframe_custom(client: httpx.AsyncClient) -> None:
    monthly, custom = await create_goal(client), await create_goal(client, **JUNE)
    for sent in SOME_DATES:
        dates = {field: JUNE[field] for field in sent}

        refused = [
            await client.post("/goals", json=goal_body(**dates)),
            *[
                await client.post("/goals", json=goal_body(timeframe=timeframe, **dates))
                for timeframe in ("daily", "weekly", "monthly", "quarterly")
            ],
            *[
                await refused_on_patch(client, goal, timeframe="weekly", **dates)
                for goal in (monthly, custom)
            ],
            await refused_on_patch(client, monthly, **dates),
        ]

        assert [error_of(answer) for answer in refused] == [INVALID] * 8
        assert [set(details_of(answer)["fields"]) for answer in refused] == [set(sent)] * 8
    assert unwrap(await client.get("/goals")) == [monthly, custom]


@pytest.mark.parametrize(
    ("start", "end"),
    [("2000-01-01", "2100-12-31"), ("2000-01-01", "2000-01-01"), ("2024-02-29", "2024-02-29")],
)
async def test_rules_5_and_6_both_ends_of_the_range_and_a_single_day_are_fine(
    client: httpx.AsyncClient, start: str, end: str
) -> None:
    window = {"timeframe": "custom", "custom_start": start, "custom_end": end}

    created = await create_goal(client, **window)
    changed = await patched(client, await create_goal(client), **window)

    assert {field: created[field] for field in window} == window
    assert {field: changed[field] for field in window} == window


async def test_rule_6_an_end_before_the_start_is_refused(client: httpx.AsyncClient) -> None:
    goal = await create_goal(client)
    for start, end in (("2026-06-02", "2026-06-01"), ("2100-12-31", "2000-01-01")):
        window = {"timeframe": "custom", "custom_start": start, "custom_end": end}

        on_post = await client.post("/goals", json=goal_body(**window))
        on_patch = await refused_on_patch(client, goal, **window)

        assert error_of(on_post) == error_of(on_patch) == INVALID
        assert list(details_of(on_post)["fields"]) == list(details_of(on_patch)["fields"]) == ["custom_end"]


@pytest.mark.parametrize(
    "dates",
    [
        {"custom_start": "2025-01-01"},
        {"custom_end": "2025-01-01"},
        {"custom_start": "2025-01-01", "custom_end": "2025-12-31"},
    ],
    ids=["start", "end", "both"],
)
async def test_rule_7_dates_without_timeframe_are_not_written(
    client: httpx.AsyncClient, dates: dict[str, str]
) -> None:
    goal = await create_goal(client, **JUNE)

    alone = await client.patch(f"/goals/{goal['id']}", json=dates)
    beside_a_name = await patched(client, goal, goal_name="Renamed", **dates)

    assert unwrap(alone) == goal
    assert beside_a_name == {**goal, "goal_name": "Renamed", "updated_at": beside_a_name["updated_at"]}


async def test_rule_7_timeframe_custom_with_both_dates_moves_the_window(client: httpx.AsyncClient) -> None:
    goal = await create_goal(client, **JUNE)
    july = {"timeframe": "custom", "custom_start": "2026-07-01", "custom_end": "2026-07-31"}

    changed = await patched(client, goal, **july)

    assert changed == {**goal, **july, "updated_at": changed["updated_at"]}


async def test_leaving_custom_clears_both_dates(client: httpx.AsyncClient) -> None:
    for timeframe in ("daily", "weekly", "monthly", "quarterly"):
        goal = await create_goal(client, **JUNE)

        changed = await patched(client, goal, timeframe=timeframe)

        assert [changed[field] for field in ("timeframe", *BOTH_DATES)] == [timeframe, None, None]


# Rule 8: one scope --------------------------------------------------------------------------------------


async def test_rule_8_an_account_and_a_group_exclude_each_other_on_post(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    account, group = await insert_account(app), await insert_copy_group(app)

    refused = await refused_on_post(client, account_id=account, copy_group_id=group)

    assert error_of(refused) == INVALID


# Scope (PATCH) ------------------------------------------------------------------------------------------


async def test_a_goal_moves_from_any_scope_to_any(app: Starlette, client: httpx.AsyncClient) -> None:
    account, group = await insert_account(app), await insert_copy_group(app)
    scopes = {f"account_{account}": (account, None), f"group_{group}": (None, group)}
    scopes |= {"all": (None, None), "": (None, None)}
    goal = await create_goal(client)

    for start, scope in product(scopes, scopes):
        await patched(client, goal, scope=start)
        changed = await patched(client, goal, scope=scope)

        assert changed["scope"] == scope
        assert (changed["account_id"], changed["copy_group_id"]) == scopes[scope]


# Status -------------------------------------------------------------------------------------------------


async def test_a_goal_goes_from_any_status_to_any(client: httpx.AsyncClient) -> None:
    goal = await create_goal(client)

    for before, after in product(STATUSES, STATUSES):
        await patched(client, goal, status=before)

        assert (await patched(client, goal, status=after))["status"] == after


# PATCH --------------------------------------------------------------------------------------------------


async def test_patch_changes_the_fields_sent_and_no_other(client: httpx.AsyncClient) -> None:
    goal = await create_goal(client, goal_name="Old", direction="at_most")

    changed = await patched(client, goal, goal_name="New", target_value=-2.5)

    assert changed == {
        **goal,
        "goal_name": "New",
        "target_value": -2.5,
        "updated_at": changed["updated_at"],
    }
    assert changed["updated_at"] > goal["updated_at"]
    assert unwrap(await client.get(f"/goals/{goal['id']}")) == changed


async def test_an_empty_patch_changes_nothing(client: httpx.AsyncClient) -> None:
    goal = await create_goal(client)

    answer = await client.patch(f"/goals/{goal['id']}", json={})

    assert (answer.status_code, unwrap(answer)) == (200, goal)


async def test_a_patch_of_what_is_there_already_leaves_updated_at(client: httpx.AsyncClient) -> None:
    goal = await create_goal(client, **JUNE)
    same = {
        field: goal[field]
        for field in ("goal_name", "metric", "target_value", "direction", "status", "scope", *JUNE)
    }

    answer = await client.patch(f"/goals/{goal['id']}", json=same)

    assert (answer.status_code, unwrap(answer)) == (200, goal)


async def test_a_new_metric_brings_its_natural_direction(client: httpx.AsyncClient) -> None:
    for metric in METRICS:
        unnatural = "at_least" if metric in AT_MOST else "at_most"
        other = "trade_count" if metric != "trade_count" else "trading_days"
        goal = await create_goal(client, metric=other, direction=unnatural)

        changed = await patched(client, goal, metric=metric)

        assert (changed["metric"], changed["direction"]) == (
            metric,
            "at_most" if metric in AT_MOST else "at_least",
        )


async def test_a_new_metric_with_a_direction_takes_that_direction(client: httpx.AsyncClient) -> None:
    goal = await create_goal(client)

    changed = await patched(client, goal, metric="max_drawdown", direction="at_least")

    assert (changed["metric"], changed["direction"]) == ("max_drawdown", "at_least")


async def test_the_same_metric_again_keeps_the_direction(client: httpx.AsyncClient) -> None:
    goal = await create_goal(client, metric="net_pnl", direction="at_most")

    changed = await patched(client, goal, metric="net_pnl")

    assert changed["direction"] == "at_most"


async def test_a_refused_patch_writes_none_of_its_members(client: httpx.AsyncClient) -> None:
    goal = await create_goal(client)

    refused = await refused_on_patch(client, goal, goal_name="New", status="paused", target_value=0)

    assert error_of(refused) == INVALID


# Lists --------------------------------------------------------------------------------------------------


async def test_the_list_shows_active_goals_unless_another_status_is_asked_for(
    client: httpx.AsyncClient,
) -> None:
    for status in STATUSES:
        await patched(client, await create_goal(client, goal_name=status), status=status)
    expected = {
        "": ["active"],
        **{f"?status={status}": [status] for status in STATUSES},
        "?status=all": STATUSES,
    }

    goals = {query: unwrap(await client.get(f"/goals{query}")) for query in expected}

    assert {query: [goal["goal_name"] for goal in listed] for query, listed in goals.items()} == expected


async def test_the_list_by_account_shows_the_goals_bound_to_that_account(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    account, other = await insert_account(app), await insert_account(app, "Other")
    group = await insert_copy_group(app, members=[account])
    mine = await create_goal(client, account_id=account)
    await create_goal(client, account_id=other)
    await create_goal(client, copy_group_id=group)
    await create_goal(client)

    goals = unwrap(await client.get(f"/goals?account_id={account}"))

    assert goals == [mine]


async def test_the_filters_of_the_list_combine(app: Starlette, client: httpx.AsyncClient) -> None:
    account = await insert_account(app)
    await create_goal(client, account_id=account)
    paused = await patched(client, await create_goal(client, account_id=account), status="paused")
    await patched(client, await create_goal(client), status="paused")

    goals = unwrap(await client.get(f"/goals?status=paused&account_id={account}"))

    assert goals == [paused]


async def test_goals_come_in_the_order_of_their_ids(client: httpx.AsyncClient) -> None:
    made = [await create_goal(client, goal_name=name) for name in ("Zeta", "alpha", "Mid")]
    await patched(client, made[0], goal_name="Zz")

    goals = unwrap(await client.get("/goals"))

    assert [goal["id"] for goal in goals] == [goal["id"] for goal in made]


# DELETE and owners --------------------------------------------------------------------------------------


async def test_deleting_a_goal_takes_its_snapshots_and_targets(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    await insert_trade(app, await insert_account(app))
    goal, other = await create_goal(client), await create_goal(client)
    assert await snapshots_of(client, goal["id"])
    kept = await snapshots_of(client, other["id"])

    deleted = await client.delete(f"/goals/{goal['id']}")

    assert (deleted.status_code, deleted.content) == (204, b"")
    for table in ("snapshots", "goal_targets"):
        rows = await run_sql(app, f"SELECT 1 FROM {table} WHERE goal_id = :id", {"id": goal["id"]})
        assert rows == []
    assert await snapshots_of(client, other["id"]) == kept
    assert unwrap(await client.get("/goals")) == [other]


@pytest.mark.parametrize(("table", "field"), [("accounts", "account_id"), ("copy_groups", "copy_group_id")])
async def test_an_account_or_group_that_goes_takes_its_goals_and_their_snapshots(
    app: Starlette, client: httpx.AsyncClient, table: str, field: str
) -> None:
    make = insert_account if field == "account_id" else insert_copy_group
    scoped = await make(app)
    goal, other = await create_goal(client, **{field: scoped}), await create_goal(client)
    await snapshots_of(client, goal["id"])

    await run_sql(app, f"DELETE FROM {table} WHERE id = :id", {"id": scoped})

    assert unwrap(await client.get("/goals?status=all")) == [other]
    assert await run_sql(app, "SELECT 1 FROM snapshots WHERE goal_id = :id", {"id": goal["id"]}) == []
