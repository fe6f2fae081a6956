"""What decisions have on each trading day, folded into the sums that intervals and edges need.

SQL has the numbers of each part of the decisions. They are summed here by day, and the parts of a group are added.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, count
from operator import mul, sub
from sys import intern
from typing import Generic, NamedTuple, TypeVar

from journal_api.metrics.formulas import Measure
from journal_api.metrics.inference import DaySums, Sample, SharedDays

Group = TypeVar("Group", bound=Hashable)
Row = list[int]


class ByDay(NamedTuple):
    """Columns of numbers: the count and the sum of each measure, and the place of each day in them."""

    places: Mapping[str, int]
    columns: Sequence[Sequence[int]]


class DaySample(NamedTuple):
    """The count and the sum of a measure of a group, and those by day."""

    size: int
    total: int
    days: DaySums
    shared: SharedDays


def sum_samples(days: Sequence[str], measures: Sequence[Sequence[int | str | None]], powered: int) -> tuple[Row, ByDay]:
    """Return the squares and cubes of the first `powered` measures, and what all measures have by day.

    `days` has the day of each decision, a measure its value: null where a decision has none; what is OUT_OF_RANGE is
    so in the sums of SQL too.
    """
    places = place_days(map(intern, dict.fromkeys(days)))  # parts share the texts
    at = list(map(places.__getitem__, days))
    powers, columns = list[int](), list[Row]()
    for number, values in enumerate(measures):
        counts, sums, squares, cubes = [0] * len(places), [0] * len(places), 0, 0
        for place, value in zip(at, values, strict=True):
            if isinstance(value, int):
                counts[place] += 1
                sums[place] += value
                if number < powered:
                    square = value * value
                    squares += square
                    cubes += square * value
        columns += counts, sums
        if number < powered:
            powers += squares, cubes
    return powers, ByDay(places, columns)


def place_days(days: Iterable[str]) -> dict[str, int]:
    return dict(zip(days, count(), strict=False))


# Groups --------------------------------------------------------------------------------------------------


class Groups(Generic[Group]):
    """The parts of groups. `find_other` says with which other group one is compared, if with any, and whether
    that is the whole to which it belongs."""

    def __init__(self, find_other: Callable[[Group], tuple[Group, bool] | None]) -> None:
        parts: defaultdict[Group, list[ByDay]] = defaultdict(list)
        self.parts, self.find_other = parts, find_other
        self.merge = cache(lambda group: merge(parts[group]))  # once all parts were added

    def add(self, groups: Iterable[Group], part: ByDay) -> None:
        """Add a part of the decisions to the groups in which it counts."""
        for group in groups:
            self.parts[group].append(part)

    def fold(self, group: Group) -> Iterator[DaySample]:
        """Yield what each measure has."""
        _, columns = self.merge(group)
        others = self.list_others(group)
        for at in range(0, len(columns), 2):
            n, s = columns[at : at + 2]
            days = DaySums(len(n) - n.count(0), multiply(s, s), multiply(s, n), multiply(n, n))
            shared = fold_shared(n, s, *others[at : at + 2]) if others else SharedDays()
            yield DaySample(sum(n), sum(s), days, shared)

    def list_others(self, group: Group) -> Sequence[Sequence[int]]:
        """Return the columns of the decisions with which a group is compared, on its days."""
        found = self.find_other(group)
        if not found:
            return ()
        other, is_whole = found
        days, own = self.merge(group)
        places, columns = self.merge(other)
        at = list(map(places.get, days))
        of_other = [[0 if place is None else column[place] for place in at] for column in columns]
        return [list(map(sub, *pair)) for pair in zip(of_other, own, strict=True)] if is_whole else of_other


def merge(parts: Sequence[ByDay]) -> ByDay:
    """Return the sums of parts, of which a day may have several."""
    if len(parts) == 1:
        return parts[0]
    days = list(chain.from_iterable(part.places for part in parts))
    places = place_days(dict.fromkeys(days))
    at = list(map(places.__getitem__, days))
    columns = []
    for column in zip(*(part.columns for part in parts), strict=True):
        sums = [0] * len(places)
        for place, number in zip(at, chain.from_iterable(column), strict=True):
            sums[place] += number
        columns.append(sums)
    return ByDay(places, columns)


def fold_shared(n: Sequence[int], s: Sequence[int], other_n: Sequence[int], other_s: Sequence[int]) -> SharedDays:
    return SharedDays(
        sum(map(bool, map(mul, n, other_n))),
        multiply(s, other_s),
        multiply(s, other_n),
        multiply(n, other_s),
        multiply(n, other_n),
    )


def multiply(one: Iterable[int], other: Iterable[int]) -> int:
    return sum(map(mul, one, other))


class PartSums(NamedTuple, Generic[Group]):
    """A part of the decisions: its groups, the measures, squares and cubes of its amounts, and its days."""

    groups: list[Group]
    measures: Sequence[Measure]
    powers: Row
    by_day: ByDay

    def build_sample(self, amount: Measure) -> Sample:
        at = 2 * self.measures.index(amount)
        size, total = map(sum, self.by_day.columns[at : at + 2])
        squares, cubes = self.powers[at : at + 2]
        return Sample(size, total, squares, cubes)

    def list_days(self, amount: Measure) -> dict[str, tuple[int, int]]:
        """Return the count and the sum of an amount on the days with it."""
        at = 2 * self.measures.index(amount)
        rows = zip(self.by_day.places, *self.by_day.columns[at : at + 2], strict=True)
        return {day: (n, s) for day, n, s in rows if n}
