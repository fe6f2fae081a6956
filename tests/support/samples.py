"""Samples of numbers with their trading days, for the tests of intervals and edges."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from journal_api.metrics.inference import DaySums, Sample, SharedDays, difference_p_value, welch_error
from journal_api.statistics.edge import Edge, compute_edge

Numbers = Sequence[tuple[Any, int]]  # each with its day


def a_day_each(numbers: Sequence[int]) -> Numbers:
    return list(enumerate(numbers))


def sum_days(numbers: Numbers) -> dict[Any, tuple[int, int]]:
    """The sum and the count of each day."""
    by_day = defaultdict[Any, list[int]](list)
    for day, number in numbers:
        by_day[day].append(number)
    return {day: (sum(one), len(one)) for day, one in by_day.items()}


def build_sample(numbers: Numbers) -> Sample:
    values, days = [number for _, number in numbers], sum_days(numbers).values()
    by_day = DaySums(len(days), sum(s * s for s, _ in days), sum(s * n for s, n in days), sum(n * n for _, n in days))
    return Sample(len(values), sum(values), sum(one**2 for one in values), sum(one**3 for one in values), by_day)


def share_days(one: Numbers, other: Numbers) -> SharedDays:
    days, of_other = sum_days(one), sum_days(other)
    both = [(*days[day], *of_other[day]) for day in days.keys() & of_other.keys()]
    return SharedDays(
        len(both),
        sum(s * other_s for s, _, other_s, _ in both),
        sum(s * other_n for s, _, _, other_n in both),
        sum(n * other_s for _, n, other_s, _ in both),
        sum(n * other_n for _, n, _, other_n in both),
    )


def welch_p_value(one: Sample, other: Sample) -> float:
    error = welch_error((float(one.variance), float(other.variance)), (one.size, other.size))
    return difference_p_value(one.mean - other.mean, *error)


def edge_between(present: Numbers, absent: Numbers) -> Edge:
    return compute_edge(build_sample(present), build_sample(absent), share_days(present, absent))


def edge_of(present: Sequence[int], absent: Sequence[int]) -> Edge:
    """The edge of numbers, each on a day of its own."""
    return edge_between(a_day_each(present), [(-1 - day, number) for day, number in enumerate(absent)])
