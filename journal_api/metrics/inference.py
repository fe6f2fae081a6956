"""What a sample says about the mean or the share behind it: intervals, p values, and many of them at once.

A sample is its size and exact sums, of powers and by trading day; floats are only in quantiles, tails and
roots. Decisions of one day share its market and the trader's mood, so wherever that makes a number less sure
the day is the unit (Liang and Zeger 1986). docs/statistics.md has the formulas with examples.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from math import cbrt, copysign, inf, sqrt
from operator import add, sub
from typing import Literal, NamedTuple

from journal_api.metrics.distributions import pearson_tails, t_p_value, t_quantile
from journal_api.values.money import SCALE

# Why a sample says nothing: few numbers, few days, or numbers that are all alike.
Lack = Literal["too_few", "too_few_days", "no_spread"]
EdgeReason = Literal[Lack, "mixed_currencies", "out_of_range"]
EdgeVerdict = Literal["more", "less", "not_shown", "too_few"]
ExitVerdict = Literal["better", "worse", "not_shown", "too_few"]

MIN_DECISIONS = 10  # for the mean of decisions; for a difference on each side
MIN_DAYS = 5  # for a difference, on each side
UPPER = 0.975  # an interval of 95 % leaves 2.5 % on each side
MANY = 60  # from so many decisions on, what has not shown yet is rarer than one in 20


class DaySums(NamedTuple):
    """Over the days with a number, s being the sum of such a day's numbers and n their count: the number of
    days, and the sums of s², s·n and n²."""

    days: int = 0
    squares: int = 0
    products: int = 0
    counts: int = 0


class SharedDays(NamedTuple):
    """Over the days with numbers of two samples: the number of days, and the sums of the products of the sums
    and counts of both, the first letter for the first sample."""

    days: int = 0
    ss: int = 0
    sn: int = 0
    ns: int = 0
    nn: int = 0


class Sample(NamedTuple):
    """Numbers of any unit: how many, the sums of their first, second and third powers, and those by day."""

    size: int = 0
    total: int = 0
    squares: int = 0
    cubes: int = 0
    by_day: DaySums = DaySums()

    @property
    def mean(self) -> Fraction:
        return Fraction(self.total, self.size)

    @property
    def variance(self) -> Fraction:
        """The variance of the population, estimated from at least two numbers."""
        return Fraction(self.squares * self.size - self.total**2, self.size * (self.size - 1))

    @property
    def central(self) -> tuple[int, int]:
        """The second and third central moments, multiplied by size² and size³."""
        second = self.size * self.squares - self.total**2
        return second, self.size**2 * self.cubes - self.total * (3 * second + self.total**2)

    @property
    def day_spread(self) -> Fraction:
        """The sum over the days of the squares of s - n · mean, divided by size²."""
        size, total, (_, squares, products, counts) = self.size, self.total, self.by_day
        return Fraction(size * (size * squares - 2 * total * products) + total**2 * counts, size**4)

    def plus(self, other: "Sample") -> "Sample":
        """Return the sample of the numbers of both, without their days."""
        return Sample(*map(add, self[:4], other[:4]))

    def beside(self, other: "Sample") -> "Sample":
        """Return the sample of the numbers of both, which have no day in common."""
        return self.plus(other)._replace(by_day=DaySums(*map(add, self.by_day, other.by_day)))

    def without(self, part: "Sample", shared: SharedDays) -> "Sample":
        """Return the sample of the numbers that are not in `part`; `shared` are the days of both."""
        days, squares, products, counts = self.by_day
        of_rest = DaySums(
            days - part.by_day.days + shared.days,
            squares - part.by_day.squares - 2 * shared.ss,
            products - part.by_day.products - shared.sn - shared.ns,
            counts - part.by_day.counts - 2 * shared.nn,
        )
        return Sample(*map(sub, self[:4], part[:4]))._replace(by_day=of_rest)


class Interval(NamedTuple):
    """Both ends in the unit of the sample, rounded half to even."""

    low: int
    high: int


# Intervals -----------------------------------------------------------------------------------------------


@lru_cache(2000)  # most groups are as they were before a write
def mean_interval(sample: Sample) -> Interval | Lack:
    """Return the 95 % interval of the mean: at each end the widest of three, or why there is none.

    The three are Student's (1908), Hall's (1992), which a skewed sample needs, and the interval of days.
    """
    if sample.size < MIN_DECISIONS:
        return "too_few"
    if sample.by_day.days < 2:
        return "too_few_days"
    error = sqrt(sample.variance / sample.size)
    t = t_quantile(UPPER, sample.size - 1)
    of_days = t_quantile(UPPER, sample.by_day.days - 1) * day_error(sample)
    below, above = (max(t * error, of_days, stretch * error) for stretch in bend(sample, t))
    interval = Interval(round(sample.mean - Fraction(below)), round(sample.mean + Fraction(above)))
    return interval if interval.low < interval.high else "no_spread"


def bend(sample: Sample, t: float) -> tuple[float, float]:
    """Return how many standard errors an interval of the mean reaches down and up by Hall's transformation:
    (∛(1 + 3ky) - 1) / k, with a third of the skewness of the mean as k, in a form that holds for k = 0."""
    second, third = sample.central
    k = copysign(sqrt(third**2 / second**3 / sample.size), third) / 3 if second else 0.0
    down, up = (3 * y / (root * root + root + 1) for y in (t - k / 2, -t - k / 2) for root in [cbrt(1 + 3 * k * y)])
    return down, -up


def mean_p_value(sample: Sample) -> float:
    """Return the probability of a mean as far from 0 by chance, for two days or more: the largest of the p values
    that belong to the three intervals of `mean_interval`."""
    error = sqrt(sample.variance / sample.size)
    second, third = sample.central
    if not error or not second:
        return 1.0
    t = float(sample.mean) / error
    k = copysign(sqrt(third**2 / second**3 / sample.size), third) / 3
    bent = t + k * t * t + k * k * t**3 / 3 + k / 2
    return max(
        *(t_p_value(one, sample.size - 1) for one in (t, bent)),
        difference_p_value(sample.mean, day_error(sample), sample.by_day.days - 1),
    )


def day_error(sample: Sample) -> float:
    """Return the standard error of the mean with the days, of which there are at least two, as the unit."""
    days = sample.by_day.days
    return sqrt(sample.day_spread * days / (days - 1))


@lru_cache(2000)  # most groups are as they were before a write
def share_interval(sample: Sample) -> Interval | Lack:
    """Return the 95 % interval of a share, a mean of zeros and ones, in units of 10^-8 percent (Wilson 1927).

    The design effect of days (Kish 1965) divides the number of decisions.
    """
    if not sample.size:
        return "too_few"
    if sample.by_day.days < 2:
        return "too_few_days"
    share, square = float(sample.mean), t_quantile(UPPER, sample.by_day.days - 1) ** 2 / sample.size
    if spread := share * (1 - share):
        square *= max(1.0, day_error(sample) ** 2 * sample.size / spread)
    center = (share + square / 2) / (1 + square)
    margin = sqrt(spread * square + square * square / 4) / (1 + square)
    low, high = max(center - margin, 0.0), min(center + margin, 1.0)
    return Interval(round(low * 100 * SCALE), round(high * 100 * SCALE))


def find_unseen(size: int) -> int | None:
    """Return what happens once in how many decisions, or more rarely, may not have shown in so few: the rule
    of three (Hanley and Lippman-Hand 1983) without its approximation. None from MANY on."""
    return round(1 / (1 - 0.05 ** (1 / size))) if 0 < size < MANY else None


# Differences of two samples ------------------------------------------------------------------------------


def day_difference(present: Sample, absent: Sample, shared: SharedDays) -> tuple[float, float]:
    """Return the standard error of the difference of the means with days as the unit, and its degrees of
    freedom, which are Welch's of the days. There are two days or more of each."""
    one, other = (sample.day_spread for sample in (present, absent))
    (size, total), (absent_size, absent_total) = present[:2], absent[:2]
    joint = Fraction(
        absent_size * (size * shared.ss - total * shared.ns) - absent_total * (size * shared.sn - total * shared.nn),
        size**2 * absent_size**2,
    )
    days = present.by_day.days + absent.by_day.days - shared.days
    square = (one + other - 2 * joint) * days / (days - 1)
    error, freedom = add_errors(
        (float(spread * sample.by_day.days / (sample.by_day.days - 1)), sample.by_day.days - 1)
        for spread, sample in ((one, present), (other, absent))
    )
    return (sqrt(square), freedom) if error else (0.0, inf)


def welch_error(variances: tuple[float, float], sizes: tuple[float, float]) -> tuple[float, float]:
    """Return the standard error of a difference of means, and its degrees of freedom (Welch 1947)."""
    pairs = zip(variances, sizes, strict=True)
    return add_errors((variance / size, size - 1) for variance, size in pairs)


def add_errors(parts: Iterable[tuple[float, float]]) -> tuple[float, float]:
    """Return the standard error of a sum, and its degrees of freedom, from the variance and the degrees of
    freedom of each of its independent parts (Satterthwaite 1946)."""
    known = list(parts)
    square = sum(part for part, _ in known)
    if not square:
        return 0.0, inf
    return sqrt(square), 1 / sum((part / square) ** 2 / freedom for part, freedom in known)


def difference_margin(error: float, freedom: float) -> float:
    """Return half of the 95 % interval of a difference."""
    return t_quantile(UPPER, freedom) * error if error else 0.0


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
    pooled = present.plus(absent)
    size, total, part = pooled.size, pooled.total, present.size
    second, third = pooled.central
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
