"""From the bytes of a file to numbered rows of cells: CSV, or the rows of HTML tables."""

import codecs
import csv
import re
from collections.abc import Callable, Iterator
from html import unescape
from itertools import chain
from typing import BinaryIO, NamedTuple

from journal_api.rules.import_rows import Rejected
from journal_api.trade_files.cells import Comma
from journal_api.trade_files.threads import raise_if_cancelled

# How much is read at once: no step between two looks takes long, whatever the file holds.
PIECE = 64 * 1024
LINE = re.compile(r"[^\r\n]*+(?:\r\n?|\n)|[^\r\n]+")
ENDS = ("\r", "\n")
# What a comma in a number means, by what separates the cells: semicolons are used where it is taken.
COMMAS: dict[str, Comma] = {",": "thousands", ";": "decimals", "\t": "either"}
# A trade may have 100 answers with notes of 10,000 characters in one cell; the csv module allows 128 KiB.
LONGEST_ROW = 4 * 1024 * 1024
csv.field_size_limit(LONGEST_ROW)
TAG = re.compile(r"<(?P<closes>/)?(?P<name>[A-Za-z]++)(?P<rest>[^<>]*+)>")
ATTRIBUTE = re.compile(r"""(?<![A-Za-z])([A-Za-z]++)\s*+=\s*+["']?([^"'>\s][^"'>]*+)["']?""")
MOST_COLUMNS = 1000  # in a row of HTML; what is beyond is left out
LONGEST_CELL_OF_HTML = LONGEST_TAG = 64 * 1024
ENCODINGS = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be", codecs.BOM_UTF8: "utf-8"}


class Cells(NamedTuple):
    """A row, the line it ends on, and what a comma in its numbers means."""

    line: int
    cells: list[str]
    comma: Comma = "thousands"


class Unreadable(Exception):
    """A line that is no text, or is too long."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line


def rows_of(file: BinaryIO, on_bytes: Callable[[int], object]) -> Iterator[Cells | Rejected]:
    """Every row and the line that it ends on; a line that cannot be read is rejected, and is the last."""
    pieces = pieces_of(file, on_bytes)
    try:
        first = next(pieces, "")
        rows = rows_of_html if first.lstrip().startswith("<") else rows_of_csv
        yield from rows(first, chain([first], pieces))
    except Unreadable as error:
        yield Rejected(error.line, str(error))


def pieces_of(file: BinaryIO, on_bytes: Callable[[int], object]) -> Iterator[str]:
    """The lines with their ends, whatever those are, long ones in several pieces. Raises Unreadable."""
    number, held = 1, ""
    try:
        for text in texts_of(file, on_bytes):
            pieces = LINE.findall(held + text)
            # It may be the first half of an end.
            held = pieces.pop() if pieces and pieces[-1].endswith("\r") else ""
            for piece in pieces:
                yield piece
                number += piece.endswith(ENDS)
    except UnicodeDecodeError as error:
        name = "UTF-8" if error.encoding == "utf-8" else "UTF-16"
        raise Unreadable(number + bool(held), f"is not {name}") from None
    if held:
        yield held


def texts_of(file: BinaryIO, on_bytes: Callable[[int], object]) -> Iterator[str]:
    """The text of the file, some at a time. Raises UnicodeDecodeError once all before the error is told."""
    start = file.read(3)
    mark = next((mark for mark in ENCODINGS if start.startswith(mark)), b"")
    file.seek(len(mark))
    encoding = ENCODINGS.get(mark, "utf-8")
    decoder = codecs.getincrementaldecoder(encoding)()
    is_last = False
    while not is_last:
        raise_if_cancelled()
        read = file.read(PIECE)
        on_bytes(len(read))
        is_last = not read
        try:
            yield decoder.decode(read, is_last)
        except UnicodeDecodeError as error:
            yield error.object[: error.start].decode(encoding)
            raise


def rows_of_csv(first: str, pieces: Iterator[str]) -> Iterator[Cells | Rejected]:
    """Rows of CSV; the separator is the comma, semicolon or tab of which the first line has most."""
    delimiter = max(COMMAS, key=first.count)
    lines = Lines(pieces)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield Rejected(reader.line_num, f"is not CSV: {error}")
            return
        lines.length = 0
        yield Cells(reader.line_num, cells, COMMAS[delimiter])


class Lines:
    """Whole lines for the csv module. `length` is that of the row so far, which the reader of rows resets."""

    def __init__(self, pieces: Iterator[str]) -> None:
        self.pieces, self.number, self.length = pieces, 0, 0

    def __iter__(self) -> "Lines":
        return self

    def __next__(self) -> str:
        """Raises Unreadable in a row that is too long."""
        line = next(self.pieces)
        self.number += 1
        if not line.endswith(ENDS):
            line = "".join(self._line_of(line))
        self.length += len(line)
        self._check(self.length)
        return line

    def _line_of(self, part: str) -> Iterator[str]:
        length = 0
        while part:
            length += len(part)
            self._check(length)
            yield part
            part = "" if part.endswith(ENDS) else next(self.pieces, "")

    def _check(self, length: int) -> None:
        if length > LONGEST_ROW:
            reason = f"is in a row of over {LONGEST_ROW} characters: is a quote missing?"
            raise Unreadable(self.number, reason)


def rows_of_html(first: str, pieces: Iterator[str]) -> Iterator[Cells | Rejected]:
    """The rows of all tables; hidden cells are left out, and a wide cell is followed by empty ones.

    Read by tags alone, in one pass: html.parser takes the square of the length of a broken tag.
    """
    rows = TableRows()
    for piece in pieces:
        yield from rows.feed(piece)


class TableRows:
    """The rows of tables, as the pieces of a page come in."""

    def __init__(self) -> None:
        self._line = 1
        self._unfinished: list[str] = []  # the beginning of a tag that goes on in the next piece
        self._unfinished_length = 0
        self._cells: list[str] | None = None
        self._text: list[str] | None = None
        self._length = 0  # of the text
        self._beyond = 0  # how many more columns the open cell takes

    def feed(self, piece: str) -> Iterator[Cells]:
        """The rows that end in this piece. Raises Unreadable for a cell that is too long."""
        if self._unfinished and "<" not in piece and ">" not in piece:
            # Of a tag only the beginning matters, however long a picture is in it.
            if self._unfinished_length < LONGEST_TAG:
                self._keep(piece)
        else:
            text = "".join((*self._unfinished, piece))
            self._unfinished, self._unfinished_length = [], 0
            yield from self._read(text)
        self._line += piece.endswith(ENDS)

    def _read(self, text: str) -> Iterator[Cells]:
        begun = text.rfind("<")
        end, whole = 0, len(text)
        if begun > text.rfind(">"):
            whole = begun
            self._keep(text[begun:])
        for found in TAG.finditer(text, 0, whole):
            self._say(text[end : found.start()])
            end = found.end()
            yield from self._tag(found["name"].lower(), found["rest"], bool(found["closes"]))
        self._say(text[end:whole])

    def _keep(self, part: str) -> None:
        self._unfinished.append(part)
        self._unfinished_length += len(part)

    def _say(self, text: str) -> None:
        if self._text is None or not text:
            return
        self._text.append(text)
        self._length += len(text)
        if self._length > LONGEST_CELL_OF_HTML:
            raise Unreadable(self._line, f"has a cell of over {LONGEST_CELL_OF_HTML} characters")

    def _tag(self, name: str, rest: str, closes: bool) -> Iterator[Cells]:
        if name in ("td", "th", "tr"):
            self._end_cell()
        if name == "tr":
            if self._cells is not None:
                yield Cells(self._line, self._cells)
            self._cells = None if closes else []
        elif name in ("td", "th") and not closes and self._cells is not None:
            attributes = {found[1].lower(): found[2] for found in ATTRIBUTE.finditer(rest)}
            if "hidden" not in attributes.get("class", "").split() and len(self._cells) < MOST_COLUMNS:
                self._text, self._length = [], 0
                self._beyond = width_of(attributes.get("colspan")) - 1

    def _end_cell(self) -> None:
        if self._text is not None and self._cells is not None:
            self._cells.append(plain("".join(self._text)))
            self._cells += [""] * min(self._beyond, MOST_COLUMNS - len(self._cells))
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
