"""The page of a report: its groups in order, their names and values."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from typing import Any, NamedTuple, get_args

from msgspec import json

from journal_api.rules.edge import Edge, Sample, compute_edge
from journal_api.rules.report_groups import ANSWERS, TOTAL, GroupPart, Key
from journal_api.rules.statistics import Collected
from journal_api.structs.reports import GroupBy, OrderedGroup, ReportQuery
from journal_api.values.metrics import METRICS
from journal_api.values.money import decimal_json
from journal_api.values.statistics import NO_TRADES, ExtraStatistic, Statistics, show_statistics

# The ranges of holding times: the upper bound, which is exclusive, and the name.
HOLDING_TIMES = {
    "under_1m": (timedelta(minutes=1), "under 1 min"),
    "1m_5m": (timedelta(minutes=5), "1 to 5 min"),
    "5m_15m": (timedelta(minutes=15), "5 to 15 min"),
    "15m_1h": (timedelta(hours=1), "15 min to 1 h"),
    "1h_4h": (timedelta(hours=4), "1 to 4 h"),
    "4h_1d": (timedelta(days=1), "4 h to 1 day"),
    "over_1d": (timedelta.max, "1 day and more"),
}
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class Part(NamedTuple):
    """The statistics of a group, or of the decisions with one answer; None for out of range."""

    statistics: Statistics | None
    squares: int = 0


class Group(NamedTuple):
    """A group of a report. Its parts are by answer for a confirmation, otherwise only `all`."""

    key: Key
    parts: dict[str, Part]


class Names(NamedTuple):
    """The name of a group; for a confirmation also its setup and strategy."""

    name: str
    setup_id: int | None = None
    setup: str | None = None
    strategy_id: int | None = None
    strategy: str | None = None


class Page(NamedTuple):
    """The groups of one page, and how many groups there are."""

    total: Group
    groups: list[Group]
    group_count: int


def build_page(collected: Mapping[GroupPart, Collected], query: ReportQuery) -> Page:
    """Return the page that the query requests."""
    groups: dict[Key, Group] = {}
    total = Group(None, {"all": Part(NO_TRADES)})
    for group_part, found in collected.items():
        part = Part(found.compute(), found.squares)
        if group_part == TOTAL:
            total = Group(None, {"all": part})
        else:
            group = groups.setdefault(group_part.key, Group(group_part.key, {}))
            group.parts[group_part.answer] = part
    every = sort_groups(groups.values(), query)
    return Page(total, every[query.offset : query.offset + query.limit], len(every))


# Order ---------------------------------------------------------------------------------------------------


def sort_groups(groups: Iterable[Group], query: ReportQuery) -> list[Group]:
    """Return the groups by key, or by a metric with ties by key; groups without a key or a value are last."""
    by_key = sorted(groups, key=lambda group: (group.key is None, find_place(group.key, query.group_by)))
    if query.sort is None and query.group_by in get_args(OrderedGroup):
        return by_key
    sort = query.sort or "-net_pnl"
    sign = -1 if sort.startswith("-") else 1

    def rank(group: Group) -> tuple[bool, int]:
        value = find_sort_value(group, sort.removeprefix("-"))
        return value is None, sign * (value or 0)

    return sorted(by_key, key=rank)


def find_place(key: Key, group_by: GroupBy) -> Any:
    """Return what orders a key among the keys of a report."""
    if key is None:
        return 0
    return list(HOLDING_TIMES).index(str(key)) if group_by == "holding" else key


def find_sort_value(group: Group, metric: str) -> int | None:
    """Return the value by which a group is sorted; a confirmation is sorted by the decisions with it."""
    if "all" in group.parts:
        return METRICS[metric].evaluate(group.parts["all"].statistics).actual
    if group.key is None:
        return None
    return METRICS[metric].evaluate(group.parts.get("present", Part(NO_TRADES)).statistics).actual


# JSON ----------------------------------------------------------------------------------------------------


def build_report(
    query: ReportQuery,
    page: Page,
    names: Mapping[Key, Names],
    timezone: str,
    day_rollover: str,
    breakeven_within: int,
) -> str:
    """Return the report as JSON."""
    return json.encode(
        {
            "group_by": query.group_by,
            "from": query.since and str(query.since),
            "to": query.until and str(query.until),
            "timezone": timezone,
            "day_rollover": day_rollover,
            "breakeven_within": decimal_json(breakeven_within),
            "metrics": query.metrics,
            "total": {"key": None, "name": None, **build_values(page.total.parts["all"], query.metrics)},
            "groups": [build_group(group, names.get(group.key), query) for group in page.groups],
        }
    ).decode()


def build_group(group: Group, names: Names | None, query: ReportQuery) -> dict[str, object]:
    """Return the group as an object."""
    if query.group_by == "confirmation":
        return build_confirmation_group(group, names, query.metrics)
    name = names.name if names else format_key(group.key, query.group_by)
    return {"key": group.key, "name": name, **build_values(group.parts["all"], query.metrics)}


def build_confirmation_group(group: Group, names: Names | None, metrics: Sequence[str]) -> dict[str, object]:
    """Return the group of a confirmation, or of the decisions without a checklist, as an object."""
    key = names and {
        "confirmation_id": group.key,
        "setup_id": names.setup_id,
        "strategy_id": names.strategy_id,
    }
    parts = {answer: group.parts.get(answer, Part(NO_TRADES)) for answer in ANSWERS}
    return {
        "key": key,
        "name": names and names.name,
        "setup": names and names.setup,
        "strategy": names and names.strategy,
        **{answer: build_values(part, metrics) for answer, part in parts.items()},
        "edge": build_edge(parts["present"], parts["absent"]),
    }


def build_edge(present: Part, absent: Part) -> dict[str, object]:
    """Return the edge as an object, with the numbers of decisions."""
    edge = compare_parts(present, absent)
    amounts = {name: decimal_json(getattr(edge, name)) for name in ("expectancy", "low", "high")}
    counts = {
        name: part.statistics and part.statistics.decisions
        for name, part in (("present", present), ("absent", absent))
    }
    return {**amounts, **counts, "reason": edge.reason}


def compare_parts(present: Part, absent: Part) -> Edge:
    """Return the edge, or why there is none."""
    if present.statistics is None or absent.statistics is None:
        return Edge(reason="out_of_range")
    edge = compute_edge(
        Sample(present.statistics.decisions, present.statistics.net_pnl, present.squares),
        Sample(absent.statistics.decisions, absent.statistics.net_pnl, absent.squares),
    )
    currencies = {present.statistics.currency, absent.statistics.currency}
    is_mixed = len(currencies) > 1 or None in currencies
    return Edge(reason="mixed_currencies") if is_mixed and edge.reason is None else edge


def build_values(part: Part, metrics: Sequence[str]) -> dict[str, object]:
    """Return the values of the metrics, the reasons of those without one, and the statistics."""
    values = {key: METRICS[key].evaluate(part.statistics) for key in metrics}
    extras: set[ExtraStatistic | None] = {METRICS[key].extra for key in metrics}
    return {
        "values": {key: decimal_json(value.actual) for key, value in values.items()},
        "reasons": {key: value.reason for key, value in values.items() if value.actual is None},
        "statistics": show_statistics(part.statistics, extras),
    }


# Names ---------------------------------------------------------------------------------------------------


def format_key(key: Key, group_by: GroupBy) -> str | None:
    """Return the name of a key that is not the id of a row."""
    if key is None:
        return None
    match group_by:
        case "week":
            year, week, _ = date.fromisoformat(str(key)).isocalendar()
            return f"{year:04}-W{week:02}"
        case "month":
            return str(key)[:7]
        case "quarter":
            return f"{str(key)[:4]}-Q{(int(str(key)[5:7]) + 2) // 3}"
        case "year":
            return str(key)[:4]
        case "weekday":
            return WEEKDAYS[int(key) - 1]
        case "hour":
            return f"{key:02}:00"
        case "holding":
            return HOLDING_TIMES[str(key)][1]
        case _:
            return str(key)
