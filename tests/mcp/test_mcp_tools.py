"""What tools keep of the API's answers as JSON, and their table against the route table."""

import json
from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from openapi.schemas import query_schemas
from saved_journals import for_rows

from journal_api.mcp.report_table import build_table, shorten
from journal_api.mcp.results import MAX_LIST_LENGTH, build_page, encode
from journal_api.mcp.tools import PAGE, TOOLS
from journal_api.routes.table import OPERATIONS
from journal_api.values.types import LongText, Text


@given(st.lists(st.none() | st.booleans() | st.integers() | st.text(), max_size=4))
def test_the_json_says_what_the_value_says(value: Any) -> None:
    assert json.loads(encode({"value": value})) == {"value": value}


def test_a_row_that_is_too_long_is_a_page_alone() -> None:
    assert build_page("trades", ["x" * 2 * MAX_LIST_LENGTH, "y"], 0, 2)["trades"] == ["x" * 2 * MAX_LIST_LENGTH]


EDGE: dict[str, Any] = {
    "expectancy": Decimal(110),
    "low": Decimal("4.36"),
    "high": Decimal("215.64"),
    "p": Decimal("0.0448"),
    "q": Decimal("0.0447968880693"),
    "verdict": "more",
    "more_needed": None,
    "present": 10,
    "absent": 10,
    "reason": None,
    "moves_with": {"id": 7, "name": "Trend", "agreement": Decimal("81.51234"), "p": Decimal("0.0123456")},
}
NO_EDGE = {**dict.fromkeys(EDGE), "verdict": "too_few", "present": 3, "absent": 10, "reason": "too_few"}


def values_of(decisions: int, *, currency: str | None = "USD", **members: Any) -> dict[str, Any]:
    """The values of a group of a report."""
    nothing: dict[str, Any] = {"values": {}, "reasons": {}, "intervals": {}, "interval_reasons": {}}
    return {**nothing, **members, "statistics": {"decisions": decisions, "currency": currency, "wins": 2}}


def report_of(*groups: dict[str, Any], metrics: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        "group_by": "setup",
        **dict.fromkeys(("from", "to")),
        "breakeven_within": 0,
        "metrics": metrics,
        "total": values_of(9, values=dict.fromkeys(metrics, 1)),
        "groups": groups,
    }


def test_a_row_has_values_intervals_and_reasons_in_the_order_of_the_columns() -> None:
    group = values_of(
        8,
        values={"win_rate": Decimal("50.12345"), "net_pnl": None, "expectancy": Decimal("-0.0123456")},
        reasons={"net_pnl": "mixed_currencies"},
        intervals={"win_rate": {"low": Decimal("21.5"), "high": 80, "n": 8}, "expectancy": None},
        interval_reasons={"expectancy": "too_few"},
        currency="EUR",
    )
    columns = ("win_rate", "net_pnl", "expectancy")

    table = build_table(report_of({"key": 3, "name": "Break", "strategy": "Opening range", **group}, metrics=columns))

    assert json.loads(encode(table)) == {
        "group_by": "setup",
        "currency": "USD",
        "columns": ["decisions", *columns],
        "total": [9, 1, 1, 1],
        "groups": [
            {
                "key": 3,
                "name": "Break",
                "strategy": "Opening range",
                "currency": "EUR",
                "row": [8, [50.12, 21.5, 80], "mixed_currencies", -0.0123],
            }
        ],
    }


def test_a_group_without_a_key_says_so_and_what_the_query_and_the_owner_chose_is_there() -> None:
    group = {"key": None, "name": None, **values_of(2), "edge": NO_EDGE, "edge_r": NO_EDGE}

    table = build_table({**report_of(group), "from": "2026-01-01", "breakeven_within": Decimal("1.5")})

    assert table["groups"] == [{"key": None, "row": [2]}]
    assert (table["from"], table["breakeven_within"]) == ("2026-01-01", Decimal("1.5"))
    assert "to" not in table


def test_a_confirmation_has_the_answers_that_were_given_and_its_edges_without_repetition() -> None:
    key = {"confirmation_id": 1, "setup_id": 2, "strategy_id": 3}
    names = {"name": "Volume", "setup": "Break", "strategy": "Opening range"}
    answers = {"present": values_of(10), "absent": values_of(10), "unanswered": values_of(0, currency=None)}
    in_r = {**EDGE, "expectancy": Decimal("1.5"), "low": 1, "high": 2, "absent": 8, "more_needed": 7}

    of_both, of_few = (
        build_table(report_of({"key": key, **names, **answers, "edge": one, "edge_r": other}))["groups"][0]
        for one, other in ((EDGE, in_r), (NO_EDGE, NO_EDGE))
    )

    rows = {**key, **names, "present": [10], "absent": [10]}
    trend = {"name": "Trend", "agreement": Decimal("81.51"), "p": Decimal("0.0123")}
    verdict = {"q": Decimal("0.0448"), "verdict": "more", "moves_with": trend}
    edge_r = {"expectancy": [Decimal("1.5"), 1, 2], **verdict, "more_needed": 7, "absent": 8}
    edge = {"expectancy": [110, Decimal("4.36"), Decimal("215.64")], **verdict}
    assert of_both == {**rows, "edge": edge, "edge_r": edge_r}
    assert of_few == {**rows, "edge": {"verdict": "too_few", "present": 3}, "edge_r": {"verdict": "too_few"}}


@for_rows(
    "number, short",
    [
        ("0", "0"),
        ("12", "12"),
        ("12.87268293", "12.87"),
        ("-400.4600", "-400.46"),
        ("99.999", "100"),
        ("0.28765881", "0.288"),
        ("-0.00012345", "-0.000123"),
        ("0.99999", "1"),
        ("123456789012.345", "123456789012.34"),
    ],
)
def test_a_number_has_the_digits_that_a_conclusion_needs(number: str, short: str) -> None:
    assert encode(shorten(Decimal(number))) == short


PAGED_HERE = {"goals_now", "list_strategies"}  # the API answers these lists whole


@for_rows(
    "name, path",
    [
        ("goals_now", "/v1/goals"),
        ("list_trades", "/v1/trades"),
        ("list_strategies", "/v1/strategies"),
        ("snapshots", "/v1/goals/{id}/snapshots"),
        ("report", "/v1/reports"),
        ("exits", "/v1/exits"),
    ],
)
def test_every_argument_is_a_query_parameter_or_the_id_in_the_path(name: str, path: str) -> None:
    (tool,) = [tool for tool in TOOLS if tool.name == name]
    (operation,) = [one for one in OPERATIONS if (one.method, one.documented_path) == ("GET", path)]
    assert operation.query is not None

    own = {"limit", "offset"} if name in PAGED_HERE else set()

    assert set(tool.properties) - {*tool.required, *own} <= set(query_schemas(operation.query))


def test_notes_may_be_as_long_as_the_api_allows() -> None:
    review, annotate = [tool.properties for tool in TOOLS if tool.writes]

    assert annotate["notes"]["maxLength"] == Text.max_length
    assert review["review"]["maxLength"] == LongText.max_length


def test_a_page_is_what_the_arguments_accept() -> None:
    assert PAGE == {
        "limit": {"type": "integer", "minimum": 1, "maximum": 200, "default": 20},
        "offset": {"type": "integer", "minimum": 0, "default": 0},
    }


def test_a_group_of_two_keys_has_both_and_an_edge() -> None:
    group = {"keys": [1, None], "names": ["Monday", None], **values_of(20), "edge": EDGE, "edge_r": EDGE}

    (row,) = build_table({**report_of(group), "group_by": ["weekday", "grade"]})["groups"]

    assert (row["keys"], row["names"], row["edge"]["verdict"]) == ([1, None], ["Monday", None], "more")
    assert "key" not in row
