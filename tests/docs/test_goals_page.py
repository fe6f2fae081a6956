"""docs/goals.md: its trades are entered over HTTP, and its numbers are held to what the service answers."""

import re
from fractions import Fraction
from itertools import accumulate
from typing import Any, NamedTuple, get_args

import httpx
import msgspec
import pytest
import time_machine
from factories import (
    A_TRADE,
    create_account,
    create_category,
    create_goal,
    create_strategy,
    create_tag,
    snapshots_of,
    unwrap,
)
from pages import DOCS, blocks_of, code_in, rows_under

from journal_api.structs.snapshots import Pace, PaceState
from journal_api.values.metric_formulas import Reason
from journal_api.values.metrics import METRICS
from journal_api.values.periods import Timeframe
from journal_api.values.statistics import INTERNAL, Statistics

PAGE = DOCS / "goals.md"
MARCH = {"from": "2026-03-01", "to": "2026-03-31"}
APRIL = {"from": "2026-04-01", "to": "2026-04-30"}
ARITHMETIC = re.compile(r"[-+*/(), 0-9.]*")
METRICS_OF_PAGE = {row["metric"].strip("`"): row for row in rows_under(PAGE, "metric")}


class Names(NamedTuple):
    """The ids of what the page calls by name."""

    accounts: dict[str, int]
    tags: dict[str, int]
    confirmations: dict[str, int]
    setup_id: int


@pytest.fixture
async def entered(client: httpx.AsyncClient) -> httpx.AsyncClient:
    """The client of a journal in which all trades of the page are."""
    names = await named(client)
    trades: dict[str, Any] = {}
    for row in rows_under(PAGE, "trade"):
        number, _, original = row["trade"].partition(", a copy of ")
        trades[number] = await enter(client, row, names, trades[original]["id"] if original else None)
    return client


async def named(client: httpx.AsyncClient) -> Names:
    accounts = {
        name: (await create_account(client, name, starting_balance=balance))["id"]
        for name, balance in (("Main", 10_000), ("Second", 5_000))
    }
    category_id = (await create_category(client))["id"]
    tags = {
        name: (await create_tag(client, name, type=kind, category_id=category_id))["id"]
        for name, kind in (("FOMO", "mistake"), ("Late", "mistake"), ("Patient", "custom"))
    }
    checklist = [{"name": "Volume"}, {"name": "Trend"}]
    strategy = await create_strategy(client, setups=[{"name": "Break", "confirmations": checklist}])
    (setup,) = strategy["setups"]
    confirmations = {one["name"]: one["confirmation_id"] for one in setup["confirmations"]}
    return Names(accounts, tags, confirmations, setup["setup_id"])


async def enter(client: httpx.AsyncClient, row: dict[str, str], names: Names, original: int | None) -> Any:
    """The trade of that row, tagged, its checklist answered."""
    trade = unwrap(await client.post("/trades", json=sent_for(row, names, original)))
    assert trade["net_pnl"] == int(row["net P&L"])
    tag_ids = [names.tags[name] for name in words(row["tags"])]
    unwrap(await client.put(f"/trades/{trade['id']}/tags", json={"tag_ids": tag_ids}))
    present = [names.confirmations[name] for name in words(row["checklist"]) if name != "none"]
    answers = [{"confirmation_id": row_id, "was_present": True} for row_id in present]
    unwrap(await client.put(f"/trades/{trade['id']}/confirmations", json={"confirmations": answers}))
    return trade


def sent_for(row: dict[str, str], names: Names, original: int | None) -> dict[str, Any]:
    closed_at = f"{row['closed']}:00Z".replace(" ", "T")
    return {
        **A_TRADE,
        "account_id": names.accounts[row["account"]],
        "opened_at": closed_at,
        "closed_at": closed_at,
        "gross_pnl": int(row["gross P&L"]),
        "fees": int(row["fees"]),
        "initial_risk": int(row["risk"]) if row["risk"] else None,
        "grade": row["grade"] or None,
        "setup_id": names.setup_id if row["checklist"] else None,
        "source_trade_id": original,
    }


def words(cell: str) -> list[str]:
    return [word for word in cell.split(", ") if word]


def computed(expression: str) -> Fraction:
    """What the arithmetic of the page comes to."""
    python = expression.replace("×", "*")
    assert ARITHMETIC.fullmatch(re.sub(r"\b(min|max)\(", "(", python)), expression
    exact = re.sub(r"[0-9]+(\.[0-9]+)?", r"Fraction('\g<0>')", python)
    return Fraction(eval(exact, {"Fraction": Fraction, "min": min, "max": max}))


def to_eight_decimals(value: Fraction) -> Fraction:
    return Fraction(round(value * 10**8), 10**8)


async def snapshots_in(client: httpx.AsyncClient, month: dict[str, str]) -> dict[str, Any]:
    """The snapshot of that month by metric, of a goal for each metric of the page."""
    found = {}
    for metric in METRICS_OF_PAGE:
        goal = await create_goal(client, metric=metric)
        (found[metric],) = await snapshots_of(client, goal["id"], **month)
    return found


async def test_the_examples_are_what_the_service_answers(entered: httpx.AsyncClient) -> None:
    stated = {metric: Fraction(row["example"].split(" = ")[1]) for metric, row in METRICS_OF_PAGE.items()}

    found = await snapshots_in(entered, MARCH)

    assert {metric: Fraction(str(one["actual"])) for metric, one in found.items()} == stated


@pytest.mark.parametrize("metric", METRICS_OF_PAGE)
def test_the_arithmetic_of_an_example_comes_to_what_it_says(metric: str) -> None:
    expression, stated = METRICS_OF_PAGE[metric]["example"].split(" = ")

    assert to_eight_decimals(computed(expression)) == Fraction(stated)


async def test_without_a_trade_the_answers_are_those_of_the_last_column(entered: httpx.AsyncClient) -> None:
    stated = {metric: row["no trades"].removesuffix(", as before") for metric, row in METRICS_OF_PAGE.items()}

    found = await snapshots_in(entered, APRIL)

    reasons = {metric: one["snapshot_data"]["reason"] for metric, one in found.items()}
    assert {
        metric: f"null, `{reasons[metric]}`" if one["actual"] is None else str(one["actual"])
        for metric, one in found.items()
    } == stated


def test_the_running_total_is_that_of_the_trades() -> None:
    (told,) = re.findall(r"The running total of `max_drawdown` is ([-0-9, ]+)\.", PAGE.read_text())

    total = accumulate(int(row["net P&L"]) for row in rows_under(PAGE, "trade"))
    assert told == ", ".join(map(str, total))


async def test_the_snapshot_that_is_shown_is_the_one_that_is_answered(entered: httpx.AsyncClient) -> None:
    (block,) = blocks_of(PAGE, "json")
    shown = msgspec.json.decode(block)
    goal = await create_goal(entered, metric="win_rate", target_value=55)

    (snapshot,) = await snapshots_of(entered, goal["id"], **MARCH)

    assert list(shown) == list(snapshot)
    assert shown == {**snapshot, "computed_at": shown["computed_at"]}


@pytest.mark.parametrize("row", rows_under(PAGE, "goal"), ids=lambda row: row["goal"])
async def test_a_goal_stands_as_the_page_says(entered: httpx.AsyncClient, row: dict[str, str]) -> None:
    goal_match = re.fullmatch(r"`(\w+)` (at \w+) ([-0-9.]+)", row["goal"])
    assert goal_match
    metric, direction, target = goal_match.groups()
    with time_machine.travel("2026-03-06T18:00:00Z", tick=False):
        goal = await create_goal(
            entered, metric=metric, direction=direction.replace(" ", "_"), target_value=float(target)
        )
        (snapshot, *_) = await snapshots_of(entered, goal["id"])

    pace = snapshot["snapshot_data"]["pace"]
    assert (pace["state"], pace["days_left"]) == (code_in(row["`state`"])[0], 17)
    for member in ("remaining", "needed_per_day"):
        expression, _, stated = row[f"`{member}`"].rpartition(" = ")
        assert (
            stated == "null" or not expression or to_eight_decimals(computed(expression)) == Fraction(stated)
        )
        assert (stated == "null") == (pace[member] is None)
        assert stated == "null" or Fraction(str(pace[member])) == Fraction(stated)


def test_every_member_and_state_of_the_pace_is_explained() -> None:
    fields = [row["field"].strip("`") for row in rows_under(PAGE, "field")]
    states = {state for row in rows_under(PAGE, "kind") for state in code_in(row["states"])}

    assert fields == list(Pace.__struct_fields__)
    assert states == set(get_args(PaceState))


def test_every_metric_stands_in_the_table_of_its_unit() -> None:
    units: dict[str, list[str]] = {}
    for heading, body in re.findall(r"^### (\w+)\n(.*?)(?=^#)", PAGE.read_text(), re.M | re.S):
        units[heading.lower()] = re.findall(r"^\| `(\w+)` \|", body, re.M)

    assert {metric: unit for unit, metrics in units.items() for metric in metrics} == {
        key: metric.unit for key, metric in METRICS.items()
    }


def test_every_member_of_snapshot_data_is_explained() -> None:
    explained = [name for row in rows_under(PAGE, "member") for name in code_in(row["member"])]

    facts = [name for name in Statistics.__struct_fields__ if name not in INTERNAL]
    assert sorted(explained) == sorted(("unit", "timezone", "day_rollover", "reason", "pace", *facts))


def test_every_reason_and_timeframe_is_explained() -> None:
    reasons = [name for row in rows_under(PAGE, "reason") for name in code_in(row["reason"])]
    timeframes = [row["timeframe"].strip("`") for row in rows_under(PAGE, "timeframe")]

    assert sorted(reasons) == sorted(get_args(Reason))
    assert sorted(timeframes) == sorted(get_args(Timeframe))
