"""Goals: docs/api.md#goals, and what hostile goals get."""

from itertools import product
from typing import Any

import httpx
import pytest
from conftest import client_of, new_key_for
from factories import (
    create_goal,
    details_of,
    error_of,
    insert_account,
    insert_copy_group,
    insert_trade,
    insert_user,
    run_sql,
    snapshots_of,
    unwrap,
)
from starlette.applications import Starlette

INVALID = (400, "validation_error")
NOT_FOUND = (404, "not_found")

METRICS = [
    "net_pnl",
    "gross_pnl",
    "max_drawdown",
    "balance_target",
    "win_rate",
    "profit_factor",
    "expectancy",
    "rr_realized_avg",
    "a_plus_rate",
    "max_trades_per_day",
    "protocol_completion_rate",
    "trade_count",
    "trading_days",
    "winning_days",
    "win_streak",
    "average_win",
    "payoff_ratio",
    "worst_trade",
    "worst_day",
    "mistake_free_rate",
]
AT_MOST = {"max_drawdown", "max_trades_per_day"}
TIMEFRAMES = ["daily", "weekly", "monthly", "quarterly", "custom"]
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
        "created_at": goal["created_at"],
        "updated_at": goal["created_at"],
    }
    assert unwrap(await client.get(response.headers["location"].removeprefix("/v1"))) == goal


@pytest.mark.parametrize("missing", ["goal_name", "metric", "target_value"])
async def test_a_required_member_that_is_missing_is_named(client: httpx.AsyncClient, missing: str) -> None:
    body = goal_body()
    del body[missing]

    refused = await client.post("/goals", json=body)

    assert error_of(refused) == INVALID
    assert list(details_of(refused)["fields"]) == [missing]


@pytest.mark.parametrize("name", ["G", "n" * 100, "😀" * 100, "  " + "n" * 100 + "\u3000"])
async def test_a_goal_name_has_1_to_100_characters_without_the_space_around(
    client: httpx.AsyncClient, name: str
) -> None:
    goal = await create_goal(client, goal_name=name)

    assert goal["goal_name"] == name.strip()


@pytest.mark.parametrize(
    "name", ["", "   ", "\u3000", "n" * 101, "😀" * 101, "a\u0000b", "a\u0007", 5, None, True, ["n"]]
)
async def test_another_goal_name_is_refused_on_post_and_patch(client: httpx.AsyncClient, name: Any) -> None:
    on_post = await refused_on_post(client, goal_name=name)
    on_patch = await refused_on_patch(client, await create_goal(client), goal_name=name)

    assert error_of(on_post) == error_of(on_patch) == INVALID
    assert list(details_of(on_post)["fields"]) == list(details_of(on_patch)["fields"]) == ["goal_name"]


async def test_two_goals_may_have_one_name(client: httpx.AsyncClient) -> None:
    first = await create_goal(client, goal_name="Same")

    second = await create_goal(client, goal_name="Same")

    assert second["id"] > first["id"]


@pytest.mark.parametrize("metric", METRICS)
async def test_a_goal_takes_every_metric_in_its_natural_direction(
    client: httpx.AsyncClient, metric: str
) -> None:
    goal = await create_goal(client, metric=metric)

    assert goal["metric"] == metric
    assert goal["direction"] == ("at_most" if metric in AT_MOST else "at_least")


@pytest.mark.parametrize("metric", ["", "profit", "NET_PNL", " net_pnl", "net_pnl\n", None, 1, True, {}, []])
async def test_an_unknown_metric_is_refused_on_post_and_patch(client: httpx.AsyncClient, metric: Any) -> None:
    on_post = await refused_on_post(client, metric=metric)
    on_patch = await refused_on_patch(client, await create_goal(client), metric=metric)

    assert error_of(on_post) == error_of(on_patch) == INVALID
    assert list(details_of(on_post)["fields"]) == list(details_of(on_patch)["fields"]) == ["metric"]


@pytest.mark.parametrize("direction", ["at_least", "at_most"])
@pytest.mark.parametrize("metric", ["net_pnl", "max_drawdown", "max_trades_per_day"])
async def test_a_direction_that_is_sent_wins_over_the_natural_one(
    client: httpx.AsyncClient, metric: str, direction: str
) -> None:
    goal = await create_goal(client, metric=metric, direction=direction)

    assert goal["direction"] == direction


@pytest.mark.parametrize("timeframe", ["daily", "weekly", "monthly", "quarterly"])
async def test_a_goal_takes_every_timeframe(client: httpx.AsyncClient, timeframe: str) -> None:
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


@pytest.mark.parametrize("field", ["account_id", "copy_group_id"])
async def test_a_strangers_account_or_group_is_refused_as_a_missing_one(
    app: Starlette, client: httpx.AsyncClient, field: str
) -> None:
    other = await insert_user(app)
    make = insert_account if field == "account_id" else insert_copy_group
    foreign = await make(app, user_id=other)

    of_stranger = await refused_on_post(client, **{field: foreign})
    of_nobody = await refused_on_post(client, **{field: 2**63 - 1})

    assert error_of(of_stranger) == error_of(of_nobody) == INVALID
    assert list(details_of(of_stranger)["fields"]) == [field]
    assert of_stranger.json()["error"] == of_nobody.json()["error"]


@pytest.mark.parametrize("field", ["account_id", "copy_group_id"])
@pytest.mark.parametrize(
    "row_id", ["1.0", "1e0", '"1"', "true", "0", "-1", str(2**63), "9" * 4000], ids=lambda text: text[:20]
)
async def test_what_is_not_an_id_is_refused(client: httpx.AsyncClient, field: str, row_id: str) -> None:
    body = f'{{"goal_name": "Goal", "metric": "net_pnl", "target_value": 1, "{field}": {row_id}}}'

    refused = await client.post("/goals", content=body)

    assert error_of(refused) == INVALID


@pytest.mark.parametrize("member", ["id", "status", "scope", "created_at", "updated_at", "Metric", ""])
async def test_members_that_post_does_not_take_are_refused_and_named(
    client: httpx.AsyncClient, member: str
) -> None:
    refused = await refused_on_post(client, **{member: "active"})

    assert error_of(refused) == INVALID
    assert details_of(refused)["unknown_fields"] == [member]


# Rule 1: target_value -----------------------------------------------------------------------------------


@pytest.mark.parametrize("zero", ["0", "0.0", "-0", "-0.0", "1e-400", "0e5"])
@pytest.mark.parametrize("metric", sorted(set(METRICS) - {"max_drawdown"}))
async def test_rule_1_a_target_of_zero_is_refused_on_post(
    client: httpx.AsyncClient, metric: str, zero: str
) -> None:
    refused = await client.post(
        "/goals", content=f'{{"goal_name": "Goal", "metric": "{metric}", "target_value": {zero}}}'
    )

    assert error_of(refused) == INVALID
    assert list(details_of(refused)["fields"]) == ["target_value"]


@pytest.mark.parametrize("zero", ["0", "0.0", "-0", "-0.0", "1e-400"])
async def test_rule_1_a_target_of_zero_is_refused_on_patch(client: httpx.AsyncClient, zero: str) -> None:
    goal = await create_goal(client)

    refused = await client.patch(f"/goals/{goal['id']}", content=f'{{"target_value": {zero}}}')

    assert error_of(refused) == INVALID
    assert list(details_of(refused)["fields"]) == ["target_value"]


@pytest.mark.parametrize("zero", ["0", "0.0", "-0.0", "1e-400"])
async def test_rule_1_a_target_of_zero_means_no_drawdown_allowed(
    client: httpx.AsyncClient, zero: str
) -> None:
    created = await client.post(
        "/goals", content=f'{{"goal_name": "Goal", "metric": "max_drawdown", "target_value": {zero}}}'
    )

    assert unwrap(created)["target_value"] == 0
    assert '"target_value":0,' in created.text


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


@pytest.mark.parametrize(
    "target",
    ["-500", "0.1", "-0.00000001", "1234567.12345678", "10000000000", "-10000000000", "9999999999.99999"],
)
async def test_a_target_is_kept_to_the_last_digit(client: httpx.AsyncClient, target: str) -> None:
    created = await client.post(
        "/goals", content=f'{{"goal_name": "Goal", "metric": "net_pnl", "target_value": {target}}}'
    )

    assert created.status_code == 201
    assert f'"target_value":{target},' in created.text


@pytest.mark.parametrize("target", ["1e400", "-1e400", "10000000000.5", "10000000001", "1e11", "9" * 4000])
async def test_a_target_over_ten_milliards_is_refused(client: httpx.AsyncClient, target: str) -> None:
    refused = await client.post(
        "/goals", content=f'{{"goal_name": "Goal", "metric": "net_pnl", "target_value": {target}}}'
    )

    assert error_of(refused) == INVALID


@pytest.mark.parametrize("target", ["0.123456789", "1e-9", "12345678.12345678", "0.1234567890123456"])
async def test_a_target_with_too_many_digits_is_refused(client: httpx.AsyncClient, target: str) -> None:
    refused = await client.post(
        "/goals", content=f'{{"goal_name": "Goal", "metric": "net_pnl", "target_value": {target}}}'
    )

    assert error_of(refused) == INVALID


@pytest.mark.parametrize("target", ["5", True, False, None, [5], {"value": 5}, ""])
async def test_a_target_that_is_not_a_number_is_refused_on_post_and_patch(
    client: httpx.AsyncClient, target: Any
) -> None:
    on_post = await refused_on_post(client, target_value=target)
    on_patch = await refused_on_patch(client, await create_goal(client), target_value=target)

    assert error_of(on_post) == error_of(on_patch) == INVALID
    assert list(details_of(on_post)["fields"]) == list(details_of(on_patch)["fields"]) == ["target_value"]


# G2 and G3: the closed lists ----------------------------------------------------------------------------


@pytest.mark.parametrize("direction", ["up", "AT_LEAST", "at_least ", "", None, 1, True, []])
async def test_rule_2_another_direction_is_refused_with_the_ones_allowed(
    client: httpx.AsyncClient, direction: Any
) -> None:
    on_post = await refused_on_post(client, direction=direction)
    on_patch = await refused_on_patch(client, await create_goal(client), direction=direction)

    assert error_of(on_post) == error_of(on_patch) == INVALID
    assert set(details_of(on_post)["allowed"]) == {"at_least", "at_most"}
    assert set(details_of(on_patch)["allowed"]) == {"at_least", "at_most"}


@pytest.mark.parametrize("timeframe", ["yearly", "Daily", "all", "", None, 1, True, []])
async def test_rule_3_another_timeframe_is_refused_with_the_ones_allowed(
    client: httpx.AsyncClient, timeframe: Any
) -> None:
    on_post = await refused_on_post(client, timeframe=timeframe)
    on_patch = await refused_on_patch(client, await create_goal(client), timeframe=timeframe)

    assert error_of(on_post) == error_of(on_patch) == INVALID
    assert set(details_of(on_post)["allowed"]) == set(TIMEFRAMES)
    assert set(details_of(on_patch)["allowed"]) == set(TIMEFRAMES)


# G4 to G7: the custom window ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dates", "missing"),
    [
        ({}, {"custom_start", "custom_end"}),
        ({"custom_start": "2026-06-01"}, {"custom_end"}),
        ({"custom_end": "2026-06-30"}, {"custom_start"}),
    ],
    ids=["none", "only start", "only end"],
)
@pytest.mark.parametrize("stored", [{}, JUNE], ids=["monthly goal", "custom goal"])
async def test_rule_4_custom_requires_both_dates(
    client: httpx.AsyncClient, stored: dict[str, Any], dates: dict[str, str], missing: set[str]
) -> None:
    on_post = await refused_on_post(client, timeframe="custom", **dates)
    on_patch = await refused_on_patch(
        client, await create_goal(client, **stored), timeframe="custom", **dates
    )

    assert error_of(on_post) == error_of(on_patch) == INVALID
    assert set(details_of(on_post)["fields"]) == set(details_of(on_patch)["fields"]) == missing


@pytest.mark.parametrize("timeframe", [None, "daily", "weekly", "monthly", "quarterly"])
@pytest.mark.parametrize("sent", [["custom_start"], ["custom_end"], ["custom_start", "custom_end"]])
async def test_rule_4_a_date_with_another_timeframe_is_refused_on_post(
    client: httpx.AsyncClient, timeframe: str | None, sent: list[str]
) -> None:
    fields = {field: JUNE[field] for field in sent} | ({"timeframe": timeframe} if timeframe else {})

    refused = await refused_on_post(client, **fields)

    assert error_of(refused) == INVALID
    assert set(details_of(refused)["fields"]) == set(sent)


@pytest.mark.parametrize("stored", [{}, JUNE], ids=["monthly goal", "custom goal"])
@pytest.mark.parametrize("sent", [["custom_start"], ["custom_end"], ["custom_start", "custom_end"]])
async def test_rule_4_a_date_with_another_timeframe_is_refused_on_patch(
    client: httpx.AsyncClient, stored: dict[str, Any], sent: list[str]
) -> None:
    goal = await create_goal(client, **stored)

    refused = await refused_on_patch(
        client, goal, timeframe="weekly", **{field: JUNE[field] for field in sent}
    )

    assert error_of(refused) == INVALID
    assert set(details_of(refused)["fields"]) == set(sent)


@pytest.mark.parametrize("sent", [["custom_start"], ["custom_end"], ["custom_start", "custom_end"]])
async def test_rule_4_dates_alone_are_refused_on_a_goal_that_is_not_custom(
    client: httpx.AsyncClient, sent: list[str]
) -> None:
    goal = await create_goal(client)

    refused = await refused_on_patch(client, goal, **{field: JUNE[field] for field in sent})

    assert error_of(refused) == INVALID
    assert set(details_of(refused)["fields"]) == set(sent)


@pytest.mark.parametrize("field", ["custom_start", "custom_end"])
async def test_rule_4_a_null_date_is_sent_and_so_refused_on_post(
    client: httpx.AsyncClient, field: str
) -> None:
    assert error_of(await refused_on_post(client, timeframe="monthly", **{field: None})) == INVALID


@pytest.mark.parametrize("field", ["custom_start", "custom_end"])
@pytest.mark.parametrize(
    "day",
    [
        "1999-12-31",
        "2101-01-01",
        "2024-2-3",
        "2024-02-30",
        "2023-02-29",
        "2024-13-01",
        "2024-00-10",
        "2024-02-03T00:00",
        "2024-02-03T00:00:00Z",
        "20240203",
        "2024-W05-6",
        "2024-034",
        "03.02.2024",
        "2024/02/03",
        " 2024-02-03",
        "2024-02-03\n",
        "２０２４-02-03",
        "+2024-02-03",
        "0000-00-00",
        "9999-12-31",
        "",
        None,
        20240203,
        1706918400,
        True,
    ],
)
async def test_rule_5_a_date_is_a_day_from_2000_to_2100(
    client: httpx.AsyncClient, field: str, day: Any
) -> None:
    monthly, custom = await create_goal(client), await create_goal(client, **JUNE)

    on_post = await client.post("/goals", json=goal_body(**{**JUNE, field: day}))
    on_patch = await refused_on_patch(client, monthly, **{**JUNE, field: day})
    without_timeframe = await refused_on_patch(client, custom, **{field: day})

    for refused in (on_post, on_patch, without_timeframe):
        assert error_of(refused) == INVALID
        assert list(details_of(refused)["fields"]) == [field]


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("2000-01-01", "2100-12-31"),
        ("2000-01-01", "2000-01-01"),
        ("2100-12-31", "2100-12-31"),
        ("2024-02-29", "2024-02-29"),
    ],
)
async def test_rules_5_and_6_both_ends_of_the_range_and_a_single_day_are_fine(
    client: httpx.AsyncClient, start: str, end: str
) -> None:
    window = {"timeframe": "custom", "custom_start": start, "custom_end": end}

    created = await create_goal(client, **window)
    changed = await patched(client, await create_goal(client), **window)

    assert {field: created[field] for field in window} == window
    assert {field: changed[field] for field in window} == window


@pytest.mark.parametrize(("start", "end"), [("2026-06-02", "2026-06-01"), ("2100-12-31", "2000-01-01")])
async def test_rule_6_an_end_before_the_start_is_refused(
    client: httpx.AsyncClient, start: str, end: str
) -> None:
    window = {"timeframe": "custom", "custom_start": start, "custom_end": end}

    on_post = await refused_on_post(client, **window)
    on_patch = await refused_on_patch(client, await create_goal(client), **window)

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


@pytest.mark.parametrize("timeframe", ["daily", "weekly", "monthly", "quarterly"])
async def test_leaving_custom_clears_both_dates(client: httpx.AsyncClient, timeframe: str) -> None:
    goal = await create_goal(client, **JUNE)

    changed = await patched(client, goal, timeframe=timeframe)

    assert (changed["timeframe"], changed["custom_start"], changed["custom_end"]) == (timeframe, None, None)


# Rule 8: one scope --------------------------------------------------------------------------------------


async def test_rule_8_an_account_and_a_group_exclude_each_other_on_post(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    account, group = await insert_account(app), await insert_copy_group(app)

    refused = await refused_on_post(client, account_id=account, copy_group_id=group)

    assert error_of(refused) == INVALID


# Scope (PATCH) ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("start", ["account", "group", "all", ""])
@pytest.mark.parametrize("scope", ["account", "group", "all", ""])
async def test_a_goal_moves_from_any_scope_to_any(
    app: Starlette, client: httpx.AsyncClient, start: str, scope: str
) -> None:
    account, group = await insert_account(app), await insert_copy_group(app)
    words = {"account": f"account_{account}", "group": f"group_{group}", "all": "all", "": ""}
    goal = await patched(client, await create_goal(client), scope=words[start])

    changed = await patched(client, goal, scope=words[scope])

    assert changed["scope"] == words[scope]
    assert changed["account_id"] == (account if scope == "account" else None)
    assert changed["copy_group_id"] == (group if scope == "group" else None)


@pytest.mark.parametrize(
    "scope",
    [
        "account_0",
        "account_01",
        "account_-1",
        "account_+1",
        "account_1_0",
        "account_1.0",
        "account_1\n",
        "account_ 1",
        " account_1",
        "account_１",
        "account_٣",
        "account_",
        "account",
        "ACCOUNT_1",
        "group_",
        "group_0",
        "Group_1",
        f"account_{2**63}",
        f"group_{2**63}",
        "account_" + "9" * 4400,
        "strategy_1",
        "ALL",
        " ",
        "none",
        None,
        1,
        True,
        ["all"],
        {"account": 1},
    ],
    ids=lambda scope: repr(scope)[:30],
)
async def test_another_scope_string_is_refused(app: Starlette, client: httpx.AsyncClient, scope: Any) -> None:
    await insert_account(app)
    await insert_copy_group(app)
    goal = await create_goal(client)

    refused = await refused_on_patch(client, goal, scope=scope)

    assert error_of(refused) == INVALID
    assert list(details_of(refused)["fields"]) == ["scope"]


@pytest.mark.parametrize("kind", ["account", "group"])
async def test_a_scope_of_a_stranger_is_refused_as_a_missing_one(
    app: Starlette, client: httpx.AsyncClient, kind: str
) -> None:
    other = await insert_user(app)
    make = insert_account if kind == "account" else insert_copy_group
    foreign = await make(app, user_id=other)
    goal = await create_goal(client)

    of_stranger = await refused_on_patch(client, goal, scope=f"{kind}_{foreign}")
    of_nobody = await refused_on_patch(client, goal, scope=f"{kind}_{2**63 - 1}")

    assert error_of(of_stranger) == INVALID
    assert list(details_of(of_stranger)["fields"]) == ["scope"]
    assert of_stranger.json()["error"] == of_nobody.json()["error"]


# Status -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("before", "after"), list(product(STATUSES, STATUSES)))
async def test_a_goal_goes_from_any_status_to_any(client: httpx.AsyncClient, before: str, after: str) -> None:
    goal = await patched(client, await create_goal(client), status=before)

    changed = await client.patch(f"/goals/{goal['id']}", json={"status": after})

    assert changed.status_code == 200
    assert unwrap(changed)["status"] == after


@pytest.mark.parametrize("status", ["all", "deleted", "Active", "", None, 1, True])
async def test_another_status_is_refused_with_the_ones_allowed(
    client: httpx.AsyncClient, status: Any
) -> None:
    goal = await create_goal(client)

    refused = await refused_on_patch(client, goal, status=status)

    assert error_of(refused) == INVALID
    assert set(details_of(refused)["allowed"]) == set(STATUSES)


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


@pytest.mark.parametrize("metric", METRICS)
async def test_a_new_metric_brings_its_natural_direction(client: httpx.AsyncClient, metric: str) -> None:
    unnatural = "at_least" if metric in AT_MOST else "at_most"
    other = "trade_count" if metric != "trade_count" else "trading_days"
    goal = await create_goal(client, metric=other, direction=unnatural)

    changed = await patched(client, goal, metric=metric)

    assert changed["metric"] == metric
    assert changed["direction"] == ("at_most" if metric in AT_MOST else "at_least")


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


@pytest.mark.parametrize("body", ["[]", '"x"', "null", "5", "", " ", "{", '{"goal_name": "x",}'])
async def test_a_body_that_is_not_an_object_is_refused(client: httpx.AsyncClient, body: str) -> None:
    goal = await create_goal(client)

    on_post = await client.post("/goals", content=body)
    on_patch = await client.patch(f"/goals/{goal['id']}", content=body)

    assert error_of(on_post) == error_of(on_patch) == INVALID


@pytest.mark.parametrize(
    "rule_broken",
    [{"timeframe": "custom"}, {"timeframe": "weekly", "custom_start": "2026-01-01"}, {"scope": "account_9"}],
    ids=["G4, no dates", "G4, a date too many", "scope of nobody"],
)
async def test_a_goal_that_is_not_there_comes_before_a_rule_that_is_broken(
    client: httpx.AsyncClient, rule_broken: dict[str, str]
) -> None:
    missing = 99

    answer = await client.patch(f"/goals/{missing}", json=rule_broken)

    assert error_of(answer) == NOT_FOUND


async def test_a_field_of_the_wrong_type_comes_before_a_goal_that_is_not_there(
    client: httpx.AsyncClient,
) -> None:
    missing = 99

    answer = await client.patch(f"/goals/{missing}", json={"goal_name": 5})

    assert error_of(answer) == INVALID


# Lists --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["active"]),
        ("?status=active", ["active"]),
        ("?status=paused", ["paused"]),
        ("?status=archived", ["archived"]),
        ("?status=all", ["active", "paused", "archived"]),
    ],
)
async def test_the_list_shows_active_goals_unless_another_status_is_asked_for(
    client: httpx.AsyncClient, query: str, expected: list[str]
) -> None:
    for status in STATUSES:
        await patched(client, await create_goal(client, goal_name=status), status=status)

    goals = unwrap(await client.get(f"/goals{query}"))

    assert [goal["goal_name"] for goal in goals] == expected


@pytest.mark.parametrize("status", ["deleted", "", "ACTIVE", "active,paused"])
async def test_a_list_by_another_status_is_refused_with_the_ones_allowed(
    client: httpx.AsyncClient, status: str
) -> None:
    refused = await client.get("/goals", params={"status": status})

    assert error_of(refused) == INVALID
    assert set(details_of(refused)["allowed"]) == {"active", "paused", "archived", "all"}


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


async def test_a_list_by_a_strangers_account_is_empty(app: Starlette, client: httpx.AsyncClient) -> None:
    foreign = await insert_account(app, user_id=await insert_user(app))
    await create_goal(client)

    answer = await client.get(f"/goals?status=all&account_id={foreign}")

    assert (answer.status_code, unwrap(answer)) == (200, [])


@pytest.mark.parametrize("account", ["abc", "1.5", "1_0", "+5", " 7", "", "٣", str(2**63), "1e3"])
async def test_a_list_by_what_is_not_an_id_is_refused(client: httpx.AsyncClient, account: str) -> None:
    refused = await client.get("/goals", params={"account_id": account})

    assert error_of(refused) == INVALID


@pytest.mark.parametrize("query", ["status=all&status=all", "account_id=1&account_id=2"])
async def test_a_parameter_sent_twice_is_refused(client: httpx.AsyncClient, query: str) -> None:
    refused = await client.get(f"/goals?{query}")

    assert error_of(refused) == INVALID


async def test_an_unknown_parameter_is_ignored(client: httpx.AsyncClient) -> None:
    goal = await create_goal(client)

    answer = await client.get("/goals?colour=red&colour=blue")

    assert unwrap(answer) == [goal]


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


async def test_a_deleted_goal_is_gone_on_every_path(client: httpx.AsyncClient) -> None:
    goal = await create_goal(client)
    path = f"/goals/{goal['id']}"
    await client.delete(path)

    answers = [
        await client.get(path),
        await client.get(f"{path}/snapshots"),
        await client.patch(path, json={"goal_name": "Back"}),
        await client.delete(path),
    ]

    assert [error_of(answer) for answer in answers] == [NOT_FOUND] * 4


async def test_the_id_of_a_deleted_goal_is_not_used_again(client: httpx.AsyncClient) -> None:
    goal = await create_goal(client)
    await client.delete(f"/goals/{goal['id']}")

    again = await create_goal(client)

    assert again["id"] > goal["id"]


async def test_a_strangers_goal_is_not_there(app: Starlette, client: httpx.AsyncClient) -> None:
    goal = await create_goal(client)
    path = f"/goals/{goal['id']}"

    async with client_of(app, await new_key_for(app, await insert_user(app))) as stranger:
        answers = [
            await stranger.get(path),
            await stranger.get(f"{path}/snapshots"),
            await stranger.patch(path, json={"status": "paused"}),
            await stranger.delete(path),
        ]
        seen = unwrap(await stranger.get("/goals?status=all"))

    assert [error_of(answer) for answer in answers] == [NOT_FOUND] * 4
    assert seen == []
    assert unwrap(await client.get(path)) == goal


@pytest.mark.parametrize(
    "row_id",
    ["abc", "0", "-1", "1.5", "0x1", "0001", "1%0a", "1%00", "%D9%A1", "1%2f2", str(2**63), "9" * 4400],
    ids=lambda text: text[:20],
)
async def test_a_path_that_holds_no_id_is_not_there(client: httpx.AsyncClient, row_id: str) -> None:
    await create_goal(client)

    answers = [
        await client.get(f"/goals/{row_id}"),
        await client.get(f"/goals/{row_id}/snapshots"),
        await client.patch(f"/goals/{row_id}", json={}),
        await client.delete(f"/goals/{row_id}"),
    ]

    assert [error_of(answer) for answer in answers] == [NOT_FOUND] * 4


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
