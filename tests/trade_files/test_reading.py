"""Encodings, separators, dates and amounts of files: docs/formats.md#what-can-be-read."""

from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from commands import import_file, rows
from factories import Client, create_account, create_import, details_of, read_file, send_file, unwrap
from file_positions import FileTrade, read_positions_of
from file_tables import SAMPLES, read_errors, read_rows, read_trade, write_file
from hypothesis import given
from hypothesis import strategies as st
from plain_rows import PLAIN, Cells, read_row
from saved_journals import for_rows

from journal_api.errors import ValidationFailed
from journal_api.positions.import_rows import Candidate, Rejected
from journal_api.positions.statements import Numbering
from journal_api.trade_files.amounts import Comma, parse_cell_number
from journal_api.trade_files.dates import ROWS_SEARCHED
from journal_api.values.money import MAX_AMOUNT, rounded

TRIP = {"symbol": "ES", "direction": "long", "quantity": "1", "entry_price": "1", "opened_at": "2026-01-05 14:00:00"}
FILLS = "Date,Time,Symbol,Side,Quantity,Price\n"
FILL = read_row(f"{FILLS}3/9/2026,09:00:00,NVTA,Buy,1,10")
TITLE = "NinjaTrader Grid 2025-11-03 05-05 .csv\n"
NEAR_TWO = "Instrument,Quantity,Price,Time,ID,E/X,Position,Order ID,Name,Commission,Rate,Account,Connection\n"
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
LONG_AMOUNTS = {"Price": "94545.83333333333", "Commission": "-0.000487339", "Profit": "0.016666666667"}


def trip(**cells: str) -> bytes:
    return write_file(TRIP, cells)


async def report_of(client: Client, file: str | bytes, **query: Any) -> Any:
    account_id = (await create_account(client))["id"]
    return unwrap(await send_file(client, file, account_id, **query))


@for_rows(
    "encoding, reported",
    [
        *(("utf-8", "utf-8"), ("utf-8-sig", "utf-8"), ("utf-16", "utf-16-le"), ("utf-16-le", "utf-16-le")),
        *(("utf-16-be", "utf-16-be"), ("cp1252", "cp1252")),
    ],
)
def test_a_file_is_read_in_its_encoding_wherever_a_piece_ends(encoding: str, reported: str) -> None:
    end = {"utf-8": "\r", "utf-16": "\r\n"}.get(encoding, "\n")
    notes = [f"für 5 € – {number} " + "x" * 1000 + "." for number in range(150)]
    rows = [f"ES,long,1,1,2026-01-05 14:00:00,{note}" for note in notes]
    lines = ["symbol,direction,quantity,entry_price,opened_at,notes", *rows, "short"]

    file = read_file(end.join(lines).encode(encoding))

    found = read_positions_of(file)
    assert file.encoding == reported
    assert [row.columns["notes"] for row in found if isinstance(row, FileTrade)] == notes
    assert [row.line for row in found if isinstance(row, Rejected)] == [152]


CODE_PAGES = (
    *(("約定単価", "cp932"), ("成交价格", "gb18030"), ("거래수량", "cp949")),
    *(("ilość", "cp1250"), ("дата сделки", "cp1251"), ("işlem tipi", "cp1254")),
)


@for_rows(
    "content, encoding, last",
    [
        *((trip(notes=word).decode().encode(page), page, None) for word, page in CODE_PAGES),
        (trip() * 9 + b"\xfc,", "cp1252", None),
        ((trip() + b"x" * 9000) * 9 + b"\xfc,", "cp1252", None),
        (trip(notes="für") + b"\xfc\n", "utf-8", Rejected(3, "is not UTF-8")),
        (trip(notes="f\x81").decode().encode("latin-1"), "cp1252", Rejected(2, "is not UTF-8 or Windows-1252")),
        (trip().decode().encode("utf-16") + b"\x00\xdc\x00\xdc", "utf-16-le", Rejected(3, "is not UTF-16")),
    ],
)
def test_wrong_bytes_make_a_file_of_a_code_page_or_damaged(
    content: bytes, encoding: str, last: Rejected | None
) -> None:
    file = read_file(content)
    *_, found = read_positions_of(file)

    assert file.encoding == encoding
    assert last in (None, found)


@for_rows(
    "content, reason",
    [
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512), "is an old Excel file: save it as .xlsx or CSV"),
        (b"PK\x03\x04" + bytes(100) + b"trades.csv", "is a ZIP archive: extract the file"),
        (b"\x1f\x8b\x08" + bytes(20), "is a compressed archive: extract the file"),
        (b"\x89PNG\r\n\x1a\n" + bytes(20), "is a picture: export the trades as CSV"),
        (b'[{"symbol": "QLTX"}]', "is JSON: export the trades as CSV"),
        (b'"HEADER","STFU","Symbol"\n', "has no section of trades: add Trades to the Flex query"),
        (b"\xff\xd8\xff\xe0" + bytes(20), "is a picture: export the trades as CSV"),
        (b"%PDF-1.7\n", "is a PDF document: export the trades as CSV"),
    ],
)
async def test_a_file_that_is_no_text_says_what_it_is(
    client: Client, account_id: int, content: bytes, reason: str
) -> None:
    refused = await send_file(client, content, account_id)

    assert (details_of(refused)["line"], details_of(refused)["reason"]) == (1, reason)


@for_rows(
    "grid, title", [(PORTUGUESE, ""), (GERMAN, '"Trades"\n'), *((GRID, title) for title in (TITLE, "One,two\n" * 99))]
)
def test_a_grid_is_read_after_a_title_in_several_languages(grid: str, title: str) -> None:
    trade = read_trade(title + grid)

    assert trade["direction"] == ("short" if grid == PORTUGUESE else "long")
    assert (trade["opened_at"], trade["account"]) == ("2025-10-28T14:30:26Z", "Sim101")
    assert (trade["gross_pnl"], trade["fees"], trade["multiplier"]) == ("58", "1", "2")


@for_rows(
    "content, line, missing",
    [
        ("", 1, {}),
        ("symbol,direction,entry_price,opened_at,Pair ID\n", 1, {"round trips": ["quantity"]}),
        ("One,two\n" * 100 + GRID, 1, {}),
        (NEAR_TWO, 1, {"NinjaTrader executions": ["Action"], "NinjaTrader fills": ["Avg fill price"]}),
        (TITLE + GRID.replace("Profit", "Nothing"), 2, {"NinjaTrader trades": ["Profit"]}),
        (GRID.replace("Qty", "Amount of it").replace("Trade number", "Trade-#"), 1, {"NinjaTrader trades": ["Qty"]}),
    ],
)
def test_an_unknown_header_names_the_format_that_it_nearly_has(
    content: str, line: int, missing: dict[str, list[str]]
) -> None:
    with pytest.raises(ValidationFailed) as refused:
        read_file(content)

    assert (refused.value.details["line"], refused.value.details["missing"]) == (line, missing)
    assert next(iter(missing), "") in refused.value.details["reason"]


@for_rows(
    "cell, comma, amount",
    [
        ("($307.80)", "thousands", "-307.8"),
        ("$(1,025.00)", "thousands", "-1025"),
        *(("-$18.98", "thousands", "-18.98"), ("$-18.98", "thousands", "-18.98")),
        *(("+1,025.00", "thousands", "1025"), ("-90.00 $", "thousands", "-90")),
        *(("- 0.08", "thousands", "-0.08"), (".5", "thousands", "0.5"), ("£12.34", "thousands", "12.34")),
        ("307,42 €", "decimals", "307.42"),
        *(("-1.250,00 €", "decimals", "-1250"), ("-$ 117,00", "decimals", "-117")),
        *(("1,234", "decimals", "1.234"), ("1.5", "decimals", "1.5")),
        ("20\N{NO-BREAK SPACE}010,00\N{NO-BREAK SPACE}$", "decimals", "20010"),
        *(("1'234’567.5", "thousands", "1234567.5"), ("12,34,567", "thousands", "1234567")),
        *(
            ("5.00-", "thousands", "-5"),
            ("−₹5", "thousands", "-5"),
            ("Rs. 5", "thousands", "5"),
            ("US$5", "thousands", "5"),
        ),
        *(("1.234", "shown", "1234"), ("1.234,5", "shown", "1234.5")),
        *(("4\N{THIN SPACE}182.78", "either", "4182.78"), ("1,234,567.5", "either", "1234567.5")),
    ],
)
def test_an_amount_is_read_in_every_form_of_brokers(cell: str, comma: Comma, amount: str) -> None:
    assert parse_cell_number(cell, comma) == Decimal(amount)


@for_rows(
    "cell, comma",
    [
        *((cell, "thousands") for cell in ("", "-", "$", "1e3", "nan", "--5", "-($5.00)", "-$-5.00")),
        *((cell, "thousands") for cell in ("$- 5.00", "$+5.00", "-5.00-", "12,34,56", "٣")),
        *(("1.234", "decimals"), ("-1.234.567", "decimals"), ("1,234", "either"), ("$1,234", "either")),
    ],
)
def test_a_text_that_is_no_amount_or_two_is_refused(cell: str, comma: Comma) -> None:
    with pytest.raises(ValueError, match=r"must be a number|could be thousands or decimals"):
        parse_cell_number(cell, comma)


async def test_amounts_of_a_broker_are_rounded_and_counted_in_each_row(client: Client) -> None:
    file = write_file(PLAIN["MetaTrader 5"], LONG_AMOUNTS, LONG_AMOUNTS | {"Position": "2"})

    report = await report_of(client, file)

    trade, _ = unwrap(await client.get("/trades"))
    assert report["rounded"] == 6
    amounts = (trade["entry_price"], trade["fees"], trade["gross_pnl"])
    assert amounts == (94545.83333333, 0.00048734, 0.01666667)


def test_the_same_text_is_another_amount_where_a_comma_is_decimal() -> None:
    commas = trip(entry_price="1,234")
    semicolons = write_file(TRIP, {"entry_price": "1,234"}, separator=";")

    prices = [read_trade(file)["entry_price"] for file in (commas, semicolons, commas, trip(entry_price="0"))]

    assert prices == ["1234", "1.234", "1234", "0"]


@given(st.decimals(-MAX_AMOUNT, MAX_AMOUNT, places=12), st.sampled_from([15, 19]))
def test_rounding_is_half_even_and_to_the_digits_of_an_amount(value: Any, digits: int) -> None:
    result = rounded(value, digits)

    last_place = max(-8, value.adjusted() + 1 - digits)
    assert abs(result - value) * 2 <= Decimal((0, (1,), last_place))
    assert result == rounded(result, digits)


@for_rows(
    "row, reason",
    [
        ("ES,long,1,1,2026-01-05 14:00:00,more", "has 6 cells where the header has 5"),
        ("ES,long,1,1", "has 4 cells where the header has 5"),
        ('"ES"U6,long', "is not CSV"),
    ],
)
def test_a_row_of_another_width_or_quoting_is_an_error(row: str, reason: str) -> None:
    (error,) = read_errors(trip().decode() + row + "\n")

    assert error.startswith(f"line 3: {reason}")


@for_rows("separator, cell, fills", [(",", "EUR", 0), (";", "EUR", 2), (";", "5", 0)])
def test_cells_beside_the_last_name_are_left_out_unless_a_comma_in_a_number_may_have_made_them(
    separator: str, cell: str, fills: int
) -> None:
    header, *rows = (SAMPLES / "lightspeed_trades.csv").read_text().replace('","', f'"{separator}"').splitlines()

    read = read_rows("\n".join([f"{header}{separator}", *(f"{row}{separator}{cell}" for row in rows[:2])]))

    assert sum(isinstance(row, FileTrade) and len(row.statements) for row in read) == fills


@for_rows("cells", range(2, 13))
def test_a_last_row_that_is_cut_is_an_error_also_within_its_side(cells: int) -> None:
    rows = (SAMPLES / "ninjatrader_executions.csv").read_text().splitlines()
    cut = ",".join(rows.pop().split(",")[:cells])[:-1]

    (error,) = read_errors("\n".join([*rows, cut]))

    assert error.startswith(f"line {len(rows) + 1}: ")


@for_rows(
    "change",
    [
        lambda text: text.removesuffix("\n"),
        lambda text: text.replace("\n", "\n\n"),
        lambda text: text.replace(",", " , "),
        lambda text: text.replace("\n", ",mine\n"),
    ],
)
def test_a_file_is_read_whatever_program_wrote_it(change: Any) -> None:
    content = change((SAMPLES / "tradovate_position_history.csv").read_text())

    assert [isinstance(row, FileTrade) for row in read_rows(content)] == [True] * 5


ROW_OF_SIX = b"ES,long,1,6000,2026-02-10 09:30:00,NQ\n"


@for_rows(
    "broken, line",
    [
        (b"", 1),
        (b"\n" + ROW_OF_SIX, 2),
        (b"\xff\xfe" + "symbol,direction\n".encode("utf-16-le") + ROW_OF_SIX, 1),
        (b"symbol,direction,quantity,entry_price,opened_at,symbol\n" + ROW_OF_SIX, 1),
        (trip().partition(b"\n")[0] + b'\n"ES,long,1,6000,2026-02-10 09:30:00\n', 2),
        (trip().partition(b"\n")[0] + b"\n" + b"E" * 200_000 + b",long,1,6000,2026\n", 2),
    ],
)
def test_a_file_that_is_not_what_it_should_be_is_refused_with_the_line(broken: bytes, line: int) -> None:
    (error,) = read_errors(broken)

    assert error.startswith(f"line {line}: ")
    assert len(error.splitlines()) == 1


@for_rows(
    "plain, rows, keys",
    [
        (
            *(PLAIN["round trips"], [{}, {"fees": "4.36"}, {"external_id": "a-1"}]),
            [-7511578471361137736, 4591450549788122486, 5749166570152482793],
        ),
        (PLAIN["Tradovate"], [{}], [-6643918419691469685]),
        (*(FILL, [{}, {}, {"Execution ID": "7"}]), [-6864081688450684217, 7636917937719552516, 793703752000833553]),
    ],
)
def test_what_a_file_states_is_known_by_the_keys_that_earlier_versions_have_stored(
    plain: dict[str, str], rows: list[Cells], keys: list[int]
) -> None:
    file = read_file(write_file(plain, *rows))
    numbering = Numbering(file.format)

    assert [numbering.key(1, row.statement)[0] for row in file.rows if isinstance(row, Candidate)] == keys


def grid_at(*times: str, separator: str = ",") -> bytes:
    """Trades of a platform whose dates follow the settings of a computer, one at each time."""
    rows = ({"Entry time": time, "Exit time": time} for time in times)
    return write_file(PLAIN["NinjaTrader"], *rows, separator=separator)


@for_rows(
    "times, separator, order, days",
    [
        (["1/6/2026 9:31:12 AM", "12/10/2026 9:12"], ",", ("month", "assumed"), ["2026-01-06", "2026-12-10"]),
        *(([time], ",", ("month", "assumed"), ["2026-01-06"]) for time in ("01/06/2026 9:31:12 AM", "1/6/26 9:31 am")),
        *(
            (["2/7/2026 9:30:00 AM", day], ",", ("day", "file"), ["2026-07-02", "2026-06-16"])
            for day in ("16/06/2026 09:45:59", "16-6-26 9:45 am")
        ),
        (["7/2/2026 9:12", "7/14/2026 9:12"], ",", ("month", "file"), ["2026-07-02", "2026-07-14"]),
        (["7/2/2026 9:12", "7/14/2026 9:12"], ";", ("month", "file"), ["2026-07-02", "2026-07-14"]),
        (["5.12.2026 22:00:00"], ";", ("day", "assumed"), ["2026-12-05"]),
        (["2/9/2026 12:18"], ";", ("day", "assumed"), ["2026-09-02"]),
        *(([time], ",", ("day", "assumed"), ["2026-04-01"]) for time in ("1.4.2026 0:27:56", "1-4-26 12:27:56 AM")),
        (["26-03-04 9:31", "26-03-05 9:31"], ",", ("year", "assumed"), ["2026-03-04", "2026-03-05"]),
        (["24-03-26 9:31", "25-03-26 9:31"], ",", ("day", "assumed"), ["2026-03-24", "2026-03-25"]),
        ([f"{date.today().year % 100 - 1}-01-04 9:31"], ",", ("year", "assumed"), [f"{date.today().year - 1}-01-04"]),
        *(([time], ",", (None, None), ["2026-01-06"]) for time in ("2026/1/6 9:31:12", "2026.01.06 9:31:12 AM")),
    ],
)
def test_the_order_of_day_and_month_is_that_of_all_dates(
    times: list[str], separator: str, order: tuple[str | None, str | None], days: list[str]
) -> None:
    file = read_file(grid_at(*times, separator=separator))

    trades = [row.columns for row in read_positions_of(file) if isinstance(row, FileTrade)]

    assert file.dates == order
    assert [trade["opened_at"][:10] for trade in trades] == days


def test_a_day_that_is_none_in_any_order_is_an_error() -> None:
    (error,) = read_errors(grid_at("45-45-26 9:31"))

    assert "Entry time has no month 45" in error


async def test_one_day_that_begins_with_the_year_or_the_day_is_asked(client: Client, account_id: int) -> None:
    file = grid_at("14-03-13 9:31")
    refused = await send_file(client, file, account_id)
    days = [await create_import(client, file, account_id=account_id, dry_run="true", date_order=order)
            for order in ("year", "day")]  # fmt: skip

    assert details_of(refused)["fields"] == {
        "date_order": "is required: dates such as 26-03-24 may begin with the year or with the day"
    }
    assert [report["date_order"]["order"] for report in days] == ["year", "day"]


def test_a_file_is_read_beyond_the_rows_that_show_the_order() -> None:
    early = ["1/6/2026 9:30:00 AM"] * ROWS_SEARCHED

    grid = grid_at(*early, "13/6/2026 9:30:00 AM", "1/6/2026 9:31:00 AM")
    *trades, late, last = read_rows(grid, one_trade_is=lambda file_format: "row")

    assert len(trades) == ROWS_SEARCHED
    assert isinstance(late, Rejected)
    assert late.reason.startswith("Entry time has no month 13: other dates of the file ")
    assert isinstance(last, FileTrade)


def fills_on(*dates: str) -> str:
    return FILLS + "".join(f"{date},09:30:00,ES,Buy,1,100\n" for date in dates)


@for_rows(
    "dates, query, order, first_day",
    [
        (["4/9/2026"], {}, {"order": "month", "source": "assumed"}, "2026-04-09"),
        (["7/6/2025", "8/6/2025"], {}, {"order": "month", "source": "assumed"}, "2025-07-06"),
        (["3/1/2025"], {}, {"order": "day", "source": "assumed"}, "2025-01-03"),
        (["1/9/2026", "2/9/2026", "1/10/2026"], {}, {"order": "day", "source": "assumed"}, "2026-09-01"),
        (["4/9/2026"], {"date_order": "day"}, {"order": "day", "source": "stated"}, "2026-09-04"),
        (["4/9/2026", "13/9/2026"], {}, {"order": "day", "source": "file"}, "2026-09-04"),
        (["2026-04-09"], {"date_order": "day"}, None, "2026-04-09"),
    ],
)
async def test_the_report_says_which_of_day_and_month_is_first(
    client: Client, dates: list[str], query: Any, order: Any, first_day: str
) -> None:
    report = await report_of(client, fills_on(*dates), **query)

    assert report["date_order"] == order
    (trade,) = unwrap(await client.get("/trades"))
    assert trade["opened_at"][:10] == first_day


async def test_a_date_against_the_stated_order_or_another_order_is_an_error(client: Client, account_id: int) -> None:
    refused = await send_file(client, fills_on("4/13/2026"), account_id, date_order="day")
    others = [await send_file(client, fills_on("4/9/2026"), account_id, date_order=order)
              for order in ("", "years", "DAY")]  # fmt: skip

    assert details_of(refused)["reason"].startswith("Date has no month 13")
    assert [details_of(other)["allowed"] for other in others] == [["month", "day", "year"]] * 3


def test_the_command_says_what_was_assumed_rounded_and_not_utf8_and_is_told_the_order_of_dates(tmp_path: Path) -> None:
    db, other_db, file = tmp_path / "journal.db", tmp_path / "other.db", tmp_path / "trades.csv"
    file.write_text(fills_on("4/9/2026"))
    fills = import_file(db, file)
    stated = import_file(other_db, file, "--date-order", "day")
    file.write_text(fills_on("26-03-04"))
    by_year = import_file(third_db := tmp_path / "third.db", file, "--date-order", "year")
    content = write_file(PLAIN["MetaTrader 5"], LONG_AMOUNTS | {"Symbol": "für"}).decode()
    file.write_bytes(content.encode("cp1252"))
    positions = import_file(db, file)

    assert "--date-order day reads them the other way" in fills.err
    assert "order" not in stated.err
    assert "order" not in by_year.err
    opened = [rows(one, "SELECT DISTINCT date(opened_at) FROM trades") for one in (other_db, third_db)]
    assert opened == [[("2026-09-04",)], [("2026-03-04",)]]
    assert "Read as Windows-1252" in positions.err
    assert "Amounts rounded to eight decimals: 3." in positions.err
