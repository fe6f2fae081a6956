"""When a snapshot has a pace, and what it counts as gone and left, over HTTP: docs/goals.md#pace.

tests/docs/test_goals_page.py has the examples of that page, tests/unit/test_pace_rule.py the rule.
"""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from desk import Desk, desk_of
from factories import create_account, create_trade, unwrap
from starlette.applications import Starlette


@pytest.fixture
def desk(app: Starlette, client: httpx.AsyncClient) -> Iterator[Desk]:
    """It is a Wednesday: the third of five trading days of its week, and the eighth of 22 of March."""
    with desk_of(app, client, "2026-03-11T18:00:00Z") as desk:
        yield desk


async def read_room(desk: Desk, goal: Any) -> tuple[str, float | None]:
    pace = await desk.pace(goal)
    return pace["state"], pace["remaining"]


@pytest.mark.parametrize("metric", ["net_pnl", "gross_pnl", "worst_day"])
async def test_a_daily_loss_limit_says_how_much_room_is_left(desk: Desk, metric: str) -> None:
    account = await desk.account()
    await desk.trade(account, "03-10", -450)
    goal = await desk.goal(metric=metric, target_value=-500, timeframe="daily")

    stages = [await read_room(desk, goal)]
    for loss in (-380, -20, -100, -1.5):
        await desk.trade(account, "03-11", loss)
        stages.append(await read_room(desk, goal))

    broken = ("missed", 0) if metric == "worst_day" else ("behind", 1.5)
    assert stages[:3] == [("within_limit", 500), ("within_limit", 120), ("near_limit", 100)]
    assert stages[3:] == [("near_limit", 0), broken]


async def test_four_limits_are_measured_from_now_on(desk: Desk) -> None:
    """A copy that closes today of a decision of yesterday is no decision of today."""
    account = await desk.account()
    for pnl, day in ((-200, "03-03"), (700, "03-04"), (-50, "03-05"), (1, "03-10"), (1, "03-10")):
        original = await desk.trade(account, day, pnl)
    await desk.trade(account, "03-11", -20, source_trade_id=original)
    await desk.trade(account, "03-11", 5)

    targets = {"max_drawdown": 300, "max_trades_per_day": 5, "worst_day": -500, "worst_trade": -500}
    rooms = {
        metric: await read_room(desk, await desk.goal(metric=metric, target_value=target))
        for metric, target in targets.items()
    }

    assert rooms == {
        "max_drawdown": ("within_limit", 237),
        "max_trades_per_day": ("within_limit", 4),
        "worst_day": ("within_limit", 485),
        "worst_trade": ("within_limit", 500),
    }


async def test_what_is_missing_is_spread_over_the_days_that_are_left(desk: Desk) -> None:
    """10 to 19 March are eight trading days, of which the first has passed."""
    account = await desk.account()
    window = {"timeframe": "custom", "custom_start": "2026-03-10", "custom_end": "2026-03-19"}
    goal = await desk.goal(target_value=1000, **window)
    await desk.trade(account, "03-10", 300)
    before = await desk.pace(goal)

    await desk.trade(account, "03-11", -60.5)

    assert before == {"state": "on_track", "remaining": 700, "days_left": 7, "needed_per_day": 100}
    after = {"state": "behind", "remaining": 760.5, "days_left": 6, "needed_per_day": 126.75}
    assert await desk.pace(goal) == after


async def test_only_a_trade_in_scope_that_is_closed_ends_the_day(desk: Desk) -> None:
    account, other = await desk.account(), await desk.account("Other")
    goal = await desk.goal(timeframe="weekly", account_id=account)
    left = []

    async def look() -> None:
        left.append((await desk.pace(goal))["days_left"])

    await desk.trade(other, "03-11", 1)
    opened = await create_trade(desk.client, account, exit_price=None, closed_at=None)
    await look()
    await desk.patch(f"/trades/{opened['id']}", exit_price=1, closed_at="2026-03-11T17:00:00Z")
    await look()
    await desk.client.delete(f"/trades/{opened['id']}")
    await look()

    assert left == [3, 2, 3]


@pytest.mark.parametrize(
    ("weekdays", "expected"),
    [
        ([1, 2, 3, 4, 5], ("behind", 3, 33.33333333)),
        ([3, 4, 5, 6], ("on_track", 4, 25)),
        ([1, 2], ("behind", 0, None)),
    ],
)
async def test_other_trading_weekdays_change_the_pace(
    desk: Desk, weekdays: list[int], expected: tuple[str, int, float | None]
) -> None:
    goal = await desk.goal(timeframe="weekly")
    await desk.read(goal)

    await desk.patch("/me", trading_weekdays=weekdays)

    pace = await desk.pace(goal)
    assert (pace["state"], pace["days_left"], pace["needed_per_day"]) == expected


async def test_each_day_has_a_new_pace_and_a_closed_period_none(desk: Desk) -> None:
    weekly = await desk.goal(timeframe="weekly")
    window = {"timeframe": "custom", "custom_start": "2026-03-12", "custom_end": "2026-03-13"}
    custom = await desk.goal(**window)
    left = []
    for day in ("2026-03-11", "2026-03-12", "2026-03-13", "2026-03-14"):
        desk.move(f"{day}T18:00:00Z")
        paces = [await desk.pace(goal) for goal in (weekly, custom)]
        left.append([pace and pace["days_left"] for pace in paces])

    assert left == [[3, None], [2, 2], [1, 1], [0, None]]
    desk.move("2026-03-16T18:00:00Z")
    closed, running = await desk.read(weekly)
    assert running["snapshot_data"]["pace"]["days_left"] == 5
    assert "pace" not in closed["snapshot_data"]


@pytest.mark.parametrize("status", ["paused", "archived"])
async def test_a_stopped_goal_has_no_pace_until_it_is_active_again(desk: Desk, status: str) -> None:
    goal = await desk.goal()
    pace = await desk.pace(goal)

    for change in ({"status": status}, {"metric": "trade_count"}, {"metric": "net_pnl"}):
        await desk.patch_goal(goal, **change)
        assert await desk.pace(goal) is None

    await desk.patch_goal(goal, status="active")
    assert await desk.pace(goal) == pace
    (listed,) = unwrap(await desk.client.get("/goals", params={"with": "snapshot"}))
    assert listed["current"]["snapshot_data"]["pace"] == pace


async def test_a_new_target_has_a_new_pace(desk: Desk) -> None:
    goal = await desk.goal(target_value=150)
    await desk.read(goal)

    await desk.patch_goal(goal, target_value=300)

    assert await read_room(desk, goal) == ("behind", 300)


async def test_amounts_that_cannot_be_added_have_no_state(desk: Desk) -> None:
    for currency in ("USD", "EUR"):
        account = await create_account(desk.client, currency, currency=currency)
        await desk.trade(account["id"], "03-11", -1)
    net, count = await desk.goal(), await desk.goal(metric="trade_count", target_value=2)

    nothing = {"state": None, "remaining": None, "days_left": 14, "needed_per_day": None}
    assert await desk.pace(net) == nothing
    assert await read_room(desk, count) == ("achieved", 0)


async def test_the_digits_of_what_remains_are_exact(desk: Desk) -> None:
    account = await desk.account()
    for pnl in (0.1, 0.2):
        await desk.trade(account, "03-11", pnl)
    goal = await desk.goal(target_value=9999999.99999999)

    text = (await desk.client.get(f"/goals/{goal['id']}/snapshots")).text

    assert '"remaining":9999999.69999999,' in text
