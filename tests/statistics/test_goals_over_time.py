"""Goals over time: their periods and targets, and what pausing or redefining a goal does to its history."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from desk import JANUARY, TODAY, Desk, desk_of
from factories import Client, details_of, held_writes, insert_copy_group, insert_trade, run_sql, unwrap
from starlette.applications import Starlette

from journal_api.metrics.metrics import METRICS


@pytest.fixture
def desk(app: Starlette, client: Client) -> Iterator[Desk]:
    with desk_of(app, client) as desk:
        yield desk


@pytest.mark.parametrize(
    ("start", "end", "actual", "is_closed"),
    [
        ("2026-01-10", "2026-01-20", 6, True),
        ("2026-01-11", "2026-01-19", 2, True),
        ("2026-01-01", "2026-04-14", 15, True),
        ("2026-01-01", "2026-04-15", 15, False),
        ("2000-01-01", "2100-12-31", 15, False),
        ("2027-01-01", "2027-12-31", 0, False),
    ],
)
async def test_a_custom_goal_has_one_period_with_both_ends_included(
    desk: Desk, start: str, end: str, actual: int, is_closed: bool
) -> None:
    account = await desk.account()
    for day, pnl in (("09", 1), ("10", 2), ("15", 2), ("20", 2), ("21", 8)):
        await desk.trade(account, f"01-{day}", pnl)

    (only,) = await desk.read(await desk.goal(timeframe="custom", custom_start=start, custom_end=end))

    assert [only[name] for name in ("period_start", "period_end")] == [start, end]
    assert [only[name] for name in ("actual", "closed")] == [actual, is_closed]


# The goal, what was traded, and at which moments it has which periods; those before the last are closed.
TIMES: dict[str, tuple[dict[str, str], list[str], list[tuple[str, str]]]] = {
    "a day ends at midnight": (
        *({"timeframe": "daily"}, ["04-15"]),
        [("2026-04-15T23:59:59Z", "04-15"), ("2026-04-16T00:00:00Z", "04-15 04-16")],
    ),
    "a week ends on Sunday": (
        *({"timeframe": "weekly"}, []),
        [("2026-04-19T23:59:59Z", "04-13"), ("2026-04-20T00:00:00Z", "04-13 04-20")],
    ),
    "a month ends with its last day": (
        *({}, []),
        [("2026-04-30T23:59:59Z", "04-01"), ("2026-05-01T00:00:00Z", "04-01 05-01")],
    ),
    "a quarter ends with June": (
        *({"timeframe": "quarterly"}, []),
        [("2026-06-30T23:59:59Z", "04-01"), ("2026-07-01T00:00:00Z", "04-01 07-01")],
    ),
    "a day without a trade is gone tomorrow": (
        *({"timeframe": "daily"}, []),
        [(TODAY, "04-15"), ("2026-04-18T12:00:00Z", "04-18")],
    ),
    "the history begins with the goal if the first trade is later": (
        *({}, ["06-10"]),
        [(TODAY, "04-01"), ("2026-06-20T12:00:00Z", "04-01 05-01 06-01")],
    ),
    "a window is closed after its end": (
        *({"timeframe": "custom", "custom_start": "2026-04-15", "custom_end": "2026-04-20"}, []),
        [("2026-04-20T23:59:59Z", "04-15"), ("2026-04-21T00:00:00Z", "04-15 closed"), (TODAY, "04-15")],
    ),
    "later periods go when the clock is set back": (
        *({"timeframe": "weekly"}, ["04-15"]),
        [("2026-04-22T12:00:00Z", "04-13 04-20"), (TODAY, "04-13"), ("2026-04-21T12:00:00Z", "04-13 04-20")],
    ),
    "later days go when the clock is set back": (
        *({"timeframe": "daily"}, ["04-15", "04-17"]),
        [("2026-04-20T12:00:00Z", "04-15 04-17 04-20"), (TODAY, "04-15")],
    ),
}


@pytest.mark.parametrize("name", TIMES)
async def test_as_time_goes_by(desk: Desk, name: str) -> None:
    fields, trades, moments = TIMES[name]
    account = await desk.account()
    for day in trades:
        await desk.trade(account, day)
    goal = await desk.goal(**fields)

    for moment, starts in moments:
        desk.move(moment)
        *closed, running = starts.split()
        expected = [(start, True) for start in closed] + [(running, False)] * (running != "closed")
        assert await desk.by_start(goal, "closed") == expected


async def test_today_and_the_days_of_trades_are_those_of_the_owner(desk: Desk) -> None:
    await desk.patch("/me", timezone="America/New_York", day_rollover="17:00")
    account = await desk.account()
    for pnl, moment in ((1, "04-29 20:59:59"), (2, "04-30 21:00:00")):
        await desk.trade(account, moment, pnl)
    goal = await desk.goal()

    shown = []
    for moment in ("2026-04-30T20:59:59Z", "2026-04-30T21:00:00Z"):
        desk.move(moment)
        shown.append(await desk.by_start(goal))

    assert shown == [[("04-01", 1)], [("04-01", 1), ("05-01", 2)]]


async def test_a_trade_on_the_last_day_counts_after_the_clock_was_set_back(desk: Desk) -> None:
    account = await desk.account()
    goal = await desk.goal(timeframe="weekly")
    desk.move("2026-04-22T12:00:00Z")
    await desk.read(goal)

    desk.move("2026-04-19T12:00:00Z")
    await desk.trade(account, "04-19", 5)

    assert await desk.values(goal) == [5]


async def test_a_balance_of_every_month_since_the_last_read_is_there_after_a_late_trade(desk: Desk) -> None:
    account = await desk.account(balance=100)
    goal = await desk.goal(metric="balance_target")
    await desk.read(goal)
    desk.move("2026-06-15T12:00:00Z")

    await desk.trade(account, "06-10", 5)

    assert await desk.values(goal) == [100, 100, 105]


APRIL = {"timeframe": "custom", "custom_start": "2026-04-01", "custom_end": "2026-04-30"}
NEW_TARGET, REDEFINED = {"target_value": 2}, {"metric": "win_rate", "target_value": 60}

# A goal with the target 1, what is changed at which moments, and the targets of its periods at the end.
# Account 1 has a trade in February, account 2 has none.
TARGETS: dict[str, tuple[dict[str, Any], list[tuple[str, dict[str, Any]]], list[tuple[str, float]]]] = {
    "a new target is for the running period, earlier ones keep the first": (
        *({}, [("2026-05-15T12:00:00Z", NEW_TARGET)]),
        [("02-01", 1), ("03-01", 1), ("04-01", 1), ("05-01", 2)],
    ),
    "a closed period keeps the target of its last moment": (
        {"account_id": 2},
        [
            ("2026-04-20T12:00:00Z", {"target_value": 2}),
            ("2026-04-30T23:59:59Z", {"target_value": 3}),
            ("2026-05-01T00:00:00Z", {"target_value": 4}),
            ("2026-05-31T23:59:59Z", {"target_value": 5}),
            ("2026-07-15T12:00:00Z", {"target_value": 6}),
        ],
        [("04-01", 3), ("05-01", 5), ("06-01", 5), ("07-01", 6)],
    ),
    "the last target of a day is in force": (
        {},
        [("2026-04-20T12:00:00Z", NEW_TARGET), ("2026-04-20T12:00:00Z", {"target_value": 3})],
        [("02-01", 1), ("03-01", 1), ("04-01", 3)],
    ),
    "a target corrected on the day of the goal is its first": (
        *({}, [(TODAY, {"target_value": 10})]),
        [("02-01", 10), ("03-01", 10), ("04-01", 10)],
    ),
    "a target changed on the next day is not": (
        *({}, [("2026-04-16T00:00:00Z", NEW_TARGET)]),
        [("02-01", 1), ("03-01", 1), ("04-01", 2)],
    ),
    "a closed window keeps its target": (
        APRIL,
        [("2026-04-30T12:00:00Z", NEW_TARGET), ("2026-05-01T12:00:00Z", {"target_value": 3})],
        [("04-01", 2)],
    ),
    "a redefined goal has its target in all periods": (
        {},
        [("2026-04-20T12:00:00Z", NEW_TARGET), ("2026-05-15T12:00:00Z", REDEFINED)],
        [("02-01", 60), ("03-01", 60), ("04-01", 60), ("05-01", 60)],
    ),
    "a target after a redefinition is for the running period": (
        {"account_id": 2},
        [("2026-05-15T12:00:00Z", REDEFINED), ("2026-06-15T12:00:00Z", {"target_value": 70})],
        [("04-01", 60), ("05-01", 60), ("06-01", 70)],
    ),
    "a goal that becomes active again has the targets of the meantime": (
        {"account_id": 2},
        [
            ("2026-04-20T12:00:00Z", {"status": "paused"}),
            ("2026-05-10T12:00:00Z", NEW_TARGET),
            ("2026-06-10T12:00:00Z", {"status": "active"}),
        ],
        [("04-01", 1), ("05-01", 2), ("06-01", 2)],
    ),
    **{
        f"a definition by {change} begins anew": (
            {"account_id": 2},
            [("2026-05-15T12:00:00Z", NEW_TARGET), ("2026-05-16T12:00:00Z", change)],
            [("04-01", 2)] if "timeframe" in change else [("04-01", 2), ("05-01", 2)],
        )
        for change in (
            {"metric": "gross_pnl"},
            {"direction": "at_most"},
            {"timeframe": "quarterly"},
            {"scope": "account_3"},
            {"scope": "group_1"},
            {"timeframe": "custom", "custom_start": "2026-04-01", "custom_end": "2026-04-02"},
        )
    },
    **{
        f"{change} defines nothing anew": (
            {"account_id": 2},
            [("2026-05-15T12:00:00Z", NEW_TARGET), ("2026-05-16T12:00:00Z", change)],
            [("04-01", 1), ("05-01", 2)],
        )
        for change in (
            {"goal_name": "New"},
            {"metric": "net_pnl", "direction": "at_least", "timeframe": "monthly", "scope": "account_2"},
            {"status": "active"},
        )
    },
}


@pytest.mark.parametrize("name", TARGETS)
async def test_targets(desk: Desk, name: str) -> None:
    fields, changes, expected = TARGETS[name]
    await desk.trade(await desk.account(), "02-10")
    for other in ("Empty", "Another"):
        await desk.account(other)
    await insert_copy_group(desk.app)
    goal = await desk.goal(target_value=1, **fields)
    for moment, change in changes:
        desk.move(moment)
        await desk.read(goal)
        await desk.patch_goal(goal, **change)

    assert await desk.by_start(goal, "target") == expected


async def test_the_running_period_has_the_target_of_the_goal_after_a_move_to_a_zone_of_yesterday(desk: Desk) -> None:
    await desk.patch("/me", timezone="Asia/Tokyo")
    goal = await desk.goal(target_value=1)
    desk.move("2026-04-30T22:00:00Z")
    await desk.patch_goal(goal, target_value=2)

    await desk.patch("/me", timezone="UTC")

    assert await desk.by_start(goal, "target") == [("04-01", 2)]


async def test_a_late_trade_in_a_closed_period_is_compared_with_its_target(desk: Desk) -> None:
    account = await desk.account()
    goal = await desk.goal(target_value=1)
    desk.move("2026-05-15T12:00:00Z")
    await desk.patch_goal(goal, target_value=2)
    await desk.read(goal)

    await desk.trade(account, "04-20", 1)

    april, may = await desk.read(goal)
    assert (april["target"], april["actual"], april["achieved"]) == (1, 1, True)
    assert (may["target"], may["achieved"]) == (2, False)


NOTHING_LATER = [("02-01", 0, False), ("03-01", 0, False), ("04-01", 0, False)]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"metric": "trade_count"}, [("01-01", 2, True), *NOTHING_LATER]),
        ({"direction": "at_most"}, [("01-01", 28, False), *((day, 0, True) for day, _, _ in NOTHING_LATER)]),
        ({"timeframe": "quarterly"}, [("01-01", 28, True), ("04-01", 0, False)]),
        (JANUARY, [("01-01", 28, True)]),
        ({"scope": "account_2"}, [("03-01", 3, True), ("04-01", 0, False)]),
    ],
    ids=str,
)
async def test_a_new_definition_measures_the_whole_history_anew(
    desk: Desk, change: dict[str, Any], expected: list[Any]
) -> None:
    account, other = await desk.account(), await desk.account("Other")
    for pnl in (10, 20):
        await desk.trade(account, "01-05", pnl, fees=1)
    await desk.trade(other, "03-05", 3)
    goal = await desk.goal(account_id=account, target_value=1)
    assert await desk.values(goal) == [28, 0, 0, 0]

    await desk.patch_goal(goal, **change)

    shown = [(one["period_start"][5:], one["actual"], one["achieved"]) for one in await desk.read(goal)]
    assert shown == expected


async def test_a_goal_stores_whether_its_metric_carries_a_balance(desk: Desk) -> None:
    for metric in METRICS:
        other = "win_rate" if metric == "balance_target" else "balance_target"
        await desk.goal(metric=metric, target_value=1)
        await desk.patch_goal(await desk.goal(metric=other, target_value=1), metric=metric)

    stored = await run_sql(desk.app, "SELECT metric FROM goals WHERE carries_balance")

    assert stored == [("balance_target",)] * 2


@pytest.mark.parametrize("status", ["paused", "archived"])
@pytest.mark.parametrize("is_read", [True, False], ids=["read before", "never read"])
async def test_a_goal_that_stops_keeps_its_snapshots_as_they_were(desk: Desk, status: str, is_read: bool) -> None:
    account = await desk.account()
    trade = await desk.trade(account, pnl=5)
    goal = await desk.goal()
    if is_read:
        await desk.read(goal)

    await desk.patch_goal(goal, status=status)
    before = await desk.read(goal) if is_read else None
    await run_sql(desk.app, f"UPDATE trades SET gross_pnl = 0 WHERE id = {trade}")
    await insert_trade(desk.app, account, closed_at="2025-12-05T12:00:00Z")
    await desk.patch("/me", timezone="Asia/Tokyo")
    await desk.patch_goal(goal, target_value=7, goal_name="New")
    await desk.patch_goal(goal, status="archived")
    desk.move("2026-06-15T12:00:00Z")

    assert await desk.values(goal) == [5, 0, 0, 0]
    assert before is None or await desk.read(goal) == before


@pytest.mark.parametrize("status", ["paused", "archived"])
async def test_a_stopped_goal_is_redefined_to_the_day_it_stopped_and_catches_up_when_active(
    desk: Desk, status: str
) -> None:
    account = await desk.account()
    for day, pnl in (("03-02", 5), ("04-14", -2)):
        await desk.trade(account, day, pnl)
    goal = await desk.goal()
    await desk.patch_goal(goal, status=status)
    desk.move("2026-06-20T12:00:00Z")
    for day in ("04-13", "06-19"):
        await desk.trade(account, day, 40)

    await desk.patch_goal(goal, metric="trade_count", status="archived")

    assert await desk.by_start(goal) == [("03-01", 1), ("04-01", 2)]
    await desk.patch_goal(goal, status="active")
    assert await desk.by_start(goal) == [("03-01", 1), ("04-01", 2), ("05-01", 0), ("06-01", 1)]


async def test_a_goal_stopped_before_the_day_of_its_creation_as_a_new_zone_has_it_can_be_redefined(desk: Desk) -> None:
    desk.move("2026-05-20T11:30:00Z")
    await desk.patch("/me", timezone="Pacific/Midway")
    goal = await desk.goal()
    await desk.patch_goal(goal, status="paused")
    await desk.patch("/me", timezone="Pacific/Kiritimati")

    await desk.patch_goal(goal, metric="balance_target")

    assert await desk.read(goal) == []


async def test_a_read_that_waited_while_the_goal_was_paused_leaves_it_as_it_was(desk: Desk) -> None:
    account = await desk.account()
    await desk.trade(account, "04-02", 5)
    goal = await desk.goal()
    database = desk.app.state.database

    async def wait_for(number: int) -> None:
        """Until that many wait for their turn to write."""
        for _ in range(10_000):
            if database._waiting >= number:
                return
            await asyncio.sleep(0.001)
        raise AssertionError(f"there are not {number} writers in the queue")

    async with asyncio.TaskGroup() as tasks, held_writes(database):
        tasks.create_task(desk.patch_goal(goal, status="paused"))
        await wait_for(1)
        tasks.create_task(desk.trade(account, "04-02", 6))
        await wait_for(2)
        tasks.create_task(desk.read(goal))
        await wait_for(3)

    assert await desk.values(goal) == [5]


async def test_the_list_of_goals_has_the_snapshots_of_today(desk: Desk) -> None:
    account = await desk.account()
    goals = [await desk.goal(**fields) for fields in ({}, {"timeframe": "daily"}, JANUARY, {})]
    await desk.patch_goal(goals[3], status="paused")
    await desk.trade(account, "04-14", -2)

    listed = unwrap(await desk.client.get("/goals", params={"with": "snapshot", "status": "all"}))

    assert [one["current"] and one["current"]["actual"] for one in listed] == [-2, 0, None, 0]
    for goal, one in zip(goals[:2], listed, strict=False):
        assert one == {**goal, "current": (await desk.read(goal))[-1], "warnings": []}
    assert unwrap(await desk.client.get("/goals")) == goals[:3]


async def test_the_list_of_goals_has_the_periods_of_a_range(desk: Desk) -> None:
    account = await desk.account()
    goals = [await desk.goal(**fields) for fields in ({}, {"timeframe": "daily"}, {"timeframe": "weekly"})]
    for day in ("04-01", "04-09", "04-14"):
        await desk.trade(account, day, -2)

    for days in ({}, {"from": "2026-04-01", "to": "2026-04-13"}):
        listed = unwrap(await desk.client.get("/goals", params={"with": "periods", **days}))

        for goal, one in zip(goals, listed, strict=True):
            snapshots = unwrap(await desk.client.get(f"/goals/{goal['id']}/snapshots", params={**days, "limit": 365}))
            members = ("period_start", "target", "actual", "achieved", "closed")
            assert one == {**goal, "periods": [{name: two[name] for name in members} for two in snapshots]}
    for days, fields in (
        ({"with": "periods", "from": "2026-04-02", "to": "2026-04-01"}, {"from": "must not be after to"}),
        ({"to": "2026-04-01"}, {"to": "needs with=periods"}),
        ({"with": "snapshot", "from": "2026-04-01"}, {"from": "needs with=periods"}),
    ):
        assert details_of(await desk.client.get("/goals", params=days))["fields"] == fields
