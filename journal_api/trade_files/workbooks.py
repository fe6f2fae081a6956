"""Rows of the sheets of an Excel file (.xlsx).

openpyxl reads a sheet row by row; see DECISIONS 43 for its bounds and for the faster library that has none.
"""

from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from typing import Any, BinaryIO
from warnings import catch_warnings, simplefilter
from zipfile import ZipFile

from journal_api.positions.import_rows import Rejected
from journal_api.trade_files.rows import MAX_COLUMNS, Cells
from journal_api.trade_files.texts import Unreadable
from journal_api.trade_files.threads import with_cancel_checks

# Bytes of all parts of the file when they are extracted, and of a part that is no sheet and has no texts.
MAX_EXTRACTED, MAX_OTHER_PART = 64 * 1024 * 1024, 4 * 1024 * 1024
LARGE_PARTS = ("xl/worksheets/", "xl/sharedStrings.xml", "xl/media/", "xl/drawings/", "xl/charts/")
MAX_SHEETS = 10


def read_sheets(file: BinaryIO) -> Iterator[Iterator[Cells | Rejected]]:
    """Yield the rows of each sheet. A file that is damaged or too large has one rejected row."""
    try:
        sheets = open_sheets(file)
    except Unreadable as error:
        yield iter([Rejected(error.line, str(error))])
        return
    for sheet in sheets:
        yield read_sheet(sheet)
    if not sheets:
        yield iter([Rejected(1, "is an Excel file without a sheet")])


def open_sheets(file: BinaryIO) -> list[Any]:
    """Return the first sheets of the file. Raises Unreadable."""
    import openpyxl  # takes a fifth of a second, and most journals never read an Excel file

    try:
        with ZipFile(file) as archive:
            parts = archive.infolist()
        other = [part.file_size for part in parts if not part.filename.startswith(LARGE_PARTS)]
        if sum(part.file_size for part in parts) > MAX_EXTRACTED or max(other) > MAX_OTHER_PART:
            raise Unreadable(1, f"has over {MAX_EXTRACTED} bytes when it is extracted: save it as CSV")
        with catch_warnings():
            simplefilter("ignore")  # of styles that it does not know
            return openpyxl.load_workbook(file, read_only=True, data_only=True).worksheets[:MAX_SHEETS]
    except Unreadable:
        raise
    except Exception:  # openpyxl raises what the damaged part of a file happens to cause
        raise Unreadable(1, "is a damaged Excel file: save it as CSV") from None


def read_sheet(sheet: Any) -> Iterator[Cells | Rejected]:
    """Yield the rows of a sheet, whose texts are those that a CSV file would have."""
    sheet.reset_dimensions()  # a file may state any number of columns
    number = 0
    rows = with_cancel_checks(sheet.iter_rows())
    while True:
        try:
            row = next(rows)
        except StopIteration:
            return
        except (ValueError, KeyError, TypeError, AttributeError, SyntaxError, OSError, EOFError):
            yield Rejected(number + 1, "is in a damaged sheet: save it as CSV")
            return
        number += 1
        if len(row) > MAX_COLUMNS:
            yield Rejected(number, f"has over {MAX_COLUMNS} columns")
            return
        yield Cells(number, [show_cell(cell) for cell in row], may_be_short=True)


def show_cell(cell: Any) -> str:
    """Return the text of a cell: a date with the year first, a number with all its digits."""
    value = cell.value
    if isinstance(value, datetime):
        is_day = (
            value == datetime.combine(value, datetime.min.time()) and "h" not in cell.number_format.lower()
        )
        return value.date().isoformat() if is_day else value.isoformat(" ")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float):
        return f"{Decimal(f'{value:.15g}'):f}"
    return "" if value is None else str(value)
