"""What goals and reports measure of the excursions of trades."""

from typing import Any

import httpx
import pytest
from factories import create_account, create_goal, insert_trade, snapshots_of, unwrap
from starlette.applications import Starlette

METRICS = ("average_mae", "average_mfe", "captured")
COPY: dict[str, Any] = {"copy": True}
CASES: dict[str, tuple[list[dict[str, Any]], list[float | str]]] = {
    "none is stated": ([{"gross_pnl": 50}], ["no_excursions"] * 3),
    "some are stated": (
        [{"gross_pnl": 50, "mae": 10, "mfe": 80}, {"gross_pnl": -20, "mae": 25}, {"gross_pnl": 30}],
        [17.5, 80, 62.5],
    ),
    "only losses have an mfe": ([{"gross_pnl": -20, "mae": 0, "mfe": 5}], [0, 5, "no_excursions"]),
    "the mfe of wins is 0": ([{"gross_pnl": 20, "mfe": 0}], ["no_excursions", 0, "no_excursions"]),
    "an mfe below the result": ([{"gross_pnl": 30, "mfe": 20}], ["no_excursions", 20, 150]),
    "captured is net of fees": ([{"gross_pnl": 30, "fees": 6, "mfe": 40}], ["no_excursions", 40, 60]),
    "copies are added": (
        [{"gross_pnl": 50, "mae": 10, "mfe": 80}, {"gross_pnl": 25, "mae": 4, "mfe": 20, **COPY}],
        [14, 100, 75],
    ),
    "a copy without excursions": (
        [{"gross_pnl": 40, "mae": 10, "mfe": 80}, {"gross_pnl": 25, **COPY}],
        [10, 80, 50],
    ),
    "a win of which the copy with an mfe is a loss": (
        [{"gross_pnl": 40}, {"gross_pnl": -5, "mfe": 10, **COPY}],
        ["no_excursions", 10, -50],
    ),
    "a copy in another currency": (
        [
            {"gross_pnl": 40, "mae": 10, "mfe": 80},
            {"gross_pnl": 2, "mae": 3, "mfe": 4, "currency": "EUR", **COPY},
        ],
        ["mixed_currencies"] * 3,
    ),
    "a break-even within the tolerance": (
        [{"gross_pnl": 1, "mfe": 50}],
        ["no_excursions", 50, "no_excursions"],
    ),
}


@pytest.mark.parametrize(("trades", "expected"), CASES.values(), ids=CASES)
async def test_goals_and_reports_measure_excursions(
    app: Starlette, client: httpx.AsyncClient, trades: list[dict[str, Any]], expected: list[float | str]
) -> None:
    await client.patch("/me", json={"breakeven_within": 1})
    accounts = {
        currency: int((await create_account(client, currency, currency=currency))["id"])
        for currency in ("USD", "EUR")
    }
    original = 0
    for trade in trades:
        fields = {name: value for name, value in trade.items() if name not in ("copy", "currency")}
        if "copy" in trade:
            fields["source_trade_id"] = original
        original = await insert_trade(app, accounts[trade.get("currency", "USD")], **fields)

    total = unwrap(await client.get("/reports", params={"metrics": ",".join(METRICS)}))["total"]
    goals = [await create_goal(client, metric=metric) for metric in METRICS]
    shown = [(await snapshots_of(client, goal["id"]))[-1] for goal in goals]

    assert [total["values"][name] or total["reasons"].get(name, 0) for name in METRICS] == expected
    assert [one["actual"] or one["snapshot_data"]["reason"] or 0 for one in shown] == expected
