"""Lines of a table that move together: each is judged within the groups of those that are clearer.

A confirmation that does nothing, but is mostly there when one that pays is there, seems to pay as well.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import chain
from math import fsum, sqrt
from typing import NamedTuple

from journal_api.metrics.inference import Sample, add_errors, difference_p_value
from journal_api.statistics.edge import MAX_RATE, Edge, MovesWith, judge
from journal_api.statistics.report_groups import Key

MIN_CORRELATION = 0.3
# What one decision answers to a line: with it, without it, or neither.
State = bool | None
# A sample, and its days in parts: a day may be in several.
Together = tuple[Sample, list[Mapping[str, tuple[int, int]]]]
Cells = dict[tuple[State, State], Together]
Patterns = dict[tuple[State, ...], Together]


class JointPart(NamedTuple):
    """Decisions with the same answers: the state of each line, their sample, and each day's count and sum."""

    state_of: Callable[[Key], State]
    sample: Sample
    days: Mapping[str, tuple[int, int]]


def judge_lines(edges: Mapping[Key, Edge], parts: Iterable[JointPart]) -> list[Edge]:
    """Return all edges of one table with `q` and a verdict, and with the line that each moves with.

    A line that would be shown is compared with each of a smaller p that would be shown too.
    """
    judged = dict(zip(edges, judge(list(edges.values())), strict=True))
    shown = sorted((one.p or 0, place, key) for place, (key, one) in enumerate(judged.items()) if is_shown(one))
    keys = [key for *_, key in shown]
    if len(keys) < 2:
        return list(judged.values())
    patterns = sum_patterns(keys, parts)
    together = dict(edges)
    for place, key in enumerate(keys):
        found = [find_joint(patterns, keys, place, other) for other in range(place)]
        if closest := max((one for one in found if one), key=lambda one: one.p, default=None):
            together[key] = edges[key]._replace(p=max(edges[key].p or 0, closest.p), moves_with=closest)
    return judge(list(together.values()))


def is_shown(edge: Edge) -> bool:
    return edge.q is not None and edge.q <= MAX_RATE


def sum_patterns(keys: Sequence[Key], parts: Iterable[JointPart]) -> Patterns:
    """Return what the decisions with each combination of answers to the lines have."""
    patterns: Patterns = {}
    for part in parts:
        sample, days = patterns.get(pattern := tuple(map(part.state_of, keys)), (Sample(), []))
        days.append(part.days)
        patterns[pattern] = sample.plus(part.sample), days
    return patterns


def find_joint(patterns: Patterns, keys: Sequence[Key], place: int, other: int) -> MovesWith | None:
    """Return how a line moves with another, None if their answers hardly correlate."""
    cells: Cells = {(one, of_other): (Sample(), []) for one in (True, False) for of_other in (True, False)}
    for pattern, (sample, days) in patterns.items():
        states = pattern[place], pattern[other]
        if states in cells:
            known, known_days = cells[states]
            known_days.extend(days)
            cells[states] = known.plus(sample), known_days
    both, only, lacking, neither = (sample.size for sample, _ in cells.values())
    sides = (both + only) * (lacking + neither) * (both + lacking) * (only + neither)
    if not sides or abs(both * neither - only * lacking) < MIN_CORRELATION * sqrt(sides):
        return None
    agreement = Fraction(both + neither, both + only + lacking + neither)
    return MovesWith(keys[other], agreement, within_p_value(cells))


def within_p_value(cells: Cells) -> float:
    """Return the p of the difference within the groups of the other line, the larger of Welch's and that of
    days; 1 if there are none.

    The differences are weighted by what they know, n1 · n0 / (n1 + n0).
    """
    difference, parts = Fraction(0), list[tuple[float, int]]()
    with_it, without = defaultdict[str, float](float), defaultdict[str, float](float)
    for of_other in (True, False):
        (present, _), (absent, _) = both = cells[True, of_other], cells[False, of_other]
        if min(present.size, absent.size) < 2:
            continue
        weight = Fraction(present.size * absent.size, present.size + absent.size)
        difference += weight * (present.mean - absent.mean)
        for moved, (sample, days) in zip((with_it, without), both, strict=True):
            parts.append((float(weight**2 * sample.variance / sample.size), sample.size - 1))
            scale = float(weight / sample.size**2)
            sizes, totals = Counter[str](), Counter[str]()  # whole numbers, whose order changes nothing
            for day, (size, total) in chain.from_iterable(one.items() for one in days):
                sizes[day] += size
                totals[day] += total
            for day, size in sizes.items():
                moved[day] += scale * (sample.size * totals[day] - size * sample.total)
    if min(len(with_it), len(without)) < 2:
        return 1.0
    every = with_it.keys() | without.keys()
    square = fsum((with_it.get(day, 0) - without.get(day, 0)) ** 2 for day in every)
    _, freedom = add_errors(
        (fsum(one * one for one in side.values()) * len(side) / (len(side) - 1), len(side) - 1)
        for side in (with_it, without)
    )
    of_days = sqrt(square * len(every) / (len(every) - 1)), freedom
    return max(difference_p_value(difference, *error) for error in (add_errors(parts), of_days))
