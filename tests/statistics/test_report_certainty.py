"""GET /reports: how sure its numbers are, and what happened before (docs/statistics.md#how-sure-a-number-is)."""

from collections.abc import Sequence
from typing import Any

import factories
from factories import Client
from starlette.applications import Starlette


async def insert_day(
    app: Starlette, account_id: int, trades: Sequence[tuple[str, str, float]], day: str = "2026-01-05", **fields: Any
) -> list[int]:
    """The ids of trades of (opened, closed, P&L) on a day, each of a symbol of its own."""
    return [
        await factories.insert_trade(
            app,
            account_id,
            opened_at=f"{day}T{opened}Z",
            closed_at=f"{day}T{closed}Z",
            gross_pnl=pnl,
            **{"symbol": name_symbol(pnl), **fields},
        )
        for opened, closed, pnl in trades
    ]


def name_symbol(pnl: float) -> str:
    return "ABCDEFGHIJ"[int(abs(pnl)) % 10]


async def place(client: Client, group_by: str, pnls: Sequence[float], **query: Any) -> list[Any]:
    """The group of each trade, which alone is selected by its symbol."""
    found = []
    for pnl in pnls:
        (group,) = (await factories.read_report(client, group_by, symbol=name_symbol(pnl), **query))["groups"]
        assert group["values"]["trade_count"] == 1
        found.append(group["key"])
    return found


def on_day(number: int) -> dict[str, Any]:
    return {"closed_at": f"2026-01-{1 + number:02}T15:00:00Z"}


async def test_a_mean_has_an_interval_from_ten_decisions_on_and_a_share_from_two_days(
    app: Starlette, client: Client, account_id: int
) -> None:
    for number in range(9):
        await factories.insert_trade(app, account_id, gross_pnl=190 if number < 5 else 10, **on_day(number))
    few = (await factories.read_report(client))["total"]
    of_one_day = (await factories.read_report(client, to="2026-01-01"))["total"]
    await factories.insert_trade(app, account_id, gross_pnl=10, **on_day(9))

    found = (await factories.read_report(client))["total"]

    assert (few["intervals"]["expectancy"], few["interval_reasons"]["expectancy"]) == (None, "too_few")
    assert few["intervals"]["win_rate"] == {"low": 62.85945537, "high": 100, "n": 9, "unseen": 4}
    assert (of_one_day["intervals"]["win_rate"], of_one_day["interval_reasons"]["win_rate"]) == (None, "too_few_days")
    assert found["intervals"] == {
        "expectancy": {"low": 32.13528512, "high": 167.86471488, "n": 10, "unseen": 4},
        "win_rate": {"low": 66.14913773, "high": 100, "n": 10, "unseen": 4},
        "rr_realized_avg": None,
    }
    assert found["interval_reasons"] == {"rr_realized_avg": "no_risk"}
    assert "profit_factor" not in found["intervals"]


async def test_a_tag_is_compared_with_all_decisions_that_lack_it(
    app: Starlette, client: Client, account_id: int
) -> None:
    tag = (await factories.create_tag(client))["id"]
    for number in range(24):
        pnl = -30 - number if number < 12 else 10 + number
        trade = await factories.insert_trade(app, account_id, gross_pnl=pnl, initial_risk=10, **on_day(number))
        await factories.insert_trade_tags(app, trade, [tag] if number < 12 else [])

    tagged, without = (await factories.read_report(client, "tag", sort="net_pnl"))["groups"]

    edge, edge_r = tagged["edge"], tagged["edge_r"]
    assert (edge["expectancy"], edge_r["expectancy"], edge["present"], edge["absent"]) == (-63, -6.3, 12, 12)
    names = ("verdict", "reason", "more_needed", "moves_with")
    assert [edge[name] for name in names] == [edge_r[name] for name in names] == ["less", None, None, None]
    assert edge["low"] < edge["expectancy"] < edge["high"] < 0
    assert edge["p"] == edge["q"] < 0.05
    await factories.insert_trade(
        app, (await factories.create_account(client, "Euros", currency="EUR"))["id"], **on_day(0)
    )
    mixed = (await factories.read_report(client, "tag"))["groups"][0]["edge"]
    assert (mixed["present"], mixed["absent"], mixed["reason"]) == (12, 13, "mixed_currencies")
    assert not {"edge", "edge_r"} & without.keys()


async def test_a_line_that_only_has_the_answers_of_one_that_pays_is_not_shown_beside_it(
    app: Starlette, client: Client, account_id: int
) -> None:
    """Volume pays 60. Trend agrees with it in nine of ten trades, Gap in half of them."""
    tags = {name: (await factories.create_tag(client, name))["id"] for name in ("Volume", "Trend", "Gap")}
    for number in range(120):
        volume, differs = number % 2 == 0, number % 20 in (7, 14)
        has = {"Volume": volume, "Trend": volume is not differs, "Gap": number % 4 < 2}
        pnl = 60 * volume + number * 37 % 101 - 50
        trade = await factories.insert_trade(app, account_id, gross_pnl=pnl, **on_day(number % 30))
        await factories.insert_trade_tags(app, trade, [tags[name] for name, is_set in has.items() if is_set])

    report = await factories.read_report(client, "tag")
    groups = {group["name"]: group["edge"] for group in report["groups"] if group["key"]}

    volume, trend, gap = (groups[name] for name in tags)
    assert (volume["verdict"], volume["moves_with"], gap["moves_with"]) == ("more", None, None)
    beside = trend["moves_with"]
    assert (beside["id"], beside["name"], beside["agreement"]) == (tags["Volume"], "Volume", 90)
    assert trend["verdict"] == "not_shown"
    assert trend["low"] > 0  # by itself it seems to pay
    assert trend["p"] == beside["p"] > 0.05


async def test_groups_of_rules_have_names_and_the_followed_alone_an_edge(
    app: Starlette, client: Client, account_id: int
) -> None:
    (setup,) = (
        await factories.create_strategy(client, setups=[{"name": "Break", "confirmations": [{"name": "Volume"}]}])
    )["setups"]
    for pnl, was_present in ((1, True), (2, False), (4, None)):
        trade = await factories.insert_trade(app, account_id, gross_pnl=pnl, strategy_id=1, setup_id=setup["setup_id"])
        if was_present is not None:
            await factories.insert_answer(app, trade, setup["confirmations"][0]["confirmation_id"], was_present)
    await factories.insert_trade(app, account_id, gross_pnl=8)

    groups = (await factories.read_report(client, "rules"))["groups"]

    assert [(group["key"], group["values"]["net_pnl"]) for group in groups] == [
        *(("followed", 1), ("broken", 2), ("unanswered", 4), ("no_checklist", 8))
    ]
    assert [group["name"] for group in groups][:2] == ["Rules followed", "Rules broken"]
    assert ["edge" in group for group in groups] == [True, False, False, False]


async def test_a_verdict_counts_all_groups_of_the_report_not_only_those_of_the_page(
    app: Starlette, client: Client, account_id: int
) -> None:
    tags = [(await factories.create_tag(client, f"Tag {number}"))["id"] for number in range(12)]
    for number in range(48):
        trade = await factories.insert_trade(
            app, account_id, gross_pnl=100 + number if number % 2 else 10 * (number % 7), **on_day(number % 24)
        )
        await factories.insert_trade_tags(
            app, trade, [tag for place, tag in enumerate(tags) if (number >> place % 5) & 1]
        )

    whole = (await factories.read_report(client, "tag"))["groups"]
    first = (await factories.read_report(client, "tag", limit=2))["groups"]

    assert [group["edge"] for group in first] == [group["edge"] for group in whole[:2]]
    assert all(group["edge"]["q"] >= group["edge"]["p"] for group in first)


async def test_a_decision_is_grouped_by_the_last_one_that_was_closed_when_it_was_opened(
    app: Starlette, client: Client, account_id: int
) -> None:
    day = [
        ("09:00:00", "09:10:00", 1),
        ("09:05:00", "09:30:00", -2),  # opened while the first was open
        ("09:10:00", "09:20:00", -3),  # opened at the close of the first
        ("09:31:00", "09:32:00", -4),
        ("09:32:30", "09:33:00", 0),
        ("09:38:00", "10:00:00", 5),
        ("10:00:59.999999", "10:01:00", 6),
        ("11:05:00", "11:06:00", 7),
    ]
    await insert_day(app, account_id, day)
    await factories.insert_trade(app, account_id, opened_at="2026-01-05T09:01:00Z", closed_at=None)
    await insert_day(app, account_id, [("00:00:00", "00:01:00", -8)], day="2026-01-06")
    pnls = [*(pnl for *_, pnl in day), -8]

    assert await place(client, "after", pnls) == [
        *("first", "first", "win", "losses", "losses", "breakeven", "win", "win", "first")
    ]
    assert await place(client, "nth", pnls) == [1, 2, 3, 4, 5, 6, 6, 6, 1]
    assert await place(client, "pause", pnls) == [
        *("first", "first", "under_1m", "1m_5m", "under_1m", "5m_15m", "under_1m", "over_1h", "first")
    ]
    after = (await factories.read_report(client, "after"))["groups"]
    assert [(group["key"], group["name"]) for group in after] == [
        ("first", "First of the day"),
        ("win", "After a win"),
        ("losses", "After two losses or more"),
        ("breakeven", "After a break-even"),
    ]
