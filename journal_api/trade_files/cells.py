"""Rows and cells. Functions that parse a cell raise ValueError with the reason; the row adds the column."""

import re
import textwrap
from collections.abc import Callable
from decimal import Decimal
from functools import cache, lru_cache, partial
from typing import Any, Literal, TypeVar

import msgspec

from journal_api.errors import ValidationFailed
from journal_api.values.money import Money
from journal_api.values.types import Name100, Text, Timestamp

T = TypeVar("T")
M = TypeVar("M", bound=Money)
Comma = Literal["thousands", "decimals", "either"]
# Longer cells are notes, which rarely repeat, so they are not cached.
LONGEST_CACHED = 64
# Names or answers in one cell, and characters of a cell of names.
MOST_IN_A_CELL, LONGEST_LIST = 1000, 1024 * 1024
# 1234.5, -1,234.50, $1,234.50, $-5.00, - 0.08, 90.00 $, 3 250.00, a loss in parentheses: ($5.00), $(5.00).
BLANK = "[ \N{NO-BREAK SPACE}\N{THIN SPACE}\N{NARROW NO-BREAK SPACE}]"
CURRENCY = "[$€£]"
DIGITS = rf"(?:(?:[0-9]{{1,3}}(?:(?:,[0-9]{{3}})+|(?:{BLANK}[0-9]{{3}})+)|[0-9]+)(?:\.[0-9]*)?|\.[0-9]+)"
NUMBER = re.compile(
    rf"(?P<sign>[+-])?{BLANK}?{CURRENCY}?{BLANK}?(?P<plain>{DIGITS})(?:{BLANK}?{CURRENCY})?"
    rf"|(?:{CURRENCY}\(|\({CURRENCY}?)(?P<loss>{DIGITS})\)"
    rf"|{CURRENCY}-(?P<below>{DIGITS})"
)
# The format of most numbers, which Decimal parses directly.
PLAIN = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
NOT_DIGITS = re.compile(rf",|{BLANK}")
# Numbers such as 1.234 that could be 1234 or 1.234.
AMBIGUOUS = {
    "decimals": re.compile(r"[^0-9]*[0-9]{1,3}(\.[0-9]{3})+[^0-9]*"),
    "either": re.compile(r"[^0-9]*[0-9]{1,3},[0-9]{3}[^0-9]*"),
}
SWAP = str.maketrans(".,", ",.")
DATE = re.compile(
    r"(?P<year>[0-9]{4})([-/.])(?P<month>[0-9]{1,2})\2(?P<day>[0-9]{1,2})"
    r"|(?P<us_month>[0-9]{1,2})([-/])(?P<us_day>[0-9]{1,2})\6(?P<us_year>[0-9]{4}|[0-9]{2})"
)
CLOCK = re.compile(r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(\.[0-9]{1,6})?)?(?: ?([AaPp])\.?[Mm]\.?)?")


class Row(dict[str, str]):
    """The cells of one row by column name.

    `line` is the last line of the row, `comma` the meaning of a comma in its numbers.
    """

    __slots__ = ("comma", "line")
    line: int
    comma: Comma

    def read(self, column: str, reader: Callable[[str], T], *, strip: bool = True) -> T:
        """Return the parsed cell. Raises ValidationFailed with the reader's reason.

        What the reader returns is cached for good, so the reader must be a function of a module.
        """
        cell = self.get(column, "")
        try:
            read = cached(reader) if len(cell) < LONGEST_CACHED else reader
            return read(cell.strip() if strip else cell)
        except ValueError as error:
            raise refused(column, cell, error) from None

    def parse(self, column: str, reader: Callable[[str], T], *, strip: bool = True) -> T:
        """Return the parsed cell without caching it. Raises ValidationFailed with the reader's reason."""
        cell = self.get(column, "")
        try:
            return reader(cell.strip() if strip else cell)
        except ValueError as error:
            raise refused(column, cell, error) from None

    def read_if_any(self, column: str, reader: Callable[[str], T]) -> T | None:
        """Return the parsed cell, None for a missing column or an empty cell."""
        cell = self.get(column)
        return self.read(column, reader) if cell and not cell.isspace() else None

    def amount(self, column: str, kind: type[M]) -> M:
        """Return the cell as an amount of that type. Raises ValidationFailed."""
        return self.read(column, amount(kind, self.comma))

    def amount_if_any(self, column: str, kind: type[M]) -> M | None:
        """Return the cell as an amount, None for a missing column or an empty cell."""
        cell = self.get(column)
        return self.amount(column, kind) if cell and not cell.isspace() else None


def refused(column: str, cell: str, error: ValueError) -> ValidationFailed:
    """Return the error of a cell."""
    return ValidationFailed(fields={column: f"{error} ({shown(cell)!r})"})


def shown(cell: str) -> str:
    """Return the cell shortened for an error message. Cut first, because textwrap takes quadratic time."""
    return textwrap.shorten(cell[:600], 60, placeholder="...")


@cache
def cached(reader: Callable[[str], T]) -> Callable[[str], T]:
    """Return the reader with a cache, because symbols and prices repeat."""
    return lru_cache(maxsize=8192)(reader)


# One reader for each type of amount and meaning of the comma, so that its cache is shared.
READERS: dict[tuple[type[Money], Comma], Callable[[str], Any]] = {}


def amount(kind: type[M], comma: Comma) -> Callable[[str], M]:
    """Return the reader of amounts of that type."""
    if (kind, comma) not in READERS:
        READERS[kind, comma] = partial(read_amount, kind, comma)
    return READERS[kind, comma]


def read_amount(kind: type[M], comma: Comma, cell: str) -> M:
    """Return the amount in a cell. Raises ValueError, also for an ambiguous comma."""
    if comma != "thousands" and AMBIGUOUS[comma].fullmatch(cell):
        raise ValueError("could be thousands or decimals: write 1234,5 with semicolons, 1234.5 with tabs")
    return kind.checked(number(cell.translate(SWAP) if comma == "decimals" and "," in cell else cell))


def number(text: str) -> Decimal:
    """Return a number, with commas or blanks between thousands, a currency sign, or a loss in parentheses."""
    if PLAIN.fullmatch(text):
        return Decimal(text)
    match = NUMBER.fullmatch(text)
    if not match:
        raise ValueError("must be a number")
    value = Decimal(NOT_DIGITS.sub("", match["plain"] or match["loss"] or match["below"]))
    return value if match["plain"] and match["sign"] != "-" else value.copy_negate()


def timestamp(date: str, clock: str) -> Timestamp:
    """Return a local time. The date has the year or (US) the month first, the time 24 hours or AM and PM."""
    date_match, clock_match = DATE.fullmatch(date), CLOCK.fullmatch(clock)
    if not date_match or not clock_match:
        raise ValueError("must be a date such as 2026-04-09 or 04/09/2026 and a time such as 15:38:40")
    year, month, day = (date_match[name] or date_match[f"us_{name}"] for name in ("year", "month", "day"))
    hour, minute, second, fraction, half = clock_match.groups()
    if half:
        if not 1 <= int(hour) <= 12:
            raise ValueError("must have an hour from 1 to 12 before AM and PM")
        hour = str(int(hour) % 12 + 12 * (half in "Pp"))
    century = "20" if len(year) == 2 else ""
    return Timestamp.decode(
        f"{century}{year}-{month:0>2}-{day:0>2}T{hour:0>2}:{minute}:{second or '00'}{fraction or ''}"
    )


def date_and_clock(cell: str) -> Timestamp:
    """Return date and time of one cell: 04/09/2026 15:38:40, 1/2/2024 9:30:01 AM, 2024.01.02 15:04."""
    date, _, clock = cell.replace("T", " ").partition(" ")
    return timestamp(date, clock.strip())


text = Text.decode


def names(cell: str) -> list[str]:
    """Return names separated by semicolons or, for names with semicolons, in a JSON array."""
    if len(cell) > LONGEST_LIST:
        raise ValueError(f"must have at most {LONGEST_LIST} characters")
    parts = json_list(cell, str) if cell.startswith("[") else bounded(cell.split(";", MOST_IN_A_CELL))
    return [Name100.decode(part) for part in parts if part.strip()]


def json_list(cell: str, kind: type[T]) -> list[T]:
    """Return the items of a JSON array."""
    try:
        return bounded(msgspec.json.decode(cell, type=list[kind]))  # type: ignore[valid-type]
    except msgspec.MsgspecError as error:
        raise ValueError(f"must be JSON in the documented format: {error}") from None


def bounded(items: list[T]) -> list[T]:
    """Return the items unless there are more than MOST_IN_A_CELL."""
    if len(items) > MOST_IN_A_CELL:
        raise ValueError(f"must have at most {MOST_IN_A_CELL} items")
    return items


def one_of(*words: str) -> Callable[[str], str]:
    """Return a reader that accepts only those words."""

    def read(text: str) -> str:
        if text not in words:
            raise ValueError(f"must be one of: {', '.join(words)}")
        return text

    return read
