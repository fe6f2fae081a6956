"""The example journal: what it loads, and that removing it takes exactly that."""

from datetime import date
from typing import Any

import httpx
import pytest
from factories import (
    create_account,
    create_category,
    create_goal,
    create_strategy,
    create_tag,
    create_trade,
    details_of,
    error_of,
    unwrap,
)
from operations import dump
from starlette.applications import Starlette

RESOURCES = ("accounts", "tag-categories", "tags", "strategies", "trades", "goals")


async def contents(client: httpx.AsyncClient) -> dict[str, Any]:
    """What a user sees, by resource."""
    return {name: unwrap(await client.get(f"/{name}")) for name in RESOURCES}


async def test_an_example_has_something_for_every_view(client: httpx.AsyncClient) -> None:
    loaded = unwrap(await client.post("/example-journal"))

    shown = await contents(client)
    newest = [unwrap(await client.get(f"/trades/{trade['id']}")) for trade in shown["trades"][:20]]
    assert 150 < loaded["trade_count"] < 260
    assert [len(shown[name]) for name in ("accounts", "strategies", "goals")] == [1, 2, 6]
    assert {tag["type"] for tag in shown["tags"]} == {"mistake", "custom"}
    assert any(trade["confirmations"] for trade in newest)
    assert any(trade["tags"] for trade in newest)
    assert {"A", "B"} < {trade["grade"] for trade in newest}
    assert {trade["net_pnl"] > 0 for trade in newest} == {True, False}
    assert all(trade["closed_at"] and trade["initial_risk"] > 0 for trade in newest)


async def test_an_example_is_the_same_each_time(client: httpx.AsyncClient) -> None:
    async def results() -> list[Any]:
        await client.post("/example-journal")
        trades = unwrap(await client.get("/trades", params={"limit": 200}))
        return [(trade["symbol"], trade["opened_at"], trade["net_pnl"], trade["grade"]) for trade in trades]

    first = await results()
    await client.delete("/example-journal")

    assert await results() == first


async def test_a_removed_example_leaves_no_row_behind(client: httpx.AsyncClient, app: Starlette) -> None:
    await create_trade(client)
    await create_tag(client)
    before = await contents(client)
    await client.post("/example-journal")

    removed = await client.delete("/example-journal")

    assert removed.status_code == 204
    assert await contents(client) == before
    assert dump(app)["example_rows"] == []
    assert unwrap(await client.get("/example-journal")) == {
        "is_loaded": False,
        "account_id": None,
        "trade_count": 0,
    }


async def test_an_example_is_loaded_once(client: httpx.AsyncClient) -> None:
    await client.post("/example-journal")

    assert error_of(await client.post("/example-journal")) == (409, "conflict")


async def test_an_example_that_is_not_loaded_cannot_be_removed(client: httpx.AsyncClient) -> None:
    assert error_of(await client.delete("/example-journal")) == (404, "not_found")


async def test_names_that_are_taken_get_an_ending(client: httpx.AsyncClient) -> None:
    await create_account(client, "Example")
    await create_category(client, "Psychology")
    await create_strategy(client, "Pullback")

    unwrap(await client.post("/example-journal"))

    shown = await contents(client)
    assert [one["name"] for one in shown["accounts"]] == ["Example", "Example (example)"]
    assert "Pullback (example)" in [one["name"] for one in shown["strategies"]]


async def test_it_is_loaded_however_often_its_names_were_taken(client: httpx.AsyncClient) -> None:
    endings = ["", " (example)", *(f" (example {number})" for number in range(2, 9))]
    for ending in endings:
        await create_category(client, f"Psychology{ending}")

    assert (await client.post("/example-journal")).status_code == 201

    names = [one["name"] for one in (await contents(client))["tag-categories"]]
    assert "Psychology (example 9)" in names


async def test_goals_of_ones_own_for_its_account_keep_the_example(client: httpx.AsyncClient) -> None:
    account_id = unwrap(await client.post("/example-journal"))["account_id"]
    await create_goal(client, account_id=account_id)
    before = await contents(client)

    assert error_of(await client.delete("/example-journal")) == (409, "conflict")
    assert await contents(client) == before


async def test_trades_of_ones_own_in_its_account_keep_the_example(client: httpx.AsyncClient) -> None:
    account_id = unwrap(await client.post("/example-journal"))["account_id"]
    await create_trade(client, account_id)
    before = await contents(client)

    refused = await client.delete("/example-journal")

    assert error_of(refused) == (409, "account_has_trades")
    assert details_of(refused) == {"trade_count": 1}
    assert await contents(client) == before


async def test_a_strategy_and_a_tag_of_a_trade_of_ones_own_stay(client: httpx.AsyncClient) -> None:
    await client.post("/example-journal")
    shown = await contents(client)
    strategy, tag = shown["strategies"][0], shown["tags"][0]
    trade = await create_trade(client, strategy_id=strategy["id"])
    await client.put(f"/trades/{trade['id']}/tags", json={"tag_ids": [tag["id"]]})

    await client.delete("/example-journal")

    left = await contents(client)
    assert [one["name"] for one in left["strategies"]] == [strategy["name"]]
    assert [one["name"] for one in left["tags"]] == [tag["name"]]
    assert [one["tag_count"] for one in left["tag-categories"]] == [1]
    assert len(left["trades"]) == 1


@pytest.mark.parametrize("days", [[6, 7], [1, 2, 3, 4, 5]])
@pytest.mark.parametrize("rollover", ["00:00", "08:00", "12:00", "17:00"])
async def test_an_example_has_trades_on_the_owners_trading_weekdays_alone(
    client: httpx.AsyncClient, days: list[int], rollover: str
) -> None:
    await client.patch("/me", json={"trading_weekdays": days, "day_rollover": rollover})
    await client.post("/example-journal")

    trades = unwrap(await client.get("/trades", params={"limit": 200}))
    weekdays = {weekday_of(trade["trading_day"]) for trade in trades}
    assert weekdays <= set(days)


def weekday_of(day: str) -> int:

    return date.fromisoformat(day).isoweekday()
