"""A report as CSV, with all digits."""

import csv
import io
from collections.abc import Iterator
from typing import Any

from journal_api.cli.common import printable
from journal_api.imports.spreadsheets import harmless
from journal_api.metrics.groupings import find_grouping
from journal_api.statistics.report_groups import ANSWERS

EDGES = ("edge", "edge_r", "difference")
EDGE_MEMBERS = ("expectancy", "low", "high", "p", "q", "verdict", "more_needed")
ENDS = ("low", "high")
# The columns of one key and of two.
KEYS = {1: ("key", "name"), 2: ("key_1", "key_2", "name_1", "name_2")}


def format_csv(report: Any) -> str:
    """Return a row for each group, or for each answer to a confirmation, and last the total."""
    output = io.StringIO()
    writer = csv.DictWriter(output, list_columns(report), lineterminator="\n")
    writer.writeheader()
    for group in report["groups"]:
        if "present" in group:
            writer.writerows(build_confirmation_rows(group))
        else:
            writer.writerow({**build_key_cells(group), **build_value_cells(group), **build_edge_cells(group)})
    total = {**build_value_cells(report["total"]), **build_edge_cells(report["total"])}
    writer.writerow({**total, KEYS[len(list_keys(report))][-1]: "total"})
    return output.getvalue()


def list_columns(report: Any) -> list[str]:
    """Return the columns; what is not in a row stays empty."""
    group_by, metrics = list_keys(report), report["metrics"]
    names = ["setup", "strategy", "answer", "edge", "edge_low", "edge_high"]
    intervals = [f"{metric}_{end}" for metric in metrics if metric in report["total"]["intervals"] for end in ENDS]
    compared = [*(EDGES[:2] if find_grouping(group_by).compares else ()), *report["total"].keys() & set(EDGES[2:])]
    edges = [name_edge(edge, member) for edge in compared for member in EDGE_MEMBERS]
    columns = [
        *KEYS[len(group_by)],
        *(names if "confirmation" in group_by else ()),
        *(*metrics, *intervals, *edges),
        *(f"{metric}_before" for metric in metrics if "before" in report["total"]),
    ]
    return list(dict.fromkeys(columns))


def list_keys(report: Any) -> tuple[str, ...]:
    by = report["group_by"]
    return (by,) if isinstance(by, str) else tuple(by)


def name_edge(edge: str, member: str) -> str:
    return edge if member == "expectancy" else f"{edge}_{member}"


def build_key_cells(group: Any) -> dict[str, object]:
    """Return the key and the name of a group by column, or both of each of two keys."""
    keys, names = group.get("keys", [group.get("key")]), group.get("names", [group.get("name")])
    ids = [key["confirmation_id"] if isinstance(key, dict) else key for key in keys]
    return dict(zip(KEYS[len(keys)], map(build_text_cell, (*ids, *names)), strict=True))


def build_confirmation_rows(group: Any) -> Iterator[dict[str, object]]:
    names = {name: build_text_cell(group[name]) for name in ("setup", "strategy") if name in group}
    for answer in ANSWERS:
        # The edge compares two answers, and is in the row of the first.
        edge = build_edge_cells(group) if answer == "present" else {}
        yield {**build_key_cells(group), **names, "answer": answer, **build_value_cells(group[answer]), **edge}


def build_value_cells(values: Any) -> dict[str, object]:
    """Return the values of the metrics and the ends of their intervals, by column."""
    intervals = {
        f"{metric}_{end}": interval[end] for metric, interval in values["intervals"].items() if interval for end in ENDS
    }
    return {**values["values"], **intervals}


def build_edge_cells(group: Any) -> dict[str, object]:
    """Return the edges of the group by column, if it has any, and its values in another range."""
    before = group.get("before") or {"values": {}}
    edges = {name_edge(edge, member): group[edge][member] for edge in EDGES if edge in group for member in EDGE_MEMBERS}
    return {**edges, **{f"{metric}_before": value for metric, value in before["values"].items()}}


def build_text_cell(value: object) -> object:
    """Return a text that no spreadsheet reads as a formula and no terminal obeys, anything else as it is."""
    return printable(harmless(value)) if isinstance(value, str) else value
