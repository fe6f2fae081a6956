"""What decisions have on each trading day, folded into the sums that intervals and edges need.

A row has the count and the sum of each measure. SQL sums the rows of each part of the decisions; the rows of
the parts of a group are added here, and folded by column.
"""

import marshal
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from operator import add, mul, sub
from typing import Generic, NamedTuple, TypeVar

from journal_api.metrics.formulas import Measure
from journal_api.metrics.inference import DaySums, Sample, SharedDays

Group = TypeVar("Group", bound=Hashable)
Row = list[int]


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
        try:
            row = self.days[day]
        except KeyError:
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
        return marshal.dumps((self.powers, self.days))

    @staticmethod
    def read(found: bytes) -> tuple[Row, dict[str, Row]]:
        powers, days = marshal.loads(found)
        return powers, days


# Groups --------------------------------------------------------------------------------------------------


class ByDay(Generic[Group]):
    """The rows of groups. `find_other` says with which other group one is compared, if with any, and whether
    that is the whole to which it belongs."""

    def __init__(self, find_other: Callable[[Group], tuple[Group, bool] | None]) -> None:
        self.rows: defaultdict[Group, dict[str, Row]] = defaultdict(dict)
        self.find_other = find_other

    def add(self, groups: Iterable[Group], days: Mapping[str, Row]) -> None:
        """Add the days of a part of the decisions to the groups in which they count."""
        for group in groups:
            rows = self.rows[group]
            for day, row in days.items():
                known = rows.get(day)
                rows[day] = list(map(add, known, row)) if known else row

    def fold(self, group: Group) -> Iterator[DaySample]:
        """Yield what each measure has."""
        rows = self.rows[group]
        columns = list(zip(*rows.values(), strict=True))
        others = self.list_others(group)
        for at in range(0, len(columns), 2):
            n, s = columns[at : at + 2]
            days = DaySums(count_days(n), multiply(s, s), multiply(s, n), multiply(n, n))
            yield DaySample(sum(n), sum(s), days, fold_shared(n, s, *others[at : at + 2]))

    def list_others(self, group: Group) -> Sequence[Sequence[int]]:
        """Return the columns of the decisions with which a group is compared, on its days."""
        found, rows = self.find_other(group), self.rows[group]
        if not found or not rows:
            return ()
        other, is_whole = found
        nothing = [0] * len(next(iter(rows.values())))
        of_other = [self.rows[other].get(day, nothing) for day in rows]
        if is_whole:
            of_other = [list(map(sub, *pair)) for pair in zip(of_other, rows.values(), strict=True)]
        return list(zip(*of_other, strict=True))


def fold_shared(
    n: Sequence[int], s: Sequence[int], other_n: Sequence[int] = (), other_s: Sequence[int] = ()
) -> SharedDays:
    return SharedDays(
        count_days(map(mul, n, other_n)),
        multiply(s, other_s),
        multiply(s, other_n),
        multiply(n, other_s),
        multiply(n, other_n),
    )


def multiply(one: Iterable[int], other: Iterable[int]) -> int:
    return sum(map(mul, one, other))


def count_days(counts: Iterable[int]) -> int:
    return sum(map(bool, counts))


class PartSums(NamedTuple, Generic[Group]):
    """A part of the decisions: its groups, the measures, squares and cubes of its amounts, and its days."""

    groups: list[Group]
    measures: Sequence[Measure]
    powers: Row
    days: Mapping[str, Row]

    def build_sample(self, amount: Measure) -> Sample:
        at = 2 * self.measures.index(amount)
        size, total = (sum(row[at + place] for row in self.days.values()) for place in (0, 1))
        squares, cubes = self.powers[at : at + 2]
        return Sample(size, total, squares, cubes)

    def list_days(self, amount: Measure) -> dict[str, tuple[int, int]]:
        """Return the count and the sum of an amount on the days with it."""
        at = 2 * self.measures.index(amount)
        return {day: (row[at], row[at + 1]) for day, row in self.days.items() if row[at]}
