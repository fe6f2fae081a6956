"""What decisions have on each trading day, folded into the sums that intervals and edges need.

A row has the count and the sum of each measure. SQL sums the rows of each part of the decisions. The parts
of a group are added and folded some hundred days at a time, by column where a part has most of the days.
"""

import marshal
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import repeat
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


Columns = Sequence[Sequence[int]]
# Days at a time: enough that the work is in the columns, few enough for many groups over many years.
BLOCK = 256
DENSE = 0.25  # the share of all days from which on a part is added by column


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
        """Return the squares and cubes, and the rows of days."""
        powers, days = marshal.loads(found)
        return powers, days


# Folds ---------------------------------------------------------------------------------------------------


def multiply(one: Iterable[int], other: Iterable[int]) -> int:
    return sum(map(mul, one, other))


def count_days(counts: Iterable[int]) -> int:
    return sum(map(bool, counts))


def fold_days(columns: Columns) -> Row:
    """Return of each measure its count and sum, and DaySums."""
    folded: Row = []
    for counts, sums in zip(columns[::2], columns[1::2], strict=True):
        folded += sum(counts), sum(sums), count_days(counts)
        folded += multiply(sums, sums), multiply(sums, counts), multiply(counts, counts)
    return folded


def fold_shared_days(columns: Columns, others: Columns) -> Row:
    """Return SharedDays of each measure of two groups on the same days."""
    folded: Row = []
    for at in range(0, len(columns), 2):
        (n, s), (other_n, other_s) = columns[at : at + 2], others[at : at + 2]
        folded += count_days(map(mul, n, other_n)), multiply(s, other_s), multiply(s, other_n)
        folded += multiply(n, other_s), multiply(n, other_n)
    return folded


def combine(how: Callable[[int, int], int], one: Columns, other: Columns) -> list[Row]:
    return [list(map(how, *pair)) for pair in zip(one, other, strict=True)]


def to_columns(rows: Mapping[str, Sequence[int]], days: Iterable[str], width: int) -> Columns:
    """Return the columns of those days, 0 on days without a row."""
    return list(zip(*map(rows.get, days, repeat((0,) * width)), strict=True))


# Groups --------------------------------------------------------------------------------------------------


class Cell:
    """A group: what it has on the days of a block, and the sums of the blocks before.

    With `is_part` the other group, with which it is compared, is the whole to which this one belongs.
    """

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}
        self.columns: Columns = ()
        self.days: Sequence[str] = ()
        self.sums: Row = []
        self.shared: Row = []
        self.other: Cell | None = None
        self.is_part = False

    def add(self, columns: Columns) -> None:
        self.columns = combine(add, self.columns, columns) if self.columns else columns

    def add_row(self, day: str, row: Row) -> None:
        known = self.rows.get(day)
        self.rows[day] = list(map(add, known, row)) if known else row

    def settle(self, block: Sequence[str], width: int) -> None:
        """Bring all of the block into columns: of its days, or of those with a row if that is all."""
        if self.columns:
            self.days = block
            if self.rows:
                self.add(to_columns(self.rows, block, width))
        elif self.rows:
            self.days, self.columns = list(self.rows), list(zip(*self.rows.values(), strict=True))
        self.rows.clear()

    def fold(self, width: int) -> None:
        if not self.columns:
            return
        self.sums = add_rows(self.sums, fold_days(self.columns))
        if self.other and self.other.columns:
            others = self.other.take(self.days, width)
            others = combine(sub, others, self.columns) if self.is_part else others
            self.shared = add_rows(self.shared, fold_shared_days(self.columns, others))

    def take(self, days: Sequence[str], width: int) -> Columns:
        """Return the columns of those days."""
        if days is self.days:
            return self.columns
        return to_columns(dict(zip(self.days, zip(*self.columns, strict=True), strict=True)), days, width)


def add_rows(one: Row, other: Row) -> Row:
    return list(map(add, one, other)) if one else other


class ByDay(Generic[Group]):
    """The cells of groups. `find_other` says with which other group one is compared, if with any."""

    def __init__(self, find_other: Callable[[Group], tuple[Group, bool] | None]) -> None:
        self.cells: dict[Group, Cell] = {}
        self.find_other = find_other
        self.parts: list[tuple[list[Cell], Mapping[str, Row]]] = []

    def get_cell(self, group: Group) -> Cell:
        if group not in self.cells:
            cell = self.cells[group] = Cell()
            if found := self.find_other(group):
                cell.other, cell.is_part = self.get_cell(found[0]), found[1]
        return self.cells[group]

    def add(self, groups: Iterable[Group], days: Mapping[str, Row]) -> None:
        """Add the days of a part of the decisions to the groups in which they count."""
        if days:
            self.parts.append(([self.get_cell(group) for group in groups], days))

    def close(self) -> None:
        """Fold what was added."""
        days = sorted(set[str]().union(*(of_part for _, of_part in self.parts)))
        blocks = {day: place // BLOCK for place, day in enumerate(days)}
        dense, sparse = [], defaultdict[int, list[tuple[list[Cell], str, Row]]](list)
        for cells, of_part in self.parts:
            if len(of_part) >= DENSE * len(days):
                dense.append((cells, of_part))
            else:
                for day, row in of_part.items():
                    sparse[blocks[day]].append((cells, day, row))
        width = len(next(iter(self.parts[0][1].values()))) if self.parts else 0
        for number, at in enumerate(range(0, len(days), BLOCK)):
            block = days[at : at + BLOCK]
            for cells, of_part in dense:
                columns = to_columns(of_part, block, width)
                for cell in cells:
                    cell.add(columns)
            for cells, day, row in sparse.pop(number, ()):
                for cell in cells:
                    cell.add_row(day, row)
            self.close_block(block, width)

    def close_block(self, block: Sequence[str], width: int) -> None:
        for cell in self.cells.values():
            cell.settle(block, width)
        for cell in self.cells.values():
            cell.fold(width)
        for cell in self.cells.values():
            cell.columns = ()

    def get_sums(self, group: Group) -> Iterator[DaySample]:
        """Yield what each measure has."""
        cell = self.get_cell(group)
        for number in range(len(cell.sums) // 6):
            size, total, *sums = cell.sums[6 * number : 6 * number + 6]
            shared = SharedDays(*cell.shared[5 * number : 5 * number + 5])
            yield DaySample(size, total, DaySums(*sums), shared)


class PartSums(NamedTuple, Generic[Group]):
    """A part of the decisions: its groups, the measures, squares and cubes of its amounts, and its days."""

    groups: list[Group]
    measures: Sequence[Measure]
    powers: Row
    days: Mapping[str, Row]

    def build_sample(self, amount: Measure) -> Sample:
        """Return the sample of an amount, without its days."""
        at = 2 * self.measures.index(amount)
        size, total = (sum(row[at + place] for row in self.days.values()) for place in (0, 1))
        squares, cubes = self.powers[at : at + 2]
        return Sample(size, total, squares, cubes)

    def list_days(self, amount: Measure) -> dict[str, tuple[int, int]]:
        """Return the count and the sum of an amount on the days with it."""
        at = 2 * self.measures.index(amount)
        return {day: (row[at], row[at + 1]) for day, row in self.days.items() if row[at]}
