"""Goals that are redefined while they are paused or archived: docs/goals.md#late-changes."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import httpx
import pytest
import time_machine
from factories import create_account, create_goal, create_trade, snapshots_of, unwrap

Clock = time_machine.Traveller


@pytest.fixture
def clock() -> Iterator[Clock]:
    with time_machine.travel(datetime.fromisoformat("2026-03-10T12:00:00Z"), tick=False) as traveller:
        yield traveller


async def change(client: httpx.AsyncClient, goal: Any, **fields: Any) -> Any:
    return unwrap(await client.patch(f"/goals/{goal['id']}", json=fields))


async def close_trade(client: httpx.AsyncClient, account: Any, day: str, pnl: float) -> None:
    times = {"opened_at": f"{day}T10:00:00Z", "closed_at": f"{day}T11:00:00Z"}
    await create_trade(client, account["id"], gross_pnl=pnl, **times)


async def values_of(client: httpx.AsyncClient, goal: Any) -> list[tuple[str, float | None]]:
    return [(one["period_start"], one["actual"]) for one in await snapshots_of(client, goal["id"])]


@pytest.mark.parametrize("status", ["paused", "archived"])
async def test_a_stopped_goal_is_computed_by_its_new_definition_to_the_day_it_was_stopped(
    client: httpx.AsyncClient, clock: Clock, status: str
) -> None:
    account = await create_account(client)
    await close_trade(client, account, "2026-02-02", 5)
    await close_trade(client, account, "2026-03-09", -2)
    goal = await create_goal(client)
    assert await values_of(client, goal) == [("2026-03-01", -2), ("2026-02-01", 5)]
    await change(client, goal, status=status)
    clock.move_to(datetime.fromisoformat("2026-05-20T12:00:00Z"))
    await close_trade(client, account, "2026-05-19", 40)

    await change(client, goal, metric="trade_count")

    assert await values_of(client, goal) == [("2026-03-01", 1), ("2026-02-01", 1)]
    assert (await snapshots_of(client, goal["id"]))[0]["snapshot_data"]["unit"] == "count"
    await change(client, goal, status="active")
    assert await values_of(client, goal) == [
        ("2026-05-01", 1),
        ("2026-04-01", 0),
        ("2026-03-01", 1),
        ("2026-02-01", 1),
    ]


async def test_a_goal_stopped_before_the_day_of_its_creation_as_a_new_zone_has_it_can_be_redefined(
    client: httpx.AsyncClient, clock: Clock
) -> None:
    clock.move_to(datetime.fromisoformat("2026-05-20T11:30:00Z"))
    unwrap(await client.patch("/me", json={"timezone": "Pacific/Midway"}))
    goal = await create_goal(client)
    await change(client, goal, status="paused")
    unwrap(await client.patch("/me", json={"timezone": "Pacific/Kiritimati"}))

    await change(client, goal, metric="balance_target")

    assert await values_of(client, goal) == []


async def test_a_stopped_goal_that_is_renamed_keeps_its_snapshots(
    client: httpx.AsyncClient, clock: Clock
) -> None:
    account = await create_account(client)
    goal = await create_goal(client)
    await snapshots_of(client, goal["id"])
    await change(client, goal, status="paused")
    await close_trade(client, account, "2026-03-09", -2)

    await change(client, goal, goal_name="New", target_value=7)

    assert await values_of(client, goal) == [("2026-03-01", 0)]


async def test_a_goal_that_is_redefined_and_paused_at_once_has_the_new_definition(
    client: httpx.AsyncClient, clock: Clock
) -> None:
    account = await create_account(client)
    await close_trade(client, account, "2026-03-09", -2)
    goal = await create_goal(client)

    await change(client, goal, status="paused", metric="trade_count")

    assert await values_of(client, goal) == [("2026-03-01", 1)]


async def test_the_list_of_goals_has_the_snapshots_of_today(client: httpx.AsyncClient, clock: Clock) -> None:
    account = await create_account(client)
    monthly, daily = await create_goal(client), await create_goal(client, timeframe="daily")
    over = await create_goal(client, timeframe="custom", custom_start="2026-01-01", custom_end="2026-01-31")
    paused = await create_goal(client)
    await snapshots_of(client, paused["id"])
    await change(client, paused, status="paused")
    await close_trade(client, account, "2026-03-09", -2)

    goals = unwrap(await client.get("/goals", params={"with": "snapshot", "status": "all"}))

    assert [goal["current"] and goal["current"]["actual"] for goal in goals] == [-2, 0, None, 0]
    for goal, listed in zip((monthly, daily), goals, strict=False):
        (snapshot, *_) = await snapshots_of(client, goal["id"])
        assert listed == {**goal, "current": snapshot, "warnings": []}
    assert goals[2]["id"] == over["id"]
    assert unwrap(await client.get("/goals"))[0] == monthly
