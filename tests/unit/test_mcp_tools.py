"""The table of tools against the route table: the API ignores query parameters that it does not know."""

import pytest
from openapi.schemas import query_schemas

from journal_api.mcp.tools import PAGE, TOOLS
from journal_api.routes.table import OPERATIONS
from journal_api.structs.reports import REPORTED
from journal_api.values.metrics import METRICS
from journal_api.values.types import Text

PAGED_HERE = {"goals_now", "list_strategies"}  # the API answers these lists whole


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("goals_now", "/v1/goals"),
        ("list_trades", "/v1/trades"),
        ("list_strategies", "/v1/strategies"),
        ("snapshots", "/v1/goals/{id}/snapshots"),
        ("report", "/v1/reports"),
    ],
)
def test_every_argument_is_a_query_parameter_or_the_id_in_the_path(name: str, path: str) -> None:
    (tool,) = [tool for tool in TOOLS if tool.name == name]
    (operation,) = [one for one in OPERATIONS if (one.method, one.documented_path) == ("GET", path)]
    assert operation.query is not None

    own = {"limit", "offset"} if name in PAGED_HERE else set()

    assert set(tool.properties) - {*tool.required, *own} <= set(query_schemas(operation.query))


def test_notes_may_be_as_long_as_the_api_allows() -> None:
    (annotate,) = [tool for tool in TOOLS if tool.writes]

    assert annotate.properties["notes"]["maxLength"] == Text.longest


def test_reports_have_all_metrics_but_those_that_need_a_balance() -> None:
    assert set(METRICS) - set(REPORTED) == {"balance_target"}


def test_a_page_is_what_the_arguments_accept() -> None:
    assert PAGE == {
        "limit": {"type": "integer", "minimum": 1, "maximum": 200, "default": 20},
        "offset": {"type": "integer", "minimum": 0, "default": 0},
    }
