"""The registry of metrics: pure, and as GET /v1/metrics answers it.

tests/docs/test_goals_page.py has an example of each, with its unit and its value without trades.
"""

from typing import Any

from factories import Client, create_goal, snapshots_of, unwrap
from saved_journals import for_rows

from journal_api.metrics.formulas import MetricValue
from journal_api.metrics.members import Statistics
from journal_api.metrics.metrics import METRICS

MAX_AMOUNT = 2**63 - 1


def evaluate(metric: str, **known: int | None) -> MetricValue:
    """The value with those statistics, all others 0."""
    nothing: dict[str, Any] = dict.fromkeys(Statistics.__struct_fields__, 0)
    nothing |= dict.fromkeys(("worst_trade", "worst_day", "largest_risk"))
    return METRICS[metric].evaluate(Statistics(**nothing | known))


async def test_what_is_listed_is_what_goals_accept_and_snapshots_evaluate(client: Client) -> None:
    listed = unwrap(await client.get("/metrics"))

    goals = [await create_goal(client, metric=metric["key"]) for metric in listed]
    units = [(await snapshots_of(client, goal["id"]))[0]["snapshot_data"]["unit"] for goal in goals]

    assert [metric["key"] for metric in listed] == list(METRICS) == [one.key for one in METRICS.values()]
    assert [goal["direction"] for goal in goals] == [metric["natural_direction"] for metric in listed]
    assert units == [metric["unit"] for metric in listed]
    assert all(metric["title"] and metric["description"] for metric in listed)


@for_rows("metric", METRICS)
def test_a_sum_that_does_not_fit_leaves_no_metric_a_value(metric: str) -> None:
    assert METRICS[metric].evaluate(None) == MetricValue(None, "out_of_range")


@for_rows(
    "metric, known, expected",
    [
        ("profit_factor", {"decisions": 2, "breakevens": 2}, MetricValue(None, "no_wins_or_losses")),
        ("profit_factor", {"decisions": 2, "wins": 1}, MetricValue(None, "no_losses", infinite=True)),
        ("profit_factor", {"decisions": 1, "losses": 1, "losing_pnl": -5}, MetricValue(0)),
        ("payoff_ratio", {"wins": 1, "winning_pnl": 5}, MetricValue(None, "no_losses")),
        ("payoff_ratio", {"losses": 1, "losing_pnl": -5}, MetricValue(None, "no_wins")),
        *(
            ("expectancy", {"net_pnl": net, "decisions": decisions}, MetricValue(rounded))
            for net, decisions, rounded in [(1, 2, 0), (3, 2, 2), (5, 2, 2), (-1, 2, 0), (-3, 2, -2), (5, 4, 1)]
        ),
        ("net_pnl", {"net_pnl": MAX_AMOUNT}, MetricValue(MAX_AMOUNT)),
        ("trade_count", {"decisions": MAX_AMOUNT}, MetricValue(None, "out_of_range")),
        ("balance_target", {"opening_balance": MAX_AMOUNT, "net_pnl": 1}, MetricValue(None, "out_of_range")),
    ],
)
def test_one_side_alone_halves_and_the_largest_values(
    metric: str, known: dict[str, int | None], expected: MetricValue
) -> None:
    assert evaluate(metric, **known) == expected


@for_rows(
    "value, at_least, at_most",
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
