"""What a sample says about the mean or the share behind it: intervals, p values, and many of them at once.

A sample is its size and its exact sums of powers; floats are only in quantiles, tails and roots.
docs/goals.md#how-sure-a-number-is has the formulas with examples.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from math import inf, sqrt
from typing import Literal, NamedTuple

from journal_api.metrics.distributions import pearson_tails, t_p_value, t_quantile
from journal_api.values.money import SCALE

EdgeReason = Literal["too_few", "mixed_currencies", "out_of_range"]
EdgeVerdict = Literal["more", "less", "not_shown", "too_few"]

MIN_DECISIONS = 10  # for the mean of decisions; for a difference on each side
UPPER = 0.975  # an interval of 95 % leaves 2.5 % on each side
Z = Fraction(1_959_964, 1_000_000)  # the quantile of the normal distribution at UPPER


class Sample(NamedTuple):
    """Numbers of any unit: how many, and the sums of their first, second and third powers."""

    size: int
    total: int
    squares: int
    cubes: int

    @property
    def mean(self) -> Fraction:
        return Fraction(self.total, self.size)

    @property
    def variance(self) -> Fraction:
        """The variance of the population, estimated from at least two numbers."""
        return Fraction(self.squares * self.size - self.total**2, self.size * (self.size - 1))

    def without(self, part: "Sample") -> "Sample":
        """Return the sample of the numbers that are not in `part`."""
        return Sample(*(whole - of_part for whole, of_part in zip(self, part, strict=True)))


class Interval(NamedTuple):
    """Both ends in the unit of the sample, rounded half to even."""

    low: int
    high: int


class Welch(NamedTuple):
    """The difference of two means, the probability of a larger one without a difference, and its interval."""

    difference: Fraction
    p: float
    interval: Interval


# Intervals -----------------------------------------------------------------------------------------------


def mean_interval(sample: Sample) -> Interval | None:
    """Return the 95 % interval of the mean, None for fewer than ten numbers (Student 1908)."""
    if sample.size < MIN_DECISIONS:
        return None
    error = sqrt(sample.variance / sample.size)
    return build_interval(sample.mean, t_quantile(UPPER, sample.size - 1) * error)


def wilson_interval(part: int, whole: int) -> Interval | None:
    """Return the 95 % score interval of a share, in units of 10^-8 percent, None of nothing (Wilson 1927)."""
    if not whole:
        return None
    share, square = Fraction(part, whole), Z * Z / whole
    center = (share + square / 2) / (1 + square)
    margin = sqrt(share * (1 - share) * square + square * square / 4) / (1 + square)
    return build_interval(center * 100 * SCALE, margin * 100 * SCALE)


def build_interval(center: Fraction, margin: float) -> Interval:
    return Interval(round(center - Fraction(margin)), round(center + Fraction(margin)))


# Differences of two samples ------------------------------------------------------------------------------


def welch(present: Sample, absent: Sample) -> Welch:
    """Return the difference of the means with unequal variances (Welch 1947), of two numbers or more each."""
    difference = present.mean - absent.mean
    variances = float(present.variance), float(absent.variance)
    error, freedom = welch_error(variances, (present.size, absent.size))
    margin = t_quantile(UPPER, freedom) * error if error else 0.0
    return Welch(
        difference, difference_p_value(difference, error, freedom), build_interval(difference, margin)
    )


def welch_error(variances: tuple[float, float], sizes: tuple[float, float]) -> tuple[float, float]:
    """Return the standard error of a difference of means, and its degrees of freedom."""
    parts = [variance / size for variance, size in zip(variances, sizes, strict=True)]
    square = sum(parts)
    if not square:
        return 0.0, inf
    shares = ((part / square) ** 2 / (size - 1) for part, size in zip(parts, sizes, strict=True))
    return sqrt(square), 1 / sum(shares)


def difference_p_value(difference: Fraction | float, error: float, freedom: float) -> float:
    """Return the probability of such a difference by chance; without an error 0 of any, 1 of none."""
    if not error:
        return 0.0 if difference else 1.0
    return t_p_value(float(difference) / error, freedom)


def permutation_p_value(present: Sample, absent: Sample) -> float:
    """Return the share of all divisions of the pooled numbers with a difference at least as large.

    Each side has two numbers or more. The sum of a part drawn without replacement has a variance and a
    skewness that follow from the pooled moments; Pearson's type III distribution with them gives the tails
    (Mielke and Berry 2007).
    """
    size, part = present.size + absent.size, present.size
    total, squares, cubes = (sum(sums) for sums in zip(present[1:], absent[1:], strict=True))
    # The central moments of the pooled numbers, multiplied by size^2 and size^3, are integers.
    second = size * squares - total**2
    third = size**2 * cubes - 3 * size * total * squares + 2 * total**3
    if not second:
        return 1.0
    divisions, lean = part * (size - part), size - 2 * part
    deviation = size * present.total - part * total
    z_square = deviation**2 * (size - 1) / (divisions * second)
    skewness_square = (lean * third) ** 2 * (size - 1) / (divisions * (size - 2) ** 2 * second**3)
    return pearson_tails(sqrt(z_square), sqrt(skewness_square))


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Return for each p the least false discovery rate that counts it as one (Benjamini, Hochberg 1995)."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__, reverse=True)
    size = len(order)
    ranked = (p_values[place] * (size / (size - rank)) for rank, place in enumerate(order))
    lowest = dict(zip(order, accumulate(ranked, min), strict=True))
    return [lowest[place] for place in range(size)]
