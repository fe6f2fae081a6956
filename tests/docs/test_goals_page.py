"""docs/goals.md and statistics.md: trades are entered over HTTP, and numbers compared with the service."""

import re
from fractions import Fraction
from itertools import accumulate
from math import sqrt
from pathlib import Path
from typing import Any, get_args

import factories
import msgspec
import pytest
import time_machine
from factories import Client
from pages import DOCS, blocks_of, cells_of, code_in, rows_under
from samples import a_day_each, build_sample, edge_of, welch_p_value

from journal_api.metrics.distributions import pearson_tails
from journal_api.metrics.formulas import Reason
from journal_api.metrics.inference import benjamini_hochberg, mean_interval, welch_error
from journal_api.metrics.members import MEMBERS
from journal_api.metrics.metrics import METRICS
from journal_api.statistics.edge import Edge
from journal_api.structs.snapshots import Pace, PaceState
from journal_api.values.money import SCALE
from journal_api.values.periods import Timeframe

PAGE, METHOD = DOCS / "goals.md", DOCS / "statistics.md"
MARCH = {"from": "2026-03-01", "to": "2026-03-31"}
APRIL = {"from": "2026-04-01", "to": "2026-04-30"}
ARITHMETIC = re.compile(r"[-+*/(), 0-9.]*")
# Further rows of its table of goals.
CORNERS = """
| `win_streak` at least 5 | `on_track` (2 is over 5 × 5 / 22) | 5 - 2 = 3 | null |
| `winning_days` at least 4 | `achieved` | 0 | 0 |
| `worst_day` at least -250 | `missed` (5 March was -300) | 0 | null |
| `max_trades_per_day` at most 2 | `within_limit` (one decision today) | 2 - 1 = 1 | null |
| `win_rate` at most 40 | `behind` | 50 - 40 = 10 | null |
"""
METRICS_OF_PAGE = {row["metric"].strip("`"): row for row in rows_under(PAGE, "metric")}


@pytest.fixture
async def entered(client: Client) -> Client:
    """The client of a journal with all trades of the page."""
    accounts = {
        name: (await factories.create_account(client, name, starting_balance=balance))["id"]
        for name, balance in (("Main", 10_000), ("Second", 5_000))
    }
    category_id = (await factories.create_category(client))["id"]
    tags = {
        name: (await factories.create_tag(client, name, type=kind, category_id=category_id))["id"]
        for name, kind in (("FOMO", "mistake"), ("Late", "mistake"), ("Patient", "custom"))
    }
    checklist = [{"name": "Volume"}, {"name": "Trend"}]
    strategy = await factories.create_strategy(client, setups=[{"name": "Break", "confirmations": checklist}])
    (setup,) = strategy["setups"]
    confirmations = {one["name"]: one["confirmation_id"] for one in setup["confirmations"]}
    ids: dict[str, int] = {}
    for row in rows_under(PAGE, "trade"):
        number, _, original = row["trade"].partition(", a copy of ")
        closed_at = f"{row['closed']}:00Z".replace(" ", "T")
        trade = await factories.create_trade(
            client,
            accounts[row["account"]],
            opened_at=closed_at,
            closed_at=closed_at,
            gross_pnl=int(row["gross P&L"]),
            fees=int(row["fees"]),
            initial_risk=int(row["risk"]) if row["risk"] else None,
            mae=int(row["MAE"]) if row["MAE"] else None,
            mfe=int(row["MFE"]) if row["MFE"] else None,
            grade=row["grade"] or None,
            setup_id=setup["setup_id"] if row["checklist"] else None,
            source_trade_id=ids.get(original),
            tag_ids=[tags[name] for name in words(row["tags"])],
            confirmations=[
                {"confirmation_id": confirmations[name], "was_present": True}
                for name in words(row["checklist"])
                if name != "none"
            ],
        )
        assert trade["net_pnl"] == int(row["net P&L"])
        ids[number] = trade["id"]
    return client


def words(cell: str) -> list[str]:
    return [word for word in cell.split(", ") if word]


def compute(expression: str) -> Fraction:
    """The value of an expression of the page."""
    python = re.sub(r"√([0-9]+)", r"√(\1)", expression).replace("×", "*").replace("√", "sqrt")
    assert ARITHMETIC.fullmatch(re.sub(r"\b(min|max|sqrt)\(", "(", python)), expression
    exact = re.sub(r"[0-9]+(\.[0-9]+)?", r"Fraction('\g<0>')", python)
    return Fraction(eval(exact, {"Fraction": Fraction, "min": min, "max": max, "sqrt": sqrt}))


def compute_stated(equation: str) -> Fraction:
    """What an equation of the page states, to whose decimals its expression must be computed."""
    expression, _, stated = equation.rpartition(" = ")
    decimals = len(stated.partition(".")[2])
    assert round(compute(expression), decimals) == Fraction(stated), equation
    return Fraction(stated)


def to_eight_decimals(value: Fraction) -> Fraction:
    return Fraction(round(value * 10**8), 10**8)


async def read_snapshots(client: Client, month: dict[str, str]) -> dict[str, Any]:
    """The snapshot of that month of a goal for each metric of the page."""
    found = {}
    for metric in METRICS_OF_PAGE:
        goal = await factories.create_goal(client, metric=metric)
        (found[metric],) = await factories.snapshots_of(client, goal["id"], **month)
    return found


async def test_the_examples_and_the_values_without_a_trade_are_those_of_the_service(entered: Client) -> None:
    march = await read_snapshots(entered, MARCH)
    april = await read_snapshots(entered, APRIL)

    for metric, row in METRICS_OF_PAGE.items():
        expression, stated = row["example"].split(" = ")
        assert to_eight_decimals(compute(expression)) == Fraction(stated), metric
        assert Fraction(str(march[metric]["actual"])) == Fraction(stated), metric
        value, reason = april[metric]["actual"], april[metric]["snapshot_data"]["reason"]
        told = f"null, `{reason}`" if value is None else str(value)
        assert row["no trades"].removesuffix(", as before") == told, metric


def test_the_running_total_is_that_of_the_trades() -> None:
    (told,) = re.findall(r"The running total of `max_drawdown` is ([-0-9, ]+)\.", PAGE.read_text())

    total = accumulate(int(row["net P&L"]) for row in rows_under(PAGE, "trade"))
    assert told == ", ".join(map(str, total))


async def test_the_snapshot_that_is_shown_is_the_one_that_is_answered(entered: Client) -> None:
    (block,) = blocks_of(PAGE, "json")
    shown = msgspec.json.decode(block)
    goal = await factories.create_goal(entered, metric="win_rate", target_value=55)

    (snapshot,) = await factories.snapshots_of(entered, goal["id"], **MARCH)

    assert list(shown) == list(snapshot)
    assert shown == {**snapshot, "computed_at": shown["computed_at"]}


async def test_each_goal_stands_as_the_page_says(entered: Client) -> None:
    columns = ("goal", "`state`", "`remaining`", "`needed_per_day`")
    corners = [dict(zip(columns, cells_of(line), strict=True)) for line in CORNERS.split("\n")[1:-1]]
    for row in [*rows_under(PAGE, "goal"), *corners]:
        goal_match = re.fullmatch(r"`(\w+)` (at \w+) ([-0-9.]+)", row["goal"])
        assert goal_match, row["goal"]
        metric, direction, target = goal_match.groups()
        with time_machine.travel("2026-03-06T18:00:00Z", tick=False):
            goal = await factories.create_goal(
                entered, metric=metric, direction=direction.replace(" ", "_"), target_value=float(target)
            )
            (snapshot, *_) = await factories.snapshots_of(entered, goal["id"])

        pace = snapshot["snapshot_data"]["pace"]
        assert (pace["state"], pace["days_left"]) == (code_in(row["`state`"])[0], 17), row["goal"]
        for member in ("remaining", "needed_per_day"):
            expression, _, stated = row[f"`{member}`"].rpartition(" = ")
            assert (stated == "null") == (pace[member] is None), row["goal"]
            assert stated == "null" or Fraction(str(pace[member])) == Fraction(stated), row["goal"]
            assert not expression or to_eight_decimals(compute(expression)) == Fraction(stated), row["goal"]


# Each decision on a day of its own.
EDGE_EXAMPLE = tuple([SCALE * amount for amount in pair * 5] for pair in ([190, 10], [110, -130]))


async def test_the_intervals_of_the_examples_are_those_of_the_service(entered: Client) -> None:
    rows = rows_under(METHOD, "metrics")
    examples = [row["`low` and `high` in the example"].split(", ") for row in rows]
    stated = [[compute_stated(equation) for equation in example] for example in examples]

    answered = await entered.get("/reports", params={"metrics": "win_rate,expectancy"})

    total = answered.json()["data"]["report"]["total"]
    win_rate = [round(Fraction(str(total["intervals"]["win_rate"][end])), 4) for end in ("low", "high")]
    mean = [Fraction(round(int(end), -4), SCALE) for end in mean_interval(build_sample(a_day_each(EDGE_EXAMPLE[0])))]
    assert stated == [mean, win_rate]
    assert (total["intervals"]["expectancy"], total["interval_reasons"]) == (None, {"expectancy": "too_few"})
    assert {name for row in rows for name in code_in(row["metrics"])} <= set(METRICS_OF_PAGE)


def test_the_edge_of_the_example_is_that_of_the_service() -> None:
    steps = {row["step"].strip("`"): compute_stated(row["example"]) for row in rows_under(METHOD, "step")}
    edge = edge_of(*EDGE_EXAMPLE)
    error, freedom = welch_error((9000, 16000), (10, 10))

    assert edge.low is not None
    assert edge.high is not None
    assert [float(steps["error²"]), float(steps["skewness"])] == [error**2, 0]
    assert float(steps["degrees of freedom"]) == pytest.approx(freedom, abs=1e-5)
    assert [steps["low"], steps["high"]] == [Fraction(round(end, -3), SCALE) for end in (edge.low, edge.high)]
    assert round(pearson_tails(float(steps["deviations"]), 0), 4) == round(edge.p or 0, 4) == 0.0448
    assert "0.0448" in METHOD.read_text()
    assert round(welch_p_value(*(build_sample(a_day_each(side)) for side in EDGE_EXAMPLE)), 4) == 0.0422


def test_the_false_discovery_rates_of_the_example_are_those_of_the_service() -> None:
    text = METHOD.read_text().replace("\n", " ")
    (told,) = re.findall(r"have q of (.*?) and (.*?): two verdicts", text)
    (best,) = re.findall(r"has q = (.*?) or less", text)
    equations = ", ".join(told).split(", ")

    assert [float(compute_stated(one)) for one in equations] == pytest.approx(benjamini_hochberg([0.01, 0.03, 0.2]))
    assert float(compute_stated(best)) == pytest.approx(benjamini_hochberg([0.0448] + [0.9] * 19)[0])


def test_the_decisions_needed_in_the_example_are_those_of_the_service() -> None:
    text = METHOD.read_text().replace("\n", " ")
    (told,) = re.findall(r"With ([0-9]+) more, 215 on each side, (.*?) is less than 20", text)
    present, absent = ([SCALE * sign * amount for amount in (110, -90)] * 5 for sign in (1, -1))

    assert compute_stated(told[1]) < 20
    assert edge_of(present, absent).more_needed == int(told[0]) == 410


def test_every_member_state_reason_and_timeframe_is_explained() -> None:
    def explained(page: Path, column: str, told: str = "") -> list[str]:
        return [name for row in rows_under(page, column) for name in code_in(row[told or column])]

    assert explained(METHOD, "`edge`") == list(Edge._fields)
    assert explained(PAGE, "field") == list(Pace.__struct_fields__)
    assert {*explained(PAGE, "kind", "states")} == {*get_args(PaceState)}
    assert sorted(explained(PAGE, "reason")) == sorted(get_args(Reason))
    assert sorted(explained(PAGE, "timeframe")) == sorted(get_args(Timeframe))


def test_every_metric_stands_in_the_table_of_its_unit() -> None:
    units: dict[str, list[str]] = {}
    for heading, body in re.findall(r"^### (\w+)\n(.*?)(?=^#)", PAGE.read_text(), re.M | re.S):
        units[heading.lower()] = re.findall(r"^\| `(\w+)` \|", body, re.M)

    assert {metric: unit for unit, metrics in units.items() for metric in metrics} == {
        key: metric.unit for key, metric in METRICS.items()
    }


def test_every_member_of_snapshot_data_is_explained() -> None:
    (block,) = blocks_of(PAGE, "json")
    shown = msgspec.json.decode(block)["snapshot_data"]
    explained = {name for row in rows_under(PAGE, "member") for name in code_in(row["member"])}

    facts = {name for name, member in MEMBERS.items() if member.is_shown}
    assert {*shown, *explained} == {"unit", "timezone", "day_rollover", "breakeven_within", "reason", "pace", *facts}
