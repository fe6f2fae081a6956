"""The edge of a confirmation, tag or rule: how much more decisions with it earn than decisions without it.

An edge alone has an interval and a p; what a table may say of it depends on all lines of the table
(docs/statistics.md#the-difference).
"""

from bisect import bisect_left
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from functools import lru_cache
from math import sqrt
from typing import NamedTuple

from journal_api.metrics.inference import (
    MIN_DAYS,
    MIN_DECISIONS,
    EdgeReason,
    EdgeVerdict,
    Sample,
    SharedDays,
    benjamini_hochberg,
    day_difference,
    difference_margin,
    difference_p_value,
    permutation_p_value,
    welch_error,
)

# The share of false findings among the findings of a table, and of intervals without the true difference.
MAX_RATE = 0.05
MAX_MORE = 10_000
# The standard error and the degrees of freedom if there were so many times as many decisions.
Error = Callable[[float], tuple[float, float]]


class MovesWith(NamedTuple):
    """A clearer line with about the same answers: the share of decisions with the same one, and the p of the
    difference within its groups."""

    key: Hashable
    agreement: Fraction
    p: float


class Edge(NamedTuple):
    """A difference of two means in the unit of the samples, and what it proves, or the reason for none."""

    expectancy: int | None = None
    low: int | None = None
    high: int | None = None
    p: float | None = None
    q: float | None = None
    verdict: EdgeVerdict | None = None
    more_needed: int | None = None
    present: int | None = None
    absent: int | None = None
    reason: EdgeReason | None = None
    moves_with: MovesWith | None = None


@lru_cache(2000)  # most groups are as they were before a write
def compute_edge(present: Sample, absent: Sample, shared: SharedDays) -> Edge:
    """Return the edge of `present` over `absent`, without `q`, and a verdict only if too little is known.

    Welch's p is too small for a small part of a skewed sample, the p of permutations for parts of different
    variance, both for decisions that share their days. The largest of the three is none of these.
    """
    sizes = Edge(present=present.size, absent=absent.size)
    if min(present.size, absent.size) < MIN_DECISIONS:
        return sizes._replace(verdict="too_few", reason="too_few")
    if min(present.by_day.days, absent.by_day.days) < MIN_DAYS:
        return sizes._replace(verdict="too_few", reason="too_few_days")
    difference = present.mean - absent.mean
    variances = float(present.variance), float(absent.variance)
    day_error, day_freedom = day_difference(present, absent, shared)
    errors: tuple[Error, ...] = (
        lambda growth: welch_error(variances, (present.size * growth, absent.size * growth)),
        lambda growth: (day_error / sqrt(growth), day_freedom * growth),
    )
    today = [measure_error(1) for measure_error in errors]
    margin = Fraction(max(difference_margin(*error) for error in today))
    low, high = round(difference - margin), round(difference + margin)
    if low == high:
        return sizes._replace(reason="no_spread")
    return sizes._replace(
        expectancy=round(difference),
        low=low,
        high=high,
        p=max(permutation_p_value(present, absent), *(difference_p_value(difference, *error) for error in today)),
        more_needed=count_more_needed(float(difference), present.size + absent.size, errors),
    )


def count_more_needed(difference: float, size: int, errors: Sequence[Error]) -> int | None:
    """Return how many more decisions would bring the interval off zero, None if it is or too many would.

    The means, the variances and the proportion of the sizes stay as they are, and so do the days' sizes.
    """

    def is_off_zero(more: int) -> bool:
        return all(
            difference_p_value(difference, *measure_error(1 + more / size)) < MAX_RATE for measure_error in errors
        )

    if is_off_zero(0) or not is_off_zero(MAX_MORE):
        return None
    return bisect_left(range(MAX_MORE), True, key=is_off_zero)


def judge(edges: Sequence[Edge]) -> list[Edge]:
    """Return all edges of one table with `q`, and a verdict for each that has a p."""
    rates = iter(benjamini_hochberg([edge.p for edge in edges if edge.p is not None]))
    return [edge if edge.p is None else judge_edge(edge, next(rates)) for edge in edges]


def judge_edge(edge: Edge, q: float) -> Edge:
    """Return the edge with `q` and the verdict that follows from it."""
    if q > MAX_RATE or not edge.expectancy:
        return edge._replace(q=q, verdict="not_shown")
    return edge._replace(q=q, verdict="more" if edge.expectancy > 0 else "less")
