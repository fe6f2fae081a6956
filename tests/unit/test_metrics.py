"""The registry of metrics: pure, and as GET /v1/metrics answers it (docs/goals.md)."""

from fractions import Fraction
from typing import Any

import httpx
import pytest
from factories import create_goal, insert_account, insert_trade, snapshots_of, unwrap
from hypothesis import given
from hypothesis import strategies as st
from proofs import max_examples
from starlette.applications import Starlette

from journal_api.values.metric_formulas import MetricValue
from journal_api.values.metrics import METRICS
from journal_api.values.statistics import Statistics

UNITS = {
    "net_pnl": "currency",
    "gross_pnl": "currency",
    "max_drawdown": "currency",
    "balance_target": "currency",
    "win_rate": "percent",
    "profit_factor": "ratio",
    "expectancy": "currency",
    "rr_realized_avg": "ratio",
    "a_plus_rate": "percent",
    "max_trades_per_day": "count",
    "protocol_completion_rate": "percent",
    "trade_count": "count",
    "trading_days": "count",
    "winning_days": "count",
    "win_streak": "count",
    "average_win": "currency",
    "payoff_ratio": "ratio",
    "worst_trade": "currency",
    "worst_day": "currency",
    "mistake_free_rate": "percent",
}
ONE = 10**8
LARGEST = 2**63 - 1
amounts = st.integers(-(10**14), 10**14) | st.integers(-(2**63), LARGEST)


def statistics(**known: int | None) -> Statistics:
    """Those facts, and nothing else happened."""
    nothing: dict[str, Any] = dict.fromkeys(Statistics.__struct_fields__, 0)
    return Statistics(**{**nothing, "worst_trade": None, "worst_day": None, **known})


def measured(metric: str, **known: int | None) -> MetricValue:
    return METRICS[metric].evaluate(statistics(**known))


# GET /v1/metrics ----------------------------------------------------------------------------------------


async def test_twenty_metrics_are_listed_with_their_units_and_natural_directions(
    client: httpx.AsyncClient,
) -> None:
    answer = await client.get("/metrics")

    listed = answer.json()["data"]["metrics"]
    assert {metric["key"]: metric["unit"] for metric in listed} == UNITS
    assert len(listed) == 20
    assert {metric["key"] for metric in listed if metric["natural_direction"] == "at_most"} == {
        "max_drawdown",
        "max_trades_per_day",
    }
    assert {metric["natural_direction"] for metric in listed} == {"at_most", "at_least"}
    assert all(metric["title"] and metric["description"] for metric in listed)


async def test_what_is_listed_is_what_goals_accept_and_snapshots_evaluate(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    await insert_trade(app, await insert_account(app), gross_pnl=1)
    listed = unwrap(await client.get("/metrics"))

    goals = [await create_goal(client, metric=metric["key"]) for metric in listed]
    units = [(await snapshots_of(client, goal["id"]))[0]["snapshot_data"]["unit"] for goal in goals]

    assert [goal["direction"] for goal in goals] == [metric["natural_direction"] for metric in listed]
    assert units == [metric["unit"] for metric in listed]
    assert list(METRICS) == [metric["key"] for metric in listed]
    assert all(METRICS[key].key == key for key in METRICS)


# No data ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("metric", "actual", "reason"),
    [
        ("net_pnl", 0, None),
        ("gross_pnl", 0, None),
        ("max_drawdown", 0, None),
        ("balance_target", 1234, None),
        ("win_rate", None, "no_trades"),
        ("profit_factor", None, "no_trades"),
        ("expectancy", None, "no_trades"),
        ("rr_realized_avg", None, "no_risk"),
        ("a_plus_rate", None, "no_grades"),
        ("max_trades_per_day", 0, None),
        ("protocol_completion_rate", None, "no_checklists"),
        ("trade_count", 0, None),
        ("trading_days", 0, None),
        ("winning_days", 0, None),
        ("win_streak", 0, None),
        ("average_win", None, "no_wins"),
        ("payoff_ratio", None, "no_wins"),
        ("worst_trade", None, "no_trades"),
        ("worst_day", None, "no_trades"),
        ("mistake_free_rate", None, "no_trades"),
    ],
)
def test_without_trades_a_metric_is_what_its_column_says(
    metric: str, actual: int | None, reason: str | None
) -> None:
    empty = measured(metric, opening_balance=1234)

    assert (empty.actual, empty.reason) == (actual, reason)
    assert (empty.achieves("at_least", ONE) is None) == (actual is None)


# Evaluation ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("metric", "known", "actual"),
    [
        ("net_pnl", {"net_pnl": -7}, -7),
        ("gross_pnl", {"gross_pnl": 9, "fees": 2, "net_pnl": 7}, 9),
        ("max_drawdown", {"max_drawdown": 5}, 5),
        ("balance_target", {"opening_balance": 100, "net_pnl": -30}, 70),
        ("win_rate", {"wins": 1, "losses": 1, "breakevens": 1, "decisions": 3}, 33_33333333),
        (
            "profit_factor",
            {"decisions": 2, "wins": 1, "losses": 1, "winning_pnl": 3, "losing_pnl": -2},
            1_50000000,
        ),
        ("expectancy", {"decisions": 3, "net_pnl": 20 * ONE}, 6_66666667),
        ("rr_realized_avg", {"with_risk": 2, "r_total": 5 * ONE}, 2_50000000),
        ("a_plus_rate", {"graded": 3, "a_plus": 2}, 66_66666667),
        ("max_trades_per_day", {"max_trades_per_day": 4}, 4 * ONE),
        ("protocol_completion_rate", {"with_checklist": 8, "checklists_confirmed": 1}, 12_50000000),
        ("trade_count", {"decisions": 4, "trades": 9}, 4 * ONE),
        ("trading_days", {"trading_days": 2}, 2 * ONE),
        ("winning_days", {"winning_days": 1}, ONE),
        ("win_streak", {"win_streak": 3}, 3 * ONE),
        ("average_win", {"wins": 3, "winning_pnl": 20 * ONE}, 6_66666667),
        ("payoff_ratio", {"wins": 2, "losses": 1, "winning_pnl": 6, "losing_pnl": -4}, 75000000),
        ("worst_trade", {"decisions": 1, "worst_trade": -3}, -3),
        ("worst_day", {"decisions": 1, "worst_day": 3}, 3),
        ("mistake_free_rate", {"decisions": 7, "with_mistake": 3}, 57_14285714),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_metric_is_what_its_row_says(metric: str, known: dict[str, int | None], actual: int) -> None:
    assert measured(metric, **known) == MetricValue(actual)


@pytest.mark.parametrize(
    ("net_pnl", "decisions", "actual"),
    [(1, 2, 0), (3, 2, 2), (5, 2, 2), (-1, 2, 0), (-3, 2, -2), (7, 4, 2), (5, 4, 1)],
)
def test_a_value_is_rounded_half_to_even(net_pnl: int, decisions: int, actual: int) -> None:
    assert measured("expectancy", net_pnl=net_pnl, decisions=decisions).actual == actual


@given(st.integers(1, 10**6), st.integers(0, 10**6))
@max_examples(full=50, ci=20)
def test_percentages_are_exact_to_eight_decimals(decisions: int, part: int) -> None:
    wins = min(part, decisions)

    rate = measured("win_rate", wins=wins, decisions=decisions).actual

    assert rate == round(Fraction(wins * 100 * ONE, decisions))


def test_a_profit_factor_without_losses_has_no_value_but_is_achieved_at_least() -> None:
    endless = measured("profit_factor", decisions=2, wins=1, breakevens=1, winning_pnl=5)

    assert (endless.actual, endless.reason) == (None, "no_losses")
    assert endless.achieves("at_least", 10**18) is True
    assert endless.achieves("at_most", 10**18) is False


def test_a_profit_factor_of_break_evens_alone_is_neither_achieved_nor_missed() -> None:
    undefined = measured("profit_factor", decisions=2, breakevens=2)

    assert (undefined.actual, undefined.reason) == (None, "no_wins_or_losses")
    assert undefined.achieves("at_least", 1) is None
    assert undefined.achieves("at_most", 1) is None


def test_a_profit_factor_of_losses_alone_is_zero() -> None:
    assert measured("profit_factor", decisions=1, losses=1, losing_pnl=-5) == MetricValue(0)


def test_a_payoff_ratio_says_which_side_is_missing() -> None:
    assert measured("payoff_ratio", decisions=1, wins=1, winning_pnl=5) == MetricValue(None, "no_losses")
    assert measured("payoff_ratio", decisions=1, losses=1, losing_pnl=-5) == MetricValue(None, "no_wins")


@given(st.integers(-(2**63), LARGEST), st.integers(-(2**63), LARGEST))
@max_examples(full=50, ci=20)
def test_achieved_compares_to_the_last_decimal(actual: int, target: int) -> None:
    value = MetricValue(actual)

    assert value.achieves("at_least", target) == (actual >= target)
    assert value.achieves("at_most", target) == (actual <= target)


@given(
    st.sampled_from(sorted(METRICS)),
    st.fixed_dictionaries(
        dict.fromkeys(["net_pnl", "gross_pnl", "opening_balance", "r_total", "winning_pnl"], amounts)
    ),
    st.integers(1, 10),
)
@max_examples(full=200, ci=60)
def test_a_value_beyond_64_bits_is_out_of_range(metric: str, known: dict[str, int], number: int) -> None:
    counts = dict.fromkeys(["decisions", "wins", "losses", "with_risk", "graded", "with_checklist"], number)

    value = measured(metric, **known, **counts, losing_pnl=-1, worst_trade=-1, worst_day=-1)

    if value.actual is None:
        assert value.reason == "out_of_range"
    else:
        assert -(2**63) <= value.actual <= LARGEST


@pytest.mark.parametrize("metric", sorted(METRICS))
def test_a_sum_that_left_64_bits_is_out_of_range(metric: str) -> None:
    lost = METRICS[metric].evaluate(None)

    assert lost == MetricValue(None, "out_of_range")
    assert lost.achieves("at_least", -1) is None
