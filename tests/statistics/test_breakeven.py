"""`breakeven_within` of PATCH /me: which trades and decisions are break-evens (docs/goals.md#what-counts)."""

import csv
import io
from typing import Any

import pytest
from factories import (
    Client,
    create_account,
    create_goal,
    details_of,
    error_of,
    insert_trade,
    run_sql,
    snapshots_of,
    unwrap,
)
from starlette.applications import Starlette

from journal_api.statistics.row_checks import WRONG_COUNTS

# In the order of their closes: wins, a loss, and scratches that made or lost their costs.
NETS = [300, -1.24, 200, -1.24, 100, 1.24, 0, -150]
METRICS = ("win_rate", "profit_factor", "average_win", "payoff_ratio", "win_streak", "expectancy")
STATISTICS = ("wins", "losses", "breakevens", "winning_pnl", "losing_pnl", "net_pnl")
# By tolerance: what METRICS and STATISTICS are of these trades.
AS_BEFORE = [(50, 3.94307450, 150.31, 2.95730588, 2, 56.095), (4, 3, 1, 601.24, -152.48, 448.76)]
EXPECTED: dict[float, list[tuple[Any, ...]]] = {
    0: AS_BEFORE,
    1.23999999: AS_BEFORE,
    1.24: [(37.5, 4, 200, 1.33333333, 3, 56.095), (3, 1, 4, 600, -150, 448.76)],
    150: [(25, "no_losses", 250, "no_losses", 2, 56.095), (2, 0, 6, 500, 0, 448.76)],
    300: [(0, "no_wins_or_losses", "no_wins", "no_wins", 0, 56.095), (0, 0, 8, 0, 0, 448.76)],
}


async def set_tolerance(client: Client, within: float) -> None:
    assert unwrap(await client.patch("/me", json={"breakeven_within": within}))["breakeven_within"] == within


async def insert_nets(app: Starlette, account_id: int, nets: list[float] = NETS) -> list[int]:
    return [
        await insert_trade(app, account_id, gross_pnl=net, closed_at=f"2026-01-05T0{hour}:00:00Z")
        for hour, net in enumerate(nets)
    ]


async def read_total(client: Client, **query: Any) -> Any:
    return unwrap(await client.get("/reports", params={"metrics": ",".join(METRICS), **query}))["total"]


def values_of(total: Any) -> tuple[Any, ...]:
    return tuple(total["reasons"].get(metric, total["values"][metric]) for metric in METRICS)


async def read_outcome(client: Client, outcome: str) -> list[float]:
    """The net P&L of the trades of an outcome as the list and the export have them, each with its number."""
    response = await client.get("/trades", params={"outcome": outcome})
    listed = [trade["net_pnl"] for trade in unwrap(response)]
    assert response.json()["meta"]["pagination"]["total"] == len(listed)
    export = csv.DictReader(io.StringIO((await client.get(f"/trades/export?outcome={outcome}")).text))
    exported = [float(row["gross_pnl"]) - float(row["fees"]) for row in export]
    assert sorted(exported) == sorted(listed)
    return sorted(listed)


@pytest.mark.parametrize("within", EXPECTED)
async def test_reports_and_closed_periods_of_goals_count_scratches_as_break_evens(
    app: Starlette, client: Client, account_id: int, within: float
) -> None:
    await insert_nets(app, account_id)
    goals = [await create_goal(client, metric=metric, timeframe="monthly") for metric in METRICS]
    for goal in goals:
        await snapshots_of(client, goal["id"])  # computed, so that they have to be rebuilt

    await set_tolerance(client, within)

    values, statistics = EXPECTED[within]
    total = await read_total(client)
    months = [(await snapshots_of(client, goal["id"]))[-1] for goal in goals]
    reported = unwrap(await client.get("/reports"))
    assert values_of(total) == values
    assert tuple(total["statistics"][name] for name in STATISTICS) == statistics
    assert tuple(month["snapshot_data"]["reason"] or month["actual"] for month in months) == values
    assert {month["period_start"] for month in months} == {"2026-01-01"}
    for data in (month["snapshot_data"] for month in months):
        assert tuple(data[name] for name in STATISTICS) == statistics
        assert data["breakeven_within"] == reported["breakeven_within"] == within


async def test_lists_and_exports_filter_by_the_tolerance_and_know_their_totals(
    app: Starlette, client: Client, account_id: int
) -> None:
    await insert_nets(app, account_id)
    for within in (0, 1.24, 150, 0):
        await set_tolerance(client, within)

        assert {outcome: await read_outcome(client, outcome) for outcome in ("win", "loss", "breakeven")} == {
            "win": sorted(net for net in NETS if net > within),
            "loss": sorted(net for net in NETS if net < -within),
            "breakeven": sorted(net for net in NETS if abs(net) <= within),
        }
        assert await run_sql(app, WRONG_COUNTS) == []


async def test_new_changed_and_deleted_trades_are_counted_by_the_tolerance(
    app: Starlette, client: Client, account_id: int
) -> None:
    await set_tolerance(client, 2)
    first, second, _ = await insert_nets(app, account_id, [2, -2.01, 3])
    before = [len(await read_outcome(client, outcome)) for outcome in ("win", "loss", "breakeven")]

    await client.patch(f"/trades/{second}", json={"gross_pnl": -2})
    await client.delete(f"/trades/{first}")

    after = [len(await read_outcome(client, outcome)) for outcome in ("win", "loss", "breakeven")]
    assert (before, after) == ([1, 1, 1], [1, 0, 1])


@pytest.mark.parametrize("value", [-0.01, 1000000.01, 1e300, "5", None, True, 0.123456789, [5]])
async def test_a_tolerance_that_is_no_amount_from_0_to_a_million_is_refused(client: Client, value: Any) -> None:
    answer = await client.patch("/me", json={"breakeven_within": value})

    assert error_of(answer) == (400, "validation_error")
    assert [*details_of(answer)["fields"]] == ["breakeven_within"]


async def test_a_tolerance_is_set_under_conditions_and_on_trial(
    app: Starlette, client: Client, account_id: int
) -> None:
    await insert_nets(app, account_id)
    stale = (await client.get("/me")).headers["ETag"]
    await set_tolerance(client, 1.24)

    refused = await client.patch("/me", json={"breakeven_within": 9}, headers={"If-Match": stale})
    tried = await client.patch("/me", params={"dry_run": "true"}, json={"breakeven_within": 300})

    assert refused.status_code == 412
    assert unwrap(tried)["breakeven_within"] == 300
    assert unwrap(await client.get("/me"))["breakeven_within"] == 1.24
    assert len(await read_outcome(client, "breakeven")) == 4


async def test_a_tolerance_is_its_owners_alone_and_rewrites_no_trade(
    app: Starlette, client: Client, other_user_client: Client, account_id: int
) -> None:
    await insert_nets(app, account_id)
    others = int((await create_account(other_user_client))["id"])
    await insert_trade(app, others, user_id=2, gross_pnl=1)
    before = await run_sql(app, "SELECT * FROM trades ORDER BY id")

    await set_tolerance(client, 300)

    assert await run_sql(app, "SELECT * FROM trades ORDER BY id") == before
    assert unwrap(await other_user_client.get("/trades?outcome=win"))[0]["net_pnl"] == 1
    assert (await read_total(other_user_client))["statistics"]["wins"] == 1
    assert await run_sql(app, WRONG_COUNTS) == []


async def test_the_counts_of_a_removed_user_go_with_the_trades(
    app: Starlette, client: Client, other_user_client: Client
) -> None:
    others = int((await create_account(other_user_client))["id"])
    await insert_trade(app, others, user_id=2, gross_pnl=1)

    await run_sql(app, "DELETE FROM users WHERE id = 2")

    assert await run_sql(app, "SELECT * FROM trade_counts") == []
