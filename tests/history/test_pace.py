"""How active goals stand in their running periods, over HTTP: docs/goals.md#pace."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import httpx
import pytest
import time_machine
from factories import create_account, create_goal, create_trade, snapshots_of, unwrap

Clock = time_machine.Traveller
# A Wednesday: the third of five trading days of its week, and of the 22 of March the eighth.
TODAY = "2026-03-11"


@pytest.fixture(autouse=True)
def clock() -> Iterator[Clock]:
    with time_machine.travel(at(TODAY), tick=False) as traveller:
        yield traveller


def at(day: str) -> datetime:
    return datetime.fromisoformat(f"{day}T18:00:00Z")


async def close_trade(
    client: httpx.AsyncClient, account: Any, pnl: float, day: str = TODAY, **fields: Any
) -> Any:
    times = {"opened_at": f"{day}T10:00:00Z", "closed_at": f"{day}T11:00:00Z"}
    return await create_trade(client, account["id"], gross_pnl=pnl, **times, **fields)


async def pace_of(client: httpx.AsyncClient, goal: Any) -> Any:
    """The pace in the newest snapshot, None without one."""
    return (await snapshots_of(client, goal["id"]))[0]["snapshot_data"].get("pace")


async def stands(client: httpx.AsyncClient, goal: Any) -> tuple[str, float | None]:
    pace = await pace_of(client, goal)
    return pace["state"], pace["remaining"]


async def change(client: httpx.AsyncClient, goal: Any, **fields: Any) -> None:
    unwrap(await client.patch(f"/goals/{goal['id']}", json=fields))


@pytest.mark.parametrize("metric", ["net_pnl", "gross_pnl", "worst_day"])
async def test_a_daily_loss_limit_says_how_much_room_is_left(client: httpx.AsyncClient, metric: str) -> None:
    account = await create_account(client)
    await close_trade(client, account, -450, "2026-03-10")
    goal = await create_goal(client, metric=metric, target_value=-500, timeframe="daily")

    stages = [await stands(client, goal)]
    for loss in (-380, -20, -100):
        await close_trade(client, account, loss)
        stages.append(await stands(client, goal))

    assert stages == [("within_limit", 500), ("within_limit", 120), ("near_limit", 100), ("near_limit", 0)]


async def test_a_broken_daily_limit_is_missed_but_a_net_loss_can_be_won_back(
    client: httpx.AsyncClient,
) -> None:
    account = await create_account(client)
    limit = await create_goal(client, metric="worst_day", target_value=-500, timeframe="daily")
    net = await create_goal(client, metric="net_pnl", target_value=-500, timeframe="daily")

    await close_trade(client, account, -501.5)

    assert await stands(client, limit) == ("missed", 0)
    assert await stands(client, net) == ("behind", 1.5)


async def test_the_room_of_a_worst_day_is_that_of_today(client: httpx.AsyncClient) -> None:
    account = await create_account(client)
    await close_trade(client, account, -450, "2026-03-10")
    goal = await create_goal(client, metric="worst_day", target_value=-500, timeframe="weekly")
    assert await stands(client, goal) == ("within_limit", 500)

    await close_trade(client, account, -380)

    assert await stands(client, goal) == ("within_limit", 120)


async def test_the_room_of_a_drawdown_is_measured_from_the_last_peak(client: httpx.AsyncClient) -> None:
    account = await create_account(client)
    goal = await create_goal(client, metric="max_drawdown", target_value=300)
    for day, pnl in (("2026-03-03", -200), ("2026-03-04", 700), ("2026-03-05", -50)):
        await close_trade(client, account, pnl, day)

    (snapshot,) = await snapshots_of(client, goal["id"])

    data = snapshot["snapshot_data"]
    assert (snapshot["actual"], data["peak_pnl"], data["net_pnl"]) == (200, 500, 450)
    assert (data["pace"]["state"], data["pace"]["remaining"]) == ("within_limit", 250)


async def test_the_trades_of_earlier_days_leave_the_room_of_today(client: httpx.AsyncClient) -> None:
    account = await create_account(client)
    goal = await create_goal(client, metric="max_trades_per_day", target_value=5)
    for _ in range(5):
        await close_trade(client, account, 1, "2026-03-10")
    assert await stands(client, goal) == ("within_limit", 5)

    for _ in range(4):
        await close_trade(client, account, 1)

    assert await stands(client, goal) == ("near_limit", 1)


async def test_a_copy_that_closes_today_of_a_decision_of_yesterday_is_no_decision_of_today(
    client: httpx.AsyncClient,
) -> None:
    master, follower = await create_account(client, "Master"), await create_account(client, "Follower")
    goal = await create_goal(client, metric="max_trades_per_day", target_value=5)
    for _ in range(3):
        original = await close_trade(client, master, 1, "2026-03-10")
        await close_trade(client, follower, 1, source_trade_id=original["id"])
    await close_trade(client, master, 1)

    (snapshot,) = await snapshots_of(client, goal["id"])

    assert snapshot["snapshot_data"]["max_trades_per_day"] == 3
    assert await stands(client, goal) == ("within_limit", 4)


async def test_what_is_missing_is_spread_over_the_days_that_are_left(client: httpx.AsyncClient) -> None:
    """10 to 19 March are eight trading days, of which the first has passed."""
    account = await create_account(client)
    window = {"timeframe": "custom", "custom_start": "2026-03-10", "custom_end": "2026-03-19"}
    goal = await create_goal(client, target_value=1000, **window)
    await close_trade(client, account, 300, "2026-03-10")

    assert await pace_of(client, goal) == {
        "state": "on_track",
        "remaining": 700,
        "days_left": 7,
        "needed_per_day": 100,
    }
    await close_trade(client, account, -60.5)
    assert await pace_of(client, goal) == {
        "state": "behind",
        "remaining": 760.5,
        "days_left": 6,
        "needed_per_day": 126.75,
    }


async def test_only_a_trade_in_scope_that_is_closed_ends_the_day(client: httpx.AsyncClient) -> None:
    account, other = await create_account(client), await create_account(client, "Other")
    goal = await create_goal(client, timeframe="weekly", account_id=account["id"])

    await close_trade(client, other, 1)
    opened = await create_trade(client, account["id"], exit_price=None, closed_at=None)
    assert (await pace_of(client, goal))["days_left"] == 3

    unwrap(
        await client.patch(
            f"/trades/{opened['id']}", json={"exit_price": 1, "closed_at": f"{TODAY}T17:00:00Z"}
        )
    )
    assert (await pace_of(client, goal))["days_left"] == 2
    assert (await client.delete(f"/trades/{opened['id']}")).status_code == 204
    assert (await pace_of(client, goal))["days_left"] == 3


async def test_other_trading_weekdays_change_the_pace(client: httpx.AsyncClient) -> None:
    goal = await create_goal(client, timeframe="weekly")
    assert (await pace_of(client, goal))["needed_per_day"] == 33.33333333

    unwrap(await client.patch("/me", json={"trading_weekdays": [3, 6, 7, 1]}))

    pace = await pace_of(client, goal)
    assert (pace["days_left"], pace["needed_per_day"]) == (3, 33.33333333)
    unwrap(await client.patch("/me", json={"trading_weekdays": [3, 4, 5, 6]}))
    pace = await pace_of(client, goal)
    assert (pace["days_left"], pace["needed_per_day"]) == (4, 25)
    unwrap(await client.patch("/me", json={"trading_weekdays": [1, 2]}))
    pace = await pace_of(client, goal)
    assert (pace["state"], pace["days_left"], pace["needed_per_day"]) == ("behind", 0, None)


async def test_each_day_has_a_new_pace_and_a_closed_period_none(
    client: httpx.AsyncClient, clock: Clock
) -> None:
    goal = await create_goal(client, timeframe="weekly")
    days_left = []
    for day in ("2026-03-11", "2026-03-12", "2026-03-14", "2026-03-15"):
        clock.move_to(at(day))
        days_left.append((await pace_of(client, goal))["days_left"])
    assert days_left == [3, 2, 0, 0]

    clock.move_to(at("2026-03-16"))

    running, closed = await snapshots_of(client, goal["id"])
    assert running["snapshot_data"]["pace"]["days_left"] == 5
    assert "pace" not in closed["snapshot_data"]


async def test_a_custom_window_has_a_pace_from_its_first_to_its_last_day(
    client: httpx.AsyncClient, clock: Clock
) -> None:
    window = {"timeframe": "custom", "custom_start": "2026-03-12", "custom_end": "2026-03-13"}
    goal = await create_goal(client, **window)

    has_pace = []
    for day in ("2026-03-11", "2026-03-12", "2026-03-13", "2026-03-14"):
        clock.move_to(at(day))
        has_pace.append(await pace_of(client, goal) is not None)

    assert has_pace == [False, True, True, False]


@pytest.mark.parametrize("status", ["paused", "archived"])
async def test_a_stopped_goal_has_no_pace_until_it_is_active_again(
    client: httpx.AsyncClient, status: str
) -> None:
    goal = await create_goal(client)
    pace = await pace_of(client, goal)

    await change(client, goal, status=status)
    assert await pace_of(client, goal) is None

    await change(client, goal, status="active")
    assert await pace_of(client, goal) == pace


async def test_a_goal_that_is_redefined_while_it_is_paused_has_no_pace(client: httpx.AsyncClient) -> None:
    goal = await create_goal(client)
    await change(client, goal, status="paused")

    await change(client, goal, metric="trade_count")

    assert await pace_of(client, goal) is None


async def test_the_list_of_goals_has_the_pace_of_today(client: httpx.AsyncClient) -> None:
    goal = await create_goal(client)

    (listed,) = unwrap(await client.get("/goals", params={"with": "snapshot"}))

    assert listed["current"]["snapshot_data"]["pace"] == await pace_of(client, goal)


async def test_a_new_target_has_a_new_pace(client: httpx.AsyncClient) -> None:
    goal = await create_goal(client, target_value=150)
    await pace_of(client, goal)

    await change(client, goal, target_value=300)

    assert await stands(client, goal) == ("behind", 300)


async def test_amounts_that_cannot_be_added_have_no_state(client: httpx.AsyncClient) -> None:
    for name, currency in (("Dollars", "USD"), ("Euros", "EUR")):
        await close_trade(client, await create_account(client, name, currency=currency), -1)
    net, count = await create_goal(client), await create_goal(client, metric="trade_count", target_value=2)

    assert await pace_of(client, net) == {
        "state": None,
        "remaining": None,
        "days_left": 14,
        "needed_per_day": None,
    }
    assert await stands(client, count) == ("achieved", 0)


async def test_a_profit_factor_without_losses_meets_every_target(client: httpx.AsyncClient) -> None:
    await close_trade(client, await create_account(client), 1)
    least = await create_goal(client, metric="profit_factor", target_value=2)
    most = await create_goal(client, metric="profit_factor", target_value=2, direction="at_most")

    assert await stands(client, least) == ("on_track", 0)
    assert await stands(client, most) == ("behind", None)


@pytest.mark.parametrize("metric", ["win_rate", "expectancy", "average_win", "a_plus_rate"])
async def test_an_average_without_trades_is_on_track(client: httpx.AsyncClient, metric: str) -> None:
    assert await stands(client, await create_goal(client, metric=metric, target_value=50)) == (
        "on_track",
        None,
    )


async def test_the_digits_of_what_remains_are_exact(client: httpx.AsyncClient) -> None:
    account = await create_account(client)
    await close_trade(client, account, 0.1)
    await close_trade(client, account, 0.2)
    goal = await create_goal(client, target_value=9999999.99999999)

    text = (await client.get(f"/goals/{goal['id']}/snapshots")).text

    assert '"remaining":9999999.69999999,' in text
