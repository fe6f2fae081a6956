"""The page of a report: its groups in order, their names and values."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import json

from journal_api.metrics.groupings import GROUPINGS, GroupBy
from journal_api.metrics.members import ExtraStatistic, show_statistics
from journal_api.metrics.metrics import METRICS
from journal_api.statistics.comparisons import (
    Edges,
    Part,
    Parts,
    build_edge,
    build_intervals,
    compare_parts,
    find_sides,
)
from journal_api.statistics.fold import Collected
from journal_api.statistics.report_groups import ANSWERS, TOTAL, GroupPart, Key
from journal_api.structs.reports import ReportQuery
from journal_api.values.money import decimal_json


class Group(NamedTuple):
    """A group of a report. Its parts are by answer for a confirmation, otherwise only `all`."""

    key: Key
    parts: dict[str, Part]


class Names(NamedTuple):
    """The name of a group; for a confirmation also its setup and strategy, for a setup its strategy."""

    name: str
    setup_id: int | None = None
    setup: str | None = None
    strategy_id: int | None = None
    strategy: str | None = None


class Page(NamedTuple):
    """The groups of one page, how many groups there are, and the edges of all of them."""

    total: Part
    groups: list[Group]
    group_count: int
    edges: dict[Key, Edges]

    @property
    def named(self) -> set[Key]:
        """The keys whose names the page shows."""
        keys = {group.key for group in self.groups}
        return keys.union(*(self.edges[key].neighbours for key in keys & self.edges.keys()))


def build_page(collected: Mapping[GroupPart, Collected], sums: Parts, query: ReportQuery) -> Page:
    parts = {one: Part(found.compute(), found.samples, found.shared) for one, found in collected.items()}
    groups: dict[Key, Group] = {}
    for one, part in parts.items():
        if one != TOTAL:
            groups.setdefault(one.key, Group(one.key, {})).parts[one.answer] = part
    every = sort_groups(groups.values(), query)
    page = every[query.offset : query.offset + query.limit]
    edges = compare_parts(find_sides(parts, query.group_by), query.group_by, sums)
    return Page(parts.get(TOTAL, Part()), page, len(every), edges)


# Order ---------------------------------------------------------------------------------------------------


def sort_groups(groups: Iterable[Group], query: ReportQuery) -> list[Group]:
    """Return the groups by key, or by a metric with ties by key; groups without a key or a value are last."""
    by_key = sorted(groups, key=lambda group: (group.key is None, find_place(group.key, query.group_by)))
    if query.sort is None and GROUPINGS[query.group_by].is_ordered:
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
    names = GROUPINGS[group_by].names
    return list(names).index(key) if names else key


def find_sort_value(group: Group, metric: str) -> int | None:
    """Return the value by which a group is sorted; a confirmation is sorted by the decisions with it."""
    if "all" in group.parts:
        return METRICS[metric].evaluate(group.parts["all"].statistics).actual
    if group.key is None:
        return None
    return METRICS[metric].evaluate(group.parts.get("present", Part()).statistics).actual


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
            "total": {"key": None, "name": None, **build_values(page.total, query.metrics)},
            "groups": [
                {
                    **build_group(group, names.get(group.key), query),
                    **build_edges(page.edges.get(group.key), names),
                }
                for group in page.groups
            ],
        }
    ).decode()


def build_group(group: Group, names: Names | None, query: ReportQuery) -> dict[str, object]:
    if query.group_by == "confirmation":
        return build_confirmation_group(group, names, query.metrics)
    name = names.name if names else format_key(group.key, query.group_by)
    strategy = {"strategy": names.strategy} if names and names.strategy else {}
    return {"key": group.key, "name": name, **strategy, **build_values(group.parts["all"], query.metrics)}


def build_confirmation_group(group: Group, names: Names | None, metrics: Sequence[str]) -> dict[str, object]:
    """Return the group of a confirmation, or of the decisions without a checklist, as an object."""
    key = names and {
        "confirmation_id": group.key,
        "setup_id": names.setup_id,
        "strategy_id": names.strategy_id,
    }
    parts = {answer: group.parts.get(answer, Part()) for answer in ANSWERS}
    return {
        "key": key,
        "name": names and names.name,
        "setup": names and names.setup,
        "strategy": names and names.strategy,
        **{answer: build_values(part, metrics) for answer, part in parts.items()},
    }


def build_edges(edges: Edges | None, names: Mapping[Key, Names]) -> dict[str, object]:
    """Return the edges of a group as members, none if it is not compared with other decisions."""
    of_keys = {key: one.name for key, one in names.items()}
    found = {"edge": edges.pnl, "edge_r": edges.r} if edges else {}
    return {name: build_edge(edge, of_keys) for name, edge in found.items()}


def build_values(part: Part, metrics: Sequence[str]) -> dict[str, object]:
    """Return the values of the metrics, the reasons of those without one, and the statistics."""
    values = {key: METRICS[key].evaluate(part.statistics) for key in metrics}
    extras: set[ExtraStatistic | None] = {METRICS[key].extra for key in metrics}
    return {
        "values": {key: decimal_json(value.actual) for key, value in values.items()},
        "reasons": {key: value.reason for key, value in values.items() if value.actual is None},
        **build_intervals(part, values),
        "statistics": show_statistics(part.statistics, extras),
    }


# Names ---------------------------------------------------------------------------------------------------


def format_key(key: Key, group_by: GroupBy) -> str | None:
    """Return the name of a key that is not the id of a row."""
    if key is None:
        return None
    grouping = GROUPINGS[group_by]
    return grouping.names[key] if grouping.names else grouping.name(key)
