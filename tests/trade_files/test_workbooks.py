"""Excel files: the first sheet with a known header, its dates and numbers, and the bounds of what is read."""

import io
import struct
import zipfile
from collections.abc import Callable
from datetime import date, datetime
from typing import Any

import pytest
from factories import Client, details_of, read_file, send_file
from file_tables import SAMPLES, read_errors, read_trades, workbook
from saved_journals import for_rows

from journal_api.trade_files import workbook_parts
from journal_api.trade_files.profiles.proposal import propose_profile
from journal_api.trade_files.workbook_parts import MAIN, MAX_EXTRACTED

TRIPS = ["symbol", "direction", "quantity", "entry_price", "exit_price", "opened_at", "closed_at"]
TRIP = ["ESU6", "long", 1, 5000.25, 5001, datetime(2026, 1, 5, 14, 0), datetime(2026, 1, 5, 15, 0, 1)]
MIDNIGHT = [*TRIP[:5], datetime(2026, 1, 5), datetime(2026, 1, 6)]
SHEET = "xl/worksheets/sheet1.xml"
MIB = 1024 * 1024
TYPES = "[Content_Types].xml"
SHEET_BEGINS = f'<worksheet xmlns="{MAIN}" xmlns:r="other"><dimension ref="A1"/><sheetData>'
FILLS = ["Run Date", "Action", "Symbol", "Price ($)", "Quantity", "Fees ($)"]


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
    return changed(workbook([TRIPS]), SHEET, f"{SHEET_BEGINS}<row>{header}</row>{rows}</sheetData></worksheet>")


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
    return changed(workbook([TRIPS, TRIP]), "xl/styles.xml", f'<styleSheet xmlns="{MAIN}">{styles}</styleSheet>')


def with_sheets(number: int) -> bytes:
    content = workbook([TRIPS, TRIP])
    text = zipfile.ZipFile(io.BytesIO(content)).read("xl/workbook.xml").decode()
    one = text[text.index("<sheets>") + 8 : text.index("</sheets>")]
    return changed(content, "xl/workbook.xml", text.replace(one, one * number))


def test_the_first_sheet_with_a_known_header_is_read() -> None:
    content = workbook([["Report"], ["a", "b"]], [["My trades"], [], TRIPS, TRIP, MIDNIGHT], [TRIPS])

    trade, at_midnight = read_trades(content)

    assert at_midnight["opened_at"] == "2026-01-05T00:00:00Z"
    assert (trade["line"], trade["symbol"], trade["gross_pnl"]) == (4, "ESU6", "37.5")
    assert (trade["opened_at"], trade["closed_at"]) == ("2026-01-05T14:00:00Z", "2026-01-05T15:00:01Z")
    assert read_file(content).encoding == "xlsx"


ACTIVITY = [["Date", "Type", "Units", "Realized Equity", "Balance", "Position ID"], ["2026-01-05", "Buy", 1, 9, 9, 7]]
DIVIDENDS = [["Date", "Type", "Units", "Amount"], ["2026-01-05", "Dividend", 1, 9]]
CLOSED = [["Action", "Units", "Open Rate", "Close Rate", "Open Date", "Close Date"], ["Buy QLTX", *TRIP[2:]]]


@for_rows(
    "sheets, has_trades",
    [
        ([ACTIVITY, DIVIDENDS, CLOSED], True),
        ([CLOSED, ACTIVITY], True),
        ([ACTIVITY, CLOSED[:1]], False),
        ([DIVIDENDS, ACTIVITY], False),
    ],
)
async def test_a_report_is_refused_unless_another_sheet_has_trades(
    client: Client, account_id: int, sheets: list[Any], has_trades: bool
) -> None:
    response = await send_file(client, workbook(*sheets), account_id, dry_run="true")

    if has_trades:
        assert response.json()["data"]["import"]["proposed_profile"]["entry_price"] == "Open Rate"
    else:
        assert "which has no trades" in details_of(response)["reason"]


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


def with_many_parts(number: int) -> bytes:
    """A workbook that lists so many empty parts."""
    content = workbook([TRIPS, TRIP])
    end = content.rindex(b"PK\5\6")
    size, start = struct.unpack_from("<II", content, end + 12)
    part = b"PK\1\2" + bytes(24) + struct.pack("<H", 5) + bytes(16)
    more = b"".join(part + b"%05d" % one for one in range(number))
    last = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 9, 9, size + len(more), start, 0)
    return content[:end] + more + last


def packed(part: str, text: str) -> bytes:
    """A workbook with another text of one part, compressed."""
    return changed(workbook([TRIPS, TRIP]), part, text, zipfile.ZIP_DEFLATED)


def text_cell(text: str) -> str:
    return f'<row><c t="inlineStr"><is><t>{text}</t></is></c></row>'


LAUGHS = f'<!DOCTYPE w [<!ENTITY a "lol">]>{SHEET_BEGINS}{text_cell("&a;")}'
FAR_BELOW = SHEET_BEGINS + '<row r="2000000000"><c><v>1</v></c></row>'
MANY_NAMES = "".join(f"<a{one}/>" for one in range(10_001))
MANY_ATTRIBUTES = " ".join(f'a{one}="{one:020}"' for one in range(65))
BESIDE = "has over 20000 elements beside rows and texts"
BLANK = "is blank, and at most 10000 blank rows are skipped"
REFUSED: list[tuple[Callable[[], bytes], str]] = [
    (lambda: workbook([["a", "b"], [1, 2]], [["c"]]), "this header is of no known format"),
    (lambda: packed("xl/workbook.xml", "<"), "is a damaged Excel file: save it as CSV"),
    (lambda: packed(SHEET, f"{SHEET_BEGINS}<row><c><v>1</v></c></row><row"), "is a damaged Excel file"),
    (lambda: packed(SHEET, f'{SHEET_BEGINS}<row><c t="s"><v>9</v></c></row>'), "is in a damaged sheet: save "),
    (lambda: packed(SHEET, " " * MAX_EXTRACTED), "has over 67108864 bytes when it is extracted: save it as "),
    (lambda: packed(SHEET, " " * 2 * MIB), "has over 100 times its size when it is extracted: save it as CSV"),
    (lambda: packed(SHEET, LAUGHS), "with a document type declaration"),
    (lambda: with_many_parts(30_000), "line 1: is a ZIP archive: extract the file"),
    (lambda: workbook([[*["x"] * 1001], TRIPS]), "line 1: has over 1000 columns"),
    (lambda: sheet('<row r="1048576"><c r="B1048576"><v>1</v></c></row>'), f"line 10002: {BLANK}"),
    (lambda: changed(workbook([TRIPS]), SHEET, FAR_BELOW), f"line 10001: {BLANK}"),
    (lambda: sheet("<row>" + "<c/>" * 20_001 + "</row>"), "has over 20000 elements of a row or a text"),
    (lambda: sheet("<row>" + "<c>" * 62), "has over 64 levels"),
    (lambda: sheet(text_cell("x" * MIB)), "has over 1048576 bytes of a row or a text"),
    (lambda: sheet(f"<row {'x' * 200_000}"), "has over 131072 bytes of a tag"),
    (lambda: sheet(f'<row r="{"1" * 1025}"/>'), "has over 64 attributes of 1024 characters"),
    (lambda: sheet(f"<row {MANY_ATTRIBUTES}/>"), "has over 64 attributes of 1024"),
    (lambda: sheet(f"<row>{MANY_NAMES}</row>"), "has over 10000 different names"),
    (lambda: sheet("<q/>" * 20_001), BESIDE),
    (lambda: sheet('<x:row xmlns:x="other"/>' * 20_001), BESIDE),
    (lambda: sheet('<q xmlns="x">' + "<row/>" * 20_001), BESIDE),
    (lambda: with_styles(f"<cellXfs>{'<xf/>' * 20_001}</cellXfs>"), BESIDE),
    (lambda: with_styles("<row/>" * 20_001), BESIDE),
    (lambda: with_sheets(20_001), BESIDE),
    (lambda: sheet(" " * 4 * MIB), "has over 4194304 bytes beside rows and texts"),
    (lambda: with_texts(f"<si><t>{'x' * 1_000_000}</t></si>" * 9), "has over 8388608 bytes of texts"),
]


@pytest.mark.promise(19)
@for_rows("make, reason", REFUSED)
def test_a_damaged_hostile_or_huge_workbook_is_refused_with_the_bound(make: Callable[[], bytes], reason: str) -> None:
    errors = read_errors(make())

    assert any(reason in error for error in errors), errors


def test_a_profile_is_proposed_by_rows_without_their_last_cells_too() -> None:
    rows = [["Kauf", "A", 1, 5, "2026-03-02", "a note"], *([["Verkauf", "A", 1, 6, "2026-03-03"]] * 2)]
    proposal = propose_profile(io.BytesIO(workbook([["Action", "Symbol", "Qty", "Price", "Date", "Note"], *rows])))

    assert proposal is not None
    assert proposal.profile.side is not None
    assert proposal.profile.side.short == ["Verkauf"]


def test_no_profile_is_proposed_for_a_table_far_below() -> None:
    assert propose_profile(io.BytesIO(changed(workbook([TRIPS]), SHEET, FAR_BELOW))) is None


def test_too_many_rows_or_texts_are_refused_where_they_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (workbook_parts.MAX_ROWS, workbook_parts.BOUNDS["different texts"]) == (250_000, 200_000)
    monkeypatch.setattr(workbook_parts, "MAX_ROWS", 1000)
    monkeypatch.setitem(workbook_parts.BOUNDS, "different texts", 1000)

    rows = read_errors(sheet("<row><c><v>1</v></c></row>" * 1000))
    texts = read_errors(with_texts("<si/>" * 1001))

    assert rows[-1].endswith("has over 1000 rows of a sheet: save it as CSV")
    assert "has over 1000 different texts" in texts[-1]
