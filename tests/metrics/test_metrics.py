"""The registry of metrics: pure, and as GET /v1/metrics answers it (docs/goals.md)."""

from typing import Any

import httpx
import pytest
from factories import create_goal, snapshots_of, unwrap

from journal_api.metrics.formulas import MetricValue
from journal_api.metrics.members import Statistics
from journal_api.metrics.metrics import METRICS

ONE = 10**8
LARGEST = 2**63 - 1


def evaluate(metric: str, **known: int | None) -> MetricValue:
    """The value with those statistics, all others 0."""
    nothing: dict[str, Any] = dict.fromkeys(Statistics.__struct_fields__, 0)
    nothing |= dict.fromkeys(("worst_trade", "worst_day", "largest_risk"))
    return METRICS[metric].evaluate(Statistics(**nothing | known))


async def test_what_is_listed_is_what_goals_accept_and_snapshots_evaluate(client: httpx.AsyncClient) -> None:
    listed = unwrap(await client.get("/metrics"))

    goals = [await create_goal(client, metric=metric["key"]) for metric in listed]
    units = [(await snapshots_of(client, goal["id"]))[0]["snapshot_data"]["unit"] for goal in goals]

    assert [metric["key"] for metric in listed] == list(METRICS) == [one.key for one in METRICS.values()]
    assert [goal["direction"] for goal in goals] == [metric["natural_direction"] for metric in listed]
    assert units == [metric["unit"] for metric in listed]
    assert len(listed) == 25
    assert all(metric["title"] and metric["description"] for metric in listed)


# (metric, its unit, its value without trades or the reason for none, statistics, the value with them)
TABLE: list[tuple[str, str, int | str, dict[str, int | None], int]] = [
    ("net_pnl", "currency", 0, {"net_pnl": -7}, -7),
    ("gross_pnl", "currency", 0, {"gross_pnl": 9, "fees": 2, "net_pnl": 7}, 9),
    ("max_drawdown", "currency", 0, {"max_drawdown": 5}, 5),
    ("balance_target", "currency", 0, {"opening_balance": 100, "cash": -50, "net_pnl": -30}, 20),
    ("win_rate", "percent", "no_trades", {"wins": 1, "losses": 1, "decisions": 3}, 33_33333333),
    (
        *("profit_factor", "ratio", "no_trades"),
        {"decisions": 2, "wins": 1, "losses": 1, "winning_pnl": 3, "losing_pnl": -2},
        1_50000000,
    ),
    ("expectancy", "currency", "no_trades", {"decisions": 3, "net_pnl": 20 * ONE}, 6_66666667),
    ("rr_realized_avg", "ratio", "no_risk", {"with_risk": 2, "r_total": 5 * ONE}, 2_50000000),
    ("a_plus_rate", "percent", "no_grades", {"graded": 3, "a_plus": 2}, 66_66666667),
    ("max_trades_per_day", "count", 0, {"max_trades_per_day": 4}, 4 * ONE),
    (
        *("protocol_completion_rate", "percent", "no_checklists"),
        {"with_checklist": 8, "checklists_confirmed": 1},
        12_50000000,
    ),
    ("trade_count", "count", 0, {"decisions": 4, "trades": 9}, 4 * ONE),
    ("trading_days", "count", 0, {"trading_days": 2}, 2 * ONE),
    ("winning_days", "count", 0, {"winning_days": 1}, ONE),
    ("win_streak", "count", 0, {"win_streak": 3}, 3 * ONE),
    ("average_win", "currency", "no_wins", {"wins": 3, "winning_pnl": 20 * ONE}, 6_66666667),
    (
        *("payoff_ratio", "ratio", "no_wins"),
        {"wins": 2, "losses": 1, "winning_pnl": 6, "losing_pnl": -4},
        75000000,
    ),
    ("worst_trade", "currency", "no_trades", {"decisions": 1, "worst_trade": -3}, -3),
    ("worst_day", "currency", "no_trades", {"decisions": 1, "worst_day": 3}, 3),
    ("average_risk", "currency", "no_risk", {"with_risk": 3, "risk_total": 20 * ONE}, 6_66666667),
    ("largest_risk", "currency", "no_risk", {"with_risk": 1, "largest_risk": 3}, 3),
    ("mistake_free_rate", "percent", "no_trades", {"decisions": 7, "with_mistake": 3}, 57_14285714),
    ("average_mae", "currency", "no_excursions", {"with_mae": 3, "mae_total": 20 * ONE}, 6_66666667),
    ("average_mfe", "currency", "no_excursions", {"with_mfe": 2, "mfe_total": 5 * ONE}, 2_50000000),
    ("captured", "percent", "no_excursions", {"winning_mfe": 2, "captured_pnl": 3}, 150 * ONE),
]


@pytest.mark.parametrize(("metric", "unit", "empty", "known", "actual"), TABLE, ids=[one[0] for one in TABLE])
def test_a_metric_is_what_its_row_says(
    metric: str, unit: str, empty: int | str, known: dict[str, int | None], actual: int
) -> None:
    without = evaluate(metric)

    assert METRICS[metric].unit == unit
    assert METRICS[metric].direction == (
        "at_most" if metric in ("max_drawdown", "max_trades_per_day") else "at_least"
    )
    expected = MetricValue(None, empty) if isinstance(empty, str) else MetricValue(empty)  # type: ignore[arg-type]
    assert without == expected
    assert evaluate(metric, **known) == MetricValue(actual)
    assert METRICS[metric].evaluate(None) == MetricValue(None, "out_of_range")


def test_every_metric_has_a_row() -> None:
    assert [row[0] for row in TABLE] == list(METRICS)


@pytest.mark.parametrize(
    ("metric", "known", "expected"),
    [
        ("profit_factor", {"decisions": 2, "breakevens": 2}, MetricValue(None, "no_wins_or_losses")),
        ("profit_factor", {"decisions": 2, "wins": 1}, MetricValue(None, "no_losses", infinite=True)),
        ("profit_factor", {"decisions": 1, "losses": 1, "losing_pnl": -5}, MetricValue(0)),
        ("payoff_ratio", {"wins": 1, "winning_pnl": 5}, MetricValue(None, "no_losses")),
        ("payoff_ratio", {"losses": 1, "losing_pnl": -5}, MetricValue(None, "no_wins")),
        *(
            ("expectancy", {"net_pnl": net, "decisions": decisions}, MetricValue(rounded))
            for net, decisions, rounded in [
                (1, 2, 0),
                (3, 2, 2),
                (5, 2, 2),
                (-1, 2, 0),
                (-3, 2, -2),
                (5, 4, 1),
            ]
        ),
        ("net_pnl", {"net_pnl": LARGEST}, MetricValue(LARGEST)),
        ("trade_count", {"decisions": LARGEST}, MetricValue(None, "out_of_range")),
        ("balance_target", {"opening_balance": LARGEST, "net_pnl": 1}, MetricValue(None, "out_of_range")),
    ],
)
def test_one_side_alone_halves_and_the_largest_values(
    metric: str, known: dict[str, int | None], expected: MetricValue
) -> None:
    assert evaluate(metric, **known) == expected


@pytest.mark.parametrize(
    ("value", "at_least", "at_most"),
    [
        (MetricValue(100), True, True),
        (MetricValue(101), True, False),
        (MetricValue(99), False, True),
        (MetricValue(None, "no_losses", infinite=True), True, False),
        (MetricValue(None, "no_losses"), None, None),
    ],
)
def test_a_target_of_100_is_achieved(value: MetricValue, at_least: bool | None, at_most: bool | None) -> None:
    assert (value.achieves("at_least", 100), value.achieves("at_most", 100)) == (at_least, at_most)
