"""What decisions have on each trading day, folded into the sums that intervals and edges need.

SQL sums each part of the decisions: by day, the count and the sum of each measure. The parts of a group are
added here.
"""

import marshal
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, count
from operator import mul, sub
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


class SampleSums:
    """An aggregate function of SQL: the row of each day, and the squares and cubes of the first measures.

    A measure is null where a decision has none; what is OUT_OF_RANGE is so in the sums beside this one too.
    An aggregate returns what SQLite can hold, so these are bytes, which `read` reads.
    """

    def __init__(self) -> None:
        self.days: dict[str, Row] = {}
        self.powers: Row = []

    def step(self, powered: int, day: str, /, *values: int | str | None) -> None:
        row = self.days.get(day)
        if row is None:
            row = self.days[day] = [0] * (2 * len(values))
            self.powers = self.powers or [0] * (2 * powered)
        powers, at = self.powers, 0
        for value in values:
            if isinstance(value, int):
                row[at] += 1
                row[at + 1] += value
                if powered:
                    square = value * value
                    powers[at] += square
                    powers[at + 1] += square * value
            powered -= powered > 0
            at += 2

    def finalize(self) -> bytes:
        return marshal.dumps((self.powers, list(self.days), list(zip(*self.days.values(), strict=True))))

    @staticmethod
    def read(found: bytes) -> tuple[Row, ByDay]:
        powers, days, columns = marshal.loads(found)
        return powers, ByDay(place_days(days), columns)


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
            yield DaySample(sum(n), sum(s), days, fold_shared(n, s, *others[at : at + 2]))

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


def fold_shared(
    n: Sequence[int], s: Sequence[int], other_n: Sequence[int] = (), other_s: Sequence[int] = ()
) -> SharedDays:
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
