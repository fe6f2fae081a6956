"""Intervals and edges of decisions by scipy, for reference.py: floats, compared to within a rounding."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from statistics import mean, variance
from typing import Any

import numpy
from scipy import stats


@dataclass
class Near:
    """Equals numbers that differ by a rounding."""

    value: float
    tolerance: float = 0.0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, int | float | Fraction) or isinstance(other, bool):
            return False
        return abs(float(other) - self.value) <= max(self.tolerance, 2e-8, 1e-9 * abs(self.value))


def show_interval(low: float, high: float, size: int, tolerance: float = 0.0) -> dict[str, Any]:
    return {"low": Near(low, tolerance), "high": Near(high, tolerance), "n": size}


def compute_mean_interval(values: Sequence[Fraction]) -> dict[str, Any] | None:
    if len(values) < 10:
        return None
    margin = stats.t.ppf(0.975, len(values) - 1) * sqrt(variance(values) / len(values))
    return show_interval(float(mean(values)) - margin, float(mean(values)) + margin, len(values))


def compute_share_interval(part: int, whole: int) -> dict[str, Any] | None:
    if not whole:
        return None
    interval = stats.binomtest(part, whole).proportion_ci(method="wilson")
    # The service rounds the quantile of the normal distribution to 1.959964.
    return show_interval(100 * interval.low, 100 * interval.high, whole, 1e-6)


def compute_edge(present: Sequence[Fraction], absent: Sequence[Fraction]) -> dict[str, Any]:
    """The difference of the means without its `q`, or too few."""
    counts = {"present": len(present), "absent": len(absent)}
    nothing: dict[str, Any] = dict.fromkeys(("expectancy", "low", "high", "p", "q", "more_needed"))
    if min(counts.values()) < 10:
        return {**nothing, **counts, "verdict": "too_few", "reason": "too_few"}
    difference = float(mean(present) - mean(absent))
    variances = float(variance(present)), float(variance(absent))
    error, freedom = estimate_error(variances, len(present), len(absent))
    margin = stats.t.ppf(0.975, freedom) * error if error else 0.0
    p = max(find_welch_p(difference, error, freedom), find_permutation_p(present, absent))
    return {
        "expectancy": Near(difference),
        "low": Near(difference - margin),
        "high": Near(difference + margin),
        "p": Near(p, 1e-5),
        "q": p,
        "more_needed": count_more(difference, variances, counts),
        **counts,
        "verdict": "not_shown",
        "reason": None,
    }


def estimate_error(variances: tuple[float, float], *sizes: float) -> tuple[float, float]:
    """The standard error of the difference, and its degrees of freedom."""
    one, other = (spread / size for spread, size in zip(variances, sizes, strict=True))
    if not one + other:
        return 0.0, 1.0
    return sqrt(one + other), (one + other) ** 2 / (one**2 / (sizes[0] - 1) + other**2 / (sizes[1] - 1))


def find_welch_p(difference: float, error: float, freedom: float) -> float:
    if not error:
        return 0.0 if difference else 1.0
    return float(2 * stats.t.sf(abs(difference) / error, freedom))


def find_permutation_p(present: Sequence[Fraction], absent: Sequence[Fraction]) -> float:
    """Both tails of a Pearson type III distribution with the moments of all permutations."""
    values = numpy.array([float(one) for one in (*present, *absent)])
    number, part = len(values), len(present)
    rest = values - values.mean()
    spread = part * (number - part) / (number - 1) * (rest**2).mean()
    if spread <= 1e-20:
        return 1.0
    third = part * (number - part) * (number - 2 * part) / ((number - 1) * (number - 2)) * (rest**3).mean()
    z, skewness = rest[:part].sum() / sqrt(spread), third / spread**1.5
    if abs(skewness) < 1e-3:
        return float(2 * stats.norm.sf(abs(z)))
    return float(stats.pearson3.sf(abs(z), skewness) + stats.pearson3.cdf(-abs(z), skewness))


def count_more(difference: float, variances: tuple[float, float], counts: dict[str, int]) -> Near | None:
    sizes = counts["present"], counts["absent"]

    def is_shown(more: int) -> bool:
        growth = 1 + more / sum(sizes)
        return find_welch_p(difference, *estimate_error(variances, *(size * growth for size in sizes))) < 0.05

    if is_shown(0) or not is_shown(10_000):
        return None
    return Near(bisect_left(range(10_000), True, key=is_shown), 1)


def judge(edges: list[dict[str, Any]]) -> None:
    """Set the `q` and the verdict of the edges of one table."""
    known = [one for one in edges if one["q"] is not None]
    if not known:
        return
    for one, q in zip(known, stats.false_discovery_control([one["q"] for one in known]), strict=True):
        one["q"] = Near(float(q), 1e-5)
        if q <= 0.05:
            one["verdict"] = "more" if one["expectancy"].value > 0 else "less"
