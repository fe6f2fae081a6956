"""Lines of a table that move together: each is judged within the groups of those that are clearer.

A confirmation that does nothing, but is mostly there when one that pays is there, seems to pay as well.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from math import sqrt
from typing import NamedTuple

from journal_api.metrics.inference import Sample, difference_p_value
from journal_api.statistics.edge import MAX_RATE, Edge, MovesWith, judge
from journal_api.statistics.report_groups import Key

MIN_CORRELATION = 0.3
# What one decision answers to a line: with it, without it, or neither.
State = bool | None
Cells = dict[tuple[State, State], Sample]
NOTHING = Sample(0, 0, 0, 0)


class JointPart(NamedTuple):
    """Decisions with the same answers: the state of each line, and their sample."""

    state_of: Callable[[Key], State]
    sample: Sample


def judge_lines(edges: Mapping[Key, Edge], parts: Iterable[JointPart]) -> list[Edge]:
    """Return all edges of one table with `q` and a verdict, and with the line that each moves with.

    A line that would be shown is compared with each of a smaller p that would be shown too.
    """
    judged = dict(zip(edges, judge(list(edges.values())), strict=True))
    shown = sorted(
        (one.p or 0, place, key) for place, (key, one) in enumerate(judged.items()) if is_shown(one)
    )
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


def sum_patterns(keys: Sequence[Key], parts: Iterable[JointPart]) -> dict[tuple[State, ...], Sample]:
    """Return the sample of each combination of answers to the lines."""
    patterns: dict[tuple[State, ...], Sample] = {}
    for part in parts:
        pattern = tuple(map(part.state_of, keys))
        patterns[pattern] = patterns.get(pattern, NOTHING).plus(part.sample)
    return patterns


def find_joint(
    patterns: Mapping[tuple[State, ...], Sample], keys: Sequence[Key], place: int, other: int
) -> MovesWith | None:
    """Return how a line moves with another, None if their answers hardly correlate."""
    cells: Cells = {(one, of_other): NOTHING for one in (True, False) for of_other in (True, False)}
    for pattern, sample in patterns.items():
        states = pattern[place], pattern[other]
        if states in cells:
            cells[states] = cells[states].plus(sample)
    both, only, lacking, neither = (cell.size for cell in cells.values())
    sides = (both + only) * (lacking + neither) * (both + lacking) * (only + neither)
    if not sides or abs(both * neither - only * lacking) < MIN_CORRELATION * sqrt(sides):
        return None
    agreement = Fraction(both + neither, both + only + lacking + neither)
    return MovesWith(keys[other], agreement, within_p_value(cells))


def within_p_value(cells: Cells) -> float:
    """Return the p of the difference within the groups of the other line, by Welch; 1 if there are none.

    The differences are weighted by what they know, n1 · n0 / (n1 + n0).
    """
    difference, parts = Fraction(0), list[tuple[float, int]]()
    for of_other in (True, False):
        sides = cells[True, of_other], cells[False, of_other]
        if min(side.size for side in sides) < 2:
            continue
        weight = Fraction(sides[0].size * sides[1].size, sides[0].size + sides[1].size)
        difference += weight * (sides[0].mean - sides[1].mean)
        parts += ((float(weight**2 * side.variance / side.size), side.size - 1) for side in sides)
    if not parts:
        return 1.0
    square = sum(part for part, _ in parts)
    freedom = 1 / sum((part / square) ** 2 / size for part, size in parts) if square else 1.0
    return difference_p_value(difference, sqrt(square), freedom)
