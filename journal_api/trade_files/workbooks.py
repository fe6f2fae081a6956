"""Rows of the sheets of an Excel file (.xlsx).

openpyxl reads a sheet row by row; see DECISIONS 25 for the faster library that has no bounds.
"""

from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from typing import Any, BinaryIO
from warnings import catch_warnings, simplefilter

from journal_api.database.user_threads import with_cancel_checks
from journal_api.positions.import_rows import Rejected
from journal_api.trade_files.rows import MAX_BLANK_ROWS, MAX_COLUMNS, Cells
from journal_api.trade_files.texts import Unreadable


def read_sheets(file: BinaryIO) -> Iterator[Iterator[Cells | Rejected]]:
    """Yield the rows of each sheet. A file that is damaged or too large has one rejected row."""
    from journal_api.trade_files.workbook_parts import open_worksheets

    try:
        with catch_warnings():
            simplefilter("ignore")  # of styles that it does not know
            sheets = open_worksheets(file)
    except Unreadable as error:
        yield iter([Rejected(error.line, str(error))])
    except Exception:  # openpyxl raises what the damaged part of a file happens to cause
        yield iter([Rejected(1, "is a damaged Excel file: save it as CSV")])
    else:
        yield from map(read_sheet, sheets)
        if not sheets:
            yield iter([Rejected(1, "is an Excel file without a sheet")])


def read_sheet(sheet: Any) -> Iterator[Cells | Rejected]:
    """Yield the rows of a sheet, whose texts are those that a CSV file would have."""
    number = blank_rows = 0
    try:
        for row in with_cancel_checks(sheet.iter_rows()):
            number += 1
            blank_rows = 0 if row else blank_rows + 1
            if len(row) > MAX_COLUMNS:
                yield Rejected(number, f"has over {MAX_COLUMNS} columns")
                return
            if blank_rows > MAX_BLANK_ROWS:  # a row may have any number
                yield Rejected(number, f"is blank, and at most {MAX_BLANK_ROWS} blank rows are skipped")
                return
            yield Cells(number, [show_cell(cell) for cell in row], may_be_short=True)
    except Unreadable as error:
        yield Rejected(number + 1, str(error))
    except Exception:  # as above
        yield Rejected(number + 1, "is in a damaged sheet: save it as CSV")


def show_cell(cell: Any) -> str:
    """Return the text of a cell: a date with the year first, a number with all its digits."""
    value = cell.value
    if isinstance(value, datetime):
        is_day = value == datetime.combine(value, datetime.min.time()) and "h" not in cell.number_format.lower()
        return value.date().isoformat() if is_day else value.isoformat(" ")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float):
        return f"{Decimal(f'{value:.15g}'):f}"
    return "" if value is None else str(value)
