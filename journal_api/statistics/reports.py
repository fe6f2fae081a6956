"""The page of a report: its groups in order, their names and values."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import json

from journal_api.errors import ValidationFailed
from journal_api.metrics.groupings import GROUPINGS, GroupKeys, find_grouping
from journal_api.metrics.members import ExtraStatistic, show_statistics
from journal_api.metrics.metrics import METRICS
from journal_api.statistics.comparisons import (
    Compared,
    Edges,
    Part,
    Parts,
    build_edge,
    build_intervals,
    compare_parts,
    compare_ranges,
    find_answer,
    find_sides,
)
from journal_api.statistics.report_groups import ANSWERS, SPLIT_TOTAL, TOTAL, GroupPart, Key, OneKey
from journal_api.structs.reports import ReportQuery
from journal_api.values.money import decimal_json

MAX_PAIRS = 2000  # groups of two keys


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


# By id, for each key of the report.
NamesByKey = Sequence[Mapping[OneKey, Names]]


class Page(NamedTuple):
    """The groups of one page, how many groups there are, and the edges of all of them."""

    total: Part
    groups: list[Group]
    group_count: int
    edges: dict[Key, Edges]
    compared: Mapping[GroupPart, Compared]  # without another range empty
    distribution: Mapping[str, object] | None = None

    @property
    def named(self) -> set[Key]:
        keys = {group.key for group in self.groups}
        return keys.union(*(self.edges[key].neighbours for key in keys & self.edges.keys()))


def build_page(
    parts: Mapping[GroupPart, Part], sums: Parts, before: Mapping[GroupPart, Part] | None, query: ReportQuery
) -> Page:
    """Return the page. `before` are the parts of the range that the report is compared with."""
    groups: dict[Key, Group] = {}
    for one, part in parts.items():
        if one not in (TOTAL, SPLIT_TOTAL):
            groups.setdefault(one.key, Group(one.key, {})).parts[one.answer] = part
    if len(query.keys) > 1 and len(groups) > MAX_PAIRS:
        reason = f"gives {len(groups)} groups, more than {MAX_PAIRS}: choose other keys, or fewer trades"
        raise ValidationFailed(fields={"group_by": reason})
    by_key = sorted(groups.values(), key=lambda group: find_places(group.key, query.keys))
    every = sort_groups(by_key, query)
    page = every[query.offset : query.offset + query.limit]
    edges = compare_parts(find_sides(parts, [group.key for group in by_key], query.keys), query.keys, sums)
    compared: dict[GroupPart, Compared] = {}
    if before is not None:
        answer = find_answer(query.keys)
        compared |= compare_ranges(parts, before, [TOTAL])  # judged alone
        compared |= compare_ranges(parts, before, [GroupPart(group.key, answer) for group in every])
    return Page(parts.get(TOTAL, Part()), page, len(every), edges, compared)


# Order ---------------------------------------------------------------------------------------------------


def sort_groups(by_key: list[Group], query: ReportQuery) -> list[Group]:
    """Return the groups by key, or by a metric with ties by key; groups without a key or a value are last."""
    if query.sort is None and find_grouping(query.keys).is_ordered:
        return by_key
    sort = query.sort or "-net_pnl"
    sign = -1 if sort.startswith("-") else 1

    def rank(group: Group) -> tuple[bool, int]:
        value = find_sort_value(group, sort.removeprefix("-"), query.keys)
        return value is None, sign * (value or 0)

    return sorted(by_key, key=rank)


def list_keys(key: Key, group_by: GroupKeys) -> list[tuple[str, OneKey]]:
    """Return the names of the report's keys, each with its key of a group."""
    return list(zip(group_by, key if isinstance(key, tuple) else (key,), strict=True))


def find_places(key: Key, group_by: GroupKeys) -> list[Any]:
    """Return what orders a group among the groups of a report: those without a key are last."""
    return [(one is None, find_place(one, name)) for name, one in list_keys(key, group_by)]


def find_place(key: OneKey, name: str) -> Any:
    if key is None:
        return 0
    names = GROUPINGS[name].names
    return list(names).index(key) if names else key


def find_sort_value(group: Group, metric: str, group_by: GroupKeys) -> int | None:
    """Return the value by which a group is sorted; a confirmation is sorted by the decisions with it."""
    if "all" in group.parts:
        return METRICS[metric].evaluate(group.parts["all"].statistics).actual
    if ("confirmation", None) in list_keys(group.key, group_by):
        return None
    return METRICS[metric].evaluate(group.parts.get("present", Part()).statistics).actual


# JSON ----------------------------------------------------------------------------------------------------


def build_report(
    query: ReportQuery, page: Page, names: NamesByKey, timezone: str, day_rollover: str, breakeven_within: int
) -> str:
    answer = find_answer(query.keys)
    return json.encode(
        {
            "group_by": query.keys if len(query.keys) > 1 else query.keys[0],
            "from": query.since and str(query.since),
            "to": query.until and str(query.until),
            "timezone": timezone,
            "day_rollover": day_rollover,
            "breakeven_within": decimal_json(breakeven_within),
            "metrics": query.metrics,
            "total": {
                "key": None,
                "name": None,
                **build_values(page.total, query.metrics),
                **build_compared(page.compared.get(TOTAL), query.metrics),
            },
            "groups": [
                {
                    **build_keys(group.key, names, query.keys),
                    **build_group(group, query.metrics),
                    **build_edges(page.edges.get(group.key), names[0]),
                    **build_compared(page.compared.get(GroupPart(group.key, answer)), query.metrics),
                }
                for group in page.groups
            ],
            **({"distribution": page.distribution} if page.distribution else {}),
        }
    ).decode()


def build_keys(key: Key, names: NamesByKey, group_by: GroupKeys) -> dict[str, object]:
    """Return the key and the name of a group as members, of two keys `keys` and `names`."""
    found = [
        (show_key(one, known.get(one)), find_name(one, name, known.get(one)))
        for (name, one), known in zip(list_keys(key, group_by), names, strict=True)
    ]
    if len(found) > 1:
        keys, texts = zip(*found, strict=True)
        return {"keys": keys, "names": texts}
    own = names[0].get(key) if not isinstance(key, tuple) else None
    setup = {"setup": own and own.setup} if group_by == ("confirmation",) else {}
    strategy = {"strategy": own and own.strategy} if setup or (own and own.strategy) else {}
    return {"key": found[0][0], "name": found[0][1], **setup, **strategy}


def show_key(key: OneKey, names: Names | None) -> object:
    """Return the key as a response has it: of a confirmation with its setup and strategy."""
    if names and names.setup_id:
        return {"confirmation_id": key, "setup_id": names.setup_id, "strategy_id": names.strategy_id}
    return key


def build_group(group: Group, metrics: Sequence[str]) -> dict[str, object]:
    """Return the values of a group, of a confirmation those of the decisions with each answer."""
    if "all" in group.parts:
        return build_values(group.parts["all"], metrics)
    return {answer: build_values(group.parts.get(answer, Part()), metrics) for answer in ANSWERS}


def build_edges(edges: Edges | None, names: Mapping[OneKey, Names]) -> dict[str, object]:
    """Return the edges of a group as members, none if it is not compared with other decisions."""
    of_keys = {key: one.name for key, one in names.items()}
    found = {"edge": edges.pnl, "edge_r": edges.r} if edges else {}
    return {name: build_edge(edge, of_keys) for name, edge in found.items()}


def build_compared(compared: Compared | None, metrics: Sequence[str]) -> dict[str, object]:
    """Return what another range has as members, none if there is no other one."""
    if not compared:
        return {}
    part = compared.before
    values = build_values(part, [*metrics, "trade_count"])
    shown = {
        "values": {key: values["values"][key] for key in metrics},
        "intervals": values["intervals"],
        "trade_count": values["values"]["trade_count"],
    }
    has_trades = part.statistics is None or part.statistics.decisions > 0
    return {"before": shown if has_trades else None, "difference": build_edge(compared.difference, {})}


def build_values(part: Part, metrics: Sequence[str]) -> dict[str, Any]:
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


def find_name(key: OneKey, name: str, names: Names | None) -> str | None:
    """Return the name of a key: of a row, else as the grouping has it."""
    if names or key is None:
        return names and names.name
    grouping = GROUPINGS[name]
    return grouping.names[key] if grouping.names else grouping.name(key)
