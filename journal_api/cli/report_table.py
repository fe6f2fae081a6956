"""A report as a table for the terminal."""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any

from journal_api.cli.common import printable
from journal_api.cli.text_width import fit_text, text_width
from journal_api.metrics.formulas import Unit
from journal_api.metrics.inference import EdgeVerdict
from journal_api.metrics.metrics import METRICS

WIDTH, MIN_NAME_WIDTH, GAP = 80, 12, "  "
DECIMALS: dict[Unit, int] = {"currency": 2, "percent": 1, "ratio": 2, "count": 0}
VERDICTS: dict[EdgeVerdict | None, str] = {
    "more": "earns more",
    "less": "earns less",
    "not_shown": "not shown",
    "too_few": "too few",
    None: "-",
}
NEEDED = "Needed: about how many more trades would make the difference clear.\n"


def format_table(report: Any) -> str:
    """Return the values of the groups, and the edges of those that are compared."""
    compared = [group for group in report["groups"] if "edge" in group and group.get("key", 0) is not None]
    beside = f"\n{format_ranges(report)}" if "difference" in report["total"] else ""
    if "confirmation" in report["group_by"]:
        return (format_edges(compared) if compared else "Nothing to compare: no trade has a checklist.\n") + beside
    return format_values(report) + (f"\n{format_edges(compared)}" if compared else "") + beside


def name_group(group: Any) -> str:
    return ", ".join(name or "(none)" for name in group.get("names", [group.get("name")]))


def reasons_line(reasons: Iterable[str | None]) -> str:
    """Return a line that says why values are missing, nothing if none is."""
    words = sorted({reason.replace("_", " ") for reason in reasons if reason})
    return f"- means: {', '.join(words)}\n" if words else ""


# Values --------------------------------------------------------------------------------------------------


def format_values(report: Any) -> str:
    metrics = report["metrics"]
    shown = [*((name_group(group), group) for group in report["groups"]), ("Total", report["total"])]
    rows = [row for name, group in shown for row in value_rows(name, group, metrics)]
    reasons = {reason for _, group in shown for reason in group["reasons"].values()}
    return align_rows([["", *(METRICS[metric].title for metric in metrics)], *rows]) + reasons_line(reasons)


def value_rows(name: str, group: Any, metrics: Sequence[str]) -> Iterator[list[str]]:
    """Return a row of values, and below it a row of their intervals if there is any."""
    yield [name, *(format_cell(group["values"][metric], METRICS[metric].unit) for metric in metrics)]
    intervals = [format_interval(group, metric) for metric in metrics]
    if any(intervals):
        yield ["", *intervals]


def format_cell(value: Decimal | int | None, unit: Unit) -> str:
    """Return the value rounded for its unit, `-` for null."""
    if value is None:
        return "-"
    return f"{Decimal(value):.{DECIMALS[unit]}f}{'%' if unit == 'percent' else ''}"


def format_interval(group: Any, metric: str) -> str:
    """Return the interval as ± half of it if the mean is in its middle, else from end to end."""
    interval, value, unit = group["intervals"].get(metric), group["values"][metric], METRICS[metric].unit
    if interval is None:
        return ""
    if unit == "percent":
        return f"{interval['low']:.0f}-{interval['high']:.0f}%"
    below, above = (format_cell(abs(interval[end] - value), unit) for end in ("low", "high"))
    ends = (format_cell(interval[end], unit) for end in ("low", "high"))
    return f"±{above}" if below == above else "..".join(ends)


# Edges ---------------------------------------------------------------------------------------------------


def format_edges(groups: Sequence[Any]) -> str:
    """Return the difference between the decisions with and without something, and what it proves."""
    return format_differences(("Present", "Absent", "Edge"), [(name_group(one), one["edge"]) for one in groups])


def format_ranges(report: Any) -> str:
    """Return the difference between the groups now and in the other range."""
    groups = [(name_group(group), group["difference"]) for group in report["groups"]]
    return format_differences(("Now", "Before", "Difference"), [*groups, ("Total", report["total"]["difference"])])


def format_differences(head: Sequence[str], named: Sequence[tuple[str, Any]]) -> str:
    head = ["", *head, "±", "q", "Verdict", "Needed"]
    rows = [build_edge_cells(name, edge) for name, edge in named]
    edges = [edge for _, edge in named]
    reasons = {edge["reason"] for edge in edges} - {"too_few"}
    needed = NEEDED if any(edge["more_needed"] for edge in edges) else ""
    return align_rows([head, *rows]) + reasons_line(reasons) + needed


def build_edge_cells(name: str, edge: Any) -> list[str]:
    margin = None if edge["low"] is None else (edge["high"] - edge["low"]) / 2
    return [
        name,
        *(format_cell(edge[side], "count") for side in ("present", "absent")),
        *(format_cell(amount, "currency") for amount in (edge["expectancy"], margin)),
        format_rate(edge["q"]),
        VERDICTS[edge["verdict"]],
        format_cell(edge["more_needed"], "count"),
    ]


def format_rate(rate: Decimal | None) -> str:
    if rate is None:
        return "-"
    return "<0.001" if rate < Decimal("0.0005") else f"{rate:.3f}"


# Alignment -----------------------------------------------------------------------------------------------


def align_rows(rows: Sequence[Sequence[str]]) -> str:
    """Lines of at most WIDTH: the first column to the left and cut, down to MIN_NAME_WIDTH, the others to the right."""
    cells = [[printable(text) for text in row] for row in rows]
    first, *others = (max(map(text_width, column)) for column in zip(*cells, strict=True))
    room = max(MIN_NAME_WIDTH, WIDTH - sum(width + len(GAP) for width in others))
    return "".join(format_line(row, [min(first, room), *others]) + "\n" for row in cells)


def format_line(row: Sequence[str], widths: Sequence[int]) -> str:
    name = fit_text(row[0], widths[0])
    numbers = (text.rjust(width) for text, width in zip(row[1:], widths[1:], strict=True))
    return GAP.join((name, *numbers)).rstrip()
