"""Journals of which the truth is known: how often intervals hold it, and how often verdicts are false.

Amounts are integers of 0.1, so that sums of cubes fit into 64 bits.
"""

from collections import Counter
from collections.abc import Callable
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from journal_api.metrics.inference import MIN_DECISIONS, Sample, mean_interval, welch
from journal_api.statistics.edge import compute_edge, judge

Amounts = np.ndarray[Any, np.dtype[np.int64]]


class Shape(NamedTuple):
    """A distribution of P&L and its mean."""

    draw: Callable[[np.random.Generator, tuple[int, ...]], Any]
    mean: float


SHAPES = {
    "normal": Shape(lambda source, size: source.normal(0, 100, size), 0),
    "a tenth large wins": Shape(
        lambda source, size: np.where(
            source.random(size) < 0.1, source.exponential(900, size), -source.exponential(80, size)
        ),
        0.1 * 900 - 0.9 * 80,
    ),
    "a few large losses": Shape(
        lambda source, size: np.where(
            source.random(size) < 0.06, -source.exponential(1400, size), source.exponential(100, size)
        ),
        0.94 * 100 - 0.06 * 1400,
    ),
    "heavy tails": Shape(lambda source, size: 60 * source.standard_t(3, size), 0),
}


def draw_amounts(source: np.random.Generator, shape: str, *size: int) -> Amounts:
    amounts: Amounts = np.rint(10 * SHAPES[shape].draw(source, size)).astype(np.int64)
    return amounts


def build_samples(amounts: Amounts, counted: Any = True) -> list[Sample]:
    """Return the sample of each row, of the amounts that are counted."""
    mask = np.broadcast_to(counted, amounts.shape)
    sums = [np.sum(amounts**power, axis=1, where=mask).tolist() for power in range(4)]
    return [Sample(*of_row) for of_row in zip(*sums, strict=True)]


# Coverage ------------------------------------------------------------------------------------------------


def cover_mean(shape: str, size: int, journals: int) -> float:
    """Return the percentage of journals whose interval of the mean holds the true mean."""
    source = np.random.default_rng(size)
    truth = 10 * SHAPES[shape].mean
    samples = build_samples(draw_amounts(source, shape, journals, size))
    intervals = (mean_interval(sample) for sample in samples)
    return 100 * sum(one is not None and one.low <= truth <= one.high for one in intervals) / journals


def cover_difference(shape: str, size: int, journals: int) -> float:
    """Return the percentage of journals whose interval of a difference holds the true one, which is 0."""
    source = np.random.default_rng(size)
    sides = (build_samples(draw_amounts(source, shape, journals, size)) for _ in range(2))
    intervals = [welch(present, absent).interval for present, absent in zip(*sides, strict=True)]
    return 100 * sum(low <= 0 <= high for low, high in intervals) / journals


# Verdicts ------------------------------------------------------------------------------------------------

LINES = 20


class Case(NamedTuple):
    """Journals of so many decisions, a share of which has each of 20 confirmations.

    No confirmation earns anything, but the first may earn `effect` standard deviations of normal P&L. With
    `larger` decisions with a confirmation are so many times as large, and each line has its own decisions.
    """

    shape: str
    size: int
    share: float
    larger: int = 1
    effect: float = 0


def draw_edges(source: np.random.Generator, case: Case) -> list[tuple[Sample, Sample]]:
    """Return the decisions with each confirmation and those without it."""
    present = source.random((LINES, case.size)) < case.share
    rows = draw_amounts(source, case.shape, LINES if case.larger > 1 else 1, case.size)
    amounts = np.where(present, case.larger, 1) * rows + round(1000 * case.effect) * present[0]
    whole, parts = build_samples(amounts), build_samples(amounts, present)
    return [(part, of_line.without(part)) for part, of_line in zip(parts, whole, strict=True)]


def differs_uncorrected(present: Sample, absent: Sample) -> bool:
    """Return whether the interval of each line by itself, with the normal quantile, leaves zero out."""
    if min(present.size, absent.size) < MIN_DECISIONS:
        return False
    square = present.variance / present.size + absent.variance / absent.size
    return abs(present.mean - absent.mean) > 1.959964 * sqrt(square)


class Found(NamedTuple):
    """Percentages of journals, by the number of lines: with any verdict without and with correction."""

    before: dict[int, float]
    now: dict[int, float]


def count_verdicts(case: Case, journals: int) -> Found:
    """Return in how many journals any line has a verdict; with an effect, the first line."""
    source = np.random.default_rng(1)
    lines = 1 if case.effect else LINES
    before, now = Counter[int](), Counter[int]()
    for _ in range(journals):
        sides = draw_edges(source, case)
        uncorrected = [differs_uncorrected(*side) for side in sides]
        edges = [compute_edge(*side) for side in sides]
        for number in (5, 10, LINES):
            before[number] += any(uncorrected[:number][:lines])
            verdicts = [edge.verdict for edge in judge(edges[:number])][:lines]
            now[number] += "more" in verdicts or "less" in verdicts
    return Found(*({key: 100 * count / journals for key, count in one.items()} for one in (before, now)))
