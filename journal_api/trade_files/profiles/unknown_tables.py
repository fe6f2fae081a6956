"""A table with an unknown header: its columns, its cells, and what they can be read as."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal

from journal_api.trade_files.amounts import Comma, guess_comma, parse_broker_number
from journal_api.trade_files.cells import PART_OF_ORDER, parse_asset
from journal_api.trade_files.dates import ANY_TIMES, CLOCK, DATE, UNIX, find_date_order, is_time
from journal_api.trade_files.headers import name_columns
from journal_api.trade_files.vocabulary import NOTHING, ColumnNames, find_direction, has_part
from journal_api.values.currencies import CURRENCIES

TIMES, TEXTS = (("opened_at", "closed_at", "at", "expires"), ("account", "external_id"))
AMOUNTS = ("price", "entry_price", "exit_price")  # which are not 0 in all rows
RIGHTS = frozenset({"c", "p", "call", "put"})
NO_DATE = re.compile(rf"{UNIX.pattern}|[0-9]{{1,2}}[^\W\d_]+[0-9]{{2,4}}")
UNIT, MONEY = re.compile(r"[(\[](.+)[)\]]\s*$"), CURRENCIES | {*"$€£¥"}
MAX_DAYS = 5  # columns
MOST = 0.5  # of the cells of a column, which a total or a remark may end


class Table:
    """A table below its header: the names of its columns, the texts and the numbers of its rows."""

    def __init__(self, header: list[str], below: Sequence[list[str]], comma: Comma) -> None:
        self.columns, self.comma = name_columns(header), comma
        self.names = ColumnNames(self.columns)
        self.rows = [dict(zip(self.columns, row + [""] * len(header), strict=False)) for row in below]
        shown = guess_comma((cell for row in self.rows for cell in row.values()), comma)
        self.numbers = [dict(read_numbers(row, shown)) for row in self.rows]

    def add_constant(self, name: str) -> None:
        """Give all rows the value behind the `=` of this name, which is no column."""
        for row in self.rows:
            row[name] = name.removeprefix("=")

    def read_cells(self, column: str | None) -> list[str]:
        """Return the cells of a column that hold something."""
        cells = [row[column] for row in self.rows] if column else []
        return [cell for cell in cells if cell and cell not in NOTHING]

    def read_amounts(self, column: str | None) -> list[Decimal]:
        """Return the numbers of a column."""
        return [row[column] for row in self.numbers if column in row] if column else []

    def read_times(self, *columns: str, beside: Sequence[str] = ()) -> list[str]:
        """Return the times of the rows as texts that can be compared, empty ones where these columns have no date.

        Day and month have one order in these cells and those `beside`.
        """
        cells = [" ".join(row[name] for name in columns) for row in self.rows]
        parse = ANY_TIMES[find_date_order([*cells, *beside], self.comma, is_local=False).order]
        times = []
        for cell in cells:
            try:
                times.append(parse(cell).isoformat())
            except ValueError:
                times.append("")
        return times

    def is_before(self, first: str | None, last: str | None) -> bool:
        """Return whether one time is never after another, and not always the same."""
        if not first or not last:
            return False
        one = self.read_times(first, beside=self.read_cells(last))
        other = self.read_times(last, beside=self.read_cells(first))
        pairs = [pair for pair in zip(one, other, strict=True) if all(pair)]
        return bool(pairs) and all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)

    def count(self, column: str, test: Callable[[str], object]) -> int:
        return sum(map(bool, map(test, self.read_cells(column))))

    def pick_numbers(self, *columns: str) -> Iterator[tuple[Decimal, ...]]:
        """Yield the numbers of these columns in the rows that have all of them."""
        return (tuple(row[name] for name in columns) for row in self.numbers if row.keys() >= {*columns})

    def find_day(self, columns: Sequence[str]) -> str | None:
        """Return the earliest of these columns, rather of dates than of numbers or 20MAR26, a settlement last."""
        return min(
            columns,
            key=lambda name: (
                has_part(name, "settlements"),
                all(map(NO_DATE.fullmatch, self.read_cells(name))) or self.count(name, str.isdecimal) > 0,
                sum(self.is_before(other, name) for other in columns[:MAX_DAYS] if other != name),
            ),
            default=None,
        )

    def holds(self, member: str, column: str) -> bool:
        """Return whether most cells of a column can be read as this member."""
        cells, numbers = self.read_cells(column), self.read_amounts(column)
        if member == "quantity" and find_unit(column) in MONEY:
            return False
        if not cells or member in TEXTS or (member == "quantity" and all(map(PART_OF_ORDER.fullmatch, cells))):
            return True
        if member in TIMES:
            return self.count(column, lambda cell: is_time(cell) or CLOCK.fullmatch(cell)) >= MOST * len(cells)
        if member == "side":
            return any(map(find_direction, cells))
        if member == "right":
            words = {*map(str.casefold, cells)}  # C and V are a purchase and a sale
            return not RIGHTS.isdisjoint(words) and "v" not in words and not any(map(find_direction, cells))
        if member == "symbol":
            return len(numbers) < len(cells) and all(map(is_symbol, cells))
        return len(numbers) >= MOST * len(cells) and (any(numbers) or member not in AMOUNTS)

    def has_clock(self, column: str) -> bool:
        """Return whether the cells of a column have both a date and a time of day."""
        is_whole = self.count(column, lambda cell: is_time(cell) and not DATE.fullmatch(cell.removesuffix(" 00:00:00")))
        return is_whole >= MOST * len(self.read_cells(column))


def find_unit(column: str) -> str | None:
    """Return what stands behind a name in parentheses."""
    unit = UNIT.search(column)
    return unit[1] if unit else None


def read_numbers(row: Mapping[str, str], comma: Comma) -> Iterator[tuple[str, Decimal]]:
    """Yield the cells of a row that are numbers."""
    for column, cell in row.items():
        with suppress(ValueError):
            yield column, parse_broker_number(cell, comma)


def is_symbol(cell: str) -> bool:
    try:
        return bool(parse_asset(cell))
    except ValueError:
        return False
