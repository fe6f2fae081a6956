"""The page of a report: its groups in order, their names and values."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

from msgspec import json

from journal_api.rules.edge import FEWEST, Edge, Sample, edge_of
from journal_api.structs.reports import EdgeReason, GroupBy, ReportQuery
from journal_api.values.holding_times import NAMES, RANGES
from journal_api.values.metrics import METRICS
from journal_api.values.money import decimal_json
from journal_api.values.statistics import NO_TRADES, ExtraStatistic, Statistics, statistics_shown

TOTAL = ""  # the number of the group of all selected trades
ANSWERS = ("present", "absent", "unanswered")
PERIODS = ("day", "week", "month", "quarter", "year")
IN_KEY_ORDER = (*PERIODS, "weekday", "hour", "holding")
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
Key = int | str | None


class Row(NamedTuple):
    """A row of the statement: the number of a group and its statistics in JSON, None for out of range.

    The number is the key in JSON; that of a confirmation is an array of its id and the answer. `squares` is
    the sum of the squares of the P&L of its decisions, for confirmations only.
    """

    number: str
    statistics: str | None
    squares: str | None = None


class Part(NamedTuple):
    """The statistics of a group, or of the decisions with one answer; None for out of range."""

    statistics: Statistics | None
    squares: int = 0


class Group(NamedTuple):
    """A group of a report. Its parts are by answer for a confirmation, otherwise only `all`."""

    key: Key
    parts: dict[str, Part]


class Names(NamedTuple):
    """The name of a group; of a confirmation also its setup and strategy."""

    name: str
    setup_id: int | None = None
    setup: str | None = None
    strategy_id: int | None = None
    strategy: str | None = None


class Page(NamedTuple):
    """The groups of one page, and the number of all groups."""

    total: Group
    groups: list[Group]
    group_count: int


def page_of(rows: Iterable[Row], query: ReportQuery) -> Page:
    """Return the page that the query requests."""
    groups: dict[Key, Group] = {}
    total = Group(None, {"all": Part(NO_TRADES)})
    for row in rows:
        part = Part(decoded(row.statistics), int(row.squares or 0))
        if row.number == TOTAL:
            total = Group(None, {"all": part})
            continue
        key, answer = json.decode(row.number), "all"
        if query.group_by == "confirmation":
            key, answer = key
        groups.setdefault(key, Group(key, {})).parts[answer] = part
    every = ordered(groups.values(), query)
    return Page(total, every[query.offset : query.offset + query.limit], len(every))


def decoded(statistics: str | None) -> Statistics | None:
    return None if statistics is None else json.decode(statistics, type=Statistics)


# Order ---------------------------------------------------------------------------------------------------


def ordered(groups: Iterable[Group], query: ReportQuery) -> list[Group]:
    """Return the groups by key, or by a metric with ties by key; groups without a key or a value are last."""
    by_key = sorted(groups, key=lambda group: (group.key is None, place(group.key, query.group_by)))
    if query.sort is None and query.group_by in IN_KEY_ORDER:
        return by_key
    sort = query.sort or "-net_pnl"
    sign = -1 if sort.startswith("-") else 1

    def rank(group: Group) -> tuple[bool, int]:
        value = sort_value(group, sort.removeprefix("-"))
        return value is None, sign * (value or 0)

    return sorted(by_key, key=rank)


def place(key: Key, group_by: GroupBy) -> Any:
    """Return what orders a key among the keys of a report."""
    if key is None:
        return 0
    return list(RANGES).index(str(key)) if group_by == "holding" else key


def sort_value(group: Group, metric: str) -> int | None:
    """Return the value by which a group is ordered: that of a confirmation is of the decisions with it."""
    if "all" in group.parts:
        return METRICS[metric].evaluate(group.parts["all"].statistics).actual
    if group.key is None:
        return None
    return METRICS[metric].evaluate(group.parts.get("present", Part(NO_TRADES)).statistics).actual


# JSON ----------------------------------------------------------------------------------------------------


def report_of(
    query: ReportQuery, page: Page, names: Mapping[Key, Names], timezone: str, day_rollover: str
) -> str:
    """Return the report as JSON."""
    return json.encode(
        {
            "group_by": query.group_by,
            "from": query.since and str(query.since),
            "to": query.until and str(query.until),
            "timezone": timezone,
            "day_rollover": day_rollover,
            "metrics": query.metrics,
            "total": {"key": None, "name": None, **values_of(page.total.parts["all"], query.metrics)},
            "groups": [group_of(group, names.get(group.key), query) for group in page.groups],
        }
    ).decode()


def group_of(group: Group, names: Names | None, query: ReportQuery) -> dict[str, object]:
    """Return the group as an object."""
    if query.group_by == "confirmation":
        return confirmation_of(group, names, query.metrics)
    name = names.name if names else name_of(group.key, query.group_by)
    return {"key": group.key, "name": name, **values_of(group.parts["all"], query.metrics)}


def confirmation_of(group: Group, names: Names | None, metrics: Sequence[str]) -> dict[str, object]:
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
        **{answer: values_of(part, metrics) for answer, part in parts.items()},
        "edge": edge_between(parts["present"], parts["absent"]),
    }


def edge_between(present: Part, absent: Part) -> dict[str, object]:
    """Return the edge as an object, with the numbers of decisions."""
    edge = edge_of_parts(present, absent)
    amounts = {name: decimal_json(getattr(edge, name)) for name in ("expectancy", "low", "high")}
    counts = {
        name: part.statistics and part.statistics.decisions
        for name, part in (("present", present), ("absent", absent))
    }
    return {**amounts, **counts, "reason": edge.reason}


def edge_of_parts(present: Part, absent: Part) -> Edge:
    """Return the edge, or why there is none."""
    if present.statistics is None or absent.statistics is None:
        return no_edge("out_of_range")
    if min(present.statistics.decisions, absent.statistics.decisions) < FEWEST:
        return no_edge("too_few")
    currencies = {present.statistics.currency, absent.statistics.currency}
    if len(currencies) > 1 or None in currencies:
        return no_edge("mixed_currencies")
    return edge_of(
        sample_of(present.statistics, present.squares), sample_of(absent.statistics, absent.squares)
    )


def no_edge(reason: EdgeReason) -> Edge:
    return Edge(None, None, None, reason)


def sample_of(statistics: Statistics, squares: int) -> Sample:
    return Sample(statistics.decisions, statistics.net_pnl, squares)


def values_of(part: Part, metrics: Sequence[str]) -> dict[str, object]:
    """Return the values of the metrics, the reasons of those without one, and the statistics."""
    values = {key: METRICS[key].evaluate(part.statistics) for key in metrics}
    extras: set[ExtraStatistic | None] = {METRICS[key].extra for key in metrics}
    return {
        "values": {key: decimal_json(value.actual) for key, value in values.items()},
        "reasons": {key: value.reason for key, value in values.items() if value.actual is None},
        "statistics": statistics_shown(part.statistics, extras),
    }


# Names ---------------------------------------------------------------------------------------------------


def name_of(key: Key, group_by: GroupBy) -> str | None:
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
            return NAMES[str(key)]
        case _:
            return str(key)
