"""What decisions have on each trading day, folded into the sums that intervals and edges need.

A row has the count and the sum of each measure. SQL sums the rows of each part of the decisions; the rows of
all parts then go to groups in the order of days, and those of some hundred days are folded column by column.
"""

import marshal
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import add, mul, sub
from typing import Generic, NamedTuple, TypeVar

from journal_api.metrics.inference import DaySums, SharedDays

Group = TypeVar("Group", bound=Hashable)
Row = list[int]


class DaySample(NamedTuple):
    """The count and the sum of a measure of a group, and those by day."""

    size: int
    total: int
    days: DaySums
    shared: SharedDays


# Enough that the work is in the columns, few enough for a report of many groups over many years.
ROWS = 256


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


def fold_days(columns: Sequence[Sequence[int]]) -> Row:
    """Return of each measure its count and sum, and DaySums."""
    folded: Row = []
    for counts, sums in zip(columns[::2], columns[1::2], strict=True):
        folded += sum(counts), sum(sums), count_days(counts)
        folded += multiply(sums, sums), multiply(sums, counts), multiply(counts, counts)
    return folded


def fold_shared_days(columns: Sequence[Sequence[int]]) -> Row:
    """Return SharedDays of each measure, from the columns of one group and then of the other."""
    half, folded = len(columns) // 2, list[int]()
    for at in range(0, half, 2):
        (n, s), (other_n, other_s) = columns[at : at + 2], columns[half + at : half + at + 2]
        folded += count_days(map(mul, n, other_n)), multiply(s, other_s), multiply(s, other_n)
        folded += multiply(n, other_s), multiply(n, other_n)
    return folded


class Folded:
    """Rows, and the sums of those that are folded already."""

    __slots__ = ("fold", "rows", "sums")

    def __init__(self, fold: Callable[[Sequence[Sequence[int]]], Row]) -> None:
        self.fold = fold
        self.rows: list[Row] = []
        self.sums: Row = []

    def append(self, row: Row) -> None:
        self.rows.append(row)
        if len(self.rows) == ROWS:
            self.compute()

    def compute(self) -> Row:
        """Return the sums of all rows, nothing without a row."""
        if self.rows:
            folded = self.fold(list(zip(*self.rows, strict=True)))
            self.sums = list(map(add, self.sums, folded)) if self.sums else folded
            self.rows.clear()
        return self.sums


# Groups --------------------------------------------------------------------------------------------------


class Cell:
    """A group: its row on the day that is read, and its days before, also those that it shares with another.

    With `is_part` the other one is the whole to which this one belongs, and it shares days with its rest.
    """

    __slots__ = ("days", "is_part", "other", "shared", "today")

    def __init__(self) -> None:
        self.today: Row | None = None
        self.days, self.shared = Folded(fold_days), Folded(fold_shared_days)
        self.other: Cell | None = None
        self.is_part = False

    def close_day(self) -> None:
        row, other = self.today, self.other and self.other.today
        if row:
            self.days.append(row)
            if other:
                self.shared.append(row + (list(map(sub, other, row)) if self.is_part else other))


class ByDay(Generic[Group]):
    """The cells of groups. `find_other` says with which other group one is compared, if with any."""

    def __init__(self, find_other: Callable[[Group], tuple[Group, bool] | None]) -> None:
        self.cells: dict[Group, Cell] = {}
        self.find_other = find_other
        self.rows: list[tuple[str, list[Cell], Row]] = []

    def get_cell(self, group: Group) -> Cell:
        if group not in self.cells:
            cell = self.cells[group] = Cell()
            if found := self.find_other(group):
                cell.other, cell.is_part = self.get_cell(found[0]), found[1]
        return self.cells[group]

    def add(self, groups: Iterable[Group], days: Mapping[str, Row]) -> None:
        """Add the days of a part of the decisions to the groups in which they count."""
        cells = [self.get_cell(group) for group in groups]
        self.rows += ((day, cells, row) for day, row in days.items())

    def close(self) -> None:
        """Fold what was added, day by day."""
        self.rows.sort(key=lambda row: row[0])
        for _, rows in groupby(self.rows, key=lambda row: row[0]):
            touched: list[Cell] = []
            for _, cells, row in rows:
                for cell in cells:
                    if cell.today:
                        cell.today = list(map(add, cell.today, row))
                    else:
                        cell.today = row
                        touched.append(cell)
            for cell in touched:
                cell.close_day()
            for cell in touched:
                cell.today = None

    def get_sums(self, group: Group) -> Iterator[DaySample]:
        """Yield what each measure has."""
        cell = self.get_cell(group)
        days, shared = cell.days.compute(), cell.shared.compute()
        for at in range(len(days) // 6):
            size, total, *sums = days[6 * at : 6 * at + 6]
            yield DaySample(size, total, DaySums(*sums), SharedDays(*shared[5 * at : 5 * at + 5]))
