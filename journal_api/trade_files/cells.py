"""Rows and their cells: a reader raises ValueError with the reason, and the row names the column."""

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
# What is longer than this is a note, and hardly comes twice.
SHORT = 64
# Names or answers; and how long a cell of so many names may be.
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
# What most of them are, and what Decimal reads as it stands.
PLAIN = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
NOT_DIGITS = re.compile(rf",|{BLANK}")
# What means 1234 by one reading, and 1.234 by the other.
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
    """The cells of one row under their column names.

    `line` is the line that it ends on, `comma` what a comma means in its numbers.
    """

    __slots__ = ("comma", "line")
    line: int
    comma: Comma

    def read(self, column: str, reader: Callable[[str], T], *, strip: bool = True) -> T:
        """The cell as the reader has it; raises ValidationFailed with the reader's reason."""
        cell = self.get(column, "")
        try:
            read = remembering(reader) if len(cell) < SHORT else reader
            return read(cell.strip() if strip else cell)
        except ValueError as error:
            raise ValidationFailed(fields={column: f"{error} ({shown(cell)!r})"}) from None

    def read_if_any(self, column: str, reader: Callable[[str], T]) -> T | None:
        """None for a column that is missing or a cell that is empty."""
        cell = self.get(column)
        return self.read(column, reader) if cell and not cell.isspace() else None

    def amount(self, column: str, kind: type[M]) -> M:
        """The cell as an amount of that kind. Raises ValidationFailed."""
        return self.read(column, amount(kind, self.comma))

    def amount_if_any(self, column: str, kind: type[M]) -> M | None:
        cell = self.get(column)
        return self.amount(column, kind) if cell and not cell.isspace() else None


def shown(cell: str) -> str:
    """As much of it as an error tells. Cut first, because textwrap takes the square of a long one."""
    return textwrap.shorten(cell[:600], 60, placeholder="...")


@cache
def remembering(reader: Callable[[str], T]) -> Callable[[str], T]:
    """The same reader, which remembers what it has read, because symbols and prices repeat."""
    return lru_cache(maxsize=8192)(reader)


# One reader for each kind of amount and meaning of the comma, so that what it reads is remembered.
READERS: dict[tuple[type[Money], Comma], Callable[[str], Any]] = {}


def amount(kind: type[M], comma: Comma) -> Callable[[str], M]:
    """The reader of amounts of that kind."""
    if (kind, comma) not in READERS:
        READERS[kind, comma] = partial(read_amount, kind, comma)
    return READERS[kind, comma]


def read_amount(kind: type[M], comma: Comma, cell: str) -> M:
    if comma != "thousands" and AMBIGUOUS[comma].fullmatch(cell):
        raise ValueError("could be thousands or decimals: write 1234,5 with semicolons, 1234.5 with tabs")
    return kind.checked(number(cell.translate(SWAP) if comma == "decimals" and "," in cell else cell))


def number(text: str) -> Decimal:
    """Thousands with commas or blanks, a currency sign, and losses in parentheses are understood."""
    if PLAIN.fullmatch(text):
        return Decimal(text)
    found = NUMBER.fullmatch(text)
    if not found:
        raise ValueError("must be a number")
    value = Decimal(NOT_DIGITS.sub("", found["plain"] or found["loss"] or found["below"]))
    return value if found["plain"] and found["sign"] != "-" else value.copy_negate()


def timestamp(date: str, clock: str) -> Timestamp:
    """A wall-clock time: year first, or month first as in the United States, and 24 hours, or AM and PM."""
    found, told = DATE.fullmatch(date), CLOCK.fullmatch(clock)
    if not found or not told:
        raise ValueError("must be a date such as 2026-04-09 or 04/09/2026 and a time such as 15:38:40")
    year, month, day = (found[name] or found[f"us_{name}"] for name in ("year", "month", "day"))
    hour, minute, second, fraction, half = told.groups()
    if half:
        if not 1 <= int(hour) <= 12:
            raise ValueError("must have an hour from 1 to 12 before AM and PM")
        hour = str(int(hour) % 12 + 12 * (half in "Pp"))
    century = "20" if len(year) == 2 else ""
    return Timestamp.decode(
        f"{century}{year}-{month:0>2}-{day:0>2}T{hour:0>2}:{minute}:{second or '00'}{fraction or ''}"
    )


def date_and_clock(cell: str) -> Timestamp:
    """Both in one cell: 04/09/2026 15:38:40, 1/2/2024 9:30:01 AM, 2024.01.02 15:04."""
    date, _, clock = cell.replace("T", " ").partition(" ")
    return timestamp(date, clock.strip())


text = Text.decode


def names(cell: str) -> list[str]:
    """Names separated by semicolons, or a JSON array of them where a name has a semicolon in it."""
    if len(cell) > LONGEST_LIST:
        raise ValueError(f"must have at most {LONGEST_LIST} characters")
    parts = json_list(cell, str) if cell.startswith("[") else bounded(cell.split(";", MOST_IN_A_CELL))
    return [Name100.decode(part) for part in parts if part.strip()]


def json_list(cell: str, kind: type[T]) -> list[T]:
    try:
        return bounded(msgspec.json.decode(cell, type=list[kind]))  # type: ignore[valid-type]
    except msgspec.MsgspecError as error:
        raise ValueError(f"must be JSON of the documented form: {error}") from None


def bounded(found: list[T]) -> list[T]:
    if len(found) > MOST_IN_A_CELL:
        raise ValueError(f"must name at most {MOST_IN_A_CELL}")
    return found


def one_of(*words: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in words:
            raise ValueError(f"must be one of: {', '.join(words)}")
        return text

    return read
