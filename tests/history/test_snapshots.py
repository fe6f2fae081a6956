"""Snapshots: docs/goals.md section by section, and every kind of late change."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

import httpx
import pytest
import time_machine
from conftest import client_of, new_key_for
from factories import (
    create_goal,
    create_strategy,
    create_tag,
    details_of,
    error_of,
    held_writes,
    insert_account,
    insert_answer,
    insert_copy_group,
    insert_trade,
    insert_trade_tags,
    insert_user,
    run_sql,
    snapshots_of,
    unwrap,
)
from starlette.applications import Starlette

from journal_api.values import metrics

INVALID = (400, "validation_error")
# A Wednesday.
TODAY = "2026-04-15T12:00:00Z"
JANUARY = "2026-01-01"
METRICS = {
    "net_pnl": 0,
    "gross_pnl": 0,
    "max_drawdown": 0,
    "balance_target": 0,
    "win_rate": "no_trades",
    "profit_factor": "no_trades",
    "expectancy": "no_trades",
    "rr_realized_avg": "no_risk",
    "a_plus_rate": "no_grades",
    "max_trades_per_day": 0,
    "protocol_completion_rate": "no_checklists",
    "trade_count": 0,
    "trading_days": 0,
    "winning_days": 0,
    "win_streak": 0,
    "average_win": "no_wins",
    "payoff_ratio": "no_wins",
    "worst_trade": "no_trades",
    "worst_day": "no_trades",
    "mistake_free_rate": "no_trades",
}


class Clock(Protocol):
    def move_to(self, destination: datetime) -> None: ...


@pytest.fixture(autouse=True)
def clock() -> Iterator[Clock]:
    """It is noon of Wednesday, 15 April 2026, until somebody moves it."""
    with time_machine.travel(datetime.fromisoformat(TODAY), tick=False) as traveller:
        yield traveller


def move(clock: Clock, moment: str) -> None:
    clock.move_to(datetime.fromisoformat(moment).astimezone(UTC))


async def patched(client: httpx.AsyncClient, goal: dict[str, Any], **fields: Any) -> Any:
    return unwrap(await client.patch(f"/goals/{goal['id']}", json=fields))


async def set_me(client: httpx.AsyncClient, **fields: Any) -> None:
    unwrap(await client.patch("/me", json=fields))


async def starts_of(client: httpx.AsyncClient, goal: dict[str, Any], **query: Any) -> list[str]:
    return [one["period_start"] for one in await snapshots_of(client, goal["id"], **query)]


async def snapshot_of(client: httpx.AsyncClient, goal: dict[str, Any], start: str = JANUARY) -> Any:
    """The snapshot of the period that starts on that day."""
    (one,) = await snapshots_of(client, goal["id"], **{"from": start, "to": start})
    return one


async def actual_of(client: httpx.AsyncClient, goal: dict[str, Any], start: str = JANUARY) -> Any:
    return (await snapshot_of(client, goal, start))["actual"]


async def targets_of(client: httpx.AsyncClient, goal: dict[str, Any]) -> list[tuple[str, Any]]:
    """(period_start, target), oldest first."""
    snapshots = await snapshots_of(client, goal["id"])
    return [(one["period_start"], one["target"]) for one in reversed(snapshots)]


async def set_trade(app: Starlette, trade_id: int, column: str, value: Any) -> None:
    await run_sql(
        app, f"UPDATE trades SET {column} = :value WHERE id = :id", {"value": value, "id": trade_id}
    )


async def close_trade(app: Starlette, trade_id: int, closed_at: str) -> None:
    """Move the close of the trade."""
    await run_sql(
        app,
        """
        UPDATE trades
        SET closed_at = :closed_at,
            trading_day = (SELECT trading_day(:closed_at, timezone, day_rollover)
                           FROM users
                           WHERE users.id = trades.user_id)
        WHERE id = :id
        """,
        {"closed_at": closed_at.replace("Z", ".000000Z"), "id": trade_id},
    )


async def delete_trade(app: Starlette, trade_id: int) -> None:
    await run_sql(app, "DELETE FROM trades WHERE id = :id", {"id": trade_id})


# Fields and pages ---------------------------------------------------------------------------------------


async def test_a_snapshot_carries_exactly_these_members(app: Starlette, client: httpx.AsyncClient) -> None:
    await insert_trade(app, await insert_account(app), closed_at="2026-04-02T10:00:00Z", gross_pnl=12.5)
    goal = await create_goal(client)

    answer = await client.get(f"/goals/{goal['id']}/snapshots")

    (snapshot,) = answer.json()["data"]["snapshots"]
    assert snapshot == {
        "goal_id": goal["id"],
        "period_start": "2026-04-01",
        "period_end": "2026-04-30",
        "target": 100,
        "actual": 12.5,
        "achieved": False,
        "closed": False,
        "snapshot_data": snapshot["snapshot_data"],
        "computed_at": "2026-04-15T12:00:00.000000Z",
    }
    assert answer.json()["meta"]["pagination"] == {"limit": 50, "offset": 0, "total": 1}


async def test_snapshots_come_newest_first(app: Starlette, client: httpx.AsyncClient) -> None:
    await insert_trade(app, await insert_account(app))
    goal = await create_goal(client)

    starts = await starts_of(client, goal)

    assert starts == ["2026-04-01", "2026-03-01", "2026-02-01", "2026-01-01"]


@pytest.mark.parametrize(("limit", "expected"), [(None, 50), (1, 1), (50, 50), (364, 364), (365, 365)])
async def test_a_page_holds_as_many_as_asked_for_and_50_unless_asked(
    app: Starlette, client: httpx.AsyncClient, limit: int | None, expected: int
) -> None:
    await insert_trade(app, await insert_account(app), closed_at="2019-01-01T10:00:00Z")
    goal = await create_goal(client, timeframe="weekly")
    query = {} if limit is None else {"limit": limit}

    answer = await client.get(f"/goals/{goal['id']}/snapshots", params=query)

    assert len(unwrap(answer)) == expected
    assert answer.json()["meta"]["pagination"] == {"limit": expected, "offset": 0, "total": 381}


async def test_pages_are_the_whole_list_in_pieces(app: Starlette, client: httpx.AsyncClient) -> None:
    await insert_trade(app, await insert_account(app), closed_at="2025-01-01T10:00:00Z")
    goal = await create_goal(client)
    whole = await snapshots_of(client, goal["id"])

    pages = [await snapshots_of(client, goal["id"], limit=7, offset=offset) for offset in (0, 7, 14, 21)]

    assert [len(page) for page in pages] == [7, 7, 2, 0]
    assert [one for page in pages for one in page] == whole


async def test_a_page_past_the_end_is_empty_and_says_the_total(client: httpx.AsyncClient) -> None:
    goal = await create_goal(client)

    answer = await client.get(f"/goals/{goal['id']}/snapshots?offset={2**63 - 1}")

    assert unwrap(answer) == []
    assert answer.json()["meta"]["pagination"] == {"limit": 50, "offset": 2**63 - 1, "total": 1}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"from": "2026-02-01"}, ["2026-04-01", "2026-03-01", "2026-02-01"]),
        ({"from": "2026-02-02"}, ["2026-04-01", "2026-03-01"]),
        ({"to": "2026-02-01"}, ["2026-02-01", "2026-01-01"]),
        ({"to": "2026-01-31"}, ["2026-01-01"]),
        ({"from": "2026-02-01", "to": "2026-03-01"}, ["2026-03-01", "2026-02-01"]),
        ({"from": "2026-03-01", "to": "2026-03-01"}, ["2026-03-01"]),
        ({"from": "2026-03-02", "to": "2026-03-31"}, []),
        ({"from": "0001-01-01", "to": "9999-12-31", "limit": 1}, ["2026-04-01"]),
    ],
    ids=lambda value: "" if isinstance(value, list) else str(value),
)
async def test_from_and_to_are_inclusive_and_compare_with_the_start(
    app: Starlette, client: httpx.AsyncClient, query: dict[str, Any], expected: list[str]
) -> None:
    await insert_trade(app, await insert_account(app))
    goal = await create_goal(client)

    starts = await starts_of(client, goal, **query)

    assert starts == expected


async def test_the_total_counts_what_the_filter_leaves(app: Starlette, client: httpx.AsyncClient) -> None:
    await insert_trade(app, await insert_account(app))
    goal = await create_goal(client)

    answer = await client.get(f"/goals/{goal['id']}/snapshots?from=2026-02-01&limit=1&offset=1")

    assert [one["period_start"] for one in unwrap(answer)] == ["2026-03-01"]
    assert answer.json()["meta"]["pagination"] == {"limit": 1, "offset": 1, "total": 3}


async def test_from_after_to_is_refused(client: httpx.AsyncClient) -> None:
    goal = await create_goal(client)

    refused = await client.get(f"/goals/{goal['id']}/snapshots?from=2026-02-02&to=2026-02-01")

    assert error_of(refused) == INVALID


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(
            ("limit", value)
            for value in ["0", "-1", "366", "abc", "1.5", "1_0", "+5", " 7", "٣", "７", "", "1e2"]
        ),
        *(("offset", value) for value in ["-1", str(2**63), "9" * 400, "abc", "1.0", "", "+0"]),
        *(
            (name, value)
            for name in ("from", "to")
            for value in ["20240203", "2024-W05-6", "2024-02-30", "2024-2-3", "2024-02-03T00:00", "", "today"]
        ),
    ],
)
async def test_another_page_or_day_is_refused_and_named(
    client: httpx.AsyncClient, name: str, value: str
) -> None:
    goal = await create_goal(client)

    refused = await client.get(f"/goals/{goal['id']}/snapshots", params={name: value})

    assert error_of(refused) == INVALID
    assert list(details_of(refused)["fields"]) == [name]


@pytest.mark.parametrize("query", ["limit=1&limit=1", "from=2026-01-01&from=2026-01-01", "offset=0&offset=0"])
async def test_a_parameter_sent_twice_is_refused(client: httpx.AsyncClient, query: str) -> None:
    goal = await create_goal(client)

    refused = await client.get(f"/goals/{goal['id']}/snapshots?{query}")

    assert error_of(refused) == INVALID


# Which periods there are --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("timeframe", "starts", "end_of_first"),
    [
        ("daily", ["2026-03-04", "2026-03-31", "2026-04-15"], "2026-03-04"),
        (
            "weekly",
            [
                "2026-03-02",
                "2026-03-09",
                "2026-03-16",
                "2026-03-23",
                "2026-03-30",
                "2026-04-06",
                "2026-04-13",
            ],
            "2026-03-08",
        ),
        ("monthly", ["2026-03-01", "2026-04-01"], "2026-03-31"),
        ("quarterly", ["2026-01-01", "2026-04-01"], "2026-03-31"),
    ],
)
async def test_every_period_has_a_snapshot_but_days_only_with_a_trade_and_today(
    app: Starlette, client: httpx.AsyncClient, timeframe: str, starts: list[str], end_of_first: str
) -> None:
    account = await insert_account(app)
    for day in ("2026-03-04", "2026-03-31"):
        await insert_trade(app, account, closed_at=f"{day}T12:00:00Z")
    goal = await create_goal(client, timeframe=timeframe)

    snapshots = await snapshots_of(client, goal["id"])

    assert [one["period_start"] for one in reversed(snapshots)] == starts
    assert snapshots[-1]["period_end"] == end_of_first
    assert [one["closed"] for one in snapshots] == [False] + [True] * (len(starts) - 1)


@pytest.mark.parametrize("timeframe", ["daily", "weekly", "monthly", "quarterly"])
async def test_without_trades_the_history_is_the_period_of_today(
    client: httpx.AsyncClient, timeframe: str
) -> None:
    goal = await create_goal(client, timeframe=timeframe)

    snapshots = await snapshots_of(client, goal["id"])

    assert len(snapshots) == 1
    assert snapshots[0]["period_start"] <= "2026-04-15" <= snapshots[0]["period_end"]


async def test_the_history_starts_with_the_goal_when_the_first_trade_is_later(
    app: Starlette, client: httpx.AsyncClient, clock: Clock
) -> None:
    goal = await create_goal(client)
    await insert_trade(app, await insert_account(app), closed_at="2026-06-10T12:00:00Z")

    move(clock, "2026-06-20T12:00:00Z")

    assert await starts_of(client, goal) == ["2026-06-01", "2026-05-01", "2026-04-01"]


async def test_an_open_trade_and_one_out_of_scope_start_no_history(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    account, other = await insert_account(app), await insert_account(app, "Other")
    await insert_trade(app, other, closed_at="2025-12-01T12:00:00Z")
    await insert_trade(app, account, closed_at=None, opened_at="2025-11-01T12:00:00Z")
    await insert_trade(app, account, closed_at="2026-03-03T12:00:00Z", opened_at="2025-10-01T12:00:00Z")
    goal = await create_goal(client, account_id=account)

    starts = await starts_of(client, goal)

    assert starts == ["2026-04-01", "2026-03-01"]


async def test_an_earlier_trade_brings_the_empty_periods_after_it(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    account = await insert_account(app)
    goal = await create_goal(client)
    assert await starts_of(client, goal) == ["2026-04-01"]

    await insert_trade(app, account, closed_at="2026-01-31T12:00:00Z", gross_pnl=5)

    snapshots = await snapshots_of(client, goal["id"])
    assert [(one["period_start"], one["actual"]) for one in snapshots] == [
        ("2026-04-01", 0),
        ("2026-03-01", 0),
        ("2026-02-01", 0),
        ("2026-01-01", 5),
    ]


async def test_periods_before_the_first_trade_go_when_it_is_deleted(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    account = await insert_account(app)
    first = await insert_trade(app, account, closed_at="2026-01-05T12:00:00Z")
    await insert_trade(app, account, closed_at="2026-03-20T12:00:00Z")
    goal = await create_goal(client)
    assert len(await starts_of(client, goal)) == 4

    await delete_trade(app, first)

    assert await starts_of(client, goal) == ["2026-04-01", "2026-03-01"]


async def test_the_first_period_is_true_again_when_the_first_of_its_trades_goes(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    account = await insert_account(app)
    first = await insert_trade(app, account, closed_at="2026-01-05T12:00:00Z", gross_pnl=5)
    await insert_trade(app, account, closed_at="2026-01-20T12:00:00Z", gross_pnl=7)
    goal = await create_goal(client)
    assert await actual_of(client, goal) == 12

    await delete_trade(app, first)

    assert await actual_of(client, goal) == 7


@pytest.mark.parametrize(
    ("start", "end", "actual", "closed"),
    [
        ("2026-01-10", "2026-01-20", 6, True),
        ("2026-01-11", "2026-01-19", 2, True),
        ("2026-01-01", "2026-04-14", 15, True),
        ("2026-01-01", "2026-04-15", 15, False),
        ("2000-01-01", "2100-12-31", 15, False),
        ("2026-01-15", "2026-01-15", 2, True),
        ("2025-01-01", "2025-12-31", 0, True),
        ("2027-01-01", "2027-12-31", 0, False),
    ],
)
async def test_a_custom_goal_has_one_period_with_both_ends_included(
    app: Starlette, client: httpx.AsyncClient, start: str, end: str, actual: int, closed: bool
) -> None:
    account = await insert_account(app)
    for day, pnl in (("09", 1), ("10", 2), ("15", 2), ("20", 2), ("21", 8)):
        await insert_trade(app, account, closed_at=f"2026-01-{day}T12:00:00Z", gross_pnl=pnl)
    goal = await create_goal(client, timeframe="custom", custom_start=start, custom_end=end)

    (only,) = await snapshots_of(client, goal["id"])

    assert (only["period_start"], only["period_end"]) == (start, end)
    assert (only["actual"], only["closed"]) == (actual, closed)


@pytest.mark.parametrize(
    ("timeframe", "last_moment", "next_start"),
    [
        ("daily", "2026-04-15T23:59:59Z", "2026-04-16"),
        ("weekly", "2026-04-19T23:59:59Z", "2026-04-20"),
        ("monthly", "2026-04-30T23:59:59Z", "2026-05-01"),
        ("quarterly", "2026-06-30T23:59:59Z", "2026-07-01"),
    ],
)
async def test_a_period_runs_to_its_last_moment_and_then_the_next_begins(
    app: Starlette,
    client: httpx.AsyncClient,
    clock: Clock,
    timeframe: str,
    last_moment: str,
    next_start: str,
) -> None:
    await insert_trade(app, await insert_account(app), closed_at=TODAY)
    goal = await create_goal(client, timeframe=timeframe)

    move(clock, last_moment)
    before = await snapshots_of(client, goal["id"])
    clock.move_to(datetime.fromisoformat(last_moment) + timedelta(seconds=1))
    after = await snapshots_of(client, goal["id"])

    assert [one["closed"] for one in before] == [False]
    assert [one["closed"] for one in after] == [False, True]
    assert after[0]["period_start"] == next_start


@pytest.mark.parametrize("timeframe", ["daily", "weekly", "monthly"])
async def test_a_period_is_open_again_after_the_clock_was_set_back_into_it(
    app: Starlette, client: httpx.AsyncClient, clock: Clock, timeframe: str
) -> None:
    await insert_trade(app, await insert_account(app), closed_at=TODAY)
    goal = await create_goal(client, timeframe=timeframe)
    before = await snapshots_of(client, goal["id"])
    move(clock, "2027-01-01T12:00:00Z")
    later = await snapshots_of(client, goal["id"])
    move(clock, TODAY)

    after = await snapshots_of(client, goal["id"])

    assert len(later) > len(before)
    assert [(one["period_start"], one["closed"]) for one in after] == [
        (one["period_start"], one["closed"]) for one in before
    ]


async def test_a_custom_goal_closes_after_its_end(client: httpx.AsyncClient, clock: Clock) -> None:
    goal = await create_goal(client, timeframe="custom", custom_start="2026-04-01", custom_end="2026-04-20")
    assert not (await snapshot_of(client, goal, "2026-04-01"))["closed"]

    move(clock, "2026-04-21T00:00:00Z")

    assert (await snapshot_of(client, goal, "2026-04-01"))["closed"]


async def test_a_today_without_a_trade_is_gone_tomorrow(
    app: Starlette, client: httpx.AsyncClient, clock: Clock
) -> None:
    await insert_account(app)
    goal = await create_goal(client, timeframe="daily")
    assert await starts_of(client, goal) == ["2026-04-15"]

    move(clock, "2026-04-18T12:00:00Z")

    assert await starts_of(client, goal) == ["2026-04-18"]


async def test_today_is_the_day_of_the_owners_zone(client: httpx.AsyncClient, clock: Clock) -> None:
    goal = await create_goal(client)
    move(clock, "2026-04-30T22:30:00Z")

    await set_me(client, timezone="Europe/Berlin")

    assert await starts_of(client, goal) == ["2026-05-01", "2026-04-01"]


async def test_today_begins_at_the_rollover(client: httpx.AsyncClient, clock: Clock) -> None:
    await set_me(client, timezone="America/New_York", day_rollover="17:00")
    goal = await create_goal(client)

    move(clock, "2026-04-30T20:59:59Z")
    before = await starts_of(client, goal)
    move(clock, "2026-04-30T21:00:00Z")
    after = await starts_of(client, goal)

    assert before == ["2026-04-01"]
    assert after == ["2026-05-01", "2026-04-01"]


async def test_a_trade_belongs_to_the_trading_day_of_its_close(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    await set_me(client, timezone="America/New_York", day_rollover="17:00")
    account = await insert_account(app)
    await insert_trade(app, account, closed_at="2026-01-30T21:59:59Z", gross_pnl=1)
    await insert_trade(app, account, closed_at="2026-01-31T22:00:00Z", gross_pnl=2)
    goal = await create_goal(client)

    january, february = await actual_of(client, goal), await actual_of(client, goal, "2026-02-01")

    assert (january, february) == (1, 2)


# What the numbers are, computed by hand -----------------------------------------------------------------


async def make_january(app: Starlette, client: httpx.AsyncClient) -> tuple[int, int]:
    """Five decisions in six rows on two accounts, which began with 1000 and 500."""
    first = await insert_account(app, "First", starting_balance=1000)
    second = await insert_account(app, "Second", starting_balance=500)
    checklist = [{"name": "Trend"}, {"name": "Volume"}]
    strategy = await create_strategy(client, setups=[{"name": "Flag", "confirmations": checklist}])
    (setup,) = strategy["setups"]
    trend, volume = (one["confirmation_id"] for one in setup["confirmations"])
    flag = {"strategy_id": strategy["id"], "setup_id": setup["setup_id"]}
    mistake = await create_tag(client, type="mistake")

    copied = await insert_trade(
        app,
        first,
        closed_at="2026-01-05T10:00:00Z",
        gross_pnl=100,
        fees=2,
        initial_risk=50,
        grade="A+",
        **flag,
    )
    await insert_trade(
        app,
        second,
        closed_at="2026-01-05T10:01:00Z",
        gross_pnl=50,
        fees=1,
        initial_risk=25,
        source_trade_id=copied,
    )
    careless = await insert_trade(
        app,
        first,
        closed_at="2026-01-05T11:00:00Z",
        gross_pnl=-60,
        fees=2,
        initial_risk=31,
        grade="B",
        **flag,
    )
    await insert_trade(app, first, closed_at="2026-01-06T10:00:00Z", gross_pnl=3, fees=3)
    await insert_trade(app, first, closed_at="2026-01-06T11:00:00Z", gross_pnl=20, grade="A+")
    await insert_trade(app, second, closed_at="2026-01-07T10:00:00Z", gross_pnl=-90, fees=5, **flag)
    for trade, confirmation, present in (
        (copied, trend, True),
        (copied, volume, True),
        (careless, trend, True),
        (careless, volume, False),
    ):
        await insert_answer(app, trade, confirmation, present)
    await insert_trade_tags(app, careless, [mistake["id"]])
    return first, second


@pytest.mark.parametrize(
    ("metric", "of_all", "of_second"),
    [
        ("net_pnl", 10, -46),
        ("gross_pnl", 23, -40),
        ("max_drawdown", 137, 95),
        ("balance_target", 1510, 454),
        ("win_rate", 40, 50),
        ("profit_factor", 1.06369427, 0.51578947),
        ("expectancy", 2, -23),
        ("rr_realized_avg", -0.02, 1.96),
        ("a_plus_rate", 66.66666667, None),
        ("max_trades_per_day", 2, 1),
        ("protocol_completion_rate", 33.33333333, 0),
        ("trade_count", 5, 2),
        ("trading_days", 3, 2),
        ("winning_days", 2, 1),
        ("win_streak", 1, 1),
        ("average_win", 83.5, 49),
        ("payoff_ratio", 1.06369427, 0.51578947),
        ("worst_trade", -95, -95),
        ("worst_day", -95, -95),
        ("mistake_free_rate", 80, 100),
    ],
)
async def test_a_metric_is_what_a_person_computes_from_the_trades(
    app: Starlette, client: httpx.AsyncClient, metric: str, of_all: float, of_second: float | None
) -> None:
    _, second = await make_january(app, client)
    whole = await create_goal(client, metric=metric)
    part = await create_goal(client, metric=metric, account_id=second)

    actuals = await actual_of(client, whole), await actual_of(client, part)

    assert actuals == (of_all, of_second)


async def test_a_tie_is_in_the_order_of_the_ids(app: Starlette, client: httpx.AsyncClient) -> None:
    account = await insert_account(app)
    for pnl in (5, -3, 5, -3, 5, 5):
        await insert_trade(app, account, gross_pnl=pnl)
    drawdown = await create_goal(client, metric="max_drawdown")
    streak = await create_goal(client, metric="win_streak")

    actuals = await actual_of(client, drawdown), await actual_of(client, streak)

    assert actuals == (3, 2)


async def test_a_break_even_neither_adds_to_a_streak_nor_breaks_it(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    account = await insert_account(app)
    for hour, pnl in enumerate((5, 0, 5, 0, 0, 5, -1, 5)):
        await insert_trade(app, account, closed_at=f"2026-01-05T{hour:02}:00:00Z", gross_pnl=pnl)
    goal = await create_goal(client, metric="win_streak")

    actual = await actual_of(client, goal)

    assert actual == 3


async def test_drawdown_begins_anew_with_the_period_and_its_peak_at_zero(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    account = await insert_account(app)
    await insert_trade(app, account, closed_at="2026-01-20T12:00:00Z", gross_pnl=100)
    await insert_trade(app, account, closed_at="2026-02-20T12:00:00Z", gross_pnl=-30)
    goal = await create_goal(client, metric="max_drawdown")

    january, february = await actual_of(client, goal), await actual_of(client, goal, "2026-02-01")

    assert (january, february) == (0, 30)


async def test_a_decision_counts_on_the_day_of_its_first_close(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    account = await insert_account(app)
    original = await insert_trade(app, account, closed_at="2026-01-06T12:00:00Z")
    await insert_trade(app, account, closed_at="2026-01-05T12:00:00Z", source_trade_id=original)
    await insert_trade(app, account, closed_at="2026-01-05T13:00:00Z")
    goal = await create_goal(client, metric="max_trades_per_day")

    assert await actual_of(client, goal) == 2


async def test_a_decision_has_the_grade_of_the_original_and_the_mistakes_of_any_copy(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    original = await insert_trade(app, await insert_account(app), closed_at="2026-01-05T15:00:01Z", grade="B")
    other = await insert_account(app, "other")
    copy = await insert_trade(
        app, other, closed_at="2026-01-05T15:00:00Z", grade="A+", source_trade_id=original
    )
    await insert_trade_tags(app, original, [(await create_tag(client, type="mistake"))["id"]])
    await insert_trade_tags(app, copy, [])

    rates = [
        await actual_of(client, await create_goal(client, metric=metric))
        for metric in ("a_plus_rate", "mistake_free_rate")
    ]

    assert rates == [0, 0]


async def test_of_copies_without_their_original_the_one_that_closed_first_gives_the_grade(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    original = await insert_trade(app, await insert_account(app), grade="A+")
    copier = await insert_account(app, "copier")
    for closed_at, grade in (("2026-01-05T15:00:01Z", "A+"), ("2026-01-05T15:00:00Z", "B")):
        await insert_trade(app, copier, closed_at=closed_at, grade=grade, source_trade_id=original)

    assert await actual_of(client, await create_goal(client, metric="a_plus_rate", account_id=copier)) == 0


async def test_a_drawdown_follows_the_closes_whatever_the_ids_are(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    account = await insert_account(app)
    for second, pnl in ((2, -3), (0, 5), (1, -1)):
        await insert_trade(app, account, closed_at=f"2026-01-05T15:00:0{second}Z", gross_pnl=pnl)

    assert await actual_of(client, await create_goal(client, metric="max_drawdown")) == 4


async def test_a_day_that_breaks_even_is_no_winning_day(app: Starlette, client: httpx.AsyncClient) -> None:
    account = await insert_account(app)
    for pnl in (5, -5):
        await insert_trade(app, account, gross_pnl=pnl)

    assert await actual_of(client, await create_goal(client, metric="winning_days")) == 0


async def test_a_copy_in_another_period_is_a_decision_there(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    account = await insert_account(app)
    original = await insert_trade(app, account, closed_at="2026-01-31T12:00:00Z", grade="A+", gross_pnl=1)
    await insert_trade(
        app, account, closed_at="2026-02-01T12:00:00Z", grade="B", gross_pnl=2, source_trade_id=original
    )
    goal = await create_goal(client, metric="a_plus_rate")

    january, february = await actual_of(client, goal), await actual_of(client, goal, "2026-02-01")

    assert (january, february) == (100, 0)


async def test_money_is_exact_and_compared_exactly(app: Starlette, client: httpx.AsyncClient) -> None:
    account = await insert_account(app)
    for pnl in (0.1, 0.2):
        await insert_trade(app, account, gross_pnl=pnl)
    at_least = await create_goal(client, target_value=0.3)
    at_most = await create_goal(client, target_value=0.3, direction="at_most")

    both = await snapshot_of(client, at_least), await snapshot_of(client, at_most)

    assert [(one["actual"], one["achieved"]) for one in both] == [(0.3, True), (0.3, True)]


@pytest.mark.parametrize(
    ("pnl", "direction", "achieved"),
    [
        (100.00000001, "at_least", True),
        (99.99999999, "at_least", False),
        (100.00000001, "at_most", False),
        (99.99999999, "at_most", True),
        (0, "at_least", False),
        (0, "at_most", True),
    ],
)
async def test_achieved_is_the_comparison_of_its_direction(
    app: Starlette, client: httpx.AsyncClient, pnl: float, direction: str, achieved: bool
) -> None:
    await insert_trade(app, await insert_account(app), gross_pnl=pnl)
    goal = await create_goal(client, target_value=100, direction=direction)

    assert (await snapshot_of(client, goal))["achieved"] is achieved


async def test_trades_of_another_user_never_count(app: Starlette, client: httpx.AsyncClient) -> None:
    other = await insert_user(app)
    await insert_trade(app, await insert_account(app, user_id=other), user_id=other, gross_pnl=1000)
    goal = await create_goal(client, metric="balance_target")

    snapshots = await snapshots_of(client, goal["id"])

    assert [(one["period_start"], one["actual"]) for one in snapshots] == [("2026-04-01", 0)]


async def test_a_group_counts_the_accounts_in_it(app: Starlette, client: httpx.AsyncClient) -> None:
    accounts = [await insert_account(app, name, starting_balance=10) for name in ("A", "B", "C")]
    for account, pnl in zip(accounts, (1, 2, 4), strict=True):
        await insert_trade(app, account, gross_pnl=pnl)
    group = await insert_copy_group(app, members=accounts[:2])
    goal = await create_goal(client, copy_group_id=group)
    balance = await create_goal(client, metric="balance_target", copy_group_id=group)

    actuals = await actual_of(client, goal), await actual_of(client, balance)

    assert actuals == (3, 23)


async def test_a_group_without_accounts_counts_nothing(app: Starlette, client: httpx.AsyncClient) -> None:
    await insert_trade(app, await insert_account(app, starting_balance=10), gross_pnl=5)
    goal = await create_goal(client, metric="balance_target", copy_group_id=await insert_copy_group(app))

    snapshots = await snapshots_of(client, goal["id"])

    assert [(one["period_start"], one["actual"]) for one in snapshots] == [("2026-04-01", 0)]


async def test_a_balance_carries_through_periods_without_trades(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    account = await insert_account(app, starting_balance=100)
    await insert_trade(app, account, closed_at="2025-12-31T12:00:00Z", gross_pnl=1)
    await insert_trade(app, account, closed_at="2026-02-10T12:00:00Z", gross_pnl=2)
    monthly = await create_goal(client, metric="balance_target")
    daily = await create_goal(client, metric="balance_target", timeframe="daily")

    by_month = [one["actual"] for one in await snapshots_of(client, monthly["id"])]
    by_day = [one["actual"] for one in await snapshots_of(client, daily["id"])]

    assert by_month == [103, 103, 103, 101, 101]
    assert by_day == [103, 103, 101]


async def test_a_balance_of_every_month_since_the_last_read_is_there_after_a_late_trade(
    app: Starlette, client: httpx.AsyncClient, clock: Clock
) -> None:
    account = await insert_account(app, starting_balance=100)
    goal = await create_goal(client, metric="balance_target")
    await snapshots_of(client, goal["id"])
    move(clock, "2026-06-15T12:00:00Z")

    await insert_trade(app, account, closed_at="2026-06-10T12:00:00Z", gross_pnl=5)

    snapshots = await snapshots_of(client, goal["id"])
    assert [(one["period_start"], one["actual"]) for one in snapshots] == [
        ("2026-06-01", 105),
        ("2026-05-01", 100),
        ("2026-04-01", 100),
    ]


async def test_a_balance_of_a_window_counts_what_came_before_it(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    account = await insert_account(app, starting_balance=100)
    for month, pnl in (("01", 1), ("02", 2), ("03", 4)):
        await insert_trade(app, account, closed_at=f"2026-{month}-10T12:00:00Z", gross_pnl=pnl)
    february = {"timeframe": "custom", "custom_start": "2026-02-01", "custom_end": "2026-02-28"}
    goal = await create_goal(client, metric="balance_target", **february)

    assert await actual_of(client, goal, "2026-02-01") == 103


# Nothing to measure -------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", METRICS)
async def test_a_period_without_trades_is_zero_or_null_with_a_reason(
    client: httpx.AsyncClient, metric: str
) -> None:
    no_data = METRICS[metric]
    goal = await create_goal(client, metric=metric, direction="at_most", target_value=1)

    (only,) = await snapshots_of(client, goal["id"])

    explained = only["actual"], only["achieved"], only["snapshot_data"]["reason"]
    assert explained == ((None, None, no_data) if isinstance(no_data, str) else (0, True, None))


@pytest.mark.parametrize(("direction", "achieved"), [("at_least", True), ("at_most", False)])
async def test_a_profit_factor_without_losses_is_achieved_at_least_and_not_at_most(
    app: Starlette, client: httpx.AsyncClient, direction: str, achieved: bool
) -> None:
    account = await insert_account(app)
    await insert_trade(app, account, gross_pnl=5)
    await insert_trade(app, account, gross_pnl=0)
    goal = await create_goal(client, metric="profit_factor", direction=direction, target_value=1000)

    endless = await snapshot_of(client, goal)

    assert (endless["actual"], endless["achieved"]) == (None, achieved)
    assert endless["snapshot_data"]["reason"] == "no_losses"


@pytest.mark.parametrize(("pnl", "reason"), [(5, "no_losses"), (-5, "no_wins")])
async def test_a_payoff_ratio_of_one_side_is_null_with_the_side_that_is_missing(
    app: Starlette, client: httpx.AsyncClient, pnl: int, reason: str
) -> None:
    await insert_trade(app, await insert_account(app), gross_pnl=pnl)
    goal = await create_goal(client, metric="payoff_ratio")

    one_sided = await snapshot_of(client, goal)

    assert (one_sided["actual"], one_sided["achieved"]) == (None, None)
    assert one_sided["snapshot_data"]["reason"] == reason


@pytest.mark.parametrize(
    ("metric", "reason"),
    [
        ("rr_realized_avg", "no_risk"),
        ("a_plus_rate", "no_grades"),
        ("protocol_completion_rate", "no_checklists"),
        ("average_win", "no_wins"),
    ],
)
async def test_trades_that_do_not_qualify_leave_null_with_a_reason(
    app: Starlette, client: httpx.AsyncClient, metric: str, reason: str
) -> None:
    strategy = await create_strategy(client, setups=[{"name": "Without a checklist"}])
    setup = {"strategy_id": strategy["id"], "setup_id": strategy["setups"][0]["setup_id"]}
    await insert_trade(app, await insert_account(app), gross_pnl=-5, **setup)
    goal = await create_goal(client, metric=metric)

    empty = await snapshot_of(client, goal)

    assert (empty["actual"], empty["achieved"]) == (None, None)
    assert empty["snapshot_data"]["reason"] == reason


# Sums beyond 64 bits ------------------------------------------------------------------------------------


async def make_rich(app: Starlette, account: int, number: int, pnl: int, day: str) -> None:
    """That many equal trades on one day."""
    first = await insert_trade(app, account, closed_at=f"{day}T12:00:00Z", gross_pnl=pnl)
    await run_sql(
        app,
        """
        INSERT INTO trades (user_id, account_id, symbol, direction, quantity, entry_price, opened_at,
            closed_at, trading_day, gross_pnl, created_at, updated_at)
        SELECT user_id, account_id, symbol, direction, quantity, entry_price, opened_at,
            closed_at, trading_day, gross_pnl, created_at, updated_at
        FROM trades, json_each(:more)
        WHERE trades.id = :id
        """,
        {"id": first, "more": str([0] * (number - 1))},
    )


@pytest.mark.parametrize("metric", METRICS)
async def test_no_metric_of_a_sum_beyond_64_bits_is_a_500(
    app: Starlette, client: httpx.AsyncClient, metric: str
) -> None:
    account = await insert_account(app)
    await make_rich(app, account, 10, 10**10, "2026-01-05")
    await make_rich(app, account, 1, 7, "2026-02-05")
    goals = [
        await create_goal(client, metric=metric, timeframe=one) for one in ("daily", "monthly", "quarterly")
    ]

    answers = [await client.get(f"/goals/{goal['id']}/snapshots") for goal in goals]

    assert [answer.status_code for answer in answers] == [200, 200, 200]
    for snapshot in (one for answer in answers for one in unwrap(answer)):
        assert (snapshot["actual"] is None) == (snapshot["snapshot_data"]["reason"] is not None)


@pytest.mark.parametrize("metric", ["net_pnl", "gross_pnl", "balance_target", "expectancy", "average_win"])
async def test_a_sum_beyond_64_bits_is_out_of_range_in_its_period_only(
    app: Starlette, client: httpx.AsyncClient, metric: str
) -> None:
    account = await insert_account(app)
    await make_rich(app, account, 1, 3, "2025-12-05")
    await make_rich(app, account, 10, 10**10, "2026-01-05")
    goal = await create_goal(client, metric=metric)

    beyond, before = await snapshot_of(client, goal), await snapshot_of(client, goal, "2025-12-01")

    assert (beyond["actual"], beyond["achieved"]) == (None, None)
    assert beyond["snapshot_data"]["reason"] == "out_of_range"
    assert (before["actual"], before["snapshot_data"]["reason"]) == (3, None)


async def test_the_largest_sum_within_64_bits_is_exact(app: Starlette, client: httpx.AsyncClient) -> None:
    account = await insert_account(app)
    await make_rich(app, account, 9, 10**10, "2026-01-05")
    await insert_trade(app, account, closed_at="2026-01-05T12:00:00Z", gross_pnl=2233720368.54775)
    await insert_trade(app, account, closed_at="2026-01-05T12:00:00Z", gross_pnl=0.00000807)
    goal = await create_goal(client)

    answer = await client.get(f"/goals/{goal['id']}/snapshots")

    assert '"actual":92233720368.54775807,' in answer.text


async def test_a_drawdown_beyond_64_bits_is_out_of_range(app: Starlette, client: httpx.AsyncClient) -> None:
    account = await insert_account(app)
    await make_rich(app, account, 5, 10**10, "2026-01-05")
    await make_rich(app, account, 10, -(10**10), "2026-01-06")
    goal = await create_goal(client, metric="max_drawdown")

    beyond = await snapshot_of(client, goal)

    assert (beyond["actual"], beyond["snapshot_data"]["reason"]) == (None, "out_of_range")


async def test_an_r_beyond_64_bits_is_out_of_range_for_the_average_alone(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    account = await insert_account(app)
    await insert_trade(app, account, gross_pnl=10**10, initial_risk=0.00000001)
    average, net = await create_goal(client, metric="rr_realized_avg"), await create_goal(client)

    beyond = await snapshot_of(client, average)

    assert (beyond["actual"], beyond["snapshot_data"]["reason"]) == (None, "out_of_range")
    assert await actual_of(client, net) == 10**10


async def test_rs_whose_sum_is_beyond_64_bits_are_out_of_range_for_the_average_alone(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    account = await insert_account(app)
    for _ in range(2):
        await insert_trade(app, account, gross_pnl=500, initial_risk=0.00000001)
    average, net = await create_goal(client, metric="rr_realized_avg"), await create_goal(client)

    beyond = await snapshot_of(client, average)

    assert (beyond["actual"], beyond["snapshot_data"]["reason"]) == (None, "out_of_range")
    assert await actual_of(client, net) == 1000


async def test_a_balance_beyond_64_bits_is_out_of_range(app: Starlette, client: httpx.AsyncClient) -> None:
    account = await insert_account(app, starting_balance=9 * 10**10)
    await insert_trade(app, account, gross_pnl=10**10)
    goal = await create_goal(client, metric="balance_target")

    snapshots = await snapshots_of(client, goal["id"])

    assert [one["actual"] for one in snapshots] == [None] * 4
    assert {one["snapshot_data"]["reason"] for one in snapshots} == {"out_of_range"}


# snapshot_data ------------------------------------------------------------------------------------------

# How a person computes each metric from what snapshot_data says.
FORMULAS = {
    "net_pnl": "gross_pnl - fees",
    "gross_pnl": "gross_pnl",
    "max_drawdown": "max_drawdown",
    "balance_target": "opening_balance + net_pnl",
    "win_rate": "100 * wins / decisions",
    "profit_factor": "winning_pnl / -losing_pnl",
    "expectancy": "net_pnl / decisions",
    "rr_realized_avg": "r_total / with_risk",
    "a_plus_rate": "100 * a_plus / graded",
    "max_trades_per_day": "max_trades_per_day",
    "protocol_completion_rate": "100 * checklists_confirmed / with_checklist",
    "trade_count": "wins + losses + breakevens",
    "trading_days": "trading_days",
    "winning_days": "winning_days",
    "win_streak": "win_streak",
    "average_win": "winning_pnl / wins",
    "payoff_ratio": "(winning_pnl / wins) / (-losing_pnl / losses)",
    "worst_trade": "worst_trade",
    "worst_day": "worst_day",
    "mistake_free_rate": "100 * (decisions - with_mistake) / decisions",
}


@pytest.mark.parametrize("metric", METRICS)
async def test_a_person_can_compute_the_number_from_snapshot_data(
    app: Starlette, client: httpx.AsyncClient, metric: str
) -> None:
    await make_january(app, client)
    goal = await create_goal(client, metric=metric)

    snapshot = await snapshot_of(client, goal)

    computed = eval(FORMULAS[metric], {}, snapshot["snapshot_data"])
    assert snapshot["actual"] == pytest.approx(computed, abs=6e-9)


async def test_snapshot_data_says_unit_zone_rollover_and_counts(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    await set_me(client, timezone="America/New_York", day_rollover="17:00")
    await make_january(app, client)
    goal = await create_goal(client)

    data = (await snapshot_of(client, goal))["snapshot_data"]

    assert (
        data.items()
        >= {
            "unit": "currency",
            "timezone": "America/New_York",
            "day_rollover": "17:00",
            "reason": None,
            "trades": 6,
            "decisions": 5,
            "wins": 2,
            "losses": 2,
            "breakevens": 1,
            "graded": 3,
            "with_risk": 2,
            "with_checklist": 3,
            "gross_pnl": 23,
            "fees": 13,
            "net_pnl": 10,
        }.items()
    )


# The target in force ------------------------------------------------------------------------------------


async def test_a_new_target_touches_the_running_period_only(
    app: Starlette, client: httpx.AsyncClient, clock: Clock
) -> None:
    await insert_trade(app, await insert_account(app), closed_at=TODAY, gross_pnl=100)
    goal = await create_goal(client, target_value=100)
    move(clock, "2026-06-15T12:00:00Z")
    assert await targets_of(client, goal) == [("2026-04-01", 100), ("2026-05-01", 100), ("2026-06-01", 100)]

    await patched(client, goal, target_value=300)

    snapshots = await snapshots_of(client, goal["id"])
    assert [one["target"] for one in snapshots] == [300, 100, 100]
    assert [one["achieved"] for one in snapshots] == [False, False, True]


async def test_a_new_target_is_compared_at_once(app: Starlette, client: httpx.AsyncClient) -> None:
    await insert_trade(app, await insert_account(app), closed_at=TODAY, gross_pnl=100)
    goal = await create_goal(client, target_value=101)
    assert not (await snapshot_of(client, goal, "2026-04-01"))["achieved"]

    await patched(client, goal, target_value=100)

    assert (await snapshot_of(client, goal, "2026-04-01"))["achieved"]


async def test_a_closed_period_keeps_the_target_that_was_in_force_when_it_closed(
    client: httpx.AsyncClient, clock: Clock
) -> None:
    goal = await create_goal(client, target_value=1)

    for moment, target in (
        ("2026-04-20T12:00:00Z", 2),
        ("2026-04-30T23:59:59Z", 3),
        ("2026-05-01T00:00:00Z", 4),
        ("2026-05-31T23:59:59Z", 5),
        ("2026-08-15T12:00:00Z", 6),
    ):
        move(clock, moment)
        await patched(client, goal, target_value=target)

    assert await targets_of(client, goal) == [
        ("2026-04-01", 3),
        ("2026-05-01", 5),
        ("2026-06-01", 5),
        ("2026-07-01", 5),
        ("2026-08-01", 6),
    ]


async def test_a_late_trade_in_a_closed_period_leaves_its_target(
    app: Starlette, client: httpx.AsyncClient, clock: Clock
) -> None:
    account = await insert_account(app)
    goal = await create_goal(client, target_value=1)
    move(clock, "2026-05-15T12:00:00Z")
    await patched(client, goal, target_value=2)
    await snapshots_of(client, goal["id"])

    await insert_trade(app, account, closed_at="2026-04-20T12:00:00Z", gross_pnl=1)

    april = await snapshot_of(client, goal, "2026-04-01")
    assert (april["target"], april["actual"], april["achieved"]) == (1, 1, True)


async def test_periods_before_the_goal_take_its_first_target(
    app: Starlette, client: httpx.AsyncClient, clock: Clock
) -> None:
    await insert_trade(app, await insert_account(app), closed_at="2026-02-10T12:00:00Z")
    goal = await create_goal(client, target_value=1)
    move(clock, "2026-05-15T12:00:00Z")

    await patched(client, goal, target_value=2)

    assert await targets_of(client, goal) == [
        ("2026-02-01", 1),
        ("2026-03-01", 1),
        ("2026-04-01", 1),
        ("2026-05-01", 2),
    ]


async def test_a_target_corrected_on_the_day_of_the_goal_judges_the_periods_before_it_anew(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    await insert_trade(app, await insert_account(app), closed_at="2026-03-10T12:00:00Z", gross_pnl=5)
    goal = await create_goal(client, target_value=1)
    assert (await snapshot_of(client, goal, "2026-03-01"))["achieved"]

    await patched(client, goal, target_value=10)

    assert await targets_of(client, goal) == [("2026-03-01", 10), ("2026-04-01", 10)]
    assert not (await snapshot_of(client, goal, "2026-03-01"))["achieved"]


async def test_a_target_changed_on_the_day_after_the_goal_was_made_leaves_the_periods_before_it(
    app: Starlette, client: httpx.AsyncClient, clock: Clock
) -> None:
    await set_me(client, timezone="America/New_York", day_rollover="17:00")
    await insert_trade(app, await insert_account(app), closed_at="2026-03-10T12:00:00Z")
    move(clock, "2026-04-15T20:59:59Z")
    goal = await create_goal(client, target_value=1)
    move(clock, "2026-04-15T21:00:00Z")  # the next trading day

    await patched(client, goal, target_value=2)

    assert await targets_of(client, goal) == [("2026-03-01", 1), ("2026-04-01", 2)]


async def test_the_last_target_of_a_day_is_the_one_in_force(
    app: Starlette, client: httpx.AsyncClient, clock: Clock
) -> None:
    goal = await create_goal(client, target_value=1)
    move(clock, "2026-04-20T12:00:00Z")

    for target in (2, 3):
        await patched(client, goal, target_value=target)

    assert await targets_of(client, goal) == [("2026-04-01", 3)]


async def test_the_running_period_has_the_target_of_the_goal_after_a_move_to_a_zone_of_yesterday(
    client: httpx.AsyncClient, clock: Clock
) -> None:
    await set_me(client, timezone="Asia/Tokyo")
    goal = await create_goal(client, target_value=1)
    move(clock, "2026-04-30T22:00:00Z")
    await patched(client, goal, target_value=2)

    await set_me(client, timezone="UTC")

    (running,) = await snapshots_of(client, goal["id"])
    assert (running["period_start"], running["closed"], running["target"]) == ("2026-04-01", False, 2)


async def test_a_closed_window_keeps_its_target(client: httpx.AsyncClient, clock: Clock) -> None:
    april = {"timeframe": "custom", "custom_start": "2026-04-01", "custom_end": "2026-04-30"}
    goal = await create_goal(client, target_value=1, **april)
    move(clock, "2026-04-30T12:00:00Z")
    await patched(client, goal, target_value=2)
    move(clock, "2026-05-01T12:00:00Z")

    await patched(client, goal, target_value=3)

    assert await targets_of(client, goal) == [("2026-04-01", 2)]


# A new definition ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "definition",
    [
        {"metric": "gross_pnl"},
        {"direction": "at_most"},
        {"scope": "account"},
        {"scope": "group"},
        {"scope": ""},
        {"timeframe": "quarterly"},
    ],
    ids=str,
)
async def test_a_new_definition_gives_closed_periods_the_target_in_force_then(
    app: Starlette, client: httpx.AsyncClient, clock: Clock, definition: dict[str, str]
) -> None:
    account = await insert_account(app)
    group = await insert_copy_group(app, members=[account])
    words = {"account": f"account_{account}", "group": f"group_{group}"}
    definition = {field: words.get(value, value) for field, value in definition.items()}
    goal = await create_goal(client, target_value=1)
    move(clock, "2026-08-15T12:00:00Z")
    await patched(client, goal, target_value=2)
    assert (await targets_of(client, goal))[0] == ("2026-04-01", 1)

    await patched(client, goal, **definition)

    assert {target for _, target in await targets_of(client, goal)} == {2}


async def test_a_new_metric_with_a_new_target_gives_closed_periods_that_target(
    client: httpx.AsyncClient, clock: Clock
) -> None:
    goal = await create_goal(client, target_value=1)
    move(clock, "2026-06-15T12:00:00Z")

    await patched(client, goal, metric="win_rate", target_value=60)

    assert await targets_of(client, goal) == [("2026-04-01", 60), ("2026-05-01", 60), ("2026-06-01", 60)]


async def test_after_a_new_definition_a_new_target_touches_the_running_period_only(
    client: httpx.AsyncClient, clock: Clock
) -> None:
    goal = await create_goal(client, target_value=1)
    move(clock, "2026-06-15T12:00:00Z")
    await patched(client, goal, metric="win_rate", target_value=60)
    move(clock, "2026-07-15T12:00:00Z")

    await patched(client, goal, target_value=70)

    assert [target for _, target in await targets_of(client, goal)] == [60, 60, 60, 70]


@pytest.mark.parametrize(
    "fields",
    [
        {"goal_name": "Renamed"},
        {"metric": "net_pnl", "direction": "at_least", "timeframe": "monthly", "scope": "all"},
        {"status": "active"},
    ],
    ids=["name", "same definition", "same status"],
)
async def test_a_patch_that_defines_nothing_anew_leaves_the_history(
    app: Starlette, client: httpx.AsyncClient, clock: Clock, fields: dict[str, str]
) -> None:
    await insert_trade(app, await insert_account(app))
    goal = await create_goal(client, target_value=1)
    move(clock, "2026-06-15T12:00:00Z")
    await patched(client, goal, target_value=2)
    before = await snapshots_of(client, goal["id"])

    await patched(client, goal, **fields)

    assert await snapshots_of(client, goal["id"]) == before


async def test_a_new_metric_measures_the_whole_history_anew(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    account = await insert_account(app)
    for pnl in (10, 20):
        await insert_trade(app, account, gross_pnl=pnl, fees=1)
    goal = await create_goal(client)
    assert await actual_of(client, goal) == 28

    await patched(client, goal, metric="trade_count")

    count = await snapshot_of(client, goal)
    assert (count["actual"], count["snapshot_data"]["unit"]) == (2, "count")


async def test_a_new_direction_judges_the_whole_history_anew(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    await insert_trade(app, await insert_account(app), gross_pnl=5)
    goal = await create_goal(client, target_value=10)
    assert (await snapshot_of(client, goal))["achieved"] is False

    await patched(client, goal, direction="at_most")

    assert (await snapshot_of(client, goal))["achieved"] is True


async def test_a_new_timeframe_leaves_no_period_of_the_old_one(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    await insert_trade(app, await insert_account(app), gross_pnl=5)
    goal = await create_goal(client)
    await snapshots_of(client, goal["id"])

    await patched(client, goal, timeframe="quarterly")

    snapshots = await snapshots_of(client, goal["id"])
    assert [(one["period_start"], one["period_end"], one["actual"]) for one in snapshots] == [
        ("2026-04-01", "2026-06-30", 0),
        ("2026-01-01", "2026-03-31", 5),
    ]


async def test_new_dates_move_the_one_period(app: Starlette, client: httpx.AsyncClient) -> None:
    account = await insert_account(app)
    for day, pnl in (("05", 1), ("25", 2)):
        await insert_trade(app, account, closed_at=f"2026-01-{day}T12:00:00Z", gross_pnl=pnl)
    goal = await create_goal(client, timeframe="custom", custom_start="2026-01-01", custom_end="2026-01-31")
    assert await actual_of(client, goal) == 3

    await patched(client, goal, timeframe="custom", custom_start="2026-01-10", custom_end="2026-01-31")

    (only,) = await snapshots_of(client, goal["id"])
    assert (only["period_start"], only["actual"]) == ("2026-01-10", 2)


async def test_a_new_scope_counts_other_trades(app: Starlette, client: httpx.AsyncClient) -> None:
    account, other = await insert_account(app), await insert_account(app, "Other")
    await insert_trade(app, account, gross_pnl=1)
    await insert_trade(app, other, gross_pnl=2, closed_at="2026-02-10T12:00:00Z")
    goal = await create_goal(client, account_id=account)
    assert len(await starts_of(client, goal)) == 4

    await patched(client, goal, scope=f"account_{other}")

    snapshots = await snapshots_of(client, goal["id"])
    assert [(one["period_start"], one["actual"]) for one in snapshots] == [
        ("2026-04-01", 0),
        ("2026-03-01", 0),
        ("2026-02-01", 2),
    ]


# Paused and archived ------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["paused", "archived"])
async def test_a_goal_that_stops_keeps_its_snapshots_as_they_were(
    app: Starlette, client: httpx.AsyncClient, clock: Clock, status: str
) -> None:
    account = await insert_account(app)
    trade = await insert_trade(app, account, gross_pnl=5)
    goal = await create_goal(client)
    await patched(client, goal, status=status)
    before = await snapshots_of(client, goal["id"])

    await set_trade(app, trade, "gross_pnl", 0)
    await insert_trade(app, account, closed_at="2025-12-05T12:00:00Z")
    await set_me(client, timezone="Asia/Tokyo")
    await patched(client, goal, target_value=7)
    move(clock, "2026-06-15T12:00:00Z")

    assert [one["actual"] for one in before] == [0, 0, 0, 5]
    assert await snapshots_of(client, goal["id"]) == before


@pytest.mark.parametrize("status", ["paused", "archived"])
async def test_a_goal_that_was_never_read_stops_with_what_was_true_then(
    app: Starlette, client: httpx.AsyncClient, status: str
) -> None:
    account = await insert_account(app)
    await insert_trade(app, account, gross_pnl=5)
    goal = await create_goal(client)

    await patched(client, goal, status=status)
    await insert_trade(app, account, gross_pnl=6)

    assert await actual_of(client, goal) == 5


async def test_a_read_that_waited_while_the_goal_was_paused_leaves_it_as_it_was(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    account = await insert_account(app)
    await insert_trade(app, account, gross_pnl=5)
    goal = await create_goal(client)
    database = app.state.database

    async def queued(number: int) -> None:
        """Until that many wait for their turn to write."""
        for _ in range(1000):
            if database._waiting >= number:
                return
            await asyncio.sleep(0.001)
        raise AssertionError(f"there are not {number} writers in the queue")

    async with asyncio.TaskGroup() as tasks, held_writes(database):
        tasks.create_task(patched(client, goal, status="paused"))
        await queued(1)
        tasks.create_task(insert_trade(app, account, gross_pnl=6))
        await queued(2)
        tasks.create_task(snapshots_of(client, goal["id"]))
        await queued(3)

    assert await actual_of(client, goal) == 5


async def test_from_paused_to_archived_nothing_moves(app: Starlette, client: httpx.AsyncClient) -> None:
    account = await insert_account(app)
    await insert_trade(app, account, gross_pnl=5)
    goal = await create_goal(client)
    await patched(client, goal, status="paused")
    await insert_trade(app, account, gross_pnl=6)

    await patched(client, goal, status="archived")

    assert await actual_of(client, goal) == 5


@pytest.mark.parametrize("status", ["paused", "archived"])
async def test_becoming_active_catches_up(
    app: Starlette, client: httpx.AsyncClient, clock: Clock, status: str
) -> None:
    account = await insert_account(app)
    await insert_trade(app, account, closed_at="2026-04-01T12:00:00Z", gross_pnl=5)
    goal = await create_goal(client, target_value=1)
    await patched(client, goal, status=status)
    move(clock, "2026-05-10T12:00:00Z")
    await insert_trade(app, account, closed_at="2026-04-02T12:00:00Z", gross_pnl=6)
    await patched(client, goal, target_value=2)
    move(clock, "2026-06-10T12:00:00Z")

    await patched(client, goal, status="active")

    snapshots = await snapshots_of(client, goal["id"])
    assert [(one["period_start"], one["actual"], one["target"]) for one in snapshots] == [
        ("2026-06-01", 0, 2),
        ("2026-05-01", 0, 2),
        ("2026-04-01", 11, 1),
    ]


async def test_a_goal_redefined_while_paused_is_built_anew_at_once_and_goes_on_when_active(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    await insert_trade(app, await insert_account(app), gross_pnl=5)
    goal = await create_goal(client)
    await patched(client, goal, status="paused")

    await patched(client, goal, metric="trade_count", timeframe="quarterly")
    while_paused = await starts_of(client, goal)
    await patched(client, goal, status="active")

    assert while_paused == await starts_of(client, goal) == ["2026-04-01", "2026-01-01"]
    assert await actual_of(client, goal) == 1


# Late changes show in the next read ---------------------------------------------------------------------


async def test_reading_again_without_a_change_answers_the_same(
    app: Starlette, client: httpx.AsyncClient, clock: Clock
) -> None:
    await make_january(app, client)
    goal = await create_goal(client)
    first = await snapshots_of(client, goal["id"])

    move(clock, "2026-04-15T18:00:00Z")

    assert await snapshots_of(client, goal["id"]) == first


async def test_a_clock_that_was_set_back_leaves_the_running_period_and_takes_the_later_ones_away(
    client: httpx.AsyncClient, clock: Clock
) -> None:
    goal = await create_goal(client, timeframe="weekly")
    move(clock, "2026-04-22T12:00:00Z")
    assert await starts_of(client, goal) == ["2026-04-20", "2026-04-13"]

    move(clock, TODAY)

    assert await starts_of(client, goal) == ["2026-04-13"]


async def test_a_trade_on_the_last_day_of_the_running_period_counts_after_the_clock_was_set_back(
    app: Starlette, client: httpx.AsyncClient, clock: Clock
) -> None:
    account = await insert_account(app)
    goal = await create_goal(client, timeframe="weekly")
    move(clock, "2026-04-22T12:00:00Z")
    await snapshots_of(client, goal["id"])

    move(clock, "2026-04-19T12:00:00Z")
    await insert_trade(app, account, closed_at="2026-04-19T12:00:00Z", gross_pnl=5)

    assert await actual_of(client, goal, "2026-04-13") == 5


async def test_a_change_out_of_scope_is_looked_at_only_once(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    mine, other = await insert_account(app, "mine"), await insert_account(app, "other")
    goal = await create_goal(client, account_id=mine)
    await snapshots_of(client, goal["id"])
    await insert_trade(app, other)

    await snapshots_of(client, goal["id"])

    assert await run_sql(app, "SELECT change_cursor = (SELECT max(sequence) FROM changes) FROM goals") == [
        (1,)
    ]


async def test_readers_at_once_all_see_a_late_trade(app: Starlette, client: httpx.AsyncClient) -> None:
    account = await insert_account(app)
    goal = await create_goal(client)
    await snapshots_of(client, goal["id"])
    await insert_trade(app, account, gross_pnl=5)

    seen = await asyncio.gather(*(snapshots_of(client, goal["id"]) for _ in range(10)))

    assert seen[0][-1]["actual"] == 5
    assert all(snapshots == seen[0] for snapshots in seen)


async def test_a_late_change_leaves_other_periods_as_they_are(
    app: Starlette, client: httpx.AsyncClient, clock: Clock
) -> None:
    account = await insert_account(app)
    for month in ("01", "02", "03"):
        await insert_trade(app, account, closed_at=f"2026-{month}-10T12:00:00Z", gross_pnl=1)
    goal = await create_goal(client)
    before = await snapshots_of(client, goal["id"])
    move(clock, "2026-04-15T18:00:00Z")

    await insert_trade(app, account, closed_at="2026-02-11T12:00:00Z", gross_pnl=5)

    after = await snapshots_of(client, goal["id"])
    assert [one["actual"] for one in after] == [0, 1, 6, 1]
    assert (after[1], after[3]) == (before[1], before[3])


async def test_a_trade_added_late_counts(app: Starlette, client: httpx.AsyncClient) -> None:
    account = await insert_account(app)
    await insert_trade(app, account, gross_pnl=60)
    goal = await create_goal(client, target_value=100)
    assert (await snapshot_of(client, goal))["achieved"] is False

    await insert_trade(app, account, gross_pnl=40)

    january = await snapshot_of(client, goal)
    assert (january["actual"], january["achieved"], january["closed"]) == (100, True, True)


@pytest.mark.parametrize(
    ("metric", "column", "value", "before", "after"),
    [
        ("gross_pnl", "gross_pnl", 7 * 10**8, 10, 7),
        ("net_pnl", "fees", 4 * 10**8, 9, 6),
        ("rr_realized_avg", "initial_risk", 9 * 10**8, 3, 1),
        ("rr_realized_avg", "initial_risk", None, 3, None),
        ("a_plus_rate", "grade", "B", 100, 0),
        ("a_plus_rate", "grade", None, 100, None),
    ],
)
async def test_a_trade_edited_late_counts_as_it_is_now(
    app: Starlette,
    client: httpx.AsyncClient,
    metric: str,
    column: str,
    value: object,
    before: int,
    after: int | None,
) -> None:
    trade = await insert_trade(
        app, await insert_account(app), gross_pnl=10, fees=1, initial_risk=3, grade="A+"
    )
    goal = await create_goal(client, metric=metric)
    assert await actual_of(client, goal) == before

    await set_trade(app, trade, column, value)

    assert await actual_of(client, goal) == after


async def test_a_close_moved_within_its_day_changes_the_order(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    account = await insert_account(app)
    await insert_trade(app, account, closed_at="2026-01-05T10:00:00Z", gross_pnl=5)
    loss = await insert_trade(app, account, closed_at="2026-01-05T11:00:00Z", gross_pnl=-3)
    await insert_trade(app, account, closed_at="2026-01-05T12:00:00Z", gross_pnl=5)
    goal = await create_goal(client, metric="win_streak")
    assert await actual_of(client, goal) == 1

    await close_trade(app, loss, "2026-01-05T13:00:00Z")

    assert await actual_of(client, goal) == 2


async def test_a_trade_deleted_late_counts_no_more(app: Starlette, client: httpx.AsyncClient) -> None:
    account = await insert_account(app)
    await insert_trade(app, account, gross_pnl=1)
    trade = await insert_trade(app, account, gross_pnl=10)
    goal = await create_goal(client)
    assert await actual_of(client, goal) == 11

    await delete_trade(app, trade)

    assert await actual_of(client, goal) == 1


@pytest.mark.parametrize("timeframe", ["monthly", "daily", "custom"])
async def test_a_trade_closed_late_counts_and_one_opened_again_does_not(
    app: Starlette, client: httpx.AsyncClient, timeframe: str
) -> None:
    account = await insert_account(app)
    await insert_trade(app, account, closed_at="2026-01-01T12:00:00Z", gross_pnl=1)
    trade = await insert_trade(app, account, closed_at=None)
    window = {"custom_start": JANUARY, "custom_end": "2026-01-31"} if timeframe == "custom" else {}
    goal = await create_goal(client, timeframe=timeframe, **window)
    counts = [await actual_of(client, goal)]

    for closed_at, day, pnl in (
        ("2026-01-01T10:00:00.000000Z", "2026-01-01", 5 * 10**8),
        (None, None, None),
    ):
        await run_sql(
            app,
            "UPDATE trades SET closed_at = :at, trading_day = :day, gross_pnl = :pnl WHERE id = :id",
            {"at": closed_at, "day": day, "pnl": pnl, "id": trade},
        )
        counts.append(await actual_of(client, goal))

    assert counts == [1, 6, 1]


async def test_a_trade_moved_to_another_account_counts_there(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    account, other = await insert_account(app), await insert_account(app, "Other")
    trade = await insert_trade(app, account, gross_pnl=5)
    for one in (account, other):
        await insert_trade(app, one, gross_pnl=1)
    goals = [await create_goal(client, account_id=one) for one in (account, other)]
    assert [await actual_of(client, goal) for goal in goals] == [6, 1]

    await set_trade(app, trade, "account_id", other)

    assert [await actual_of(client, goal) for goal in goals] == [1, 6]


async def test_a_trade_moved_to_another_day_counts_there(app: Starlette, client: httpx.AsyncClient) -> None:
    account = await insert_account(app)
    await insert_trade(app, account, gross_pnl=1)
    trade = await insert_trade(app, account, gross_pnl=5)
    monthly, daily = await create_goal(client), await create_goal(client, timeframe="daily")
    assert await starts_of(client, daily) == ["2026-04-15", "2026-01-05"]
    await snapshots_of(client, monthly["id"])

    await close_trade(app, trade, "2026-02-03T12:00:00Z")

    by_month = [one["actual"] for one in await snapshots_of(client, monthly["id"])]
    by_day = [(one["period_start"], one["actual"]) for one in await snapshots_of(client, daily["id"])]
    assert by_month == [0, 0, 5, 1]
    assert by_day == [("2026-04-15", 0), ("2026-02-03", 5), ("2026-01-05", 1)]


async def test_a_late_trade_moves_every_balance_after_it(app: Starlette, client: httpx.AsyncClient) -> None:
    account = await insert_account(app, starting_balance=100)
    await insert_trade(app, account, gross_pnl=1)
    await insert_trade(app, account, closed_at="2026-03-03T12:00:00Z", gross_pnl=2)
    monthly = await create_goal(client, metric="balance_target")
    march = {"timeframe": "custom", "custom_start": "2026-03-01", "custom_end": "2026-03-31"}
    window = await create_goal(client, metric="balance_target", **march)
    assert [one["actual"] for one in await snapshots_of(client, monthly["id"])] == [103, 103, 101, 101]
    assert await actual_of(client, window, "2026-03-01") == 103

    await insert_trade(app, account, closed_at="2025-12-03T12:00:00Z", gross_pnl=10)

    assert [one["actual"] for one in await snapshots_of(client, monthly["id"])] == [113, 113, 111, 111, 110]
    assert await actual_of(client, window, "2026-03-01") == 113


async def test_a_copy_linked_late_is_no_longer_a_decision_of_its_own(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    account = await insert_account(app)
    original, copy = await insert_trade(app, account), await insert_trade(app, account)
    goal = await create_goal(client, metric="trade_count")
    assert await actual_of(client, goal) == 2

    await set_trade(app, copy, "source_trade_id", original)

    assert await actual_of(client, goal) == 1


async def test_copies_stay_one_decision_when_their_original_goes(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    account = await insert_account(app)
    original = await insert_trade(app, account, gross_pnl=1)
    for pnl in (2, -4):
        await insert_trade(app, account, gross_pnl=pnl, source_trade_id=original)
    count, worst = (
        await create_goal(client, metric="trade_count"),
        await create_goal(client, metric="worst_trade"),
    )
    assert (await actual_of(client, count), await actual_of(client, worst)) == (1, -1)

    await delete_trade(app, original)

    assert (await actual_of(client, count), await actual_of(client, worst)) == (1, -2)


async def test_a_mistake_tagged_late_and_taken_back_counts_each_time(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    trade = await insert_trade(app, await insert_account(app))
    tag = await create_tag(client, type="mistake")
    goal = await create_goal(client, metric="mistake_free_rate")
    rates = [await actual_of(client, goal)]

    for tag_ids in ([tag["id"]], []):
        await insert_trade_tags(app, trade, tag_ids)
        rates.append(await actual_of(client, goal))

    assert rates == [100, 0, 100]


async def test_a_tag_that_becomes_a_mistake_or_no_longer_is_one_counts_each_time(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    trade = await insert_trade(app, await insert_account(app))
    tag = await create_tag(client, type="custom")
    await insert_trade_tags(app, trade, [tag["id"]])
    goal = await create_goal(client, metric="mistake_free_rate")
    rates = [await actual_of(client, goal)]

    for kind in ("mistake", "custom"):
        unwrap(await client.patch(f"/tags/{tag['id']}", json={"type": kind}))
        rates.append(await actual_of(client, goal))

    assert rates == [100, 0, 100]


async def test_a_mistake_tag_that_is_deleted_leaves_no_mistake(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    trade = await insert_trade(app, await insert_account(app))
    tag = await create_tag(client, type="mistake")
    await insert_trade_tags(app, trade, [tag["id"]])
    goal = await create_goal(client, metric="mistake_free_rate")
    assert await actual_of(client, goal) == 0

    await client.delete(f"/tags/{tag['id']}")

    assert await actual_of(client, goal) == 100


async def make_checked(app: Starlette, client: httpx.AsyncClient) -> tuple[Any, Any, int]:
    """A protocol goal, a strategy with one setup of one confirmation, and a trade that has confirmed it."""
    setup = {"name": "Flag", "confirmations": [{"name": "Trend"}]}
    strategy = await create_strategy(client, setups=[setup])
    (made,) = strategy["setups"]
    trade = await insert_trade(
        app, await insert_account(app), strategy_id=strategy["id"], setup_id=made["setup_id"]
    )
    await insert_answer(app, trade, made["confirmations"][0]["confirmation_id"], True)
    goal = await create_goal(client, metric="protocol_completion_rate")
    assert await actual_of(client, goal) == 100
    return goal, strategy, trade


async def test_an_answer_changed_late_taken_back_and_given_again_counts_each_time(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    goal, strategy, trade = await make_checked(app, client)
    confirmation = strategy["setups"][0]["confirmations"][0]["confirmation_id"]
    rates = []

    await insert_answer(app, trade, confirmation, False)
    rates.append(await actual_of(client, goal))
    await insert_answer(app, trade, confirmation, True)
    rates.append(await actual_of(client, goal))
    await run_sql(app, "DELETE FROM confirmation_answers WHERE trade_id = :id", {"id": trade})
    rates.append(await actual_of(client, goal))
    await insert_answer(app, trade, confirmation, True)
    rates.append(await actual_of(client, goal))

    assert rates == [0, 100, 0, 100]


async def test_a_confirmation_added_later_is_not_confirmed_yet(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    goal, strategy, trade = await make_checked(app, client)
    (setup,) = strategy["setups"]
    longer = {**setup, "confirmations": [*setup["confirmations"], {"name": "Volume"}]}

    changed = unwrap(await client.patch(f"/strategies/{strategy['id']}", json={"setups": [longer]}))
    rates = [await actual_of(client, goal)]
    await insert_answer(app, trade, changed["setups"][0]["confirmations"][1]["confirmation_id"], True)
    rates.append(await actual_of(client, goal))

    assert rates == [0, 100]


async def test_a_confirmation_deleted_later_is_no_longer_missing(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    goal, strategy, _ = await make_checked(app, client)
    (setup,) = strategy["setups"]
    longer = {**setup, "confirmations": [*setup["confirmations"], {"name": "Volume"}]}
    path = f"/strategies/{strategy['id']}"
    unwrap(await client.patch(path, json={"setups": [longer]}))
    assert await actual_of(client, goal) == 0

    unwrap(await client.patch(path, json={"setups": [setup]}))

    assert await actual_of(client, goal) == 100


async def test_a_checklist_that_is_cleared_counts_no_more(app: Starlette, client: httpx.AsyncClient) -> None:
    goal, strategy, _ = await make_checked(app, client)
    cleared = {"setup_id": strategy["setups"][0]["setup_id"], "confirmations": []}

    unwrap(await client.patch(f"/strategies/{strategy['id']}", json={"setups": [cleared]}))

    january = await snapshot_of(client, goal)
    assert (january["actual"], january["snapshot_data"]["reason"]) == (None, "no_checklists")


async def test_a_checklist_that_keeps_its_items_keeps_its_number(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    goal, strategy, _ = await make_checked(app, client)
    (setup,) = strategy["setups"]
    renamed = {"setup_id": setup["setup_id"], "name": "Bull flag"}
    before = await snapshots_of(client, goal["id"])

    unwrap(await client.patch(f"/strategies/{strategy['id']}", json={"setups": [renamed]}))

    assert await snapshots_of(client, goal["id"]) == before


@pytest.mark.parametrize("whole_strategy", [False, True], ids=["setup", "strategy"])
async def test_a_setup_or_strategy_that_is_deleted_leaves_no_checklist(
    app: Starlette, client: httpx.AsyncClient, whole_strategy: bool
) -> None:
    goal, strategy, _ = await make_checked(app, client)
    path = f"/strategies/{strategy['id']}"

    if whole_strategy:
        assert (await client.delete(path)).headers["x-trades-unlinked"] == "1"
    else:
        unwrap(await client.patch(path, json={"setups": []}))

    january = await snapshot_of(client, goal)
    assert (january["actual"], january["snapshot_data"]["reason"]) == (None, "no_checklists")


async def test_a_trade_that_changes_its_setup_loses_the_answers_of_the_old_one(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    goal, strategy, trade = await make_checked(app, client)
    (old,) = strategy["setups"]
    other = {"name": "Other", "confirmations": [{"name": "Gap"}]}
    changed = unwrap(
        await client.patch(
            f"/strategies/{strategy['id']}", json={"setups": [{"setup_id": old["setup_id"]}, other]}
        )
    )
    new = changed["setups"][1]["setup_id"]
    rates = []

    for setup in (new, old["setup_id"]):
        await set_trade(app, trade, "setup_id", setup)
        rates.append(await actual_of(client, goal))

    assert rates == [0, 0]


async def test_a_starting_balance_changed_late_moves_every_balance(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    account = await insert_account(app, starting_balance=100)
    await insert_trade(app, account, gross_pnl=1)
    goal = await create_goal(client, metric="balance_target")
    assert [one["actual"] for one in await snapshots_of(client, goal["id"])] == [101] * 4

    await run_sql(app, "UPDATE accounts SET starting_balance = :units", {"units": 200 * 10**8})

    assert [one["actual"] for one in await snapshots_of(client, goal["id"])] == [201] * 4


async def test_an_account_that_comes_or_goes_moves_the_balance_of_all(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    await insert_account(app, starting_balance=100)
    goal = await create_goal(client, metric="balance_target")
    balances = [await actual_of(client, goal, "2026-04-01")]

    other = await insert_account(app, "Other", starting_balance=50)
    balances.append(await actual_of(client, goal, "2026-04-01"))
    await run_sql(app, "DELETE FROM accounts WHERE id = :id", {"id": other})
    balances.append(await actual_of(client, goal, "2026-04-01"))

    assert balances == [100, 150, 100]


async def test_trades_deleted_with_their_account_count_no_more(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    account, other = await insert_account(app), await insert_account(app, "Other")
    await insert_trade(app, account, gross_pnl=1)
    trade = await insert_trade(app, other, gross_pnl=5)
    goal = await create_goal(client)
    assert await actual_of(client, goal) == 6

    await delete_trade(app, trade)
    await run_sql(app, "DELETE FROM accounts WHERE id = :id", {"id": other})

    assert await actual_of(client, goal) == 1


@pytest.mark.parametrize("follows", [False, True], ids=["group goal", "goal of the selection"])
async def test_a_member_that_joins_leaves_or_changes_its_group_counts_where_it_is(
    app: Starlette, client: httpx.AsyncClient, follows: bool
) -> None:
    account = await insert_account(app)
    await insert_trade(app, account, gross_pnl=5)
    group, other = await insert_copy_group(app), await insert_copy_group(app, "Other")
    goal = await create_goal(client)
    await set_me(client, active_selection=f"group_{group}")
    await patched(client, goal, scope="" if follows else f"group_{group}")
    totals = [await snapshots_of(client, goal["id"])]

    for sql in (
        "INSERT INTO copy_group_members (account_id, copy_group_id) VALUES (:account, :group)",
        "UPDATE copy_group_members SET copy_group_id = :other WHERE account_id = :account",
        "UPDATE copy_group_members SET copy_group_id = :group WHERE account_id = :account",
        "DELETE FROM copy_group_members WHERE account_id = :account",
    ):
        await run_sql(app, sql, {"account": account, "group": group, "other": other})
        totals.append(await snapshots_of(client, goal["id"]))

    assert [sum(one["actual"] for one in snapshots) for snapshots in totals] == [0, 5, 0, 5, 0]
    assert [len(snapshots) for snapshots in totals] == [1, 4, 1, 4, 1]


async def test_a_goal_without_scope_follows_the_active_selection(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    accounts = [await insert_account(app, name) for name in ("A", "B", "C")]
    for account, pnl in zip(accounts, (1, 2, 4), strict=True):
        await insert_trade(app, account, gross_pnl=pnl)
    group = await insert_copy_group(app, members=accounts[1:])
    goal = await create_goal(client)
    await patched(client, goal, scope="")
    totals = [await actual_of(client, goal)]

    for selection in (f"account_{accounts[0]}", f"group_{group}", f"account_{accounts[2]}", "all"):
        await set_me(client, active_selection=selection)
        totals.append(await actual_of(client, goal))

    assert totals == [7, 1, 6, 4, 7]


@pytest.mark.parametrize(("kind", "table"), [("account", "accounts"), ("group", "copy_groups")])
async def test_a_selection_that_is_deleted_leaves_the_goal_with_all(
    app: Starlette, client: httpx.AsyncClient, kind: str, table: str
) -> None:
    await insert_trade(app, await insert_account(app), gross_pnl=5)
    selected = await insert_account(app, "Empty") if kind == "account" else await insert_copy_group(app)
    await set_me(client, active_selection=f"{kind}_{selected}")
    goal = await create_goal(client)
    await patched(client, goal, scope="")
    assert await starts_of(client, goal) == ["2026-04-01"]

    await run_sql(app, f"DELETE FROM {table} WHERE id = :id", {"id": selected})

    assert await actual_of(client, goal) == 5


async def test_a_new_zone_or_rollover_moves_trades_to_their_periods(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    account = await insert_account(app)
    await insert_trade(app, account, closed_at="2026-01-31T22:30:00Z", gross_pnl=5)
    await insert_trade(app, account, closed_at="2026-01-10T12:00:00Z", gross_pnl=1)
    goal = await create_goal(client)
    januaries = [await actual_of(client, goal)]

    for change in (
        {"timezone": "Asia/Tokyo"},
        {"timezone": "America/New_York"},
        {"day_rollover": "17:00"},
        {"day_rollover": "17:31"},
    ):
        await set_me(client, **change)
        januaries.append(await actual_of(client, goal))

    assert januaries == [6, 1, 6, 1, 6]
    assert (await snapshot_of(client, goal))["snapshot_data"]["day_rollover"] == "17:31"


async def test_a_new_zone_or_rollover_is_named_in_every_period(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    await insert_trade(app, await insert_account(app), gross_pnl=1)
    goal = await create_goal(client)
    await snapshots_of(client, goal["id"])

    for change in ({"timezone": "America/New_York"}, {"day_rollover": "17:00"}):
        await set_me(client, **change)
        periods = [one["snapshot_data"] for one in await snapshots_of(client, goal["id"])]
        assert [{name: data[name] for name in change} for data in periods] == [change] * 4


async def test_a_change_of_one_user_changes_nothing_for_another(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    await insert_trade(app, await insert_account(app), gross_pnl=5)
    goal = await create_goal(client)
    before = await snapshots_of(client, goal["id"])
    other = await insert_user(app)
    theirs = await insert_account(app, user_id=other)

    await insert_trade(app, theirs, user_id=other, gross_pnl=7)
    async with client_of(app, await new_key_for(app, other)) as other_user_client:
        await set_me(other_user_client, timezone="Asia/Tokyo")

    assert await snapshots_of(client, goal["id"]) == before


async def test_a_statement_that_fails_is_not_told_as_a_value_out_of_range(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    await insert_trade(app, await insert_account(app))
    goal = await create_goal(client, metric="net_pnl")
    await run_sql(app, "DROP TRIGGER changes_of_updated_trade")
    await run_sql(app, "ALTER TABLE trades RENAME COLUMN grade TO mark")

    response = await client.get(f"/goals/{goal['id']}/snapshots")

    assert response.status_code == 500


@pytest.mark.parametrize("metric", metrics.METRICS)
async def test_a_goal_stores_whether_its_metric_carries_a_balance(
    app: Starlette, client: httpx.AsyncClient, metric: str
) -> None:
    other = "win_rate" if metric == "balance_target" else "balance_target"
    made = await create_goal(client, metric=metric, target_value=1)
    patched = await create_goal(client, metric=other, target_value=1)
    unwrap(await client.patch(f"/goals/{patched['id']}", json={"metric": metric}))

    stored = await run_sql(
        app, f"SELECT carries_balance FROM goals WHERE id IN ({made['id']}, {patched['id']})"
    )

    assert [bool(row[0]) for row in stored] == [metrics.METRICS[metric].carries_balance] * 2
