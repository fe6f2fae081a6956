"""What a goal says about its metric: `kind` and `formula`."""

import re

import httpx
import pytest
from factories import create_example_journal, create_goal, snapshots_of, unwrap

from journal_api.values.goal_kinds import FORMULAS, goal_kind
from journal_api.values.metric_formulas import GoalDirection
from journal_api.values.metrics import METRICS

ARITHMETIC = {key: text for key, text in FORMULAS.items() if re.fullmatch(r"[a-z_×/+() \d-]+", text) and
              re.search(r"[-+/]", text)}  # fmt: skip


@pytest.mark.parametrize(
    ("metric", "direction", "target", "kind"),
    [
        ("net_pnl", "at_least", -500, "limit"),
        ("worst_day", "at_least", -500, "limit"),
        ("rr_realized_avg", "at_least", -1, "limit"),
        ("net_pnl", "at_least", 500, "target"),
        ("net_pnl", "at_least", 0, "target"),
        ("max_drawdown", "at_least", 0, "target"),
        ("average_win", "at_least", -500, "target"),
        ("balance_target", "at_least", -500, "target"),
        ("max_drawdown", "at_most", 500, "limit"),
        ("balance_target", "at_most", -500, "limit"),
    ],
)
def test_a_goal_is_a_limit_if_trading_can_break_it_and_else_a_target(
    metric: str, direction: GoalDirection, target: int, kind: str
) -> None:
    assert goal_kind(metric, direction, target) == kind


async def test_a_goal_says_its_kind_and_keeps_it_in_step_with_its_target(client: httpx.AsyncClient) -> None:
    goal = await create_goal(client, metric="net_pnl", target_value=-500)
    changed = unwrap(await client.patch(f"/goals/{goal['id']}", json={**goal, "target_value": 500}))

    assert (goal["kind"], changed["kind"]) == ("limit", "target")


@pytest.mark.parametrize("metric", ARITHMETIC)
async def test_the_formula_of_a_goal_computes_its_value_from_the_data_of_a_snapshot(
    client: httpx.AsyncClient, metric: str
) -> None:
    await create_example_journal(client)
    goal = await create_goal(client, metric=metric, target_value=1, timeframe="monthly")
    valued = [one for one in await snapshots_of(client, goal["id"]) if one["actual"] is not None]

    for snapshot in valued:
        expression = goal["formula"].replace("×", "*")
        assert eval(expression, {}, snapshot["snapshot_data"]) == pytest.approx(snapshot["actual"])
    assert len(valued) >= 3


def test_every_metric_has_a_formula() -> None:
    assert FORMULAS.keys() == METRICS.keys()
