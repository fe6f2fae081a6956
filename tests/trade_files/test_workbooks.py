"""Excel files: the first sheet with a known header, its dates and numbers, and the bounds of what is read."""

import io
import zipfile
from datetime import date, datetime
from typing import Any

import openpyxl
import pytest
from factories import read_file
from file_tables import SAMPLES, read_errors, read_trades

from journal_api.errors import ValidationFailed
from journal_api.trade_files import workbooks

TRIPS = ["symbol", "direction", "quantity", "entry_price", "exit_price", "opened_at", "closed_at"]
TRIP = ["ESU6", "long", 1, 5000.25, 5001, datetime(2026, 1, 5, 14, 0), datetime(2026, 1, 5, 15, 0, 1)]
SHEET = "xl/worksheets/sheet1.xml"
SHEET_BEGINS = (
    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
    '<dimension ref="A1"/><sheetData>'
)
FILLS = ["Run Date", "Action", "Symbol", "Price ($)", "Quantity", "Fees ($)"]


def workbook(*sheets: list[list[Any]]) -> bytes:
    book = openpyxl.Workbook(write_only=True)
    for rows in sheets:
        sheet = book.create_sheet()
        for row in rows:
            sheet.append(row)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def changed(content: bytes, part: str, text: str) -> bytes:
    """The workbook with another text of one part."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, text if name == part else old.read(name))
    return file.getvalue()


def test_the_first_sheet_with_a_known_header_is_read() -> None:
    content = workbook([["Report"], ["a", "b"]], [["My trades"], [], TRIPS, TRIP], [TRIPS])

    (trade,) = read_trades(content)

    assert (trade["line"], trade["symbol"], trade["gross_pnl"]) == (4, "ESU6", "37.5")
    assert (trade["opened_at"], trade["closed_at"]) == ("2026-01-05T14:00:00Z", "2026-01-05T15:00:01Z")
    assert read_file(content).encoding == "xlsx"


def test_dates_are_read_by_a_profile_whatever_its_format_of_times() -> None:
    rows: list[list[Any]] = [
        [date(2026, 1, 6), "YOU SOLD", "QLTX", 26.5, -10, 0.1 + 0.2],
        [datetime(2026, 1, 5), "YOU BOUGHT", "QLTX", 25, 10],
        [],
        ["Date downloaded 01/31/2026"],
    ]

    (trade,) = read_trades(workbook([list[Any](FILLS), *rows]))

    assert (trade["opened_at"], trade["closed_at"]) == ("2026-01-05T00:00:00Z", "2026-01-06T00:00:00Z")
    assert (trade["gross_pnl"], trade["fees"]) == ("15", "0.3")


def test_a_csv_file_saved_as_a_workbook_has_the_same_trades() -> None:
    lines = (SAMPLES / "metatrader5_history.csv").read_text().splitlines()
    rows: list[list[Any]] = [line.split(",") for line in lines]

    assert read_trades(workbook(rows)) == read_trades("\n".join(lines))


def test_midnight_is_a_time_in_a_column_of_times() -> None:
    midnight = [*TRIP[:5], datetime(2026, 1, 5), datetime(2026, 1, 6)]

    (trade,) = read_trades(workbook([TRIPS, midnight]))

    assert trade["opened_at"] == "2026-01-05T00:00:00Z"


def test_an_unknown_header_or_no_sheet_of_a_table_is_refused() -> None:
    with pytest.raises(ValidationFailed, match="no known format"):
        read_file(workbook([["a", "b"], [1, 2]], [["c"]]))


@pytest.mark.parametrize(
    ("part", "text", "reason"),
    [
        ("xl/workbook.xml", "<", "is a damaged Excel file: save it as CSV"),
        (SHEET, f"{SHEET_BEGINS}<row><c><v>1</v></c></row><row", "is in a damaged sheet: save it as CSV"),
        ("xl/styles.xml", " " * (workbooks.MAX_OTHER_PART + 1), "when it is extracted: save it as CSV"),
        (SHEET, " " * workbooks.MAX_EXTRACTED, "when it is extracted: save it as CSV"),
    ],
    ids=["damaged", "a damaged sheet", "a large part", "a bomb"],
)
def test_a_damaged_or_huge_workbook_is_refused(part: str, text: str, reason: str) -> None:
    with pytest.raises(ValidationFailed, match=reason):
        read_file(changed(workbook([TRIPS, TRIP]), part, text))


def test_a_cell_far_to_the_right_or_below_takes_no_time() -> None:
    with pytest.raises(ValidationFailed, match="has over 1000 columns"):
        read_file(workbook([[*["x"] * 1001], TRIPS]))
    header = "".join(f'<c t="inlineStr"><is><t>{name}</t></is></c>' for name in TRIPS)
    rows = f'<row r="1">{header}</row><row r="1048576"><c r="B1048576"><v>1</v></c></row>'

    errors = read_errors(changed(workbook([TRIPS]), SHEET, f"{SHEET_BEGINS}{rows}</sheetData></worksheet>"))

    assert errors[0] == "line 10002: is blank, and at most 10000 blank rows are skipped"
