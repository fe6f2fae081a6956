"""The intervals and edges of a report (docs/goals.md#how-sure-a-number-is)."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from journal_api.metrics.formulas import Formula, Measure, MetricValue
from journal_api.metrics.groupings import GROUPINGS, GroupBy
from journal_api.metrics.inference import MIN_DECISIONS, Interval, Sample, mean_interval, wilson_interval
from journal_api.metrics.members import NO_TRADES, Statistics
from journal_api.metrics.metrics import METRICS
from journal_api.statistics.edge import Edge, compute_edge, judge
from journal_api.statistics.fold import MEASURES
from journal_api.statistics.report_groups import Key
from journal_api.values.money import decimal_json

EMPTY = {measure: Sample(0, 0, 0, 0) for measure in MEASURES}


class Part(NamedTuple):
    """What a report knows of a group, or of the decisions with one answer; None for out of range."""

    statistics: Statistics | None = NO_TRADES
    samples: Mapping[Measure, Sample] = EMPTY

    def without(self, part: "Part") -> "Part":
        """Return the decisions that are not in `part`; their statistics stay those of all."""
        samples = {measure: self.samples[measure].without(part.samples[measure]) for measure in MEASURES}
        return Part(part.statistics and self.statistics, samples)


class Edges(NamedTuple):
    """By how much decisions with something exceed those without it, in money and in R."""

    pnl: Edge
    r: Edge


def find_measures(group_by: GroupBy, metrics: Iterable[str]) -> set[Measure]:
    """Return the measures whose sums of powers the report needs."""
    of_edges: set[Measure] = {"pnl", "r"} if GROUPINGS[group_by].compares else set()
    measures = (METRICS[key].formula.measure for key in metrics)
    return of_edges | {measure for measure in measures if measure}


# Intervals -----------------------------------------------------------------------------------------------


def build_intervals(part: Part, values: Mapping[str, MetricValue]) -> dict[str, object]:
    """Return the intervals of the values that are means or shares, and the reasons of those without one."""
    intervals: dict[str, object] = {}
    reasons: dict[str, str] = {}
    for key, formula in ((key, METRICS[key].formula) for key in values):
        if not formula.measure and not formula.share:
            continue
        # Without a value, as for different currencies, there is nothing to be sure of.
        interval, size = find_interval(part, formula) if values[key].actual is not None else (None, 0)
        if interval is None:
            intervals[key], reasons[key] = None, values[key].reason or "too_few"
        else:
            low, high = map(decimal_json, interval)
            intervals[key] = {"low": low, "high": high, "n": size}
    return {"intervals": intervals, "interval_reasons": reasons}


def find_interval(part: Part, formula: Formula) -> tuple[Interval | None, int]:
    """Return the interval of a metric, None for too few, and the number of decisions."""
    if formula.measure:
        sample = part.samples[formula.measure]
        return mean_interval(sample), sample.size
    share, size = (read(part.statistics or NO_TRADES) for read in formula.share or ())
    return wilson_interval(share, size), size


# Edges ---------------------------------------------------------------------------------------------------


def compare_parts(sides: Mapping[Key, tuple[Part, Part]]) -> dict[Key, Edges]:
    """Return the edges of the groups of a report, each of the decisions with it over those without it."""
    pnl = judge([compare(present, absent, "pnl") for present, absent in sides.values()])
    r = judge([compare(present, absent, "r") for present, absent in sides.values()])
    return {key: Edges(*edges) for key, edges in zip(sides, zip(pnl, r, strict=True), strict=True)}


def compare(present: Part, absent: Part, measure: Measure) -> Edge:
    """Return the edge in a measure, or why there is none."""
    both = [part.statistics for part in (present, absent) if part.statistics]
    if len(both) < 2 or (measure == "r" and any(one.r_total is None for one in both)):
        return Edge(reason="out_of_range")
    sides = present.samples[measure], absent.samples[measure]
    sizes = [sample.size for sample in sides]
    currencies = {one.currency for one in both}
    if measure == "pnl" and min(sizes) >= MIN_DECISIONS and (len(currencies) > 1 or None in currencies):
        return Edge(present=sizes[0], absent=sizes[1], reason="mixed_currencies")
    return compute_edge(*sides)


def build_edge(edge: Edge) -> dict[str, object]:
    """Return the edge as an object."""
    amounts = {name: decimal_json(getattr(edge, name)) for name in ("expectancy", "low", "high")}
    return {**edge._asdict(), **amounts}
