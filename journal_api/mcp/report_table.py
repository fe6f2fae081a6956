"""A report as a table, which takes a third of the tokens: metrics are named once, and nulls left out."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from journal_api.mcp.results import without_nulls
from journal_api.statistics.report_groups import ANSWERS

EDGES, SIZES = ("edge", "edge_r"), ("present", "absent")
# The members of a report and of a group that stay as they are, those that are null left out.
ABOUT_REPORT, NAMES = ("group_by", "from", "to"), ("keys", "name", "names", "setup", "strategy")


def build_table(report: Any) -> dict[str, Any]:
    """The report with a row of cells for each group, in the order of `columns`."""
    metrics, currency = report["metrics"], find_statistic(report["total"], "currency")
    within = report["breakeven_within"]
    return {
        **without_nulls({name: report[name] for name in ABOUT_REPORT}),
        **({"breakeven_within": within} if within else {}),
        **without_nulls({"currency": currency}),
        "columns": ["decisions", *metrics],
        "total": build_row(report["total"], metrics),
        **build_before(report["total"], metrics, "total_"),
        "groups": [build_group(group, metrics, currency) for group in report["groups"]],
    }


def build_group(group: Any, metrics: Sequence[str], currency: str | None) -> dict[str, Any]:
    """The names, rows and edges of a group, and its currency if the report has another."""
    names = without_nulls({name: group.get(name) for name in NAMES})
    if "values" in group:
        own = find_statistic(group, "currency")
        other = {"currency": own} if own not in (None, currency) else {}
        row = {"row": build_row(group, metrics)}
        key = {"key": group["key"]} if "key" in group else {}
        return {**key, **names, **other, **row, **build_edges(group, {}), **build_before(group, metrics)}
    sizes = {answer: find_statistic(group[answer], "decisions") for answer in ANSWERS}
    rows = {answer: build_row(group[answer], metrics) for answer in ANSWERS if sizes[answer] != 0}
    key = {} if "keys" in group else group["key"] or {"key": None}
    return {**key, **names, **rows, **build_edges(group, sizes), **build_before(group, metrics)}


def build_before(group: Any, metrics: Sequence[str], prefix: str = "") -> dict[str, Any]:
    """The row of the group in another range, and the difference; none without another range."""
    if "difference" not in group:
        return {}
    before = group["before"]
    row = before and [before["trade_count"], *(build_cell({**before, "reasons": {}}, metric) for metric in metrics)]
    return {f"{prefix}before": row, f"{prefix}difference": build_edge(group["difference"], {})}


def build_row(values: Any, metrics: Sequence[str]) -> list[Any]:
    return [find_statistic(values, "decisions"), *(build_cell(values, metric) for metric in metrics)]


def build_cell(values: Any, metric: str) -> Any:
    """The value, [value, low, high] with its interval, or the reason why there is no value."""
    value, interval = values["values"][metric], values["intervals"].get(metric)
    if value is None:
        return values["reasons"].get(metric)
    return [shorten(one) for one in (value, interval["low"], interval["high"])] if interval else shorten(value)


def build_edges(group: Any, sizes: Mapping[str, int | None]) -> dict[str, Any]:
    """The edges of a group that has a key, `edge_r` if it says more. Known sizes are not said again."""
    edges: dict[str, Any] = {}
    for name in EDGES:
        if name in group and group.get("key", 0) is not None:
            edge = build_edge(group[name], sizes)
            sizes = group[name]
            if edge not in edges.values():
                edges[name] = edge
    return edges


def build_edge(edge: Any, sizes: Mapping[str, int | None]) -> dict[str, Any]:
    """The difference with its interval. `q` says what `p` says, with the other lines in mind."""
    numbers = [shorten(edge[name]) for name in ("expectancy", "low", "high")]
    known = {
        "expectancy": numbers if None not in numbers else None,
        "q": edge["q"] and round(edge["q"], 4),
        "verdict": edge["verdict"],
        "more_needed": edge["more_needed"],
        "moves_with": edge["moves_with"] and build_neighbour(edge["moves_with"]),
        "reason": edge["reason"] if edge["reason"] != edge["verdict"] else None,
        **{size: edge[size] for size in SIZES if edge[size] != sizes.get(size)},
    }
    return {name: member for name, member in known.items() if member is not None}


def build_neighbour(line: Any) -> dict[str, Any]:
    return {"name": line["name"], "agreement": shorten(line["agreement"]), "p": round(line["p"], 4)}


def find_statistic(values: Any, name: str) -> Any:
    """A statistic; None if a sum is too large for statistics."""
    return values["statistics"].get(name)


def shorten(number: Any) -> Any:
    """The number with two decimals, below 1 with three digits; anything else as it is."""
    if not isinstance(number, Decimal):
        return number
    short = round(number, 2 if abs(number) >= 1 or not number else 2 - number.adjusted())
    return int(short) if short == int(short) else short.normalize()
