"""The edge of a confirmation, tag or rule: how much more decisions with it earn than decisions without it.

An edge alone has an interval and a p; what a table may say of it depends on all lines of the table
(docs/goals.md#the-edge-of-a-confirmation).
"""

from bisect import bisect_left
from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

from journal_api.metrics.distributions import t_quantile
from journal_api.metrics.inference import (
    MIN_DECISIONS,
    UPPER,
    EdgeReason,
    EdgeVerdict,
    Sample,
    Z,
    benjamini_hochberg,
    difference_p_value,
    permutation_p_value,
    welch,
    welch_error,
)

# The share of false findings among the findings of a table, and of intervals without the true difference.
MAX_RATE = 0.05
MAX_MORE = 10_000


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


def compute_edge(present: Sample, absent: Sample) -> Edge:
    """Return the edge of `present` over `absent`, without `q` and verdict unless there are too few decisions.

    Welch's p is too small for a small part of a skewed sample, the p of permutations for parts of different
    variance. The larger of both is neither.
    """
    sizes = present.size, absent.size
    if min(sizes) < MIN_DECISIONS:
        return Edge(verdict="too_few", present=present.size, absent=absent.size, reason="too_few")
    difference, p, interval = welch(present, absent)
    return Edge(
        expectancy=round(difference),
        low=interval.low,
        high=interval.high,
        p=max(p, permutation_p_value(present, absent)),
        more_needed=count_more_needed(present, absent),
        present=present.size,
        absent=absent.size,
    )


def count_more_needed(present: Sample, absent: Sample) -> int | None:
    """Return how many more decisions would bring Welch's interval off zero, None if it is or too many would.

    The means, the variances and the proportion of the sizes stay as they are.
    """
    difference = float(present.mean - absent.mean)
    variances = float(present.variance), float(absent.variance)
    size = present.size + absent.size

    def measure_error(more: int) -> tuple[float, float]:
        growth = 1 + more / size
        return welch_error(variances, (present.size * growth, absent.size * growth))

    def is_off_zero(more: int) -> bool:
        return difference_p_value(difference, *measure_error(more)) < MAX_RATE

    if not difference or is_off_zero(0):
        return None
    error, freedom = measure_error(0)
    # As decisions are added, the quantile falls from today's towards the normal distribution's.
    fewest, most = (
        max(0, ceil(size * ((quantile * error / difference) ** 2 - 1)))
        for quantile in (float(Z), t_quantile(UPPER, freedom))
    )
    if fewest > MAX_MORE:
        return None
    more = fewest + bisect_left(range(fewest, most), True, key=is_off_zero)
    return more if more <= MAX_MORE else None


def judge(edges: Sequence[Edge]) -> list[Edge]:
    """Return all edges of one table with `q`, and a verdict for each that has a p."""
    rates = iter(benjamini_hochberg([edge.p for edge in edges if edge.p is not None]))
    return [edge if edge.p is None else judge_edge(edge, next(rates)) for edge in edges]


def judge_edge(edge: Edge, q: float) -> Edge:
    """Return the edge with `q` and the verdict that follows from it."""
    if q > MAX_RATE or not edge.expectancy:
        return edge._replace(q=q, verdict="not_shown")
    return edge._replace(q=q, verdict="more" if edge.expectancy > 0 else "less")
