"""From the bytes of a file to numbered rows of cells: CSV, or the rows of HTML tables."""

import codecs
import csv
import io
import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from itertools import chain
from typing import BinaryIO, NamedTuple

from journal_api.importing.found import Rejected

LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
DELIMITERS = (",", ";", "\t")
WIDEST = 1000
# A trade may have 100 answers with notes of 10,000 characters in one cell; the csv module allows 128 KiB.
csv.field_size_limit(8 * 1024 * 1024)
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Cells(NamedTuple):
    """A row, the line it ends on, and whether its file is one of those with semicolons."""

    line: int
    cells: list[str]
    decimal_comma: bool = False


class Unreadable(Exception):
    """A line that is no text."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line


def rows_of(file: BinaryIO, on_bytes: Callable[[int], object]) -> Iterator[Cells | Rejected]:
    """Every row and the line that it ends on; a line that cannot be read is rejected, and is the last."""
    lines = lines_of(file, on_bytes)
    try:
        first = next(lines, "")
    except Unreadable as error:
        yield Rejected(error.line, str(error))
        return
    rows = rows_of_html if first.lstrip().startswith("<") else rows_of_csv
    yield from rows(first, lines)


def lines_of(file: BinaryIO, on_bytes: Callable[[int], object]) -> Iterator[str]:
    """The lines with their ends, whatever those are. Raises Unreadable."""
    start = file.read(2)
    file.seek(0)
    if start in UTF_16:
        yield from lines_of_utf_16(file, on_bytes)
        return
    number = 0
    for read in file:
        on_bytes(len(read))
        try:
            text = read.decode("utf-8" if number else "utf-8-sig")
        except UnicodeDecodeError as error:
            raise Unreadable(number + 1 + read.count(b"\r", 0, error.start), "is not UTF-8") from None
        for line in LINE.findall(text):
            number += 1
            yield line


def lines_of_utf_16(file: BinaryIO, on_bytes: Callable[[int], object]) -> Iterator[str]:
    text = io.TextIOWrapper(file, encoding="utf-16", newline="")
    number = 0
    try:
        for line in text:
            number += 1
            on_bytes(2 * len(line))
            yield line
    except UnicodeDecodeError:
        raise Unreadable(number + 1, "is not UTF-16") from None
    finally:
        text.detach()


def rows_of_csv(first: str, lines: Iterator[str]) -> Iterator[Cells | Rejected]:
    """Rows of CSV; the separator is the comma, semicolon or tab of which the first line has most."""
    delimiter = max(DELIMITERS, key=first.count)
    reader = csv.reader(chain([first], lines), delimiter=delimiter, strict=True)
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield Rejected(reader.line_num, f"is not CSV: {error}")
            return
        except Unreadable as error:
            yield Rejected(error.line, str(error))
            return
        yield Cells(reader.line_num, cells, delimiter == ";")


def rows_of_html(first: str, lines: Iterator[str]) -> Iterator[Cells | Rejected]:
    """The rows of all tables; hidden cells are left out, and a wide cell is followed by empty ones."""
    parser = TableRows()
    try:
        for line in chain([first], lines):
            parser.feed(line)
            yield from parser.taken()
        parser.close()
    except Unreadable as error:
        yield Rejected(error.line, str(error))
    yield from parser.taken()


class TableRows(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self._rows: list[Cells] = []
        self._cells: list[str] | None = None
        self._is_open = False
        self._beyond = 0  # how many more columns the open cell takes

    def taken(self) -> list[Cells]:
        """The rows that have ended since the last call."""
        rows, self._rows = self._rows, []
        return rows

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self._cells = []
        elif tag in ("td", "th") and self._cells is not None:
            told = dict(attrs)
            self._is_open = "hidden" not in (told.get("class") or "").split()
            if self._is_open:
                self._cells.append("")
                self._beyond = min(width_of(told.get("colspan")), WIDEST) - 1

    def handle_data(self, data: str) -> None:
        if self._is_open and self._cells:
            self._cells[-1] += data

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th") and self._is_open and self._cells is not None:
            self._cells += [""] * self._beyond
            self._is_open = False
        elif tag == "tr" and self._cells is not None:
            self._rows.append(Cells(self.getpos()[0], [" ".join(cell.split()) for cell in self._cells]))
            self._cells = None


def width_of(colspan: str | None) -> int:
    return int(colspan) if colspan and colspan.isascii() and colspan.isdigit() and len(colspan) < 5 else 1
