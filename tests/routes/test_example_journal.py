"""The example journal: what it loads, and that removing it takes exactly that."""

from datetime import date, datetime
from typing import Any

import factories
import time_machine
from conftest import opened
from factories import Client, details_of, error_of, unwrap
from msgspec.structs import replace
from operations import dump
from saved_journals import for_rows
from starlette.applications import Starlette

from journal_api.settings import Settings

NOT_LOADED = {"is_loaded": False, "account_id": None, "trade_count": 0}
RESOURCES = ("accounts", "copy-groups", "tag-categories", "tags", "strategies", "trades", "goals", "days")


async def contents(client: Client) -> dict[str, Any]:
    """What a user sees, by resource."""
    return {name: unwrap(await client.get(f"/{name}")) for name in RESOURCES}


async def test_an_example_has_something_for_every_view(client: Client) -> None:
    loaded = unwrap(await client.post("/example-journal"))

    shown = await contents(client)
    newest = [unwrap(await client.get(f"/trades/{trade['id']}")) for trade in shown["trades"][:20]]
    closed = [trade for trade in shown["trades"] if trade["closed_at"]]
    assert 110 < loaded["trade_count"] < 130
    assert [len(shown[name]) for name in ("accounts", "strategies", "goals", "copy-groups")] == [2, 2, 6, 1]
    assert {tag["type"] for tag in shown["tags"]} == {"mistake", "custom"}
    assert any(trade["confirmations"] for trade in newest)
    assert any(trade["tags"] for trade in newest)
    assert any(trade["notes"] for trade in newest)
    assert {"A", "B"} < {trade["grade"] for trade in closed}
    assert {trade["net_pnl"] > 0 for trade in closed} == {True, False}
    assert all(trade["initial_risk"] > 0 and trade["fees"] > 0 for trade in shown["trades"])
    assert sum(trade["source_trade_id"] is not None for trade in shown["trades"]) == 4
    days = unwrap(await client.get("/days", params={"with": "text"}))
    assert sum(bool(day["plan"]) and bool(day["review"]) for day in days) >= 5
    assert sum(day["picture_count"] for day in days) == 1
    assert sum(len(trade["pictures"]) for trade in newest) == 1
    account = f"/accounts/{loaded['account_id']}"
    assert len(unwrap(await client.get(f"{account}/cash"))) == 2
    assert [one["difference"] for one in unwrap(await client.get(f"{account}/checkpoints"))] == [1.24]
    assert unwrap(await client.get(f"{account}/rules"))["daily_loss"] == 300


async def test_on_the_evening_of_a_trading_day_a_goal_is_met_one_missed_and_one_near_its_limit(client: Client) -> None:
    with time_machine.travel(datetime.fromisoformat("2026-10-30T21:00:00Z"), tick=False):
        await client.post("/example-journal")

        goals = unwrap(await client.get("/goals", params={"with": "snapshot"}))
    states = {goal["goal_name"]: goal["current"]["snapshot_data"]["pace"]["state"] for goal in goals}
    assert states["Grow the account"] == "achieved"
    assert states["Three trades a day"] == "missed"
    assert states["Daily loss limit"] == "near_limit"


async def test_a_removed_example_leaves_no_row_behind(client: Client, app: Starlette) -> None:
    await factories.create_trade(client)
    await factories.create_tag(client)
    before = await contents(client)
    account_id = unwrap(await client.post("/example-journal"))["account_id"]
    trade = unwrap(await client.get("/trades", params={"account_id": account_id}))[0]
    strategy = unwrap(await client.get("/strategies"))[0]
    for path, edit in (
        (f"/accounts/{account_id}", {"name": "Mine"}),
        (f"/trades/{trade['id']}", {"symbol": "NQ", "notes": "Mine"}),
        (f"/strategies/{strategy['id']}", {"name": "Mine", "setups": [{"name": "Mine"}]}),
    ):
        assert (await client.patch(path, json=edit)).status_code == 200

    removed = await client.delete("/example-journal")

    assert removed.status_code == 204
    assert await contents(client) == before
    assert dump(app)["example_rows"] == []
    assert unwrap(await client.get("/example-journal")) == NOT_LOADED


async def test_an_example_is_loaded_once_and_removed_once(client: Client) -> None:
    assert error_of(await client.delete("/example-journal")) == (404, "not_found")

    await client.post("/example-journal")

    assert error_of(await client.post("/example-journal")) == (409, "conflict")


async def test_names_that_are_taken_get_an_ending(client: Client) -> None:
    await factories.create_account(client, "Example")
    await factories.create_strategy(client, "Pullback")
    for ending in ("", " (example)", *(f" (example {number})" for number in range(2, 9))):
        await factories.create_category(client, f"Psychology{ending}")

    unwrap(await client.post("/example-journal"))

    shown = await contents(client)
    names = {name: [one["name"] for one in shown[name]] for name in ("accounts", "strategies", "tag-categories")}
    assert names["accounts"] == ["Example", "Example (example)", "Example copy"]
    assert "Pullback (example)" in names["strategies"]
    assert "Psychology (example 9)" in names["tag-categories"]


@for_rows(
    "create, code, details",
    [
        (factories.create_goal, "conflict", {}),
        (factories.create_cash, "conflict", {}),
        (factories.create_checkpoint, "conflict", {}),
        (factories.create_trade, "account_has_trades", {"trade_count": 1}),
    ],
)
async def test_an_example_whose_account_has_something_of_its_owner_stays(
    client: Client, create: Any, code: str, details: dict[str, int]
) -> None:
    account_id = unwrap(await client.post("/example-journal"))["account_id"]
    await create(client, account_id=account_id)
    before = await contents(client)

    refused = await client.delete("/example-journal")

    assert error_of(refused) == (409, code)
    assert details_of(refused) == details
    assert await contents(client) == before


async def test_a_strategy_and_a_tag_of_a_trade_of_ones_own_stay(client: Client) -> None:
    await client.post("/example-journal")
    shown = await contents(client)
    strategy, tag = shown["strategies"][0], shown["tags"][0]
    trade = await factories.create_trade(client, strategy_id=strategy["id"])
    await client.put(f"/trades/{trade['id']}/tags", json={"tag_ids": [tag["id"]]})

    await client.delete("/example-journal")

    left = await contents(client)
    assert [one["name"] for one in left["strategies"]] == [strategy["name"]]
    assert [one["name"] for one in left["tags"]] == [tag["name"]]
    assert [one["tag_count"] for one in left["tag-categories"]] == [1]
    assert len(left["trades"]) == 1


@for_rows(
    "days, rollover", [([6, 7], "00:00"), ([1, 2, 3, 4, 5], "08:00"), ([6, 7], "12:00"), ([1, 2, 3, 4, 5], "17:00")]
)
async def test_an_example_has_trades_on_the_owners_trading_weekdays_alone(
    client: Client, days: list[int], rollover: str
) -> None:
    await client.patch("/me", json={"trading_weekdays": days, "day_rollover": rollover})
    await client.post("/example-journal")

    trades = unwrap(await client.get("/trades", params={"limit": 200}))
    trading_days = {trade["trading_day"] for trade in trades if trade["closed_at"]}
    assert len(trading_days) >= 54  # and maybe today
    assert {date.fromisoformat(day).isoweekday() for day in trading_days} == set(days)


async def test_beyond_the_most_strategies_nothing_of_the_example_is_loaded(settings: Settings) -> None:
    async with opened(replace(settings, max_strategies=1)) as client:
        refused = await client.post("/example-journal")

        assert error_of(refused) == (429, "limit_reached")
        assert await contents(client) == {name: [] for name in RESOURCES}
        assert unwrap(await client.get("/example-journal")) == NOT_LOADED
