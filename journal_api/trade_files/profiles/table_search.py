"""Finds the table of a file with an unknown header."""

from collections.abc import Iterator, Sequence
from itertools import islice

from msgspec.structs import replace

from journal_api.positions.import_rows import Rejected
from journal_api.trade_files.dates import is_time
from journal_api.trade_files.profiles.unknown_columns import count_filled
from journal_api.trade_files.profiles.unknown_tables import Table
from journal_api.trade_files.readings import find_named_members, split_rows
from journal_api.trade_files.rows import MAX_COLUMNS, Cells, without_marks
from journal_api.trade_files.texts import FileText, Unreadable
from journal_api.trade_files.vocabulary import SUMS, simplify, spell

MIN_NAMES = 2  # of a header
MAX_HEADERS = 5  # that are compared, of nearly as many known names
ROWS_SEARCHED, ROWS_READ, MAX_SHOWN_LENGTH = 100, 100, 200
MAX_CHARACTERS, MAX_ROWS = 1024 * 1024, 2000  # in which those rows are searched
MAX_CELLS = 20_000  # of a table: 200 rows of 100 columns


def find_tables(text: FileText) -> list[Table]:
    """Return the most likely table in each way of reading a file."""
    readings = split_rows(text._replace(pieces=limit_pieces(text.pieces)))
    return [table for rows in readings if (table := find_table(rows)) is not None]


def limit_pieces(pieces: Iterator[str | Unreadable]) -> Iterator[str | Unreadable]:
    """Yield the pieces of the first MAX_CHARACTERS."""
    length = 0
    for piece in pieces:
        yield piece
        length += len(piece) if isinstance(piece, str) else 0
        if length > MAX_CHARACTERS:
            return


def find_table(rows: Iterator[Cells | Rejected]) -> Table | None:
    """Return the rows below the most likely header, None for rows without a header of two columns."""
    found = list(islice(shorten_cells(islice(rows, MAX_ROWS)), ROWS_SEARCHED + ROWS_READ))
    names = [row.cells for row in found[:ROWS_SEARCHED]]
    counts = {index: len(find_named_members(row)) for index, row in enumerate(names)}
    if max(counts.values(), default=0) < MIN_NAMES:
        counts = {index: len({*map(spell, row)}) for index, row in enumerate(names)}
    most = max(counts.values(), default=0)
    likely = [index for index in counts if counts[index] >= most - 1 and sum(map(bool, found[index].cells)) > 1]
    headers = [index for index in likely if not any(map(is_time, found[index].cells))] or likely
    return max((make_table(found[index:]) for index in headers[:MAX_HEADERS]), key=count_filled, default=None)


def make_table(rows: Sequence[Cells]) -> Table:
    """Return the table whose header is the first row."""
    header = rows[0].cells
    wide = (row.widened(len(header), len(header), 0) for row in rows[1:] if len(row.cells) > 1)
    others = [row.cells for row in wide if row.cells != header and not is_total(row.cells)]
    below = [row for row in others if len(row) == len(header)] or [row for row in others if len(row) < len(header)]
    return Table(header, below[: MAX_CELLS // len(header)], rows[0].comma)


def is_total(cells: Sequence[str]) -> bool:
    """Return whether a row of few cells says that it is a total."""
    return 2 * sum(map(bool, cells)) <= len(cells) and not SUMS.isdisjoint(map(simplify, cells))


def shorten_cells(rows: Iterator[Cells | Rejected]) -> Iterator[Cells]:
    """Yield the rows up to the first that cannot be read, with shortened cells."""
    for row in (without_marks(row, range(MAX_COLUMNS)) for row in rows):
        if isinstance(row, Rejected):
            return
        if len(row.cells) <= MAX_COLUMNS and any(map(str.strip, row.cells)):
            yield replace(row, cells=[cell.strip()[:MAX_SHOWN_LENGTH] for cell in row.cells])
