"""The ways in which a file can be read as rows: as one of the forms that are not CSV, else with each separator."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, islice, tee

from msgspec.structs import replace

from journal_api.positions.import_rows import Rejected
from journal_api.trade_files import activity_statement, flex_query
from journal_api.trade_files.amounts import PLAIN
from journal_api.trade_files.exchanged_amounts import add_fills
from journal_api.trade_files.html_tables import read_html
from journal_api.trade_files.rows import COMMAS, MAX_BLANK_ROWS, Cells, read_csv
from journal_api.trade_files.texts import FileText, Unreadable
from journal_api.trade_files.vocabulary import NAMES, ColumnNames
from journal_api.trade_files.workbooks import read_sheets

# Names of columns as MetaTrader marks them: <DATE>, a tab, <BALANCE>.
MARKED_NAMES = re.compile(r"\s*<[^<>]*>[\t,;]<")
UNNAMED = "Column "  # and its number, of a file that has no names


def split_rows(text: FileText) -> Iterator[Iterator[Cells | Rejected]]:
    """Yield the rows of the text in each of the ways in which it can be read, the most likely first.

    A workbook has one way for each sheet.

    The beginning of the text decides. CSV has one way for each separator, beginning with the most frequent of
    the first line. Drop this iterator to keep the pieces that one way has passed from waiting for the others.
    """
    if text.workbook is not None:
        yield from map(add_fills, map(with_header, read_sheets(text.workbook)))
        return
    start = take_first_line(text.pieces)
    head = start[-1] if start and isinstance(start[-1], str) else ""
    rest: Iterator[str | Unreadable] = chain(start, text.pieces)
    if head.lstrip().startswith(flex_query.BEGINNINGS):
        yield read_pieces(rest, flex_query.read_trades)
    elif activity_statement.BEGINNING.match(head.replace('"', "")):
        yield read_pieces(rest, activity_statement.read_orders)
    elif head.startswith(flex_query.SECTION_LINES):
        yield read_pieces(rest, flex_query.read_section)
    elif head.lstrip().startswith("<") and not MARKED_NAMES.match(head):
        yield read_pieces(rest, read_html)
    else:
        for delimiter in sorted(COMMAS, key=head.count, reverse=True):
            attempt, rest = tee(rest)
            yield add_fills(with_header(read_pieces(attempt, partial(read_csv, delimiter=delimiter))))


def read_pieces(
    pieces: Iterable[str | Unreadable], read: Callable[[Iterator[str]], Iterator[Cells | Rejected]]
) -> Iterator[Cells | Rejected]:
    """Yield the rows. A line that cannot be read is rejected and ends the file."""

    def raise_unreadable() -> Iterator[str]:
        for piece in pieces:
            if isinstance(piece, Unreadable):
                raise piece
            yield piece

    try:
        yield from read(raise_unreadable())
    except Unreadable as error:
        yield Rejected(error.line, str(error))


def with_header(rows: Iterator[Cells | Rejected]) -> Iterator[Cells | Rejected]:
    """Yield the rows; above the first with numbers, numbered columns if no names stand there."""
    above: Sequence[str] = ()
    for row in rows:
        cells = list(filter(None, row.cells)) if isinstance(row, Cells) else []
        if sum(map(bool, map(PLAIN.fullmatch, cells))) > 1:
            if isinstance(row, Cells) and (len(above) < 2 or any(map(PLAIN.fullmatch, above))):
                yield replace(row, cells=[f"{UNNAMED}{number}" for number in range(1, len(row.cells) + 1)])
            yield row
            break
        yield row
        above = cells or above
        if isinstance(row, Rejected) or len(find_named_members(cells)) > 1:
            break
    yield from rows


def find_named_members(header: Iterable[str]) -> set[str]:
    """Return the members of a profile for which the columns are named."""
    names = header if isinstance(header, ColumnNames) else ColumnNames(header)
    return {member for member, known in NAMES.items() if not names.simple.keys().isdisjoint(known)}


def take_first_line(pieces: Iterator[str | Unreadable]) -> list[str | Unreadable]:
    """Return the pieces up to the first that is not blank, or beyond the blank lines that a file may have."""
    start = []
    for piece in islice(pieces, MAX_BLANK_ROWS):
        start.append(piece)
        if isinstance(piece, Unreadable) or piece.strip():
            break
    return start
