"""The samples of the formats, repeated to long files."""

import csv
import io
import re
from collections.abc import Iterator
from datetime import date, timedelta
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from journal_api.trade_files.file_format import Format
from journal_api.trade_files.headers import Header, next_heading, read_header
from journal_api.trade_files.known_formats import known_formats
from journal_api.trade_files.rows import COMMAS, Cells

SAMPLES = Path(__file__).parents[1] / "data"
# 2026-03-02, 2026.03.02, 20260302, 3/2/2026, 03-02-26
DATE = re.compile(
    r"\b(?:(?P<year>20[0-9]{2})(?P<mark>[-/.]?)(?P<month>[0-9]{2})(?P=mark)(?P<day>[0-9]{2})"
    r"|(?P<us_month>[0-9]{1,2})(?P<us_mark>[-/])(?P<us_day>[0-9]{1,2})(?P=us_mark)(?P<us_year>20[0-9]{2}|[0-9]{2})"
    r")(?![0-9])"
)
# The columns of ids, each of which a file has once.
IDS = re.compile(r"(?i)(?!.*account)(.*id|trade #|order.*|position)")


class Sample(NamedTuple):
    """A file of a format: the rows up to its header, and the rows of trades."""

    file_format: Format
    separator: str
    before: list[list[str]]
    columns: list[str]
    rows: list[list[str]]

    def repeated(self, count: int) -> list[list[str]]:
        """So many rows: those of the sample over and over, each time a day later and with other ids."""
        size = len(self.rows)
        return [self.copy_of(self.rows[number % size], number // size) for number in range(count)]

    def copy_of(self, row: list[str], number: int) -> list[str]:
        columns = [*self.columns, *[""] * (len(row) - len(self.columns))]
        return [self.cell(column, cell, number) for column, cell in zip(columns, row, strict=True)]

    def cell(self, column: str, cell: str, number: int) -> str:
        if column in self.file_format.accounts:
            return "The one account"
        if cell and IDS.fullmatch(column):
            return str(int(cell) + number * 1000) if cell.isdecimal() else f"{cell}{number}"
        return DATE.sub(lambda match: later(match, number), cell)

    def file(self, rows: list[list[str]]) -> bytes:
        return csv_of([*self.before, *rows], self.separator)

    def table(self, rows: list[list[str]]) -> bytes:
        """The header and the rows alone, with commas, and in each row a cell for each column."""
        width = len(self.before[-1])
        return csv_of([(row + [""] * width)[:width] for row in (self.before[-1], *rows)], ",")


def csv_of(rows: list[list[str]], separator: str) -> bytes:
    text = io.StringIO()
    csv.writer(text, delimiter=separator).writerows(rows)
    return text.getvalue().encode()


def samples() -> Iterator[Sample]:
    """A sample of every format in CSV."""
    files = [*sorted(SAMPLES.glob("*.csv")), *sorted(SAMPLES.glob("*.txt"))]
    found = [sample for file in files if (sample := sample_in(file.read_text()))]
    yield from {sample.file_format.name: sample for sample in reversed(found)}.values()


def sample_in(text: str) -> Sample | None:
    separator = max(COMMAS, key=text.splitlines()[0].count)
    rows = list(csv.reader(io.StringIO(text), delimiter=separator))
    heading = ""
    for number, row in enumerate(rows):
        header = read_header(Cells(number, row), heading, known_formats()) if row else None
        if isinstance(header, Header):
            return Sample(
                header.format, separator, rows[: number + 1], header.columns, trades_of(rows[number + 1 :])
            )
        if header is not None:
            return None
        heading = next_heading(row, heading)
    return None


def trades_of(rows: list[list[str]]) -> list[list[str]]:
    """The rows up to a total or the next section."""
    return list(takewhile(lambda row: sum(map(bool, row)) > 4 and "SubTotal" not in row, rows))


def later(match: re.Match[str], days: int) -> str:
    """The date so many days later, written in the same way."""
    month_first = match["year"] is None
    names = ("us_year", "us_month", "us_day") if month_first else ("year", "month", "day")
    year, month, day = (match[name] for name in names)
    moved = date(int(year[-2:]) + 2000, int(month), int(day)) + timedelta(days)
    if not month_first:
        return moved.strftime(match["mark"].join(("%Y", "%m", "%d")))
    parts = (
        str(moved.month).zfill(len(month)),
        str(moved.day).zfill(len(day)),
        str(moved.year)[-len(year) :],
    )
    return match["us_mark"].join(parts)
