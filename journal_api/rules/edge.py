"""The edge of a confirmation: how much more decisions with it earn than decisions without it.

The interval is Welch's interval of the difference of two means, with the quantile of the normal distribution
(docs/goals.md#the-edge-of-a-confirmation).
"""

from fractions import Fraction
from math import isqrt
from typing import NamedTuple

from journal_api.structs.reports import EdgeReason

# 95 % of a normal distribution lie within this many standard deviations.
QUANTILE = Fraction(1_959_964, 1_000_000)
MIN_DECISIONS = 10  # decisions on each side


class Sample(NamedTuple):
    """The net P&L of decisions: their number, sum and sum of squares."""

    size: int
    total: int
    squares: int

    @property
    def mean(self) -> Fraction:
        return Fraction(self.total, self.size)

    @property
    def squared_error(self) -> Fraction:
        """The square of the standard error of the mean."""
        deviations = self.squares - Fraction(self.total * self.total, self.size)
        return deviations / (self.size - 1) / self.size


class Edge(NamedTuple):
    """The difference of two means and its interval in the unit of the samples, or the reason for none."""

    expectancy: int | None = None
    low: int | None = None
    high: int | None = None
    reason: EdgeReason | None = None


def compute_edge(present: Sample, absent: Sample) -> Edge:
    """Return the edge of `present` over `absent`, each number rounded half to even."""
    if min(present.size, absent.size) < MIN_DECISIONS:
        return Edge(reason="too_few")
    difference = present.mean - absent.mean
    margin = QUANTILE * square_root(present.squared_error + absent.squared_error)
    return Edge(round(difference), round(difference - margin), round(difference + margin))


def square_root(square: Fraction) -> Fraction:
    """Return the square root, exact to at least 40 binary digits after the point."""
    return Fraction(isqrt((square.numerator * square.denominator) << 80), square.denominator << 40)
