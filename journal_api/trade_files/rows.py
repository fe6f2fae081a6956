"""Splits a file into numbered rows of cells: CSV, or the tables of an HTML page."""

import csv
import re
from collections.abc import Iterator
from html import unescape

from msgspec import Struct

from journal_api.rules.import_rows import Rejected
from journal_api.trade_files.cells import Comma
from journal_api.trade_files.texts import ENDS, Unreadable

# The meaning of a comma in a number by the separator of cells. Semicolons are used where commas are decimal.
COMMAS: dict[str, Comma] = {",": "thousands", ";": "decimals", "\t": "either"}
# A trade may have 100 answers with notes of 10,000 characters in one cell; the csv module allows 128 KiB.
MAX_ROW_LENGTH = 4 * 1024 * 1024
csv.field_size_limit(MAX_ROW_LENGTH)
TAG = re.compile(r"<(?P<closes>/)?(?P<name>[A-Za-z]++)(?P<rest>[^<>]*+)>")
ATTRIBUTE = re.compile(r"""(?<![A-Za-z])([A-Za-z]++)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^"'>\s]++))""")
MAX_COLUMNS = 1000  # of a row of HTML; further cells are ignored
MAX_HTML_CELL_LENGTH = MAX_TAG_LENGTH = 64 * 1024


class Cells(Struct, frozen=True, gc=False):
    """The cells of a row, its last line, and the meaning of a comma in its numbers."""

    line: int
    cells: list[str]
    comma: Comma = "thousands"


def rows_of_csv(pieces: Iterator[str], delimiter: str) -> Iterator[Cells | Rejected]:
    """Yield the rows of CSV."""
    lines, comma = Lines(pieces), COMMAS[delimiter]
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        for cells in reader:
            lines.length = 0
            yield Cells(reader.line_num, cells, comma)
    except csv.Error as error:
        yield Rejected(reader.line_num, f"is not CSV: {error}")


class Lines:
    """The whole lines for the csv module.

    `length` is that of the current row; the caller resets it.
    """

    def __init__(self, pieces: Iterator[str]) -> None:
        self.pieces, self.number, self.length = pieces, 0, 0

    def __iter__(self) -> Iterator[str]:
        """Yield the lines. Raises Unreadable when the row is too long."""
        for piece in self.pieces:
            self.number += 1
            line = piece if piece.endswith(ENDS) else "".join(self._line_of(piece))
            self.length += len(line)
            if self.length > MAX_ROW_LENGTH:
                raise self._too_long()
            yield line

    def _line_of(self, part: str) -> Iterator[str]:
        length = 0
        while part:
            length += len(part)
            if length > MAX_ROW_LENGTH:
                raise self._too_long()
            yield part
            part = "" if part.endswith(ENDS) else next(self.pieces, "")

    def _too_long(self) -> Unreadable:
        return Unreadable(
            self.number, f"is in a row of over {MAX_ROW_LENGTH} characters: is a quote missing?"
        )


def rows_of_html(pieces: Iterator[str]) -> Iterator[Cells | Rejected]:
    """Yield the rows of all tables. Hidden cells are skipped, a cell with colspan is followed by empty cells.

    Only tags are parsed, in one pass: html.parser takes quadratic time for a broken tag.
    """
    rows = TableRows()
    for piece in pieces:
        yield from rows.feed(piece)


class TableRows:
    """Parses the rows of tables from the pieces of a page."""

    def __init__(self) -> None:
        self._line = 1
        self._unfinished: list[str] = []  # the start of a tag that continues in the next piece
        self._unfinished_length = 0
        self._cells: list[str] | None = None
        self._text: list[str] | None = None
        self._length = 0  # characters of the text
        self._additional_columns = 0  # of the open cell
        self._row_length = 0  # characters of the open row, with its tags

    def feed(self, piece: str) -> Iterator[Cells]:
        """Yield the rows that end in this piece. Raises Unreadable for a cell or a row that is too long."""
        self._row_length += len(piece)
        if self._cells is not None and self._row_length > MAX_ROW_LENGTH:
            raise Unreadable(self._line, f"is in a row of over {MAX_ROW_LENGTH} characters")
        if "<" not in piece and ">" not in piece:
            if not self._unfinished:
                self._add_text(piece)
            # Only the start of a tag is kept, because a tag with an inline image may be very long.
            elif self._unfinished_length < MAX_TAG_LENGTH:
                self._keep(piece)
        else:
            text = "".join((*self._unfinished, piece))
            self._unfinished, self._unfinished_length = [], 0
            yield from self._read(text)
        self._line += piece.endswith(ENDS)

    def _read(self, text: str) -> Iterator[Cells]:
        last_tag = text.rfind("<")
        position, end = 0, len(text)
        if last_tag > text.rfind(">"):
            end = last_tag
            self._keep(text[last_tag:])
        for tag in TAG.finditer(text, 0, end):
            self._add_text(text[position : tag.start()])
            position = tag.end()
            yield from self._tag(tag["name"].lower(), tag["rest"], bool(tag["closes"]))
        self._add_text(text[position:end])

    def _keep(self, part: str) -> None:
        self._unfinished.append(part)
        self._unfinished_length += len(part)

    def _add_text(self, text: str) -> None:
        if self._text is None or not text:
            return
        self._text.append(text)
        self._length += len(text)
        if self._length > MAX_HTML_CELL_LENGTH:
            raise Unreadable(self._line, f"has a cell of over {MAX_HTML_CELL_LENGTH} characters")

    def _tag(self, name: str, rest: str, closes: bool) -> Iterator[Cells]:
        if name in ("td", "th", "tr"):
            self._end_cell()
        if name == "tr":
            if self._cells is not None:
                yield Cells(self._line, self._cells)
            self._cells = None if closes else []
            self._row_length = 0
        elif name in ("td", "th") and not closes and self._cells is not None:
            attributes = {name.lower(): "".join(value) for name, *value in ATTRIBUTE.findall(rest)}
            if "hidden" not in attributes.get("class", "").split() and len(self._cells) < MAX_COLUMNS:
                self._text, self._length = [], 0
                self._additional_columns = width_of(attributes.get("colspan")) - 1

    def _end_cell(self) -> None:
        if self._text is not None and self._cells is not None:
            self._cells.append(plain("".join(self._text)))
            self._cells += [""] * min(self._additional_columns, MAX_COLUMNS - len(self._cells))
        self._text = None


def plain(text: str) -> str:
    """Return the text as a browser shows it."""
    try:
        return " ".join(unescape(text).split())
    except ValueError:  # a character reference of thousands of digits
        return " ".join(text.split())


def width_of(colspan: str | None) -> int:
    """Return the number of columns of a cell, 1 to 999."""
    if colspan is None or not re.fullmatch(r"[1-9][0-9]{0,2}", colspan):
        return 1
    return int(colspan)
