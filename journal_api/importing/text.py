"""From the bytes of a file to numbered rows of cells: CSV, or the rows of HTML tables."""

import codecs
import csv
import io
import re
from collections.abc import Callable, Iterator
from html import unescape
from itertools import chain
from typing import BinaryIO, NamedTuple

from journal_api.importing.cells import Comma
from journal_api.importing.found import Rejected

LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
# What a comma in a number means, by what separates the cells: semicolons are used where it is taken.
COMMAS: dict[str, Comma] = {",": "thousands", ";": "decimals", "\t": "either"}
# A trade may have 100 answers with notes of 10,000 characters in one cell; the csv module allows 128 KiB.
csv.field_size_limit(8 * 1024 * 1024)
TAG = re.compile(r"<(?P<closes>/)?(?P<name>[A-Za-z]+)(?P<rest>[^<>]*)>")
ATTRIBUTE = re.compile(r"""([A-Za-z]+)\s*=\s*["']?([^"'>\s]+(?:[^"'>]*))["']?""")
MOST_CELLS = 1000  # in a row of HTML; what is beyond is left out
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Cells(NamedTuple):
    """A row, the line it ends on, and what a comma in its numbers means."""

    line: int
    cells: list[str]
    comma: Comma = "thousands"


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
        for line in LINE.findall(text) if "\r" in text else (text,):
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
        if not file.closed:
            text.detach()


def rows_of_csv(first: str, lines: Iterator[str]) -> Iterator[Cells | Rejected]:
    """Rows of CSV; the separator is the comma, semicolon or tab of which the first line has most."""
    delimiter = max(COMMAS, key=first.count)
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
        yield Cells(reader.line_num, cells, COMMAS[delimiter])


def rows_of_html(first: str, lines: Iterator[str]) -> Iterator[Cells | Rejected]:
    """The rows of all tables; hidden cells are left out, and a wide cell is followed by empty ones.

    Read by tags alone, in one pass: html.parser takes the square of the length of a broken tag.
    """
    rows = TableRows()
    try:
        for number, line in enumerate(chain([first], lines), 1):
            yield from rows.feed(line, number)
    except Unreadable as error:
        yield Rejected(error.line, str(error))


class TableRows:
    """The rows of tables, as the lines of a page come in."""

    def __init__(self) -> None:
        self._unfinished: list[str] = []  # a tag that goes on in the next line
        self._cells: list[str] | None = None
        self._text: list[str] | None = None
        self._beyond = 0  # how many more columns the open cell takes

    def feed(self, line: str, number: int) -> Iterator[Cells]:
        """The rows that end on this line."""
        if self._unfinished and ">" not in line:
            self._unfinished.append(line)
            return
        text = "".join((*self._unfinished, line))
        begun = text.rfind("<")
        self._unfinished = [text[begun:]] if begun > text.rfind(">") else []
        end = 0
        for found in TAG.finditer(text, 0, begun if self._unfinished else len(text)):
            self._say(text[end : found.start()])
            end = found.end()
            yield from self._tag(found["name"].lower(), found["rest"], bool(found["closes"]), number)
        self._say(text[end : begun if self._unfinished else len(text)])

    def _say(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def _tag(self, name: str, rest: str, closes: bool, number: int) -> Iterator[Cells]:
        if name in ("td", "th", "tr"):
            self._end_cell()
        if name == "tr":
            if self._cells is not None:
                yield Cells(number, self._cells)
            self._cells = None if closes else []
        elif name in ("td", "th") and not closes and self._cells is not None:
            attributes = {found[1].lower(): found[2] for found in ATTRIBUTE.finditer(rest)}
            if "hidden" not in attributes.get("class", "").split() and len(self._cells) < MOST_CELLS:
                self._text, self._beyond = [], width_of(attributes.get("colspan")) - 1

    def _end_cell(self) -> None:
        if self._text is not None and self._cells is not None:
            self._cells.append(plain("".join(self._text)))
            self._cells += [""] * min(self._beyond, MOST_CELLS - len(self._cells))
        self._text = None


def plain(text: str) -> str:
    """The text that a browser would show."""
    try:
        return " ".join(unescape(text).split())
    except ValueError:  # the number of a character with thousands of digits
        return " ".join(text.split())


def width_of(colspan: str | None) -> int:
    """How many columns a cell takes: 1 to 999."""
    if colspan is None or not re.fullmatch(r"[1-9][0-9]{0,2}", colspan):
        return 1
    return int(colspan)
