"""GET /reports beside another range (docs/api.md#before-and-beside). Random journals are in test_random_journals.py."""

from factories import Client, insert_trade, read_report
from starlette.applications import Starlette

FEBRUARY = {"from": "2026-02-01", "to": "2026-02-28"}
RANGES = {**FEBRUARY, "compare_from": "2026-01-01", "compare_to": "2026-01-31"}


async def insert_months(app: Starlette, account_id: int) -> None:
    """Twenty trades of ES in January and February, 100 better there; NQ alone in February, CL in January."""
    for month in (1, 2):
        for day in range(1, 21):
            pnl = 100 * (month - 1) + day * 37 % 50
            closed_at = f"2026-{month:02}-{day:02}T15:00:00Z"
            await insert_trade(app, account_id, gross_pnl=pnl, closed_at=closed_at)
            if day < 4:
                symbol = {1: "CL", 2: "NQ"}[month]
                await insert_trade(app, account_id, gross_pnl=5, closed_at=closed_at, symbol=symbol)


async def test_each_group_and_the_total_stand_beside_the_month_before(
    app: Starlette, client: Client, account_id: int
) -> None:
    await insert_months(app, account_id)

    report = await read_report(client, "symbol", metrics="expectancy,net_pnl", **RANGES)
    alone = await read_report(client, "symbol", metrics="expectancy,net_pnl", **FEBRUARY)

    es, nq = report["groups"]
    assert [es["key"], nq["key"]] == ["ES", "NQ"]
    before, difference = es["before"], es["difference"]
    assert (before["values"]["expectancy"], before["trade_count"]) == (26, 20)
    assert before["intervals"]["expectancy"]["low"] < 26 < before["intervals"]["expectancy"]["high"]
    assert set(before) == {"values", "intervals", "trade_count"}
    assert (difference["expectancy"], difference["verdict"]) == (100, "more")
    assert (difference["present"], difference["absent"]) == (20, 20)
    assert nq["before"] is None
    assert (nq["difference"]["verdict"], nq["difference"]["reason"]) == ("too_few", "too_few")
    assert report["total"]["before"]["trade_count"] == 23
    assert report["total"]["difference"]["q"] == report["total"]["difference"]["p"]
    assert not {"before", "difference"} & {*alone["groups"][0], *alone["total"]}
    assert [{**group, "before": 0, "difference": 0} for group in alone["groups"]] == [
        {**group, "before": 0, "difference": 0} for group in report["groups"]
    ]


async def test_a_range_without_trades_is_null_and_of_periods_only_the_total_has_one(
    app: Starlette, client: Client, account_id: int
) -> None:
    await insert_months(app, account_id)

    empty = (await read_report(client, **{**RANGES, "compare_from": "2025-01-01", "compare_to": "2025-12-31"}))["total"]
    by_week = await read_report(client, "week", **RANGES)

    assert (empty["before"], empty["difference"]["verdict"]) == (None, "too_few")
    assert {group["before"] for group in by_week["groups"]} == {None}
    assert by_week["total"]["difference"]["verdict"] == "more"
