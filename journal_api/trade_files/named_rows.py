"""The rows of a file by the names of its columns."""

import textwrap
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

from journal_api.errors import ValidationFailed
from journal_api.trade_files.amounts import Comma, parse_amount
from journal_api.trade_files.cells import CellCache, find_cache, keep_value
from journal_api.trade_files.dates import DAYS, TIMES, DateOrder
from journal_api.values.money import Money
from journal_api.values.timestamps import Timestamp

T = TypeVar("T")
M = TypeVar("M", bound=Money)


class RoundedCells:
    """Counts the cells of a file whose amounts are rounded."""

    def __init__(self) -> None:
        self.count = 0
        self._row: Row | None = None
        self._columns: set[str] = set()

    def add(self, row: "Row", column: str) -> None:
        """Count the cell, once if the row reads it several times."""
        if row is not self._row:
            self._row, self._columns = row, set()
        self.count += column not in self._columns
        self._columns.add(column)


class CellRules(NamedTuple):
    """How the cells of a file are read.

    `comma` is the meaning of a comma in numbers, `date_order` the order of day and month, `day` the day of
    times without one. With `rounded`, amounts of more than eight decimals are rounded, without they are
    refused. The cells `nothing` are as good as empty. If `is_long_only`, a sale of shares or coins opens nothing.
    """

    comma: Comma = "thousands"
    date_order: DateOrder | None = None
    rounded: RoundedCells | None = None
    day: str | None = None
    nothing: frozenset[str] = frozenset()
    skips_errors: bool = False
    is_long_only: bool = False


class Row(dict[str, str]):
    """The cells of one row by column name. `line` is the last line of the row.

    A cell is read by a function that raises ValueError; the row raises ValidationFailed with the column. The
    maker of rows sets the attributes: a method __init__ would take longer than the rest.
    """

    __slots__ = ("amounts", "line", "rules")
    line: int
    rules: CellRules
    amounts: Mapping[type[Money], dict[str, Any]]  # the amounts of cells that were read before

    def read(self, column: str, reader: Callable[[str], T]) -> T:
        """Return the parsed cell. It is cached for good, so the reader must be a function of a module."""
        cell = self.get(column, "")
        values: CellCache[T] = find_cache(reader)
        try:
            return values[cell]
        except ValueError as error:
            raise refuse_cell(column, cell, error) from None

    def parse(self, column: str, reader: Callable[[str], T], *, strip: bool = True) -> T:
        """Return the parsed cell without caching it."""
        cell = self.get(column, "")
        try:
            return reader(cell.strip() if strip else cell)
        except ValueError as error:
            raise refuse_cell(column, cell, error) from None

    def has(self, column: str) -> bool:
        """Return whether the row has a cell in this column that is not blank."""
        cell = self.get(column)
        return bool(cell) and not cell.isspace() and cell not in self.rules.nothing  # type: ignore[union-attr]

    def find(self, columns: Iterable[str]) -> str | None:
        """Return the first of the columns whose cell is not blank."""
        return next(filter(self.has, columns), None)

    def read_if_any(self, column: str, reader: Callable[[str], T]) -> T | None:
        """Return the parsed cell, None for a missing column or a blank cell."""
        return self.read(column, reader) if self.has(column) else None

    def amount(self, column: str, kind: type[M]) -> M:
        """Return the cell as an amount of that type."""
        cell = self.get(column, "")
        value: M | None = self.amounts[kind].get(cell)
        return self._new_amount(column, cell, kind) if value is None else value

    def amount_if_any(self, column: str, kind: type[M]) -> M | None:
        """Return the cell as an amount, None for a missing column or a blank cell."""
        cell = self.get(column)
        if not cell:
            return None
        value: M | None = self.amounts[kind].get(cell)
        return self._new_amount(column, cell, kind) if value is None and self.has(column) else value

    def _new_amount(self, column: str, cell: str, kind: type[M]) -> M:
        """Return the amount of a cell whose text is not cached."""
        comma, rounded = self.rules.comma, self.rules.rounded
        try:
            value, is_rounded = parse_amount(kind, comma, cell.strip(), rounds=rounded is not None)
        except ValueError as error:
            raise refuse_cell(column, cell, error) from None
        if rounded is not None and is_rounded:
            rounded.add(self, column)
        else:
            keep_value(self.amounts[kind], cell, value)
        return value

    def time(self, column: str) -> Timestamp:
        """Return the cell as date and time of day."""
        return self.read(column, TIMES[self.rules.date_order])

    def day(self, column: str) -> Timestamp:
        """Return midnight of the cell's date."""
        return self.read(column, DAYS[self.rules.date_order])


def refuse_cell(column: str, cell: str, error: ValueError) -> ValidationFailed:
    return ValidationFailed(fields={column: f"{error} ({shorten(cell)!r})"})


def shorten(cell: str) -> str:
    """Return the cell shortened for an error message. Cut first, because textwrap takes quadratic time."""
    return textwrap.shorten(cell[:600], 60, placeholder="...")
