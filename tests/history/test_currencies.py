"""Amounts in different currencies, and the R of copies: docs/goals.md#currencies and #what-counts."""

from typing import Any

import httpx
import pytest
from factories import create_account, create_goal, create_trade, snapshots_of, unwrap

from journal_api.values.metrics import METRICS

YEAR = {"timeframe": "custom", "custom_start": "2026-01-01", "custom_end": "2026-12-31"}
OF_MONEY = {
    *("net_pnl", "gross_pnl", "max_drawdown", "balance_target", "expectancy", "average_win", "worst_trade"),
    *("worst_day", "profit_factor", "payoff_ratio", "winning_days"),
}


async def snapshot_of(client: httpx.AsyncClient, metric: str, **fields: Any) -> Any:
    goal = await create_goal(client, metric=metric, target_value=1, **{**YEAR, **fields})
    (snapshot,) = await snapshots_of(client, goal["id"])
    return snapshot


async def two_accounts(client: httpx.AsyncClient, *currencies: str) -> list[int]:
    return [
        (await create_account(client, f"{currency} {place}", currency=currency))["id"]
        for place, currency in enumerate(currencies)
    ]


async def win_and_lose(client: httpx.AsyncClient, dollars: int, euros: int) -> None:
    """A win of 300 and a loss of 100 in the one account, a win of 50 in the other."""
    for account_id, gross_pnl in ((dollars, 300), (dollars, -100), (euros, 50)):
        await create_trade(client, account_id, gross_pnl=gross_pnl)


@pytest.mark.parametrize("metric", sorted(METRICS))
async def test_amounts_in_different_currencies_are_not_added(client: httpx.AsyncClient, metric: str) -> None:
    await win_and_lose(client, *await two_accounts(client, "USD", "EUR"))

    snapshot = await snapshot_of(client, metric)

    is_mixed = (snapshot["actual"], snapshot["snapshot_data"]["reason"]) == (None, "mixed_currencies")
    assert is_mixed == (metric in OF_MONEY)
    assert snapshot["snapshot_data"]["currency"] is None


async def test_counts_and_percents_of_different_currencies_stay(client: httpx.AsyncClient) -> None:
    await win_and_lose(client, *await two_accounts(client, "USD", "EUR"))

    snapshot = await snapshot_of(client, "win_rate")

    data = snapshot["snapshot_data"]
    assert snapshot["actual"] == 66.66666667
    assert [data[name] for name in ("trades", "decisions", "wins", "losses", "trading_days")] == [
        3,
        3,
        2,
        1,
        1,
    ]
    amounts = ("gross_pnl", "fees", "net_pnl", "winning_pnl", "losing_pnl", "worst_trade", "worst_day")
    assert {name: data[name] for name in (*amounts, "winning_days")} == dict.fromkeys(
        (*amounts, "winning_days")
    )


async def test_one_currency_is_named(client: httpx.AsyncClient) -> None:
    await win_and_lose(client, *await two_accounts(client, "EUR", "EUR"))

    snapshot = await snapshot_of(client, "net_pnl")

    assert (snapshot["actual"], snapshot["snapshot_data"]["currency"]) == (250, "EUR")


async def test_an_account_in_another_currency_without_trades_mixes_nothing_but_balances(
    client: httpx.AsyncClient,
) -> None:
    dollars, _ = await two_accounts(client, "USD", "EUR")
    await create_trade(client, dollars, gross_pnl=300)

    sums = await snapshot_of(client, "net_pnl")
    balance = await snapshot_of(client, "balance_target")
    of_one = await snapshot_of(client, "balance_target", account_id=dollars)

    assert (sums["actual"], sums["snapshot_data"]["currency"]) == (300, "USD")
    assert (balance["actual"], balance["snapshot_data"]["reason"]) == (None, "mixed_currencies")
    assert (of_one["actual"], of_one["snapshot_data"]["currency"]) == (300, "USD")


async def test_a_decision_across_currencies_counts_by_its_original(client: httpx.AsyncClient) -> None:
    """The original loses 10 dollars at a risk of 20, its copy wins 1000 euros."""
    dollars, euros = await two_accounts(client, "USD", "EUR")
    original = await create_trade(client, dollars, gross_pnl=-10, initial_risk=20)
    await create_trade(client, euros, gross_pnl=1000, initial_risk=1, source_trade_id=original["id"])

    win_rate = await snapshot_of(client, "win_rate")
    r = await snapshot_of(client, "rr_realized_avg")

    assert (win_rate["actual"], win_rate["snapshot_data"]["losses"]) == (0, 1)
    assert r["actual"] == -0.5


async def test_a_new_currency_changes_the_periods_of_all_goals(client: httpx.AsyncClient) -> None:
    dollars, euros = await two_accounts(client, "USD", "EUR")
    await win_and_lose(client, dollars, euros)
    goal = await create_goal(client, metric="net_pnl", target_value=1, **YEAR)
    balance = await create_goal(client, metric="balance_target", target_value=1, timeframe="monthly")
    for one in (goal, balance):
        await snapshots_of(client, one["id"])

    unwrap(await client.patch(f"/accounts/{euros}", json={"currency": "USD"}))

    ((sums,), balances) = [await snapshots_of(client, one["id"]) for one in (goal, balance)]
    assert (sums["actual"], sums["snapshot_data"]["currency"]) == (250, "USD")
    assert [snapshot["actual"] for snapshot in balances] == [250] * len(balances)


async def test_different_currencies_in_different_periods_are_not_mixed(client: httpx.AsyncClient) -> None:
    dollars, euros = await two_accounts(client, "USD", "EUR")
    await create_trade(client, dollars, gross_pnl=300)
    await create_trade(
        client, euros, gross_pnl=50, opened_at="2026-02-05T14:00:00Z", closed_at="2026-02-05T15:00:00Z"
    )
    goal = await create_goal(client, metric="net_pnl", target_value=1, timeframe="monthly")

    snapshots = await snapshots_of(client, goal["id"], **{"from": "2026-01-01", "to": "2026-02-28"})

    shown = [(one["actual"], one["snapshot_data"]["currency"]) for one in snapshots]
    assert shown == [(50, "EUR"), (300, "USD")]


# The R of copies -------------------------------------------------------------------------------------------


async def test_a_copy_without_a_risk_does_not_inflate_r(client: httpx.AsyncClient) -> None:
    """200 at a risk of 100 is 2 R, although the copy made another 800."""
    one, other = await two_accounts(client, "USD", "USD")
    original = await create_trade(client, one, gross_pnl=200, initial_risk=100)
    await create_trade(client, other, gross_pnl=800, source_trade_id=original["id"])

    snapshot = await snapshot_of(client, "rr_realized_avg")

    data = snapshot["snapshot_data"]
    assert (snapshot["actual"], data["with_risk"], data["winning_pnl"]) == (2, 1, 1000)


async def test_a_copy_with_a_risk_stands_for_an_original_without_one(client: httpx.AsyncClient) -> None:
    """The copy lost 50 at a risk of 100: -0.5 R; the original has no risk."""
    one, other = await two_accounts(client, "USD", "USD")
    original = await create_trade(client, one, gross_pnl=200)
    await create_trade(client, other, gross_pnl=-50, initial_risk=100, source_trade_id=original["id"])

    assert (await snapshot_of(client, "rr_realized_avg"))["actual"] == -0.5


async def test_the_risks_of_all_copies_are_summed(client: httpx.AsyncClient) -> None:
    """(200 + 100) / (100 + 50) = 2."""
    one, other = await two_accounts(client, "USD", "USD")
    original = await create_trade(client, one, gross_pnl=200, initial_risk=100)
    await create_trade(client, other, gross_pnl=100, initial_risk=50, source_trade_id=original["id"])

    assert (await snapshot_of(client, "rr_realized_avg"))["actual"] == 2
