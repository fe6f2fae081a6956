"""The rows of a file by the names of its columns."""

from collections.abc import Callable, Iterable, Iterator
from itertools import count
from operator import itemgetter
from typing import get_args

from journal_api.rules.import_rows import Rejected
from journal_api.trade_files.amounts import REMEMBERED, Comma
from journal_api.trade_files.cells import CellRules, RoundedCells, Row
from journal_api.trade_files.date_cells import DateOrder
from journal_api.trade_files.dates import FileDates, dates_of
from journal_api.trade_files.file_format import Format
from journal_api.trade_files.rows import Cells

# A blank row beyond them is an error.
MAX_BLANK_ROWS = 10_000
# Characters of a cell in columns that are not for texts of the trader.
MAX_CELL_LENGTH = 10_000


def dates_in(rows: Iterable[Cells | Rejected], columns: list[str], file_format: Format) -> FileDates:
    """Return the order of day and month in the rows."""
    indexes = [index for index, name in enumerate(columns) if name in file_format.dates]
    known = [row for row in rows if isinstance(row, Cells)]
    cells = (row.cells[index] for row in known for index in indexes if index < len(row.cells))
    comma = known[0].comma if known else "thousands"
    return dates_of(cells, comma, is_local=file_format.has_local_dates)


def row_maker(
    columns: list[str], file_format: Format, date_order: DateOrder | None, rounded: RoundedCells
) -> Callable[[Cells], Row | Rejected]:
    """Return the function that makes a row with the columns that the format uses."""
    used = file_format.columns | file_format.optional
    indexes = [index for index, name in enumerate(columns) if name in used]
    # Of one index, itemgetter would return a string instead of a tuple.
    cells_used = itemgetter(*indexes) if len(indexes) > 1 else lambda cells: (cells[indexes[0]],)
    names = cells_used(columns)
    rounds = None if file_format.is_typed else rounded
    by_comma = {comma: (CellRules(comma, date_order, rounds), REMEMBERED[comma]) for comma in get_args(Comma)}

    def row_of(cells: Cells) -> Row | Rejected:
        row = Row(zip(names, cells_used(cells.cells), strict=True))
        row.line, (row.rules, row.amounts) = cells.line, by_comma[cells.comma]
        is_long = len("".join(cells.cells)) > MAX_CELL_LENGTH
        if is_long and (too_long := too_long_column(row, file_format)) is not None:
            return Rejected(cells.line, f"{too_long} has over {MAX_CELL_LENGTH} characters")
        return row

    return row_of


def with_column_names(
    rows: Iterable[Cells | Rejected],
    columns: list[str],
    row_of: Callable[[Cells], Row | Rejected],
) -> Iterator[Row | Rejected]:
    """Yield each row by column name.

    Blank rows are skipped, up to MAX_BLANK_ROWS: reading them takes time in which no trade is returned.
    """
    width, blank_rows = len(columns), count(1)
    for row in rows:
        if isinstance(row, Rejected):
            yield row
        elif not any(map(str.strip, row.cells)):
            if next(blank_rows) > MAX_BLANK_ROWS:
                yield Rejected(row.line, f"is blank, and at most {MAX_BLANK_ROWS} blank rows are skipped")
        elif len(row.cells) != width and (len(row.cells) < width or any(row.cells[width:])):
            yield Rejected(row.line, f"has {len(row.cells)} cells where the header has {width}")
        else:
            yield row_of(row)


def too_long_column(row: Row, file_format: Format) -> str | None:
    """Return the first column whose cell is too long, None without one."""
    columns = (
        name for name, cell in row.items() if len(cell) > MAX_CELL_LENGTH and name not in file_format.long
    )
    return next(columns, None)
