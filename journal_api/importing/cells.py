"""Reading cells: each raises ValidationFailed naming its column."""

import re
import textwrap
from collections.abc import Callable
from decimal import Decimal
from typing import NamedTuple, TypeVar

from journal_api.errors import ValidationFailed
from journal_api.money import Money
from journal_api.structs.trades import TradeCreate
from journal_api.values import Timestamp

T = TypeVar("T")
# 1234.5, -1,234.50, $1,234.50, -$5, and a loss in parentheses: ($5.00) or $(5.00).
DIGITS = r"(?:(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]*)?|\.[0-9]+)"
NUMBER = re.compile(rf"(?P<sign>[+-])?\$?(?P<plain>{DIGITS})|(?:\$\(|\(\$?)(?P<loss>{DIGITS})\)")


class ImportedTrade(NamedTuple):
    """A trade of a file, and the names of what it points at."""

    trade: TradeCreate
    strategy: str | None = None
    setup: str | None = None
    tags: tuple[str, ...] = ()


class Row(dict[str, str]):
    """The cells of one row under their column names."""

    def read(self, column: str, reader: Callable[[str], T]) -> T:
        """The cell as the reader has it; raises ValidationFailed with the reader's reason."""
        try:
            return reader(self.get(column, "").strip())
        except ValueError as error:
            shown = textwrap.shorten(self.get(column, ""), 60, placeholder="...")
            raise ValidationFailed(fields={column: f"{error} ({shown!r})"}) from None

    def read_if_any(self, column: str, reader: Callable[[str], T]) -> T | None:
        """None for a column that is missing or a cell that is empty."""
        return self.read(column, reader) if self.get(column, "").strip() else None


M = TypeVar("M", bound=Money)


def amount(kind: type[M]) -> Callable[[str], M]:
    """A reader of amounts: thousands with commas, a dollar sign, and losses in parentheses are understood."""

    def read(text: str) -> M:
        found = NUMBER.fullmatch(text)
        if not found:
            raise ValueError("must be a number")
        value = Decimal((found["plain"] or found["loss"]).replace(",", ""))
        return kind.checked(value.copy_negate() if found["loss"] or found["sign"] == "-" else value)

    return read


def us_timestamp(text: str) -> Timestamp:
    """Month first, as brokers in the United States write it: 04/09/2026 15:38:40."""
    found = re.fullmatch(r"([0-9]{2})/([0-9]{2})/([0-9]{4}) ([0-9]{2}:[0-9]{2}:[0-9]{2})", text)
    if not found:
        raise ValueError("must be a time MM/DD/YYYY HH:MM:SS")
    month, day, year, clock = found.groups()
    return Timestamp.decode(f"{year}-{month}-{day}T{clock}")


def text(cell: str) -> str:
    if len(cell) > 10_000 or "\0" in cell:
        raise ValueError("must be at most 10000 characters without NUL")
    return cell


def one_of(*words: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in words:
            raise ValueError(f"must be one of: {', '.join(words)}")
        return text

    return read
