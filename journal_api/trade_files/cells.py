"""Rows and cells. Functions that parse a cell raise ValueError with the reason; the row adds the column."""

import textwrap
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple, TypeVar

import msgspec

from journal_api.errors import ValidationFailed
from journal_api.trade_files.amounts import CURRENCY as CURRENCY
from journal_api.trade_files.amounts import Comma as Comma
from journal_api.trade_files.amounts import read_amount, read_rounded
from journal_api.trade_files.date_cells import DAYS, TIMES, DateOrder
from journal_api.values.money import Money
from journal_api.values.timestamps import Timestamp
from journal_api.values.types import Name100, Text

T = TypeVar("T")
M = TypeVar("M", bound=Money)
# Names or answers in one cell, and characters of a cell of names.
MAX_ITEMS_IN_CELL, MAX_LIST_LENGTH = 1000, 1024 * 1024
# Long cells are notes, which rarely repeat.
MAX_CACHED_LENGTH = 64
MAX_REMEMBERED = 8192


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

    `comma` is the meaning of a comma in numbers, `date_order` the order of day and month. With `rounded`,
    amounts of more than eight decimals are rounded, without they are refused.
    """

    comma: Comma = "thousands"
    date_order: DateOrder | None = None
    rounded: RoundedCells | None = None


class Remembered(dict[str, T]):
    """The values that a reader has returned for the texts of cells: symbols, sides and names repeat."""

    def __init__(self, reader: Callable[[str], T]) -> None:
        super().__init__()
        self._reader = reader

    def __missing__(self, cell: str) -> T:
        """Return the parsed cell. Raises ValueError, which is not remembered."""
        value = self._reader(cell.strip())
        remember(self, cell, value)
        return value


def remember(values: dict[str, T], cell: str, value: T) -> None:
    """Keep the value of a cell."""
    if len(cell) < MAX_CACHED_LENGTH:
        if len(values) >= MAX_REMEMBERED:
            values.clear()
        values[cell] = value


@cache
def remembered(reader: Callable[[str], T]) -> Remembered[T]:
    """Return the values that the reader has returned. They are kept for good: use functions of modules."""
    return Remembered(reader)


class Row(dict[str, str]):
    """The cells of one row by column name. `line` is the last line of the row.

    The attributes are set by the maker of rows: a method __init__ would take longer than the rest.
    """

    __slots__ = ("amounts", "line", "rules")
    line: int
    rules: CellRules
    amounts: Mapping[type[Money], dict[str, Any]]  # the amounts of cells that were read before

    def read(self, column: str, reader: Callable[[str], T], *, strip: bool = True) -> T:
        """Return the parsed cell. Raises ValidationFailed with the reader's reason.

        What the reader returns is cached for good, so the reader must be a function of a module.
        """
        cell = self.get(column, "")
        try:
            if strip:
                values: Remembered[T] = remembered(reader)
                return values[cell]
            return reader(cell)
        except ValueError as error:
            raise refused(column, cell, error) from None

    def parse(self, column: str, reader: Callable[[str], T]) -> T:
        """Return the parsed cell without caching it. Raises ValidationFailed with the reader's reason."""
        cell = self.get(column, "")
        try:
            return reader(cell.strip())
        except ValueError as error:
            raise refused(column, cell, error) from None

    def parse_if_any(self, column: str, reader: Callable[[str], T]) -> T | None:
        """Return the parsed cell without caching it, None for a missing column or an empty cell."""
        cell = self.get(column)
        return self.parse(column, reader) if cell and not cell.isspace() else None

    def read_if_any(self, column: str, reader: Callable[[str], T]) -> T | None:
        """Return the parsed cell, None for a missing column or an empty cell."""
        cell = self.get(column)
        return self.read(column, reader) if cell and not cell.isspace() else None

    def amount(self, column: str, kind: type[M]) -> M:
        """Return the cell as an amount of that type. Raises ValidationFailed."""
        cell = self.get(column, "")
        value: M | None = self.amounts[kind].get(cell)
        return self._new_amount(column, cell, kind) if value is None else value

    def amount_if_any(self, column: str, kind: type[M]) -> M | None:
        """Return the cell as an amount, None for a missing column or an empty cell."""
        cell = self.get(column)
        if not cell:
            return None
        value: M | None = self.amounts[kind].get(cell)
        return self._new_amount(column, cell, kind) if value is None and not cell.isspace() else value

    def _new_amount(self, column: str, cell: str, kind: type[M]) -> M:
        """Return the amount of a cell whose text is not remembered."""
        try:
            if self.rules.rounded is None:
                value, is_rounded = read_amount(kind, self.rules.comma, cell.strip()), False
            else:
                value, is_rounded = read_rounded(kind, self.rules.comma, cell.strip())
        except ValueError as error:
            raise refused(column, cell, error) from None
        if self.rules.rounded is not None and is_rounded:
            self.rules.rounded.add(self, column)
        else:
            remember(self.amounts[kind], cell, value)
        return value

    def time(self, column: str) -> Timestamp:
        """Return the cell as date and time of day. Raises ValidationFailed."""
        return self.read(column, TIMES[self.rules.date_order])

    def day(self, column: str) -> Timestamp:
        """Return midnight of the cell's date. Raises ValidationFailed."""
        return self.read(column, DAYS[self.rules.date_order])


def refused(column: str, cell: str, error: ValueError) -> ValidationFailed:
    """Return the error of a cell."""
    return ValidationFailed(fields={column: f"{error} ({shown(cell)!r})"})


def shown(cell: str) -> str:
    """Return the cell shortened for an error message. Cut first, because textwrap takes quadratic time."""
    return textwrap.shorten(cell[:600], 60, placeholder="...")


text = Text.decode


def names(cell: str) -> list[str]:
    """Return names separated by semicolons or, for names with semicolons, in a JSON array."""
    if len(cell) > MAX_LIST_LENGTH:
        raise ValueError(f"must have at most {MAX_LIST_LENGTH} characters")
    parts = json_list(cell, str) if cell.startswith("[") else bounded(cell.split(";", MAX_ITEMS_IN_CELL))
    return [Name100.decode(part) for part in parts if part.strip()]


def json_list(cell: str, kind: type[T]) -> list[T]:
    """Return the items of a JSON array."""
    try:
        return bounded(msgspec.json.decode(cell, type=list[kind]))  # type: ignore[valid-type]
    except msgspec.MsgspecError as error:
        raise ValueError(f"must be JSON in the documented format: {error}") from None


def bounded(items: list[T]) -> list[T]:
    """Return the items unless there are more than MAX_ITEMS_IN_CELL."""
    if len(items) > MAX_ITEMS_IN_CELL:
        raise ValueError(f"must have at most {MAX_ITEMS_IN_CELL} items")
    return items


def one_of(*words: str) -> Callable[[str], str]:
    """Return a reader that accepts only those words."""

    def read(text: str) -> str:
        if text not in words:
            raise ValueError(f"must be one of: {', '.join(words)}")
        return text

    return read
