"""GET /reports: what each group holds, in numbers that a person can check (docs/api.md#reports)."""

from typing import Any

import factories
import pytest
from factories import Client, details_of, error_of, run_sql, unwrap
from saved_journals import for_rows
from starlette.applications import Starlette

from journal_api.database import database
from journal_api.structs.reports import REPORTED


async def test_a_group_of_a_time_is_named_after_it(app: Starlette, client: Client, account_id: int) -> None:
    """A Sunday in a week that began in the year before; groups and their order are those of the reference."""
    times = "2026-01-04T09:00:00Z", "2026-01-04T15:00:00Z"
    await factories.insert_trade(app, account_id, opened_at=times[0], closed_at=times[1])
    names = {"day": "2026-01-04", "week": "2026-W01", "month": "2026-01", "quarter": "2026-Q1", "year": "2026"}
    names |= {"weekday": "Sunday", "hour": "09:00"}

    assert {key: (await factories.read_report(client, key))["groups"][0]["name"] for key in names} == names


async def test_a_decision_follows_one_loss_or_two_or_more(app: Starlette, client: Client, account_id: int) -> None:
    for minute, pnl in enumerate((-1, -1, -1, 0, 5, 1)):
        at = f"2026-01-05T15:0{minute}:00Z"
        await factories.insert_trade(app, account_id, opened_at=at, closed_at=at, gross_pnl=pnl)

    groups = (await factories.read_report(client, "after"))["groups"]

    counts = {one["key"]: one["statistics"]["decisions"] for one in groups}
    assert counts == {"first": 1, "loss": 1, "losses": 2, "breakeven": 1, "win": 1}


@for_rows(
    "query, order",
    [
        ({}, "BAC"),
        ({"sort": "trade_count"}, "BAC"),
        ({"sort": "-trade_count"}, "CAB"),
        # Without losses there is no profit factor: these groups are last in both orders.
        ({"sort": "profit_factor"}, "CAB"),
        ({"sort": "-profit_factor"}, "CAB"),
        ({"sort": "-max_drawdown"}, "CAB"),
        ({"limit": 1, "offset": 1}, "A"),
    ],
)
async def test_groups_are_sorted_by_net_pnl_or_by_any_metric_and_the_total_is_of_all(
    app: Starlette, client: Client, account_id: int, query: dict[str, Any], order: str
) -> None:
    for symbol, pnls in {"A": (1, 1), "B": (5,), "C": (-1, -2, -3)}.items():
        for pnl in pnls:
            await factories.insert_trade(app, account_id, symbol=symbol, gross_pnl=pnl)

    response = await client.get("/reports", params={"group_by": "symbol", **query})

    assert [group["key"] for group in unwrap(response)["groups"]] == list(order)
    assert response.json()["meta"]["pagination"] == {"limit": 50, "offset": 0, "total": 3} | {
        name: value for name, value in query.items() if name != "sort"
    }
    assert unwrap(response)["total"]["values"]["net_pnl"] == 1


async def test_spellings_of_a_contract_are_one_group_and_its_months_one_root(client: Client, account_id: int) -> None:
    for symbol in ("MNQZ6", "mnqz6", "MNQ 12-26", "MNQ DEC26", "MNQH7", "AAPL"):
        await factories.create_trade(client, account_id, symbol=symbol)

    groups = {}
    for group_by in ("symbol", "root"):
        report = unwrap(await client.get("/reports", params={"group_by": group_by, "metrics": "trade_count"}))
        groups[group_by] = {one["key"]: one["statistics"]["trades"] for one in report["groups"]}
        assert [one["name"] for one in report["groups"]] == [one["key"] for one in report["groups"]]
    listed = {
        query: len(unwrap(await client.get(f"/trades?{query}")))
        for query in ("root=MNQ", "root=mnq", "symbol=MNQZ26", "symbol=mnqz6", "root=AAPL", "root=NQ")
    }

    assert groups["symbol"] == {"MNQZ26": 4, "MNQH27": 1, "AAPL": 1}
    assert groups["root"] == {"MNQ": 5, "AAPL": 1}
    assert list(listed.values()) == [5, 5, 4, 4, 1, 0]


FEBRUARY = {"from": "2026-02-01", "to": "2026-02-28"}
NUMBERS = "must be 1 to 12 numbers above 0, separated by commas"
ONE_OR_TWO = "must be one or two, separated by a comma, of: none,"
# A query, and the member that is refused with a reason that begins so.
REFUSED: dict[str, list[tuple[dict[str, Any], str, str]]] = {
    "/reports": [
        ({"metrics": "balance_target"}, "metrics", ""),
        ({"metrics": "net_pnl,net_pnl"}, "metrics", ""),
        ({"metrics": "net_pnl,"}, "metrics", ""),
        ({"metrics": "profit"}, "metrics", ""),
        ({"sort": "--net_pnl"}, "sort", ""),
        ({"sort": "-balance_target"}, "sort", ""),
        ({"group_by": "broker"}, "group_by", ""),
        ({"from": "2026-02-01", "to": "2026-01-01"}, "from", ""),
        ({"group_by": "tag,confirmation"}, "group_by", "must not combine tag and confirmation"),
        ({"group_by": "none,hour"}, "group_by", "must not combine none with another key"),
        ({"group_by": "hour,hour"}, "group_by", "must not repeat a key"),
        ({"group_by": "hour,day,symbol"}, "group_by", ONE_OR_TWO),
        ({"group_by": "hour,moon"}, "group_by", ONE_OR_TWO),
        ({"group_by": "hour,"}, "group_by", ONE_OR_TWO),
        ({"group_by": "hour", "limit": 201}, "limit", "must be at most 200 with one key"),
        ({"compare_to": "2026-02-01"}, "compare_to", "overlaps the days from `from` to `to`"),
        ({**FEBRUARY, "compare_from": "2026-02-28", "compare_to": "2026-03-31"}, "compare_from", "overlaps"),
        ({**FEBRUARY, "compare_to": "2026-02-01"}, "compare_to", "overlaps"),
        ({**FEBRUARY, "compare_from": "2026-01-02", "compare_to": "2026-01-01"}, "compare_from", "must not be after"),
        ({**FEBRUARY, "compare_from": "January"}, "compare_from", "must be a date"),
    ],
    "/exits": [
        ({"unit": "currency"}, "stops", "is needed with unit=currency, or targets: amounts of money, "),
        ({"stops": "0"}, "stops", "must be greater than 0"),
        ({"stops": "-1"}, "stops", NUMBERS),
        ({"targets": "1,"}, "targets", NUMBERS),
        ({"targets": "one"}, "targets", NUMBERS),
        ({"targets": "1e3"}, "targets", NUMBERS),
        ({"targets": "1,1.0"}, "targets", "must not repeat a number"),
        ({"stops": ",".join(map(str, range(1, 14)))}, "stops", NUMBERS),
        ({"stops": "99999999999"}, "stops", "must be between -10000000000 and 10000000000"),
        ({"from": "2026-02-01", "to": "2026-01-01"}, "from", "must not be after to"),
    ],
}


@for_rows("path, query, member, reason", [(path, *row) for path, rows in REFUSED.items() for row in rows])
async def test_a_query_that_cannot_be_meant_is_refused(
    client: Client, path: str, query: dict[str, Any], member: str, reason: str
) -> None:
    response = await client.get(path, params=query)

    assert error_of(response) == (400, "validation_error")
    assert list(details_of(response)["fields"]) == [member]
    assert details_of(response)["fields"][member].startswith(reason)


@for_rows("metrics", [REPORTED, ("net_pnl",)])
async def test_a_sum_beyond_64_bits_is_out_of_range_in_its_group_alone(
    app: Starlette, client: Client, account_id: int, metrics: tuple[str, ...]
) -> None:
    for _ in range(10):
        await factories.insert_trade(app, account_id, symbol="HUGE", gross_pnl=10**10)
    await factories.insert_trade(app, account_id, symbol="HUGE", gross_pnl=-1, closed_at="2026-01-06T15:00:00Z")
    for number in range(5):
        await factories.insert_trade(app, account_id, symbol=f"S{number}", gross_pnl=number)

    found = await factories.read_report(client, "symbol", metrics=",".join(metrics), sort="-net_pnl")

    *others, huge = found["groups"]
    assert [group["values"]["net_pnl"] for group in others] == [4, 3, 2, 1, 0]
    assert (huge["key"], huge["statistics"]) == ("HUGE", {})
    for group in (huge, found["total"]):
        assert set(group["reasons"].values()) == {"out_of_range"}


async def test_a_report_that_takes_too_long_is_busy_and_says_what_to_do(
    client: Client, account_id: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "MAX_REPORT_SECONDS", 0.0)
    monkeypatch.setattr(database, "STEPS", 1)

    response = await client.get("/reports")

    assert error_of(response) == (503, "busy")
    assert "Choose fewer trades" in response.json()["error"]["message"]
    assert "retry-after" in response.headers


async def test_a_report_waits_for_two_others_and_is_refused_after_some_seconds(
    app: Starlette, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("journal_api.database.database.MAX_REPORT_WAIT", 0.05)
    async with app.state.database.report_transaction():
        assert (await client.get("/reports")).status_code == 200
        async with app.state.database.report_transaction():
            refused = await client.get("/reports", params={"group_by": "symbol"})

    assert error_of(refused) == (503, "busy")
    assert refused.headers["Retry-After"] == "1"
    assert (await client.get("/reports", params={"group_by": "symbol"})).status_code == 200


async def create_checklist(client: Client) -> tuple[int, int, int]:
    """The ids of a setup and of its two confirmations."""
    setups = [{"name": "Break", "confirmations": [{"name": "Volume"}, {"name": "Trend"}]}]
    (setup,) = (await factories.create_strategy(client, setups=setups))["setups"]
    volume, trend = (one["confirmation_id"] for one in setup["confirmations"])
    return setup["setup_id"], volume, trend


async def test_a_setup_has_the_name_of_its_strategy(app: Starlette, client: Client, account_id: int) -> None:
    setup_id, _, _ = await create_checklist(client)
    await factories.insert_trade(app, account_id, gross_pnl=10, setup_id=setup_id, strategy_id=1)
    await factories.insert_trade(app, account_id, gross_pnl=5)

    found = await factories.read_report(client, "setup", metrics="net_pnl")

    of_setup, without = found["groups"]
    assert (of_setup["key"], of_setup["name"], of_setup["strategy"]) == (setup_id, "Break", "Breakout")
    assert (without["key"], "strategy" in without) == (None, False)


async def test_a_confirmation_has_the_values_of_each_answer(app: Starlette, client: Client, account_id: int) -> None:
    setup_id, volume, trend = await create_checklist(client)
    for pnl, answers in ((10, {volume: True, trend: True}), (-4, {volume: False}), (1, None)):
        setup = {} if answers is None else {"setup_id": setup_id, "strategy_id": 1}
        trade = await factories.insert_trade(app, account_id, gross_pnl=pnl, **setup)
        for confirmation_id, was_present in (answers or {}).items():
            await factories.insert_answer(app, trade, confirmation_id, was_present)

    found = await factories.read_report(client, "confirmation", metrics="net_pnl")

    first, second, without = found["groups"]
    assert first["key"] == {"confirmation_id": volume, "setup_id": setup_id, "strategy_id": 1}
    assert (first["name"], first["setup"], first["strategy"]) == ("Volume", "Break", "Breakout")
    answers_of_first = [first[answer]["values"]["net_pnl"] for answer in ("present", "absent", "unanswered")]
    assert answers_of_first == [10, -4, 0]
    nothing = dict.fromkeys(("expectancy", "low", "high", "p", "q", "more_needed", "moves_with"))
    too_few = {**nothing, "verdict": "too_few", "reason": "too_few"}
    assert first["edge"] == {**too_few, "present": 1, "absent": 1}
    assert first["edge_r"] == {**too_few, "present": 0, "absent": 0}
    assert second["unanswered"]["values"]["net_pnl"] == -4
    assert (without["key"], without["name"]) == (None, None)
    assert without["unanswered"]["values"]["net_pnl"] == 1
    assert found["total"]["values"]["net_pnl"] == 7


async def test_a_report_is_not_modified_until_a_trade_is(app: Starlette, client: Client, account_id: int) -> None:
    trade = await factories.insert_trade(app, account_id, gross_pnl=1)
    etag = (await client.get("/reports?group_by=symbol")).headers["etag"]

    same = await client.get("/reports?group_by=symbol", headers={"If-None-Match": etag})
    await run_sql(app, "UPDATE trades SET gross_pnl = 2 WHERE id = :id", {"id": trade})
    changed = await client.get("/reports?group_by=symbol", headers={"If-None-Match": etag})

    assert (same.status_code, changed.status_code) == (304, 200)


@for_rows(
    "results, bins",
    [
        ([], []),
        ([7, 7], [(7, 7, 2)]),
        ([-3, 0, 9.5, 21], [(low, low + 1, int(low in (-3, 0, 9)) + (low == 20)) for low in range(-3, 21)]),
        ([-3, 22], [(low, low + 2, int(low in (-4, 20))) for low in range(-4, 22, 2)]),
        ([0, 1000, 1000], [(low, low + 50, (low == 0) + 2 * (low == 950)) for low in range(0, 1000, 50)]),
    ],
)
async def test_every_decision_is_in_one_bin_of_at_most_24(
    app: Starlette, client: Client, results: list[float], bins: list[tuple[float, float, int]]
) -> None:
    account = int((await factories.create_account(client, "Main"))["id"])
    for pnl in results:
        await factories.insert_trade(app, account, gross_pnl=pnl)

    found = (await factories.read_report(client))["distribution"]

    assert [tuple(one.values()) for one in found["net_pnl"]["bins"]] == bins
    assert found["r"] is None
    assert "distribution" not in await factories.read_report(client, "day")


async def test_results_in_two_currencies_have_a_shape_in_r_only(app: Starlette, client: Client) -> None:
    for currency in ("USD", "EUR"):
        account = int((await factories.create_account(client, currency, currency=currency))["id"])
        await factories.insert_trade(app, account, gross_pnl=5, initial_risk=10)

    found = (await factories.read_report(client))["distribution"]

    assert found == {"net_pnl": None, "r": {"bins": [{"low": 0.5, "high": 0.5, "decisions": 2}]}}


async def test_a_result_out_of_range_in_r_has_no_shape_in_r(app: Starlette, client: Client, account_id: int) -> None:
    for risk in (1e-8, 10):
        await factories.insert_trade(app, account_id, gross_pnl=500, initial_risk=risk)

    found = (await factories.read_report(client))["distribution"]

    assert found == {"net_pnl": {"bins": [{"low": 500, "high": 500, "decisions": 2}]}, "r": None}
