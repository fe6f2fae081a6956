"""When a snapshot has a pace, and what it counts as gone and left, over HTTP: docs/goals.md#pace.

tests/docs/test_goals_page.py has the examples of that page, tests/statistics/test_pace_rule.py the rule.
"""

from collections.abc import Iterator

import pytest
from desk import Desk, desk_of
from factories import Client, create_trade, unwrap
from starlette.applications import Starlette


@pytest.fixture
def desk(app: Starlette, client: Client) -> Iterator[Desk]:
    """It is a Wednesday: the third of five trading days of its week, and the eighth of 22 of March."""
    with desk_of(app, client, "2026-03-11T18:00:00Z") as desk:
        yield desk


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
    [([1, 2, 3, 4, 5], ("behind", 3, 33.33333333)), ([3, 4, 5, 6], ("on_track", 4, 25)), ([1, 2], ("behind", 0, None))],
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
