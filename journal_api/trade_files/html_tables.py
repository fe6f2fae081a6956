"""Splits an HTML page into the rows of its tables.

The tokenizer is our own. `html.parser` takes 1.9 times as long for a MetaTrader report of 10,000 positions
(0.97 s instead of 0.50 s), and quadratic time for a tag that never ends: a file of 400 kB would hold a thread
for minutes. This one reads only the tags, in one pass, and keeps no more than a cell and the start of a tag.
"""

import re
from collections.abc import Iterator
from html import unescape

from journal_api.positions.import_rows import Rejected
from journal_api.trade_files.rows import MAX_COLUMNS, MAX_ROW_LENGTH, Cells
from journal_api.trade_files.texts import ENDS, Unreadable

TAG = re.compile(r"<(?P<closes>/)?(?P<name>[A-Za-z]++)(?P<rest>[^<>]*+)>")
ATTRIBUTE = re.compile(r"""(?<![A-Za-z])([A-Za-z]++)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^"'>\s]++))""")
COLSPAN = re.compile("[1-9][0-9]{0,2}")
MAX_CELL_LENGTH = MAX_TAG_LENGTH = 64 * 1024


def read_html(pieces: Iterator[str]) -> Iterator[Cells | Rejected]:
    """Yield the rows of all tables. Hidden cells are skipped, a cell with colspan is followed by empty cells.

    Cells of a row beyond MAX_COLUMNS are ignored. Raises Unreadable for a cell or a row that is too long.
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
        """Yield the rows that end in this piece."""
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
        if self._length > MAX_CELL_LENGTH:
            raise Unreadable(self._line, f"has a cell of over {MAX_CELL_LENGTH} characters")

    def _tag(self, name: str, rest: str, closes: bool) -> Iterator[Cells]:
        if name not in ("td", "th", "tr"):
            return
        self._end_cell()
        if name == "tr":
            if self._cells is not None:
                yield Cells(self._line, self._cells, may_be_short=True)
            self._cells = None if closes else []
            self._row_length = 0
        elif not closes and self._cells is not None and len(self._cells) < MAX_COLUMNS:
            attributes = {name.lower(): "".join(value) for name, *value in ATTRIBUTE.findall(rest)}
            if "hidden" not in attributes.get("class", "").split():
                self._text, self._length = [], 0
                colspan = attributes.get("colspan", "")
                self._additional_columns = int(colspan) - 1 if COLSPAN.fullmatch(colspan) else 0

    def _end_cell(self) -> None:
        if self._text is not None and self._cells is not None:
            self._cells.append(show_text("".join(self._text)))
            self._cells += [""] * min(self._additional_columns, MAX_COLUMNS - len(self._cells))
        self._text = None


def show_text(text: str) -> str:
    """Return the text as a browser shows it."""
    try:
        return " ".join(unescape(text).split())
    except ValueError:  # a character reference of thousands of digits
        return " ".join(text.split())
