"""Intervals, edges and lines that move together, by scipy and plain sums over days: for reference.py.

Written from docs/statistics.md alone, with floats: compared to within a rounding. Every value has its day.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import cbrt, inf, sqrt
from statistics import fmean, variance
from typing import Any

import numpy
from scipy import special  # scipy.stats takes seconds to import

Values = Sequence[tuple[Any, Any]]


@dataclass
class Near:
    """Equals numbers that differ by a rounding."""

    value: float
    tolerance: float = 0.0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, int | float | Fraction) or isinstance(other, bool):
            return False
        return abs(float(other) - self.value) <= max(self.tolerance, 2e-8, 1e-9 * abs(self.value))


@cache
def find_quantile(freedom: float) -> float:
    """How many standard errors a 95 % interval reaches to each side."""
    return float(special.stdtrit(freedom, 0.975))


def find_skewness(numbers: Any) -> float:
    rest = numbers - numbers.mean()
    return float((rest**3).mean() / (rest**2).mean() ** 1.5)


def show_interval(low: float, high: float, size: int) -> dict[str, Any]:
    unseen = round(1 / (1 - 0.05 ** (1 / size))) if size < 60 else None
    return {"low": Near(low), "high": Near(high), "n": size, "unseen": unseen}


def split_days(values: Values) -> dict[Any, list[float]]:
    by_day = defaultdict[Any, list[float]](list)
    for day, value in values:
        by_day[day].append(float(value))
    return by_day


def find_day_error(values: Values) -> float:
    """The standard error of the mean with the days as the unit."""
    by_day, middle = split_days(values), fmean(value for _, value in values)
    squares = sum((sum(one) - len(one) * middle) ** 2 for one in by_day.values())
    return sqrt(squares * len(by_day) / (len(by_day) - 1)) / len(values)


def compute_mean_interval(values: Values) -> dict[str, Any] | str:
    size, days = len(values), len(split_days(values))
    if size < 10 or days < 2:
        return "too_few" if size < 10 else "too_few_days"
    numbers = numpy.array([float(value) for _, value in values])
    middle, t = fmean(value for _, value in values), find_quantile(size - 1)
    error = numbers.std(ddof=1) / sqrt(size)
    if len(set(numbers)) == 1:
        return "no_spread"
    k = find_skewness(numbers) / (3 * sqrt(size))

    def bend(y: float) -> float:
        return float((cbrt(1 + 3 * k * (y - k / 2)) - 1) / k) if abs(k) > 1e-7 else y

    of_days = find_quantile(days - 1) * find_day_error(values)
    below, above = max(t * error, of_days, bend(t) * error), max(t * error, of_days, -bend(-t) * error)
    return show_interval(middle - below, middle + above, size)


def compute_share_interval(values: Values) -> dict[str, Any] | str:
    size, days = len(values), len(split_days(values))
    if not size or days < 2:
        return "too_few_days" if size else "too_few"
    part = sum(value for _, value in values)
    share, square = float(part / size), find_quantile(days - 1) ** 2
    effect = max(1, find_day_error(values) ** 2 * size / (share * (1 - share))) if 0 < part < size else 1
    effective = size / effect
    center = (share + square / (2 * effective)) / (1 + square / effective)
    spread = share * (1 - share) / effective + square / (4 * effective**2)
    margin = sqrt(square * spread) / (1 + square / effective)
    return show_interval(100 * max(center - margin, 0), 100 * min(center + margin, 1), size)


def compute_edge(present: Values, absent: Values) -> dict[str, Any]:
    """The difference of the means without its `q`, or why there is none."""
    counts = {"present": len(present), "absent": len(absent)}
    names = ("expectancy", "low", "high", "p", "q", "verdict", "more_needed", "moves_with")
    nothing: dict[str, Any] = {**dict.fromkeys(names), **counts}
    if min(counts.values()) < 10:
        return {**nothing, "verdict": "too_few", "reason": "too_few"}
    days = len(split_days(present)), len(split_days(absent))
    if min(days) < 5:
        return {**nothing, "verdict": "too_few", "reason": "too_few_days"}
    numbers = [[value for _, value in side] for side in (present, absent)]
    difference = fmean(numbers[0]) - fmean(numbers[1])
    variances = float(variance(numbers[0])), float(variance(numbers[1]))
    if not any(variances):
        return {**nothing, "reason": "no_spread"}
    of_days = compare_days(present, absent)

    def find_error(growth: float) -> tuple[float, float]:
        return estimate_error(variances, *(size * growth for size in counts.values()))

    margins = [find_quantile(freedom) * error if error else 0 for error, freedom in (find_error(1), of_days)]
    p = max(find_p(difference, *find_error(1)), find_p(difference, *of_days), find_permutation_p(*numbers))
    more = [
        count_more(difference, sum(counts.values()), find_error),
        count_more(difference, sum(counts.values()), lambda growth: grow(*of_days, growth)),
    ]
    return {
        **nothing,
        "expectancy": Near(difference),
        "low": Near(difference - max(margins)),
        "high": Near(difference + max(margins)),
        "p": Near(p, 1e-5),
        "q": p,
        "more_needed": Near(max(more), 1) if difference and 0 < max(more) <= 10_000 else None,
        "verdict": "not_shown",
        "reason": None,
    }


def compare_days(present: Values, absent: Values) -> tuple[float, float]:
    """The standard error of the difference with the days as the unit, and its degrees of freedom."""
    deviations: list[dict[Any, float]] = []
    for side in (present, absent):
        middle = fmean(value for _, value in side)
        by_day = split_days(side)
        deviations.append({day: (sum(one) - len(one) * middle) / len(side) for day, one in by_day.items()})
    one, other = deviations
    days = one.keys() | other.keys()
    square = sum((one.get(day, 0) - other.get(day, 0)) ** 2 for day in days) * len(days) / (len(days) - 1)
    parts = [(sum(u * u for u in side.values()) * len(side) / (len(side) - 1), len(side)) for side in deviations]
    if not sum(part for part, _ in parts):
        return 0.0, inf
    freedom = sum(part for part, _ in parts) ** 2 / sum(part**2 / (size - 1) for part, size in parts)
    return sqrt(square), freedom


def grow(error: float, freedom: float, growth: float) -> tuple[float, float]:
    return error / sqrt(growth), freedom * growth


def estimate_error(variances: tuple[float, float], *sizes: float) -> tuple[float, float]:
    """The standard error of the difference, and its degrees of freedom."""
    one, other = (spread / size for spread, size in zip(variances, sizes, strict=True))
    if not one + other:
        return 0.0, 1.0
    return sqrt(one + other), (one + other) ** 2 / (one**2 / (sizes[0] - 1) + other**2 / (sizes[1] - 1))


def find_p(difference: float, error: float, freedom: float) -> float:
    if not error:
        return 0.0 if difference else 1.0
    return float(2 * special.stdtr(freedom, -abs(difference) / error))


def find_permutation_p(present: Sequence[Any], absent: Sequence[Any]) -> float:
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
        return float(2 * special.ndtr(-abs(z)))
    shape, scale = 4 / skewness**2, 2 / abs(skewness)  # of the gamma distribution with this skewness
    above = special.gammaincc(shape, max(shape + scale * abs(z), 0))
    return float(above + special.gammainc(shape, max(shape - scale * abs(z), 0)))


def count_more(difference: float, size: int, find_error: Callable[[float], tuple[float, float]]) -> int:
    """How many more decisions bring the interval off zero, more than 10,000 for too many."""
    return bisect_left(range(10_001), True, key=lambda more: find_p(difference, *find_error(1 + more / size)) < 0.05)


# Tables of lines -----------------------------------------------------------------------------------------

Answers = Mapping[Any, bool]  # by decision


def judge(edges: Mapping[Any, dict[str, Any]], answers: Mapping[Any, Answers], values: Mapping[Any, Any]) -> None:
    """Set the `q`, the verdict and `moves_with` of the edges of one table."""
    known = [key for key, edge in edges.items() if edge["q"] is not None]
    p = {key: edges[key]["q"] for key in known}
    shown = sorted((key for key, q in find_rates(p).items() if q <= 0.05), key=p.__getitem__)
    found = {}
    for place, key in enumerate(shown):
        beside = [compare_beside(key, other, answers, values) for other in shown[:place]]
        near = max((one for one in beside if one), key=lambda one: one["p"], default=None)
        if near:
            found[key] = near
            edges[key]["moves_with"] = {**near, "p": Near(near["p"], 1e-6)}
            edges[key]["p"] = Near(max(p[key], near["p"]), 1e-5)
    p |= {key: max(p[key], near["p"]) for key, near in found.items()}
    for key, q in find_rates(p).items():
        edges[key]["q"] = Near(q, 1e-5)
        if q <= 0.05:
            edges[key]["verdict"] = "more" if edges[key]["expectancy"].value > 0 else "less"


def find_rates(p: Mapping[Any, float]) -> dict[Any, float]:
    """The false discovery rates of Benjamini and Hochberg."""
    smallest, rates = 1.0, {}
    for rank, key in reversed(list(enumerate(sorted(p, key=p.__getitem__), 1))):
        smallest = rates[key] = min(smallest, p[key] * len(p) / rank)
    return {key: rates[key] for key in p}


def compare_beside(
    key: Any, other: Any, answers: Mapping[Any, Answers], values: Mapping[Any, Any]
) -> dict[str, Any] | None:
    """The difference of a line within the groups of another, None unless their answers correlate."""
    both = [one for one in values if one in answers[key] and one in answers[other]]
    pairs = [(answers[key][one], answers[other][one]) for one in both]
    sides = list(zip(*pairs, strict=True))
    if not pairs or any(len(set(side)) < 2 for side in sides) or abs(numpy.corrcoef(sides)[0, 1]) < 0.3:
        return None
    agreement = 100 * sum(one == of_other for one, of_other in pairs) / len(pairs)
    return {"id": other, "agreement": Near(agreement), "p": find_p_within(both, pairs, values)}


def find_p_within(both: list[Any], pairs: list[tuple[bool, bool]], values: Mapping[Any, Any]) -> float:
    """The larger p of Welch's and that of days; of a value its day is known, too."""
    difference, parts = 0.0, []
    deviations = defaultdict[Any, float](float), defaultdict[Any, float](float)
    for of_other in (True, False):
        dated = [
            [values[one] for one, pair in zip(both, pairs, strict=True) if pair == (side, of_other)]
            for side in (True, False)
        ]
        groups = [[float(value) for _, value in side] for side in dated]
        sizes = [len(group) for group in groups]
        if min(sizes) < 2:
            continue
        weight = sizes[0] * sizes[1] / sum(sizes)
        difference += weight * (fmean(groups[0]) - fmean(groups[1]))
        parts += [(weight**2 * variance(group) / len(group), len(group) - 1) for group in groups]
        for side, by_day, group in zip(dated, deviations, groups, strict=True):
            for day, value in side:
                by_day[day] += weight * (float(value) - fmean(group)) / len(group)
    if any(len(by_day) < 2 for by_day in deviations):
        return 1.0
    one, other = deviations
    days = one.keys() | other.keys()
    of_days = [(sum(u * u for u in side.values()) * len(side) / (len(side) - 1), len(side) - 1) for side in deviations]
    square = sum((one[day] - other[day]) ** 2 for day in days) * len(days) / (len(days) - 1)
    return max(
        find_p(difference, sqrt(sum(part for part, _ in parts)), find_freedom(parts)),
        find_p(difference, sqrt(square), find_freedom(of_days)),
    )


def find_freedom(parts: Sequence[tuple[float, float]]) -> float:
    square = sum(part for part, _ in parts)
    return square**2 / sum(part**2 / freedom for part, freedom in parts) if square else inf


def find_mean_p(values: Values) -> float:
    """The p of a mean of no more than 0, of docs/statistics.md#exits."""
    numbers = numpy.array([float(value) for _, value in values])
    size, days = len(numbers), len(split_days(values))
    if len({value for _, value in values}) == 1:
        return 1.0
    t = numbers.mean() / (numbers.std(ddof=1) / sqrt(size))
    k = find_skewness(numbers) / (3 * sqrt(size))
    bent = t + k * t**2 + k**2 * t**3 / 3 + k / 2
    return max(
        *(float(2 * special.stdtr(size - 1, -abs(one))) for one in (t, bent)),
        find_p(fmean(value for _, value in values), find_day_error(values), days - 1),
    )
