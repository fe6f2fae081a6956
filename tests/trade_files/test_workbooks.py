"""Excel files: the first sheet with a known header, its dates and numbers, and the bounds of what is read."""

import io
import struct
import zipfile
from collections.abc import Callable
from datetime import date, datetime
from typing import Any

import openpyxl
import pytest
from factories import read_file
from file_tables import SAMPLES, read_errors, read_trades

from journal_api.errors import ValidationFailed
from journal_api.trade_files import workbook_parts
from journal_api.trade_files.profiles.proposal import propose_profile
from journal_api.trade_files.workbook_parts import MAIN, MAX_EXTRACTED

TRIPS = ["symbol", "direction", "quantity", "entry_price", "exit_price", "opened_at", "closed_at"]
TRIP = ["ESU6", "long", 1, 5000.25, 5001, datetime(2026, 1, 5, 14, 0), datetime(2026, 1, 5, 15, 0, 1)]
SHEET = "xl/worksheets/sheet1.xml"
MIB = 1024 * 1024
TYPES = "[Content_Types].xml"
SHEET_BEGINS = f'<worksheet xmlns="{MAIN}"><dimension ref="A1"/><sheetData>'
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


def changed(content: bytes, part: str, text: str, compression: int = zipfile.ZIP_STORED) -> bytes:
    """The workbook with another text of one part."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(file, "w", compression) as new:
        for name in {**dict.fromkeys(old.namelist()), part: None}:
            new.writestr(name, text if name == part else old.read(name))
    return file.getvalue()


def sheet(rows: str) -> bytes:
    """A workbook whose sheet has the header and then these rows, uncompressed."""
    header = "".join(f'<c t="inlineStr"><is><t>{name}</t></is></c>' for name in TRIPS)
    return changed(
        workbook([TRIPS]), SHEET, f"{SHEET_BEGINS}<row>{header}</row>{rows}</sheetData></worksheet>"
    )


def with_texts(texts: str) -> bytes:
    """A workbook with a table of texts that cells may refer to."""
    name, kind = "xl/sharedStrings.xml", "application/vnd.openxmlformats-officedocument.spreadsheetml"
    override = f'<Override PartName="/{name}" ContentType="{kind}.sharedStrings+xml"/></Types>'
    content = workbook([TRIPS, TRIP])
    types = zipfile.ZipFile(io.BytesIO(content)).read(TYPES).decode()
    if name not in types:
        content = changed(content, TYPES, types.replace("</Types>", override))
    return changed(content, name, f'<sst xmlns="{MAIN}">{texts}</sst>')


def with_styles(styles: str) -> bytes:
    return changed(
        workbook([TRIPS, TRIP]), "xl/styles.xml", f'<styleSheet xmlns="{MAIN}">{styles}</styleSheet>'
    )


def with_sheets(number: int) -> bytes:
    content = workbook([TRIPS, TRIP])
    text = zipfile.ZipFile(io.BytesIO(content)).read("xl/workbook.xml").decode()
    one = text[text.index("<sheets>") + 8 : text.index("</sheets>")]
    return changed(content, "xl/workbook.xml", text.replace(one, one * number))


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
        (SHEET, f"{SHEET_BEGINS}<row><c><v>1</v></c></row><row", "is a damaged Excel file: save it as CSV"),
        (SHEET, f'{SHEET_BEGINS}<row><c t="s"><v>9</v></c></row>', "is in a damaged sheet: save it as CSV"),
        (SHEET, " " * MAX_EXTRACTED, "has over 67108864 bytes when it is extracted: save it as CSV"),
        (SHEET, " " * 2 * MIB, "has over 100 times its size when it is extracted: save it as CSV"),
    ],
    ids=["damaged", "a damaged sheet", "a damaged cell", "a huge bomb", "a bomb"],
)
def test_a_damaged_or_huge_workbook_is_refused(part: str, text: str, reason: str) -> None:
    with pytest.raises(ValidationFailed, match=reason):
        read_file(changed(workbook([TRIPS, TRIP]), part, text, zipfile.ZIP_DEFLATED))


def text_cell(text: str) -> str:
    return f'<row><c t="inlineStr"><is><t>{text}</t></is></c></row>'


FOREIGN = '<x:row xmlns:x="other"/>'
BEYOND: list[tuple[Callable[[], bytes], str]] = [
    (lambda: sheet("<row>" + "<c/>" * 20_001 + "</row>"), "20000 elements of a row or a text"),
    (lambda: sheet("<row>" + "<c>" * 62), "64 levels"),
    (lambda: sheet(text_cell("x" * MIB)), "1048576 bytes of a row or a text"),
    (lambda: sheet(f"<row {'x' * 200_000}"), "131072 bytes of a tag"),
    (lambda: sheet(f'<row r="{"1" * 1025}"/>'), "64 attributes of 1024 characters"),
    (
        lambda: sheet("<row " + " ".join(f'a{one}="{one:020}"' for one in range(65)) + "/>"),
        "64 attributes of 1024",
    ),
    (
        lambda: sheet("<row>" + "".join(f"<a{one}/>" for one in range(10_001)) + "</row>"),
        "10000 different names",
    ),
    (lambda: sheet("<q/>" * 20_001), "20000 elements beside rows and texts"),
    (lambda: sheet(FOREIGN * 20_001), "20000 elements beside rows and texts"),
    (lambda: sheet('<q xmlns="x">' + "<row/>" * 20_001), "20000 elements beside rows and texts"),
    (lambda: sheet(" " * 4 * MIB), "4194304 bytes beside rows and texts"),
    (lambda: with_styles(f"<cellXfs>{'<xf/>' * 20_001}</cellXfs>"), "20000 elements beside rows and texts"),
    (lambda: with_styles("<row/>" * 20_001), "20000 elements beside rows and texts"),
    (lambda: with_sheets(20_001), "20000 elements beside rows and texts"),
    (lambda: with_texts("<si/>" * 200_001), "200000 different texts"),
    (lambda: with_texts(f"<si><t>{'x' * 1_000_000}</t></si>" * 9), "8388608 bytes of texts"),
]


@pytest.mark.promise(19)
@pytest.mark.parametrize(("make", "bound"), BEYOND, ids=range(len(BEYOND)))
def test_what_is_beyond_a_bound_of_workbooks_is_refused_with_the_bound(
    make: Callable[[], bytes], bound: str
) -> None:
    errors = read_errors_of(make())

    assert any(f"has over {bound}" in error for error in errors), errors


def test_a_workbook_with_entities_or_a_list_of_a_million_parts_is_refused() -> None:
    laughs = f'<!DOCTYPE w [<!ENTITY a "lol">]>{SHEET_BEGINS}{text_cell("&a;")}'
    assert "a document type declaration" in read_errors_of(changed(workbook([TRIPS]), SHEET, laughs))[0]
    assert read_errors_of(with_many_parts(30_000)) == ["line 1: is a ZIP archive: extract the file"]


def with_many_parts(number: int) -> bytes:
    """A workbook that lists so many empty parts."""
    content = workbook([TRIPS, TRIP])
    end = content.rindex(b"PK\5\6")
    size, start = struct.unpack_from("<II", content, end + 12)
    part = b"PK\1\2" + bytes(24) + struct.pack("<H", 5) + bytes(16)
    more = b"".join(part + b"%05d" % one for one in range(number))
    last = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 9, 9, size + len(more), start, 0)
    return content[:end] + more + last


def read_errors_of(content: bytes) -> list[str]:
    """The reasons for which the file or its rows are refused."""
    try:
        return read_errors(content)
    except ValidationFailed as error:
        return [str(error)]


def test_a_sheet_of_too_many_rows_is_refused_where_they_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbook_parts, "MAX_ROWS", 1000)

    errors = read_errors(sheet("<row><c><v>1</v></c></row>" * 1000))

    assert errors[-1].endswith("has over 1000 rows of a sheet: save it as CSV")


def test_a_cell_far_to_the_right_or_below_takes_no_time() -> None:
    with pytest.raises(ValidationFailed, match="has over 1000 columns"):
        read_file(workbook([[*["x"] * 1001], TRIPS]))
    below = sheet('<row r="1048576"><c r="B1048576"><v>1</v></c></row>')
    header_below = changed(below, SHEET, SHEET_BEGINS + '<row r="2000000000"><c><v>1</v></c></row>')

    assert read_errors(below)[0] == "line 10002: is blank, and at most 10000 blank rows are skipped"
    assert read_errors_of(header_below) == ["line 10001: is blank, and at most 10000 blank rows are skipped"]
    assert propose_profile(io.BytesIO(header_below)) is None
