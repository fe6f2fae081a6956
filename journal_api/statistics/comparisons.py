"""The intervals and edges of a report (docs/statistics.md)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from journal_api.metrics.by_day import PartSums
from journal_api.metrics.formulas import PNL, Measure, MetricValue, R
from journal_api.metrics.groupings import GroupKeys, find_grouping
from journal_api.metrics.inference import MIN_DECISIONS, Sample, SharedDays, find_unseen, mean_interval, share_interval
from journal_api.metrics.members import NO_TRADES, Statistics
from journal_api.metrics.metrics import METRICS
from journal_api.statistics.edge import Edge, MovesWith, compute_edge, judge
from journal_api.statistics.joint_lines import JointPart, judge_lines
from journal_api.statistics.report_groups import SPLIT_TOTAL, TOTAL, GroupPart, Key
from journal_api.structs.reports import ReportQuery
from journal_api.values.money import SCALE, decimal_json

Parts = Sequence[PartSums[GroupPart]]


class Part(NamedTuple):
    """What a report knows of a group, or of the decisions with one answer; None for out of range.

    `shared` are the days that it shares with the decisions it is compared with.
    """

    statistics: Statistics | None = NO_TRADES
    samples: Mapping[Measure, Sample] = {}
    shared: Mapping[Measure, SharedDays] = {}

    def without(self, part: "Part") -> "Part":
        """Return the decisions that are not in `part`; their statistics stay those of all."""
        rest = {key: one.without(part.samples[key], part.shared[key]) for key, one in self.samples.items()}
        return Part(part.statistics and self.statistics, rest)


class Edges(NamedTuple):
    """By how much decisions with something exceed those without it, in money and in R."""

    pnl: Edge
    r: Edge

    @property
    def neighbours(self) -> set[Any]:
        """The keys of the lines with which the edges move."""
        return {one.moves_with.key for one in self if one.moves_with}


class Compared(NamedTuple):
    """What a group has in another range, and by how much its mean exceeds that."""

    before: Part
    difference: Edge


def find_measures(query: ReportQuery, is_compared: bool) -> list[Measure]:
    """Return the measures whose numbers the report needs; it may be compared with another range."""
    has_both = find_grouping(query.keys).compares or query.has_distribution
    of_groups = (PNL, R) if has_both else (PNL,) if is_compared else ()
    of_metrics = filter(None, (METRICS[key].formula.measure for key in query.metrics))
    return list(dict.fromkeys((*of_groups, *of_metrics)))


def find_other(group: GroupPart, group_by: GroupKeys) -> tuple[GroupPart, bool] | None:
    """Return the group with which a group is compared, and whether it is a part of that."""
    grouping = find_grouping(group_by)
    match grouping.compares:
        case "answers" if group.answer == "present":
            return GroupPart(group.key, "absent"), False
        case "others" if group.key is not None:
            return SPLIT_TOTAL if grouping.splits else TOTAL, True
        case "broken" if group.key == "followed":
            return GroupPart("broken"), False
        case _:
            return None


def find_answer(group_by: GroupKeys) -> str:
    """Return the answer of the decisions that are compared: those with a confirmation, else all of a group."""
    return "present" if find_grouping(group_by).compares == "answers" else "all"


def find_sides(
    parts: Mapping[GroupPart, Part], keys: Iterable[Key], group_by: GroupKeys
) -> dict[Key, tuple[Part, Part]]:
    """Return the decisions with something and those without it, for the groups that are compared."""
    answer = find_answer(group_by)
    sides = {}
    for key in keys:
        one = GroupPart(key, answer)
        if found := find_other(one, group_by):
            present, absent = (parts.get(side, Part()) for side in (one, found[0]))
            sides[key] = present, absent.without(present) if found[1] else absent
    return sides


# Intervals -----------------------------------------------------------------------------------------------


def build_intervals(part: Part, values: Mapping[str, MetricValue]) -> dict[str, object]:
    """Return the intervals of the values that are means or shares, and the reasons of those without one."""
    intervals: dict[str, object] = {}
    reasons: dict[str, str] = {}
    for key, value in values.items():
        if not (measure := METRICS[key].formula.measure):
            continue
        # Without a value, as for different currencies, there is nothing to be sure of.
        if value.actual is None:
            intervals[key], reasons[key] = None, str(value.reason)
            continue
        sample = part.samples.get(measure, Sample())
        find = share_interval if METRICS[key].unit == "percent" else mean_interval
        interval = find(sample)
        if isinstance(interval, str):
            intervals[key], reasons[key] = None, interval
        else:
            low, high = map(decimal_json, interval)
            unseen = find_unseen(sample.size)
            intervals[key] = {"low": low, "high": high, "n": sample.size, "unseen": unseen}
    return {"intervals": intervals, "interval_reasons": reasons}


# Edges ---------------------------------------------------------------------------------------------------


def compare_parts(sides: Mapping[Key, tuple[Part, Part]], group_by: GroupKeys, parts: Parts) -> dict[Key, Edges]:
    """Return the edges of the groups of a report, each of the decisions with it over those without it."""

    def judge_all(measure: Measure) -> list[Edge]:
        edges = {key: compare(*both, measure) for key, both in sides.items()}
        joint = (
            JointPart(read_states(one.groups, group_by), one.build_sample(measure), one.list_days(measure))
            for one in parts
        )
        return judge_lines(edges, joint)

    pnl, r = judge_all(PNL), judge_all(R)
    return {key: Edges(*edges) for key, edges in zip(sides, zip(pnl, r, strict=True), strict=True)}


def read_states(groups: Sequence[GroupPart], group_by: GroupKeys) -> Callable[[Key], bool | None]:
    """Return what says of a line whether decisions in these groups have it: without an answer, neither."""
    answers = dict(groups)
    if find_grouping(group_by).compares == "others":
        return answers.__contains__
    return lambda key: {"present": True, "absent": False}.get(answers.get(key, ""))


def compare(present: Part, absent: Part, measure: Measure) -> Edge:
    """Return the edge in a measure, or why there is none."""
    both = [part.statistics for part in (present, absent) if part.statistics]
    if len(both) < 2 or (measure == R and any(one.r_total is None for one in both)):
        return Edge(reason="out_of_range")
    sides = [part.samples.get(measure, Sample()) for part in (present, absent)]
    sizes = [sample.size for sample in sides]
    currencies = {one.currency for one in both}
    if measure == PNL and min(sizes) >= MIN_DECISIONS and (len(currencies) > 1 or None in currencies):
        return Edge(present=sizes[0], absent=sizes[1], reason="mixed_currencies")
    return compute_edge(sides[0], sides[1], present.shared.get(measure, SharedDays()))


def compare_ranges(
    now: Mapping[GroupPart, Part], before: Mapping[GroupPart, Part], groups: Sequence[GroupPart]
) -> dict[GroupPart, Compared]:
    """Return what the groups have in another range, with no day in common, and by how much they exceed it."""
    found = [before.get(one, Part()) for one in groups]
    sides = zip((now.get(one, Part())._replace(shared={}) for one in groups), found, strict=True)
    edges = judge([compare(*both, PNL) for both in sides])
    return dict(zip(groups, map(Compared, found, edges), strict=True))


def build_edge(edge: Edge, names: Mapping[Any, str]) -> dict[str, object]:
    amounts = {name: decimal_json(getattr(edge, name)) for name in ("expectancy", "low", "high")}
    return {**edge._asdict(), **amounts, "moves_with": build_neighbour(edge.moves_with, names)}


def build_neighbour(other: MovesWith | None, names: Mapping[Any, str]) -> dict[str, object] | None:
    if other is None:
        return None
    agreement = decimal_json(round(other.agreement * 100 * SCALE))
    return {"id": other.key, "name": names.get(other.key), "agreement": agreement, "p": other.p}
