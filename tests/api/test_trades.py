"""Trades: docs/api.md#trading-record and #values."""

import asyncio
import csv
import io
import itertools
import sqlite3
from decimal import Decimal
from typing import Any

import httpx
import msgspec
import pytest
from factories import (
    A_TRADE,
    create_account,
    create_copy_group,
    create_goal,
    create_strategy,
    create_tag,
    create_trade,
    details_of,
    error_of,
    get_strategy,
    run_sql,
    snapshots_of,
    unwrap,
)
from hypothesis import given
from hypothesis import strategies as st
from proofs import max_examples
from starlette.applications import Starlette

INVALID = (400, "validation_error")
CONFLICT = (409, "conflict")
OPEN = {"closed_at": None, "exit_price": None}
YEAR = {"timeframe": "custom", "custom_start": "2026-01-01", "custom_end": "2026-12-31"}
WRITABLE = (
    *(
        "account_id",
        "symbol",
        "direction",
        "quantity",
        "multiplier",
        "entry_price",
        "exit_price",
        "stop_loss",
    ),
    *("opened_at", "closed_at", "gross_pnl", "fees", "initial_risk", "grade", "strategy_id", "setup_id"),
    *("source_trade_id", "external_id", "notes"),
)
ENCODER = msgspec.json.Encoder(decimal_format="number")


async def get_trade(client: httpx.AsyncClient, trade: Any) -> Any:
    return unwrap(await client.get(f"/trades/{trade['id']}"))


async def patched(client: httpx.AsyncClient, trade: Any, **fields: Any) -> Any:
    return unwrap(await client.patch(f"/trades/{trade['id']}", json=fields))


async def listed(client: httpx.AsyncClient, **query: Any) -> list[int]:
    """The ids of the trades that match, in their order."""
    return [trade["id"] for trade in unwrap(await client.get("/trades", params=query))]


async def refusal(client: httpx.AsyncClient, **fields: Any) -> httpx.Response:
    """The answer to a POST of A_TRADE with those fields, in a new account."""
    account = await create_account(client)
    return await client.post("/trades", json={"account_id": account["id"], **A_TRADE, **fields})


async def actual_of(client: httpx.AsyncClient, goal: Any) -> Any:
    (snapshot,) = await snapshots_of(client, goal["id"])
    return snapshot["actual"]


# Create --------------------------------------------------------------------------------------------------


async def test_a_trade_is_created_with_a_location_the_defaults_and_what_follows(
    client: httpx.AsyncClient,
) -> None:
    account = await create_account(client)

    created = await client.post("/trades", json={"account_id": account["id"], **A_TRADE})

    assert created.status_code == 201
    trade = created.json()["data"]["trade"]
    assert created.headers["location"] == f"/v1/trades/{trade['id']}"
    assert trade == {
        "id": trade["id"],
        "account_id": account["id"],
        "symbol": "ES",
        "direction": "long",
        "quantity": 1,
        "multiplier": 1,
        "entry_price": 100,
        "exit_price": 101,
        "stop_loss": None,
        "opened_at": trade["opened_at"],
        "closed_at": trade["closed_at"],
        "trading_day": "2026-01-05",
        "gross_pnl": 1,
        "fees": 0,
        "net_pnl": 1,
        "initial_risk": None,
        "rr_realized": None,
        "grade": None,
        "strategy_id": None,
        "setup_id": None,
        "source_trade_id": None,
        "external_id": None,
        "notes": None,
        "tag_ids": [],
        "tags": [],
        "confirmations": [],
        "created_at": trade["created_at"],
        "updated_at": trade["created_at"],
    }


async def test_what_was_created_is_what_is_read_and_what_is_listed(client: httpx.AsyncClient) -> None:
    strategy = await create_strategy(client, setups=[{"name": "Flag"}])
    trade = await create_trade(
        client,
        direction="short",
        quantity=2.5,
        multiplier=50,
        stop_loss=103,
        fees=4.2,
        grade="A+",
        strategy_id=strategy["id"],
        setup_id=strategy["setups"][0]["setup_id"],
        external_id="T-1",
        notes="Late entry",
    )

    read, of_list = await get_trade(client, trade), unwrap(await client.get("/trades"))

    assert read == trade
    assert of_list == [{k: v for k, v in trade.items() if k not in ("tags", "confirmations")}]


async def test_a_close_before_the_opening_is_refused(client: httpx.AsyncClient) -> None:
    refused = await refusal(client, closed_at="2026-01-05T13:59:59.999999Z")

    assert error_of(refused) == INVALID
    assert "closed_at" in details_of(refused)["fields"]


# The result ----------------------------------------------------------------------------------------------


async def test_the_result_follows_from_the_prices(client: httpx.AsyncClient) -> None:
    account = await create_account(client)
    for fields, gross_pnl in RESULTS:
        created = await client.post("/trades", json={"account_id": account["id"], **A_TRADE, **fields})

        assert created.status_code == 201
        assert f'"gross_pnl":{gross_pnl},' in created.text, fields


RESULTS: list[tuple[dict[str, Any], str]] = [
    ({"direction": "long", "entry_price": 100, "exit_price": 101.5}, "1.5"),
    ({"direction": "long", "entry_price": 101.5, "exit_price": 100}, "-1.5"),
    ({"direction": "short", "entry_price": 100, "exit_price": 101.5}, "-1.5"),
    ({"direction": "short", "entry_price": 101.5, "exit_price": 100}, "1.5"),
    ({"quantity": 3, "multiplier": 50, "entry_price": 5000.25, "exit_price": 5001}, "112.5"),
    ({"quantity": 0.1, "entry_price": 0.1, "exit_price": 0.3}, "0.02"),
    ({"entry_price": 10, "exit_price": -37.63}, "-47.63"),
    ({"gross_pnl": None, "exit_price": 100}, "0"),
]


async def test_a_result_that_is_sent_wins_over_the_prices(client: httpx.AsyncClient) -> None:
    account = await create_account(client)
    for sent in (-7.5, 0, 1):
        trade = await create_trade(client, account["id"], gross_pnl=sent, exit_price=150, fees=0.5)

        assert (trade["gross_pnl"], trade["net_pnl"]) == (sent, sent - 0.5)


async def test_a_result_without_an_exit_price_is_enough(client: httpx.AsyncClient) -> None:
    trade = await create_trade(client, gross_pnl=-12.25, exit_price=None)

    assert (trade["gross_pnl"], trade["exit_price"]) == (-12.25, None)


async def test_a_closed_trade_needs_a_result_or_an_exit(client: httpx.AsyncClient) -> None:
    refused = await refusal(client, exit_price=None)

    assert error_of(refused) == INVALID
    assert list(details_of(refused)["fields"]) == ["exit_price"]


EDITS: list[tuple[dict[str, Any], float]] = [
    ({"exit_price": 98}, -2),
    ({"entry_price": 90}, 11),
    ({"quantity": 4}, 4),
    ({"multiplier": 2.5}, 2.5),
    ({"direction": "short"}, -1),
    ({"closed_at": "2026-01-06T15:00:00Z"}, 1),
]


async def test_a_result_that_followed_the_prices_follows_them_on_a_patch_and_one_that_was_sent_stays(
    client: httpx.AsyncClient,
) -> None:
    account = await create_account(client)
    for edit, gross_pnl in EDITS:
        computed = await create_trade(client, account["id"], fees=0.25)
        sent = await create_trade(client, account["id"], gross_pnl=33)

        changed = await patched(client, computed, **edit)

        assert (changed["gross_pnl"], changed["net_pnl"]) == (gross_pnl, gross_pnl - 0.25), edit
        assert (await patched(client, sent, **edit))["gross_pnl"] == 33, edit


async def test_a_result_sent_by_patch_wins_over_prices_of_the_same_patch(client: httpx.AsyncClient) -> None:
    trade = await create_trade(client)

    changed = await patched(client, trade, exit_price=120, gross_pnl=19)

    assert changed["gross_pnl"] == 19


async def test_a_result_over_the_largest_amount_is_refused(client: httpx.AsyncClient) -> None:
    refused = await refusal(client, quantity=10**6, exit_price=10**6)

    assert error_of(refused) == INVALID
    assert list(details_of(refused)["fields"]) == ["gross_pnl"]


async def test_point_one_and_point_two_sum_to_point_three(client: httpx.AsyncClient) -> None:
    account = await create_account(client)
    await create_trade(client, account["id"], gross_pnl=0.1)
    await create_trade(client, account["id"], gross_pnl=0.2)
    goal = await create_goal(client, metric="net_pnl", **YEAR)

    read = await client.get(f"/goals/{goal['id']}/snapshots")

    assert '"actual":0.3,' in read.text


# Initial risk --------------------------------------------------------------------------------------------


RISKS: list[tuple[dict[str, Any], float | None]] = [
    ({"stop_loss": 98}, 2),
    ({"stop_loss": 98, "quantity": 3, "multiplier": 50}, 300),
    ({"stop_loss": 101.5, "direction": "short"}, 1.5),
    ({"stop_loss": 98, "initial_risk": 7}, 7),
    ({"stop_loss": 98, "initial_risk": None}, 2),
    ({"stop_loss": 98, **OPEN}, 2),
    ({"initial_risk": 7}, 7),
    ({}, None),
    ({"stop_loss": 100}, None),
    ({"stop_loss": 102}, None),
    ({"stop_loss": 98, "direction": "short"}, None),
]


async def test_the_initial_risk_follows_from_the_stop_at_creation(client: httpx.AsyncClient) -> None:
    account = await create_account(client)
    for fields, initial_risk in RISKS:
        trade = await create_trade(client, account["id"], **fields)

        assert trade["initial_risk"] == initial_risk, fields


async def test_moving_the_stop_never_rewrites_the_initial_risk(client: httpx.AsyncClient) -> None:
    trade = await create_trade(client, stop_loss=98)
    for stop in (99.5, 100, 105, 50, None):
        moved = await patched(client, trade, stop_loss=stop)

        assert (moved["stop_loss"], moved["initial_risk"]) == (stop, 2)


async def test_a_stop_set_later_makes_no_initial_risk(client: httpx.AsyncClient) -> None:
    trade = await create_trade(client)

    stopped = await patched(client, trade, stop_loss=98)
    again = await patched(client, trade, notes="seen again")

    assert (stopped["initial_risk"], again["initial_risk"]) == (None, None)


async def test_the_initial_risk_is_set_and_cleared_by_patch(client: httpx.AsyncClient) -> None:
    trade = await create_trade(client, stop_loss=98)

    risks = [(await patched(client, trade, initial_risk=risk))["initial_risk"] for risk in (5.5, None)]

    assert risks == [5.5, None]


REALISED: list[tuple[dict[str, Any], str]] = [
    ({"initial_risk": 2, "gross_pnl": 5, "fees": 1}, "2"),
    ({"initial_risk": 3, "gross_pnl": 1}, "0.33333333"),
    ({"initial_risk": 3, "gross_pnl": -2}, "-0.66666667"),
    ({"initial_risk": 4, "gross_pnl": 0}, "0"),
    ({"gross_pnl": 5}, "null"),
    ({"initial_risk": 2, **OPEN}, "null"),
]


async def test_realised_r_is_the_net_result_over_the_initial_risk(client: httpx.AsyncClient) -> None:
    account = await create_account(client)
    for fields, rr_realized in REALISED:
        created = await client.post("/trades", json={"account_id": account["id"], **A_TRADE, **fields})

        assert f'"rr_realized":{rr_realized},' in created.text, fields


# Open and closed -----------------------------------------------------------------------------------------


async def test_an_open_trade_has_no_result_and_no_trading_day(client: httpx.AsyncClient) -> None:
    trade = await create_trade(client, fees=1.5, **OPEN)

    names = ("closed_at", "trading_day", "gross_pnl", "net_pnl", "rr_realized")
    assert [trade[name] for name in names] == [None] * 5
    assert trade["fees"] == 1.5


async def test_an_open_trade_with_an_exit_or_a_result_is_refused(client: httpx.AsyncClient) -> None:
    account = await create_account(client)
    for fields in ({"exit_price": 101}, {"gross_pnl": 5, "exit_price": None}):
        body = {"account_id": account["id"], **A_TRADE, "closed_at": None, **fields}

        assert error_of(await client.post("/trades", json=body)) == INVALID


async def test_closing_by_patch_gives_the_result_of_the_prices_and_the_day(client: httpx.AsyncClient) -> None:
    trade = await create_trade(client, stop_loss=98, **OPEN)

    closed = await patched(client, trade, closed_at="2026-02-03T10:00:00Z", exit_price=105)

    assert (closed["gross_pnl"], closed["trading_day"], closed["rr_realized"]) == (5, "2026-02-03", 2.5)


async def test_closing_by_patch_without_an_exit_is_refused_and_changes_nothing(
    client: httpx.AsyncClient,
) -> None:
    trade = await create_trade(client, **OPEN)

    refused = await client.patch(f"/trades/{trade['id']}", json={"closed_at": "2026-02-03T10:00:00Z"})

    assert error_of(refused) == INVALID
    assert await get_trade(client, trade) == trade


async def test_reopening_drops_exit_result_and_day(client: httpx.AsyncClient) -> None:
    account = await create_account(client)
    for result in (None, 42):
        trade = await create_trade(client, account["id"], gross_pnl=result)

        reopened = await patched(client, trade, closed_at=None)

        names = ("exit_price", "gross_pnl", "net_pnl", "trading_day", "closed_at")
        assert [reopened[name] for name in names] == [None] * 5


async def test_a_reopened_trade_leaves_the_goals_and_comes_back_with_its_new_close(
    client: httpx.AsyncClient,
) -> None:
    goal = await create_goal(client, **YEAR)
    trade = await create_trade(client)
    first = await actual_of(client, goal)

    await patched(client, trade, closed_at=None)
    reopened = await actual_of(client, goal)
    await patched(client, trade, closed_at="2026-03-03T10:00:00Z", exit_price=104)
    closed_again = await actual_of(client, goal)

    assert (first, reopened, closed_again) == (1, 0, 4)


# Times and trading days ----------------------------------------------------------------------------------


TIMES = {
    "2026-01-05T15:38:40Z": "2026-01-05T15:38:40.000000Z",
    "2026-01-05T15:38:40+02:00": "2026-01-05T13:38:40.000000Z",
    "2026-01-05T15:38:40-05:00": "2026-01-05T20:38:40.000000Z",
    "2026-01-05T15:38:40": "2026-01-05T20:38:40.000000Z",
    "2026-07-06T15:38:40": "2026-07-06T19:38:40.000000Z",
    "2026-01-05T15:38:40.125": "2026-01-05T20:38:40.125000Z",
}


async def test_a_time_is_answered_in_utc_and_one_without_offset_is_read_in_the_owners_zone(
    client: httpx.AsyncClient,
) -> None:
    await client.patch("/me", json={"timezone": "America/New_York"})
    account = await create_account(client)
    for sent, answered in TIMES.items():
        trade = await create_trade(client, account["id"], opened_at=sent, closed_at=sent)

        assert (trade["opened_at"], trade["closed_at"]) == (answered, answered)


DAYS = [
    ("UTC", "00:00", "2026-01-05T23:59:59.999999Z", "2026-01-05"),
    ("UTC", "00:00", "2026-01-06T00:00:00Z", "2026-01-06"),
    ("America/New_York", "00:00", "2026-01-06T04:59:59Z", "2026-01-05"),
    ("America/New_York", "00:00", "2026-01-06T05:00:00Z", "2026-01-06"),
    ("America/New_York", "17:00", "2026-01-06T21:59:59.999999Z", "2026-01-06"),
    ("America/New_York", "17:00", "2026-01-06T22:00:00Z", "2026-01-07"),
    ("America/New_York", "17:00", "2026-07-06T21:00:00Z", "2026-07-07"),
    ("Pacific/Kiritimati", "00:00", "2026-12-31T10:00:00Z", "2027-01-01"),
]


async def test_the_trading_day_is_that_of_the_close_in_zone_and_rollover(client: httpx.AsyncClient) -> None:
    account = await create_account(client)
    for zone, rollover, closed_at, day in DAYS:
        await client.patch("/me", json={"timezone": zone, "day_rollover": rollover})

        trade = await create_trade(client, account["id"], closed_at=closed_at)

        assert trade["trading_day"] == day, (zone, rollover, closed_at)


async def test_a_new_close_moves_the_trading_day(client: httpx.AsyncClient) -> None:
    trade = await create_trade(client)

    moved = await patched(client, trade, closed_at="2026-03-01T00:00:00Z")

    assert moved["trading_day"] == "2026-03-01"


async def test_a_new_zone_or_rollover_rewrites_every_trading_day(client: httpx.AsyncClient) -> None:
    late = await create_trade(client, closed_at="2026-01-06T03:00:00Z")
    open_one = await create_trade(client, late["account_id"], **OPEN)
    goal = await create_goal(client, timeframe="custom", custom_start="2026-01-06", custom_end="2026-01-06")

    days, actuals = [late["trading_day"]], [await actual_of(client, goal)]
    for setting in ({"timezone": "America/New_York"}, {"day_rollover": "17:00"}, {"timezone": "UTC"}):
        await client.patch("/me", json=setting)
        days.append((await get_trade(client, late))["trading_day"])
        actuals.append(await actual_of(client, goal))

    assert days == ["2026-01-06", "2026-01-05", "2026-01-06", "2026-01-06"]
    assert actuals == [1, 0, 1, 1]
    assert (await get_trade(client, open_one))["trading_day"] is None


@pytest.mark.parametrize("moment", ["1970-01-01T00:00:00+14:00", "2200-12-31T23:59:59-12:00"])
async def test_a_trade_at_the_edge_of_the_years_can_still_be_patched_or_is_refused(
    client: httpx.AsyncClient, moment: str
) -> None:
    created = await refusal(client, opened_at=moment, closed_at=None, exit_price=None)
    if created.status_code == 400:
        assert list(details_of(created)["fields"]) == ["opened_at"]
        return
    trade = unwrap(created)

    changed = await client.patch(f"/trades/{trade['id']}", json={"notes": "old"})

    assert changed.status_code == 200


# PATCH ---------------------------------------------------------------------------------------------------


CHANGES: list[tuple[str, object]] = [
    *(("symbol", "NQ"), ("quantity", 7.5), ("stop_loss", 99), ("fees", 2.25), ("gross_pnl", -8)),
    *(("opened_at", "2026-01-04T10:00:00.000000Z"), ("grade", "A+"), ("grade", None)),
    *(("external_id", "T-9"), ("external_id", None), ("notes", "Chased it"), ("notes", None)),
]


async def test_a_patch_changes_the_field_sent_and_what_follows_from_it_alone(
    client: httpx.AsyncClient,
) -> None:
    trade = await create_trade(
        client, gross_pnl=5, grade="B", external_id="T-1", notes="Before", initial_risk=1, exit_price=None
    )
    for field, value in CHANGES:
        changed = await patched(client, trade, **{field: value})

        assert changed[field] == value
        follow = {field, "updated_at", "net_pnl", "rr_realized"}
        assert {name for name in trade if changed[name] != trade[name]} <= follow
        assert changed["updated_at"] > trade["updated_at"]
        assert await get_trade(client, trade) == changed
        trade = changed


SAME: list[dict[str, Any]] = [
    {},
    {"notes": "same", "quantity": 1, "fees": 0},
    {"opened_at": "2026-01-05T15:00:00+01:00"},
    {"gross_pnl": None},
    {"symbol": " ES "},
    {"multiplier": 1.0},
]


async def test_a_patch_that_changes_nothing_leaves_updated_at(client: httpx.AsyncClient) -> None:
    trade = await create_trade(client, notes="same", stop_loss=99, external_id="T-1")

    for fields in SAME:
        assert await patched(client, trade, **fields) == trade


async def test_numbers_sent_in_place_of_impossible_ones_stay_patchable(client: httpx.AsyncClient) -> None:
    account = await create_account(client)
    result = {"quantity": 10**10, "entry_price": 1, "exit_price": 1000, "gross_pnl": 5}
    risk = {"quantity": 10**10, "entry_price": 1000, "stop_loss": 1, "initial_risk": 5, "gross_pnl": 1}
    for fields in (result, {**risk, "exit_price": None}):
        trade = await create_trade(client, account["id"], **fields)

        unchanged = await patched(client, trade)
        noted = await patched(client, trade, notes="Contract size was wrong")

        assert unchanged == trade
        assert (noted["notes"], noted["gross_pnl"]) == ("Contract size was wrong", fields["gross_pnl"])


async def test_a_stop_far_away_set_later_leaves_the_trade_patchable(client: httpx.AsyncClient) -> None:
    trade = await create_trade(client, quantity=10**9, gross_pnl=1, exit_price=None)

    stopped = await patched(client, trade, stop_loss=1)
    noted = await patched(client, trade, notes="fine")

    assert (stopped["initial_risk"], noted["initial_risk"], noted["notes"]) == (None, None, "fine")


async def test_a_patch_is_refused_as_a_whole(client: httpx.AsyncClient) -> None:
    trade = await create_trade(client)

    refused = await client.patch(f"/trades/{trade['id']}", json={"notes": "new", "quantity": 0})

    assert error_of(refused) == INVALID
    assert await get_trade(client, trade) == trade


async def test_a_patch_moves_a_trade_to_another_account(client: httpx.AsyncClient) -> None:
    trade = await create_trade(client)
    other = await create_account(client, "Other")
    goal = await create_goal(client, account_id=other["id"], **YEAR)
    before = await actual_of(client, goal)

    moved = await patched(client, trade, account_id=other["id"])

    assert moved["account_id"] == other["id"]
    assert (before, await actual_of(client, goal)) == (0, 1)


async def test_a_trade_moves_to_an_account_that_has_one_just_like_it(client: httpx.AsyncClient) -> None:
    trade = await create_trade(client)
    twin = await create_trade(client, (await create_account(client, "Other"))["id"])

    moved = await patched(client, trade, account_id=twin["account_id"])

    assert await listed(client, account_id=twin["account_id"]) == [twin["id"], moved["id"]]


async def test_the_same_trade_twice_is_two_trades(client: httpx.AsyncClient) -> None:
    first = await create_trade(client)

    second = await create_trade(client, first["account_id"])

    assert await listed(client) == [second["id"], first["id"]]


# Strategy and setup --------------------------------------------------------------------------------------


async def test_a_setup_alone_brings_its_strategy(client: httpx.AsyncClient) -> None:
    strategy = await create_strategy(client, setups=[{"name": "Flag"}])
    setup = strategy["setups"][0]["setup_id"]

    created = await create_trade(client, setup_id=setup)
    changed = await patched(client, await create_trade(client, created["account_id"]), setup_id=setup)

    assert (created["strategy_id"], created["setup_id"]) == (strategy["id"], setup)
    assert (changed["strategy_id"], changed["setup_id"]) == (strategy["id"], setup)


async def test_a_setup_alone_on_a_patch_brings_its_strategy_in_place_of_the_old(
    client: httpx.AsyncClient,
) -> None:
    old, new = [await create_strategy(client, name, setups=[{"name": "Flag"}]) for name in ("Old", "New")]
    trade = await create_trade(client, setup_id=old["setups"][0]["setup_id"])

    changed = await patched(client, trade, setup_id=new["setups"][0]["setup_id"])

    assert (changed["strategy_id"], changed["setup_id"]) == (new["id"], new["setups"][0]["setup_id"])


async def test_a_setup_of_another_strategy_is_refused_and_named(client: httpx.AsyncClient) -> None:
    mine, other = [await create_strategy(client, name, setups=[{"name": "Flag"}]) for name in ("A", "B")]
    pair = {"strategy_id": mine["id"], "setup_id": other["setups"][0]["setup_id"]}
    trade = await create_trade(client)

    on_post = await client.post("/trades", json={"account_id": trade["account_id"], **A_TRADE, **pair})
    on_patch = await client.patch(f"/trades/{trade['id']}", json=pair)

    for refused in (on_post, on_patch):
        assert error_of(refused) == INVALID
        assert list(details_of(refused)["fields"]) == ["setup_id"]
    assert await get_trade(client, trade) == trade


@pytest.mark.parametrize("null", [False, True], ids=["another", "null"])
async def test_another_strategy_alone_never_keeps_the_setup_of_the_old(
    client: httpx.AsyncClient, null: bool
) -> None:
    old = await create_strategy(client, "Old", setups=[{"name": "Flag"}])
    new = None if null else (await create_strategy(client, "New"))["id"]
    trade = await create_trade(client, setup_id=old["setups"][0]["setup_id"])

    changed = await patched(client, trade, strategy_id=new)

    assert (changed["strategy_id"], changed["setup_id"]) == (new, None)


async def test_a_cleared_setup_leaves_the_strategy(client: httpx.AsyncClient) -> None:
    strategy = await create_strategy(client, setups=[{"name": "Flag"}])
    trade = await create_trade(client, setup_id=strategy["setups"][0]["setup_id"])

    changed = await patched(client, trade, setup_id=None)

    assert (changed["strategy_id"], changed["setup_id"]) == (strategy["id"], None)


async def test_a_deleted_setup_leaves_its_trades_with_the_strategy_and_without_a_setup(
    client: httpx.AsyncClient,
) -> None:
    strategy = await create_strategy(client, setups=[{"name": "Flag"}, {"name": "Wedge"}])
    flag, wedge = [setup["setup_id"] for setup in strategy["setups"]]
    first = await create_trade(client, setup_id=flag)
    second = await create_trade(client, first["account_id"], setup_id=wedge)

    await client.patch(f"/strategies/{strategy['id']}", json={"setups": [{"setup_id": wedge}]})

    read = [await get_trade(client, trade) for trade in (first, second)]
    assert [(trade["strategy_id"], trade["setup_id"]) for trade in read] == [
        (strategy["id"], None),
        (strategy["id"], wedge),
    ]


async def test_a_deleted_strategy_leaves_its_trades_without_both_and_counts_them(
    client: httpx.AsyncClient,
) -> None:
    gone, kept = [await create_strategy(client, name, setups=[{"name": "Flag"}]) for name in ("Gone", "Kept")]
    one = await create_trade(client, setup_id=gone["setups"][0]["setup_id"])
    two = await create_trade(client, one["account_id"], strategy_id=gone["id"], **OPEN)
    three = await create_trade(client, one["account_id"], setup_id=kept["setups"][0]["setup_id"])

    deleted = await client.delete(f"/strategies/{gone['id']}")

    assert (deleted.status_code, deleted.headers["x-trades-unlinked"]) == (204, "2")
    read = [await get_trade(client, trade) for trade in (one, two, three)]
    assert [(trade["strategy_id"], trade["setup_id"]) for trade in read] == [
        (None, None),
        (None, None),
        (kept["id"], kept["setups"][0]["setup_id"]),
    ]


# Copies --------------------------------------------------------------------------------------------------


async def test_a_copy_of_a_copy_leads_to_the_original(client: httpx.AsyncClient) -> None:
    original = await create_trade(client)
    copy = await create_trade(client, original["account_id"], source_trade_id=original["id"])

    second = await create_trade(client, original["account_id"], source_trade_id=copy["id"])
    third = await patched(
        client, await create_trade(client, original["account_id"]), source_trade_id=second["id"]
    )

    assert [copy["source_trade_id"], second["source_trade_id"], third["source_trade_id"]] == [
        original["id"]
    ] * 3


async def test_a_trade_is_not_a_copy_of_itself_nor_of_its_copies(client: httpx.AsyncClient) -> None:
    original = await create_trade(client)
    copy = await create_trade(client, original["account_id"], source_trade_id=original["id"])

    answers = [
        await client.patch(f"/trades/{original['id']}", json={"source_trade_id": source["id"]})
        for source in (original, copy)
    ]

    for refused in answers:
        assert error_of(refused) == INVALID
        assert list(details_of(refused)["fields"]) == ["source_trade_id"]


async def test_the_schema_keeps_a_trade_from_being_a_copy_of_itself(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    await create_trade(client)

    with pytest.raises(sqlite3.IntegrityError, match="source_trade_id IS NOT id"):
        await run_sql(app, "UPDATE trades SET source_trade_id = id")


async def test_copies_are_one_decision_and_their_money_is_summed(client: httpx.AsyncClient) -> None:
    count = await create_goal(client, metric="trade_count", **YEAR)
    money = await create_goal(client, **YEAR)
    original = await create_trade(client)
    copy = await create_trade(client, original["account_id"], source_trade_id=original["id"])

    together = await actual_of(client, count), await actual_of(client, money)
    await patched(client, copy, source_trade_id=None)
    apart = await actual_of(client, count), await actual_of(client, money)

    assert (together, apart) == ((1, 2), (2, 2))


async def test_the_copies_of_a_deleted_original_stay_one_decision(client: httpx.AsyncClient) -> None:
    goal = await create_goal(client, metric="trade_count", **YEAR)
    original = await create_trade(client)
    account = original["account_id"]
    first, second, third = [
        await create_trade(client, account, source_trade_id=original["id"]) for _ in range(3)
    ]
    before = await actual_of(client, goal)

    deleted = await client.delete(f"/trades/{original['id']}")

    assert deleted.status_code == 204
    sources = [(await get_trade(client, one))["source_trade_id"] for one in (first, second, third)]
    assert sources == [None, first["id"], first["id"]]
    assert (before, await actual_of(client, goal)) == (1, 1)


async def test_the_only_copy_of_a_deleted_original_stands_alone(client: httpx.AsyncClient) -> None:
    original = await create_trade(client)
    copy = await create_trade(client, original["account_id"], source_trade_id=original["id"])

    await client.delete(f"/trades/{original['id']}")

    assert (await get_trade(client, copy))["source_trade_id"] is None


# External ids --------------------------------------------------------------------------------------------


async def test_an_external_id_is_unique_in_its_account(client: httpx.AsyncClient) -> None:
    trade = await create_trade(client, external_id="T-1")

    refused = await client.post(
        "/trades", json={"account_id": trade["account_id"], **A_TRADE, "external_id": "T-1", "symbol": "NQ"}
    )

    assert error_of(refused) == CONFLICT
    assert await listed(client) == [trade["id"]]


async def test_an_external_id_is_free_in_another_account(client: httpx.AsyncClient) -> None:
    await create_trade(client, external_id="T-1")

    other = await create_trade(client, (await create_account(client, "Other"))["id"], external_id="T-1")

    assert other["external_id"] == "T-1"


async def test_a_patch_to_a_taken_external_id_is_a_conflict_and_changes_nothing(
    client: httpx.AsyncClient,
) -> None:
    taken = await create_trade(client, external_id="T-1")
    trade = await create_trade(client, taken["account_id"], external_id="T-2")

    refused = await client.patch(f"/trades/{trade['id']}", json={"external_id": "T-1", "notes": "new"})

    assert error_of(refused) == CONFLICT
    assert await get_trade(client, trade) == trade


async def test_a_move_into_an_account_with_that_external_id_is_a_conflict(client: httpx.AsyncClient) -> None:
    taken = await create_trade(client, external_id="T-1")
    trade = await create_trade(client, (await create_account(client, "Other"))["id"], external_id="T-1")

    refused = await client.patch(f"/trades/{trade['id']}", json={"account_id": taken["account_id"]})

    assert error_of(refused) == CONFLICT
    assert await get_trade(client, trade) == trade


async def test_an_external_id_is_free_again_after_a_delete_or_a_change(client: httpx.AsyncClient) -> None:
    deleted = await create_trade(client, external_id="T-1")
    account = deleted["account_id"]
    await client.delete(f"/trades/{deleted['id']}")

    renamed = await create_trade(client, account, external_id="T-1")
    await patched(client, renamed, external_id="T-2")
    again = await create_trade(client, account, external_id="T-1")

    assert again["external_id"] == "T-1"


async def test_any_number_of_trades_have_no_external_id(client: httpx.AsyncClient) -> None:
    first = await create_trade(client, external_id="T-1")
    second = await create_trade(client, first["account_id"])

    cleared = await patched(client, first, external_id=None)

    assert (cleared["external_id"], second["external_id"]) == (None, None)


# The list ------------------------------------------------------------------------------------------------


async def six_trades(client: httpx.AsyncClient) -> dict[str, Any]:
    """Six trades, each different in every filter's respect, and what the filters name."""
    one, two = [await create_account(client, name) for name in ("One", "Two")]
    group = await create_copy_group(client, account_ids=[two["id"]])
    strategy = await create_strategy(client, setups=[{"name": "Flag"}])
    setup = strategy["setups"][0]["setup_id"]
    tag = await create_tag(client)
    days = [f"2026-01-{day:02}" for day in (5, 6, 7, 8, 9)]
    times = [{"opened_at": f"{day}T10:00:00Z", "closed_at": f"{day}T11:00:00Z"} for day in days]
    trades = {
        "win": await create_trade(client, one["id"], grade="A+", **times[0]),
        "loss": await create_trade(client, two["id"], exit_price=99, symbol="NQ", **times[1]),
        "fees": await create_trade(client, one["id"], fees=1.5, setup_id=setup, **times[2]),
        "even": await create_trade(client, one["id"], fees=1, strategy_id=strategy["id"], **times[3]),
        "short": await create_trade(
            client, one["id"], direction="short", exit_price=98, grade="A", **times[4]
        ),
        "open": await create_trade(client, two["id"], opened_at="2026-01-10T10:00:00Z", **OPEN),
    }
    for name in ("win", "open"):
        unwrap(await client.put(f"/trades/{trades[name]['id']}/tags", json={"tag_ids": [tag["id"]]}))
    return {
        "names": {trade["id"]: name for name, trade in trades.items()},
        "one": one["id"],
        "two": two["id"],
        "group": group["id"],
        "strategy": strategy["id"],
        "setup": setup,
        "tag": tag["id"],
    }


async def test_every_filter_of_the_list_keeps_what_matches_newest_first(client: httpx.AsyncClient) -> None:
    made = await six_trades(client)
    expected: list[tuple[dict[str, Any], str]] = [
        ({}, "open short even fees loss win"),
        ({"account_id": made["one"]}, "short even fees win"),
        ({"account_id": 987_654_321}, ""),
        ({"copy_group_id": made["group"]}, "open loss"),
        ({"copy_group_id": 987_654_321}, ""),
        ({"strategy_id": made["strategy"]}, "even fees"),
        ({"setup_id": made["setup"]}, "fees"),
        ({"tag_id": made["tag"]}, "open win"),
        ({"symbol": "NQ"}, "loss"),
        ({"symbol": "N"}, ""),
        ({"direction": "short"}, "short"),
        ({"grade": "A+"}, "win"),
        ({"grade": "A"}, "short"),
        ({"outcome": "win"}, "short win"),
        ({"outcome": "loss"}, "fees loss"),
        ({"outcome": "breakeven"}, "even"),
        ({"outcome": "open"}, "open"),
        ({"from": "2026-01-08"}, "short even"),
        ({"to": "2026-01-06"}, "loss win"),
        ({"from": "2026-01-06", "to": "2026-01-08"}, "even fees loss"),
        ({"account_id": made["one"], "outcome": "win", "to": "2026-01-08"}, "win"),
    ]

    found = [
        (query, " ".join(made["names"][trade] for trade in await listed(client, **query)))
        for query, _ in expected
    ]

    assert found == expected


async def test_two_filters_together_keep_what_both_keep_in_the_list_in_its_total_and_in_the_export(
    client: httpx.AsyncClient,
) -> None:
    made = await six_trades(client)
    opened = {trade["id"]: trade["opened_at"] for trade in unwrap(await client.get("/trades"))}
    filters: list[tuple[str, Any]] = [
        *(("account_id", made[name]) for name in ("one", "two")),
        *((f"{name}_id", made[name]) for name in ("strategy", "setup", "tag")),
        ("copy_group_id", made["group"]),
        *(("symbol", "ES"), ("direction", "long"), ("grade", "A+")),
        *(("outcome", outcome) for outcome in ("win", "loss", "breakeven", "open")),
        *(("from", "2026-01-06"), ("to", "2026-01-08")),
    ]
    alone = {one: set(await listed(client, **dict([one]))) for one in filters}

    for one, other in itertools.combinations(filters, 2):
        if one[0] != other[0]:
            answer = await client.get("/trades", params=dict([one, other]))
            export = await client.get("/trades/export", params=dict([one, other]))

            expected = [id_ for id_ in opened if id_ in alone[one] & alone[other]]
            assert [trade["id"] for trade in unwrap(answer)] == expected, (one, other)
            assert answer.json()["meta"]["pagination"]["total"] == len(expected), (one, other)
            exported = [row["opened_at"] for row in csv.DictReader(io.StringIO(export.text))]
            assert exported == [opened[id_] for id_ in sorted(expected)], (one, other)


async def test_the_pages_of_the_list_join_into_the_whole_and_tell_the_total(
    client: httpx.AsyncClient,
) -> None:
    made = await six_trades(client)
    whole = await listed(client, account_id=made["one"])

    pages = [
        await client.get("/trades", params={"account_id": made["one"], "limit": 3, "offset": offset})
        for offset in (0, 3, 6)
    ]

    assert [trade["id"] for page in pages for trade in unwrap(page)] == whole
    assert [page.json()["meta"]["pagination"] for page in pages] == [
        {"limit": 3, "offset": offset, "total": 4} for offset in (0, 3, 6)
    ]


async def test_the_list_gives_50_unless_asked_and_200_at_most(client: httpx.AsyncClient) -> None:
    await create_trade(client)

    pages = [await client.get("/trades", params=query) for query in ({}, {"limit": 200}, {"limit": 1})]

    assert [page.json()["meta"]["pagination"]["limit"] for page in pages] == [50, 200, 1]


async def test_trades_opened_at_once_come_by_their_id_newest_first(client: httpx.AsyncClient) -> None:
    first = await create_trade(client)

    others = [(await create_trade(client, first["account_id"]))["id"] for _ in range(3)]

    assert await listed(client) == [*reversed(others), first["id"]]


async def test_a_symbol_is_found_as_it_was_composed(client: httpx.AsyncClient) -> None:
    trade = await create_trade(client, symbol=" Zu\u0308rich ")

    found = await listed(client, symbol="Z\u00fcrich")

    assert trade["symbol"] == "Z\u00fcrich"
    assert found == [trade["id"]]


# Delete --------------------------------------------------------------------------------------------------


async def test_a_deleted_trade_is_gone_everywhere_and_its_id_is_not_used_again(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    strategy = await create_strategy(client, setups=[{"name": "Flag", "confirmations": [{"name": "Volume"}]}])
    setup = strategy["setups"][0]
    goal = await create_goal(client, **YEAR)
    trade = await create_trade(client, setup_id=setup["setup_id"])
    answer = {"confirmation_id": setup["confirmations"][0]["confirmation_id"], "was_present": True}
    tag = await create_tag(client)
    unwrap(await client.put(f"/trades/{trade['id']}/tags", json={"tag_ids": [tag["id"]]}))
    unwrap(await client.put(f"/trades/{trade['id']}/confirmations", json={"confirmations": [answer]}))
    before = await actual_of(client, goal)

    deleted = await client.delete(f"/trades/{trade['id']}")

    assert deleted.status_code == 204
    assert error_of(await client.get(f"/trades/{trade['id']}")) == (404, "not_found")
    assert await listed(client) == []
    assert (before, await actual_of(client, goal)) == (1, 0)
    rows = await run_sql(
        app, "SELECT trade_id FROM trade_tags UNION ALL SELECT trade_id FROM confirmation_answers"
    )
    assert rows == []
    assert (await get_strategy(client, strategy["id"]))["setups"] == [setup]
    assert (await create_trade(client, trade["account_id"]))["id"] > trade["id"]


# Goals ---------------------------------------------------------------------------------------------------


METRICS: list[tuple[str, dict[str, Any], float | None, float | None]] = [
    ("net_pnl", {"fees": 0.75}, 1, 0.25),
    ("gross_pnl", {"exit_price": 90}, 1, -10),
    ("max_drawdown", {"gross_pnl": -4}, 0, 4),
    ("balance_target", {"gross_pnl": 20}, 1001, 1020),
    ("win_rate", {"exit_price": 100}, 100, 0),
    ("a_plus_rate", {"grade": "A+"}, None, 100),
    ("rr_realized_avg", {"initial_risk": 4}, None, 0.25),
    ("trading_days", {"closed_at": None}, 1, 0),
    ("trade_count", {"closed_at": "2027-01-01T00:00:00Z"}, 1, 0),
    ("worst_trade", {"direction": "short"}, 1, -1),
]


async def test_a_goal_shows_an_edited_trade_at_the_next_read(client: httpx.AsyncClient) -> None:
    for metric, edit, before, after in METRICS:
        account = await create_account(client, metric, starting_balance=1000)
        goal = await create_goal(client, metric=metric, account_id=account["id"], **YEAR)
        trade = await create_trade(client, account["id"])

        seen_before = await actual_of(client, goal)
        await patched(client, trade, **edit)

        assert (seen_before, await actual_of(client, goal)) == (before, after), metric


async def test_a_goal_shows_a_checklist_that_goes_with_its_strategy(client: httpx.AsyncClient) -> None:
    strategy = await create_strategy(client, setups=[{"name": "Flag", "confirmations": [{"name": "Volume"}]}])
    await create_trade(client, setup_id=strategy["setups"][0]["setup_id"])
    goal = await create_goal(client, metric="protocol_completion_rate", **YEAR)
    before = await actual_of(client, goal)

    await client.delete(f"/strategies/{strategy['id']}")

    assert (before, await actual_of(client, goal)) == (0, None)


async def test_of_many_posts_of_one_external_id_at_once_one_is_written(client: httpx.AsyncClient) -> None:
    account = await create_account(client)
    body = {"account_id": account["id"], **A_TRADE, "external_id": "T-1"}

    answers = await asyncio.gather(*(client.post("/trades", json=body) for _ in range(5)))

    assert sorted(answer.status_code for answer in answers) == [201, 409, 409, 409, 409]
    assert len(await listed(client)) == 1


# Read, edit, send back -----------------------------------------------------------------------------------


def amounts(largest: int, decimals: int) -> st.SearchStrategy[Decimal]:
    """Amounts up to that magnitude, of up to that many decimals."""
    scale = 10**decimals
    return st.integers(-largest * scale, largest * scale).map(lambda units: Decimal(units) / scale)


# Any amount that may be sent: 15 significant digits, 8 decimals, magnitude 10^10.
SENDABLE = st.one_of(
    *(amounts(10 ** (15 - decimals) - 1, decimals) for decimals in (6, 7, 8)), amounts(10**10, 5)
)
ANY_TRADE = st.fixed_dictionaries(
    {
        "direction": st.sampled_from(["long", "short"]),
        "quantity": SENDABLE.filter(lambda amount: amount > 0),
        "multiplier": SENDABLE.filter(lambda amount: amount > 0),
        "entry_price": SENDABLE,
        "exit_price": st.none() | SENDABLE,
        "gross_pnl": SENDABLE,
        "fees": SENDABLE,
        "initial_risk": SENDABLE.filter(lambda amount: amount > 0),
        "grade": st.none() | st.sampled_from(["A+", "A", "B", "C", "D", "F"]),
        "notes": st.none()
        | st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\t\n\r")),
    },
    optional={"stop_loss": st.none() | SENDABLE},
)
# What such prices make of a trade has 15 digits at most as well.
# Small enough that no result is over 10^10.
SHORT_NUMBERS = st.fixed_dictionaries(
    {
        "direction": st.sampled_from(["long", "short"]),
        "quantity": amounts(999, 2).filter(lambda amount: amount > 0),
        "multiplier": st.sampled_from([Decimal(1), Decimal(50), Decimal("0.1"), Decimal("12.5")]),
        "entry_price": amounts(99_999, 2),
        "exit_price": amounts(99_999, 2),
        "stop_loss": st.none() | amounts(99_999, 2),
        "fees": amounts(999, 2),
    }
)


def decoded(response: httpx.Response) -> dict[str, Any]:
    """The trade that was answered, every number as a Decimal of the digits written."""
    assert response.status_code in (200, 201), response.text
    trade: dict[str, Any] = response.json(parse_float=Decimal)["data"]["trade"]
    return trade


def written(fields: dict[str, Any]) -> bytes:
    """JSON with every digit of its Decimals, none in the form of an exponent."""
    return ENCODER.encode(
        {
            name: Decimal(format(value.normalize(), "f")) if isinstance(value, Decimal) else value
            for name, value in fields.items()
        }
    )


@given(sent=ANY_TRADE, edit=ANY_TRADE)
@max_examples(full=40, ci=8)
async def test_every_amount_of_a_trade_that_is_read_edited_and_sent_back_is_exact(
    client: httpx.AsyncClient, sent: dict[str, Any], edit: dict[str, Any]
) -> None:
    account = (unwrap(await client.get("/accounts")) or [await create_account(client)])[0]
    whole = {"account_id": account["id"], **A_TRADE, **sent}

    created = decoded(await client.post("/trades", content=written(whole)))
    path = f"/trades/{created['id']}"
    back = {name: value for name, value in created.items() if name in WRITABLE}
    unchanged = decoded(await client.patch(path, content=written(back)))
    edited = decoded(await client.patch(path, content=written({**back, **edit})))

    assert {name: created[name] for name in sent} == sent
    assert unchanged == created
    assert {name: edited[name] for name in edit} == edit
    assert edited["net_pnl"] == edit["gross_pnl"] - edit["fees"]
    assert decoded(await client.get(path)) == edited


@given(sent=SHORT_NUMBERS)
@max_examples(full=40, ci=8)
async def test_results_and_risks_that_follow_are_exact_and_what_was_read_changes_nothing(
    client: httpx.AsyncClient, sent: dict[str, Any]
) -> None:
    account = (unwrap(await client.get("/accounts")) or [await create_account(client)])[0]
    sign = 1 if sent["direction"] == "long" else -1
    size = sent["quantity"] * sent["multiplier"] * sign
    gross_pnl = (sent["exit_price"] - sent["entry_price"]) * size
    risk = (sent["entry_price"] - sent["stop_loss"]) * size if sent["stop_loss"] is not None else Decimal(0)

    response = await client.post("/trades", content=written({"account_id": account["id"], **A_TRADE, **sent}))
    if abs(gross_pnl) > 10**10 or risk > 10**10:
        assert error_of(response) == INVALID
        return
    created = decoded(response)
    back = {name: value for name, value in created.items() if name in WRITABLE}
    unchanged = decoded(await client.patch(f"/trades/{created['id']}", content=written(back)))

    assert created["gross_pnl"] == gross_pnl
    assert created["net_pnl"] == gross_pnl - sent["fees"]
    assert created["initial_risk"] == (risk if risk > 0 else None)
    assert unchanged == created
