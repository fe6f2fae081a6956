"""Encodings, separators, dates and amounts of files: docs/imports.md, "Files"."""

import io
import zipfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest
from commands import command, import_file, make_journal, rows
from factories import create_account, details_of, read_file, send_file, unwrap
from hypothesis import given
from hypothesis import strategies as st

from journal_api.errors import ValidationFailed
from journal_api.rules.import_rows import Candidate, Rejected
from journal_api.values.money import LARGEST, rounded

TRIPS = "symbol,direction,quantity,entry_price,opened_at,notes\n"
FILLS = "Date,Time,Symbol,Side,Quantity,Price\n"
TITLE = "NinjaTrader Grid 2025-11-03 05-05 .csv\n"
GRID = (
    "Trade number;Instrument;Account;Market pos.;Qty;Entry price;Exit price;Entry time;Exit time;Profit;"
    "Commission\n"
    "1;MNQ DEC25;Sim101;Long;2;26068,00;26082,50;28/10/2025 14:30:26;28/10/2025 14:31:14;57,00 $;1,00 $\n"
)
PORTUGUESE = (
    "Núm. Neg.;Ativo;Conta;Pos mercado.;Qtd;Preço entrada;Preço saída;Hora entrada;Hora saída;Profit;"
    "Corretagem\n"
    "1;MNQ 12-25;Sim101;Venda;2;26082,50;26068,00;28/10/2025 14:30:26;28/10/2025 14:31:14;"
    "$ 57,00;$ 1,00\n"
)
GERMAN = (
    "Handelsnummer;Instrument;Konto;Marktpos.;Menge;Einstiegspreis;Ausstiegspreis;Einstiegszeit;"
    "Ausstiegszeit;Gewinn;Kommission\n"
    "1;MNQ 12-25;Sim101;Long;2;26068,00;26082,50;28.10.2025 14:30:26;28.10.2025 14:31:14;57,00 $;1,00 $\n"
)
METATRADER = (
    "Time,Position,Symbol,Type,Volume,Price,Time,Price,Commission,Swap,Profit\n"
    "2026.01.12 09:15:04,1,BTCUSD,buy,0.1,94545.83333333333,2026.01.12 16:42:31,94546,-0.000487339,0,"
    "0.016666666667\n"
)


def read(file: str | bytes, timezone: str = "UTC", **options: Any) -> list[Candidate | Rejected]:
    content = file.encode() if isinstance(file, str) else file
    return list(read_file(content, timezone, **options).candidates)


def only(file: str | bytes, **options: Any) -> dict[str, Any]:
    """What would be stored of the one trade in the file."""
    (trade,) = read(file, **options)
    assert isinstance(trade, Candidate), trade
    return trade.columns


def trip_of(**cells: str) -> str:
    cells = {"symbol": "ES", "direction": "long", "quantity": "1", "notes": "", **cells}
    cells = {"entry_price": "1", "opened_at": "2026-01-05 14:00:00", **cells}
    return TRIPS + ",".join(cells[name] for name in TRIPS.strip().split(",")) + "\n"


async def report_of(client: httpx.AsyncClient, file: str | bytes, **query: Any) -> Any:
    account_id = (await create_account(client))["id"]
    return unwrap(await send_file(client, file, account_id, **query))


# Encodings -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("encoding", "reported"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8"),
        ("utf-16", "utf-16-le"),
        ("utf-16-le", "utf-16-le"),
        ("utf-16-be", "utf-16-be"),
        ("cp1252", "cp1252"),
    ],
)
async def test_a_file_is_read_in_its_encoding_which_the_report_names(
    client: httpx.AsyncClient, encoding: str, reported: str
) -> None:
    report = await report_of(client, trip_of(notes="Geduld zahlt sich aus – für 5 €").encode(encoding))

    assert report["encoding"] == reported
    (trade,) = unwrap(await client.get("/trades"))
    assert trade["notes"] == "Geduld zahlt sich aus – für 5 €"


@pytest.mark.parametrize("before", ["", "x" * 100_000], ids=["at once", "after a piece of the file"])
def test_a_byte_that_is_not_utf8_makes_the_file_windows_1252(before: str) -> None:
    file = read_file(f"{trip_of()}{before[:9000]}\n".encode() * 9 + b"\xfc,")

    assert file.encoding == "cp1252"


def test_a_file_with_characters_of_utf8_and_a_wrong_byte_is_damaged() -> None:
    *_, last = read(trip_of(notes="für").encode() + b"\xfc\n")

    assert last == Rejected(3, "is not UTF-8")


def test_a_byte_that_windows_1252_does_not_have_is_refused() -> None:
    *_, last = read(trip_of(notes="f\xfcr").encode("latin-1") + b"\x81\n")

    assert last == Rejected(3, "is not UTF-8 or Windows-1252")


def excel() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("xl/workbook.xml", "<workbook/>")
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (excel(), "is an Excel file: save it as CSV"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512), "is an Excel file: save it as CSV"),
        (b"PK\x03\x04" + bytes(100) + b"trades.csv", "is a ZIP archive: extract the file"),
    ],
    ids=["xlsx", "xls", "zip"],
)
async def test_an_excel_file_says_what_to_do(client: httpx.AsyncClient, content: bytes, reason: str) -> None:
    refused = await send_file(client, content, (await create_account(client))["id"])

    assert (details_of(refused)["line"], details_of(refused)["reason"]) == (1, reason)


# Separators and headers ----------------------------------------------------------------------------------


@pytest.mark.parametrize("title", ["", TITLE, "One, two, three\n", '"Trades"\n'])
@pytest.mark.parametrize("grid", [GRID, PORTUGUESE, GERMAN], ids=["English", "Portuguese", "German"])
def test_a_grid_is_read_after_a_title_in_several_languages(grid: str, title: str) -> None:
    trade = only(title + grid)

    assert trade["direction"] == ("short" if grid == PORTUGUESE else "long")
    assert trade["opened_at"] == "2025-10-28T14:30:26.000000Z"
    assert trade["gross_pnl"] == 58 * 10**8
    assert trade["fees"] == 10**8
    assert trade["multiplier"] == 2 * 10**8


@pytest.mark.parametrize("rows_before", [99, 100])
def test_a_header_is_searched_in_the_first_hundred_rows(rows_before: int) -> None:
    text = "One,two\n" * (rows_before - 1) + "Trades\n" + GRID

    if rows_before == 99:
        assert only(text)["direction"] == "long"
    else:
        with pytest.raises(ValidationFailed):
            read(text)


def test_the_account_of_a_grid_in_another_language_is_known() -> None:
    (trade,) = read(PORTUGUESE)

    assert isinstance(trade, Candidate)
    assert trade.imported.account == "Sim101"


def test_of_an_unknown_header_that_separator_is_told_with_which_it_is_similar_to_a_format() -> None:
    with pytest.raises(ValidationFailed) as refused:
        read(TITLE + GRID.replace("Profit", "Nothing"))

    assert refused.value.details["line"] == 2
    assert refused.value.details["missing"]["NinjaTrader trades"] == ["Profit"]


# Amounts -------------------------------------------------------------------------------------------------


async def test_amounts_of_a_broker_are_rounded_and_counted(client: httpx.AsyncClient) -> None:
    report = await report_of(client, METATRADER)

    (trade,) = unwrap(await client.get("/trades"))
    assert report["rounded"] == 3
    assert trade["entry_price"] == 94545.83333333
    assert trade["fees"] == 0.00048734
    assert trade["gross_pnl"] == 0.01666667


@pytest.mark.parametrize(
    "file",
    [
        trip_of(entry_price="1.000000001"),
        FILLS + "2026-01-05,09:30:00,ES,Buy,1,1.000000001\n",
    ],
    ids=["round trips", "executions"],
)
def test_amounts_that_people_type_are_refused_beyond_eight_decimals(file: str) -> None:
    (refusal,) = read(file)

    assert isinstance(refusal, Rejected)
    assert "must have at most 15 significant digits and 8 decimals" in refusal.reason


async def test_an_amount_that_repeats_is_rounded_and_counted_in_each_row(client: httpx.AsyncClient) -> None:
    row = METATRADER.splitlines()[1]

    report = await report_of(client, METATRADER + row.replace(",1,BTC", ",2,BTC") + "\n")

    assert report["rounded"] == 6


def test_the_same_text_is_another_amount_where_a_comma_is_decimal() -> None:
    commas = trip_of(entry_price='"1,234"')
    semicolons = trip_of(entry_price="NUMBER").replace(",", ";").replace("NUMBER", "1,234")

    prices = [only(file)["entry_price"] for file in (commas, semicolons, commas)]

    assert prices == [1234 * 10**8, 1.234 * 10**8, 1234 * 10**8]


def test_the_same_text_is_a_price_and_no_quantity() -> None:
    assert only(trip_of(entry_price="0"))["entry_price"] == 0

    (refusal,) = read(trip_of(quantity="0"))

    assert isinstance(refusal, Rejected)
    assert refusal.reason.startswith("quantity must be greater than 0")


def test_an_amount_that_rounds_to_nothing_is_no_quantity() -> None:
    (refusal,) = read(METATRADER.replace(",0.1,", ",0.000000001,"))

    assert isinstance(refusal, Rejected)
    assert refusal.reason.startswith("Volume must be greater than 0")


@given(st.decimals(-LARGEST, LARGEST, places=12), st.sampled_from([15, 19]))
def test_rounding_is_half_even_and_to_the_digits_of_an_amount(value: Any, digits: int) -> None:
    result = rounded(value, digits)

    last_place = max(-8, value.adjusted() + 1 - digits)
    assert abs(result - value) * 2 <= Decimal((0, (1,), last_place))
    assert result == rounded(result, digits)


def test_a_half_is_rounded_to_the_even_digit() -> None:
    assert only(METATRADER.replace("94546", "1.000000005"))["exit_price"] == 10**8
    assert only(METATRADER.replace("94546", "1.000000015"))["exit_price"] == 10**8 + 2


# Rules of a row ------------------------------------------------------------------------------------------

CLOSED = "symbol,direction,quantity,entry_price,exit_price,opened_at,closed_at,gross_pnl\n"
A_ROW = "ESU6,long,1,5000,5001,2026-03-09T10:00:00,2026-03-09T10:05:00,"


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (A_ROW.replace(",1,", ",10000000000,"), "gross_pnl computed from the prices exceeds"),
        ("ESU6,long,1,5000,,2200-12-31T23:30:00,,", "opened_at must be in the years"),
        ("ESU6,long,1,5000,5001,2026-03-09T10:00:00,,", "exit_price requires closed_at"),
        ("ESU6,long,1,5000,,2026-03-09T10:00:00,,3", "gross_pnl requires closed_at"),
        (A_ROW.replace("5001", ""), "exit_price is required"),
        (A_ROW.replace("10:05", "09:59"), "closed_at must not be before opened_at"),
        (f"{A_ROW},more", "has 9 cells"),
        (A_ROW.removesuffix(","), "has 7 cells"),
        (A_ROW.replace("ESU6", '"ES"U6'), "is not CSV"),
    ],
)
def test_a_row_that_breaks_a_rule_says_which(row: str, reason: str) -> None:
    first, second = read(f"{CLOSED}{A_ROW}\n{row}\n", timezone="America/New_York")

    assert isinstance(first, Candidate)
    assert isinstance(second, Rejected)
    assert second.line == 3
    assert second.reason.startswith(reason)


# Directions ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["long", "Long", "LONG", "BUY", "Buy", "b", "B", "L", "Compra", "Kauf"])
def test_a_word_for_long(word: str) -> None:
    assert only(trip_of(direction=word))["direction"] == "long"


@pytest.mark.parametrize("word", ["short", "Short", "SHORT", "SELL", "Sell", "s", "S", "Venda", "Verkauf"])
def test_a_word_for_short(word: str) -> None:
    assert only(trip_of(direction=word))["direction"] == "short"


@pytest.mark.parametrize("word", ["", "flat", "1", "longer", "sell short"])
def test_another_word_is_no_direction(word: str) -> None:
    (refusal,) = read(trip_of(direction=word))

    assert isinstance(refusal, Rejected)
    assert refusal.reason.startswith("direction must be long or short")


# Day and month -------------------------------------------------------------------------------------------


def fills_on(*dates: str) -> str:
    return FILLS + "".join(f"{date},09:30:00,ES,Buy,1,100\n" for date in dates)


@pytest.mark.parametrize(
    ("dates", "query", "order", "source", "first_day"),
    [
        (["4/9/2026"], {}, "month", "assumed", "2026-04-09"),
        (["4/9/2026"], {"date_order": "day"}, "day", "stated", "2026-09-04"),
        (["4/9/2026"], {"date_order": "month"}, "month", "stated", "2026-04-09"),
        (["4/9/2026", "4/13/2026"], {}, "month", "file", "2026-04-09"),
        (["4/9/2026", "13/9/2026"], {}, "day", "file", "2026-09-04"),
        (["04.09.2026"], {}, "day", "assumed", "2026-09-04"),
    ],
)
async def test_the_report_says_which_of_day_and_month_is_first(
    client: httpx.AsyncClient, dates: list[str], query: Any, order: str, source: str, first_day: str
) -> None:
    report = await report_of(client, fills_on(*dates), **query)

    assert report["date_order"] == {"order": order, "source": source}
    (trade,) = unwrap(await client.get("/trades"))
    assert trade["opened_at"][:10] == first_day


async def test_a_file_with_the_year_first_has_no_order(client: httpx.AsyncClient) -> None:
    report = await report_of(client, fills_on("2026-04-09"), date_order="day")

    assert report["date_order"] is None


async def test_a_date_against_the_stated_order_is_an_error(client: httpx.AsyncClient) -> None:
    account_id = (await create_account(client))["id"]

    refused = await send_file(client, fills_on("4/13/2026"), account_id, date_order="day")

    assert details_of(refused)["reason"].startswith("Date has no month 13")


@pytest.mark.parametrize("date_order", ["", "year", "DAY"])
async def test_another_order_is_refused(client: httpx.AsyncClient, date_order: str) -> None:
    account_id = (await create_account(client))["id"]

    refused = await send_file(client, fills_on("4/9/2026"), account_id, date_order=date_order)

    assert details_of(refused)["allowed"] == ["month", "day"]


# The command ---------------------------------------------------------------------------------------------


def test_the_command_says_what_was_assumed_rounded_and_not_utf8(tmp_path: Path) -> None:
    db, file = tmp_path / "journal.db", tmp_path / "trades.csv"
    file.write_text(fills_on("4/9/2026"))
    fills = import_file(db, file)
    file.write_bytes(METATRADER.replace("BTCUSD", "für").encode("cp1252"))
    positions = import_file(db, file)

    assert "--date-order day reads them the other way" in fills.err
    assert "Read as Windows-1252" in positions.err
    assert "Amounts rounded to eight decimals: 3." in positions.err


def test_the_command_is_told_the_order_of_dates(tmp_path: Path) -> None:
    db, file = tmp_path / "journal.db", tmp_path / "trades.csv"
    file.write_text(fills_on("4/9/2026"))
    make_journal(db)

    ran = command("import", file, "--account", "Sim", "--date-order", "day", "--timezone", "UTC", "--db", db)

    assert "order" not in ran.err
    assert [row[0][:10] for row in rows(db, "SELECT opened_at FROM trades")] == ["2026-09-04"]
