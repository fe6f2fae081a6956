"""MetaTrader 5's trade history report: docs/imports.md, "MetaTrader 5 history"."""

import codecs
import csv
import io
from decimal import Decimal
from itertools import takewhile
from pathlib import Path
from typing import Any

import httpx
import pytest
from factories import create_account, create_import, details_of, error_of, read_file, send_file, unwrap
from hypothesis import given
from hypothesis import strategies as st
from proofs import tried

from journal_api.errors import ValidationFailed
from journal_api.rules.import_rows import Candidate, Rejected

DATA = Path(__file__).parents[1] / "data"
REPORT = (DATA / "metatrader5_history.html").read_bytes()
COPY = (DATA / "metatrader5_history.csv").read_bytes()
PAGE = REPORT.decode("utf-16")
# Times and prices have their names twice: the second is that of the close.
PLAIN = {
    "Time": "2026.01.12 09:15:04",
    "Position": "285600114",
    "Symbol": "EURUSD",
    "Type": "buy",
    "Volume": "0.50",
    "Price": "1.08412",
    "S / L": "1.08250",
    "T / P": "1.08700",
    "Time 2": "2026.01.12 16:42:31",
    "Price 2": "1.08655",
    "Commission": "-3.50",
    "Swap": "0.00",
    "Profit": "121.50",
}
HEADER = [name.removesuffix(" 2") for name in PLAIN]


def table(*positions: dict[str, str]) -> list[list[str]]:
    """The section as a spreadsheet has it; what a position does not say is PLAIN's."""
    return [["Positions"], HEADER, *(list((PLAIN | cells).values()) for cells in positions)]


def written(rows: list[list[str]], separator: str = ",") -> bytes:
    text = io.StringIO()
    csv.writer(text, delimiter=separator).writerows([*row, *[""] * (14 - len(row))] for row in rows)
    return text.getvalue().encode()


def copy_of(*positions: dict[str, str]) -> bytes:
    return written(table(*positions))


def read(content: bytes, zone: str = "UTC") -> list[Candidate | Rejected]:
    return list(read_file(content, zone).candidates)


def columns(content: bytes, zone: str = "UTC") -> list[dict[str, Any]]:
    """What would be stored of each trade; fails for a line that cannot be read."""
    found = read(content, zone)
    assert [one for one in found if isinstance(one, Rejected)] == []
    return [one.columns for one in found if isinstance(one, Candidate)]


def only(cells: dict[str, str], zone: str = "UTC") -> dict[str, Any]:
    """What would be stored of the one position with those cells."""
    (trade,) = columns(copy_of(cells), zone)
    return trade


def refusal(content: bytes) -> str:
    """The line and the reason of the one that cannot be read."""
    (rejected,) = (one for one in read(content) if isinstance(one, Rejected))
    return f"line {rejected.line}: {rejected.reason}"


def units(amount: str) -> int:
    return int(Decimal(amount) * 10**8)


async def send_html(client: httpx.AsyncClient, page: bytes, account_id: int) -> httpx.Response:
    query: dict[str, str | int] = {"account_id": account_id, "timezone": "UTC"}
    return await client.post("/imports", params=query, content=page, headers={"Content-Type": "text/html"})


# Over HTTP ---------------------------------------------------------------------------------------------


async def test_a_report_comes_in_as_the_terminal_wrote_it(client: httpx.AsyncClient) -> None:
    account_id = (await create_account(client))["id"]

    report = unwrap(await send_html(client, REPORT, account_id))

    assert report["format"] == "MetaTrader 5 history"
    assert report["counts"] == {"new": 5, "duplicate": 0, "updated": 0, "error": 0}
    trades = (await client.get("/trades", params={"account_id": account_id})).json()["data"]["trades"]
    names = ("external_id", "symbol", "direction", "quantity", "entry_price", "exit_price", "stop_loss")
    assert sorted(
        tuple(trade[name] for name in (*names, "gross_pnl", "fees", "net_pnl")) for trade in trades
    ) == [
        ("285600114", "EURUSD", "long", 0.5, 1.08412, 1.08655, 1.0825, 121.5, 3.5, 118),
        ("285600431", "XAUUSD", "short", 0.1, 2034.56, 2041.18, 2041.18, -66.2, 1.94, -68.14),
        ("285601902", "USDJPY", "long", 0.2, 147.352, 148.011, None, 89.05, -0.46, 89.51),
        ("285602377", "US30", "short", 10, 38512, 38650.5, 38650, -1385, 0, -1385),
        ("285603015", "GBPUSD", "long", 0.1, 1.2635, 1.265, 1.262, 15, 1.4, 13.6),
    ]


async def test_a_copy_of_a_report_says_nothing_new(client: httpx.AsyncClient) -> None:
    account_id = (await create_account(client))["id"]
    await send_html(client, REPORT, account_id)

    copy = await create_import(client, COPY, account_id=account_id)

    assert copy["format"] == "MetaTrader 5 history"
    assert copy["counts"] == {"new": 0, "duplicate": 5, "updated": 0, "error": 0}


async def test_a_position_that_was_closed_in_part_is_corrected_when_the_rest_is_closed(
    client: httpx.AsyncClient,
) -> None:
    account_id = (await create_account(client))["id"]
    part = {"Volume": "0.10 / 0.50", "Profit": "24.30", "Commission": "-0.70"}
    await create_import(client, copy_of(part), account_id=account_id)

    whole = await create_import(client, copy_of({}), account_id=account_id)

    assert whole["counts"] == {"new": 0, "duplicate": 0, "updated": 1, "error": 0}
    assert whole["rows"][0]["changed"] == ["quantity", "gross_pnl", "fees"]


async def test_a_result_that_does_not_tell_the_value_of_a_point_leaves_the_known_one(
    client: httpx.AsyncClient,
) -> None:
    account_id = (await create_account(client))["id"]
    await create_import(client, copy_of({"Volume": "0.10 / 0.50", "Profit": "24.30"}), account_id=account_id)

    even = await create_import(
        client, copy_of({"Price 2": PLAIN["Price"], "Profit": "0.00"}), account_id=account_id
    )

    assert even["rows"][0]["changed"] == ["quantity", "exit_price", "gross_pnl"]
    (trade,) = (await client.get("/trades")).json()["data"]["trades"]
    assert trade["multiplier"] == 100000


async def test_a_stop_makes_no_initial_risk(client: httpx.AsyncClient) -> None:
    await create_import(client, copy_of({"S / L": "1.08250"}))

    (trade,) = (await client.get("/trades")).json()["data"]["trades"]

    assert (trade["stop_loss"], trade["initial_risk"], trade["rr_realized"]) == (1.0825, None, None)


async def test_a_report_in_another_language_is_refused(
    client: httpx.AsyncClient,
) -> None:
    account_id = (await create_account(client))["id"]
    french = {"Time": "Heure", "Symbol": "Symbole", "Price": "Prix", "Swap": "Echange"}
    rows = [["Positions"], [french.get(name, name) for name in HEADER], list(PLAIN.values())]

    refused = await send_file(client, written(rows), account_id)

    assert error_of(refused) == (400, "validation_error")
    assert details_of(refused)["line"] == 2
    assert details_of(refused)["missing"] == {}


# What tells the format ---------------------------------------------------------------------------------


def test_the_levels_may_be_missing() -> None:
    rows = [[cell for number, cell in enumerate(row) if number not in (6, 7)] for row in table({})[1:]]

    (trade,) = columns(written(rows))

    assert (trade["exit_price"], trade["stop_loss"]) == (units("1.08655"), None)


@pytest.mark.parametrize("section", ["Orders", "Deals"])
def test_other_sections_are_not_taken_for_positions(section: str) -> None:
    report = PAGE[: PAGE.index("<b>Positions</b>")] + PAGE[PAGE.index(f"<b>{section}</b>") :]

    with pytest.raises(ValidationFailed, match="no known format"):
        read(report.encode())


def test_open_positions_are_not_taken_for_closed_ones() -> None:
    names = ("Time", "Position", "Symbol", "Type", "Volume", "Price", "S / L", "T / P", "Market Price")

    with pytest.raises(ValidationFailed, match="no known format"):
        read(written([["Open Positions"], [*names, "Swap", "Profit", "Comment"]]))


# How it is written -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        codecs.BOM_UTF16_BE + PAGE.encode("utf-16-be"),
        PAGE.encode(),
        codecs.BOM_UTF8 + PAGE.encode(),
        PAGE.replace("\r\n", "\n").encode(),
        PAGE.replace("\r\n", "").encode(),
        COPY,
        codecs.BOM_UTF8 + COPY,
        codecs.BOM_UTF16_LE + COPY.decode().encode("utf-16-le"),
        COPY.replace(b"\r\n", b"\n"),
    ],
    ids=[
        *("UTF-16 big end first", "UTF-8", "UTF-8 with a mark", "line feeds", "one line"),
        *("CSV", "CSV with a mark", "CSV in UTF-16", "CSV with line feeds"),
    ],
)
def test_the_same_report_is_read_whatever_wrote_it(content: bytes) -> None:
    assert columns(content) == columns(REPORT)


@pytest.mark.parametrize(
    ("separator", "decimal_sign"), [(";", ","), (";", "."), ("\t", ".")], ids=["semicolons", "points", "tabs"]
)
def test_a_copy_may_be_separated_otherwise(separator: str, decimal_sign: str) -> None:
    amounts = ("Volume", "Price", "S / L", "T / P", "Price 2", "Commission", "Swap", "Profit")
    cells = {name: PLAIN[name].replace(".", decimal_sign) for name in amounts}

    found = columns(written(table(cells), separator))

    assert found == columns(copy_of({}))


def test_hidden_cells_are_not_counted() -> None:
    commented = PAGE.replace('colspan="8"></td>', 'colspan="8">1.5</td>')

    assert columns(commented.encode()) == columns(REPORT)


def test_a_row_with_a_cell_too_many_is_refused_not_misread() -> None:
    shown = PAGE.replace('class="hidden" colspan="8"', "", 1)

    assert refusal(shown.encode()).endswith("cells where the header has 13")


@pytest.mark.parametrize("section", ["Orders", "Deals", "Open Positions", "Working Orders"])
def test_the_next_section_ends_the_positions(section: str) -> None:
    after = [[section], ["Time", "Deal", "Symbol"], ["2026.01.12 09:15:04", "1", "EURUSD", "buy", "in"]]

    found = columns(written([*table({}), *after]))

    assert len(found) == 1


def test_what_follows_the_positions_cannot_break_them() -> None:
    found = columns(written([*table({}), ["Orders"]]) + b'"not CSV"at all\n\xff')

    assert len(found) == 1


def test_the_total_is_no_position() -> None:
    total = [*[""] * 10, "-3.50", "0.00", "121.50"]

    found = columns(written([*table({}), total, ["Orders"]]))

    assert len(found) == 1


def test_a_position_without_a_type_is_no_total() -> None:
    assert refusal(copy_of({"Type": ""})).startswith("line 3: Type must be long or short")


# What a position is ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "direction"), [("buy", "long"), ("sell", "short")])
def test_a_buy_is_long_and_a_sell_short(kind: str, direction: str) -> None:
    assert only({"Type": kind})["direction"] == direction


def test_the_first_time_and_price_are_of_the_opening_and_the_second_of_the_close() -> None:
    trade = only({})

    assert (trade["opened_at"], trade["entry_price"]) == ("2026-01-12T09:15:04.000000Z", units("1.08412"))
    assert (trade["closed_at"], trade["exit_price"]) == ("2026-01-12T16:42:31.000000Z", units("1.08655"))


def test_times_are_wall_clock_times_of_the_import() -> None:
    trade = only({"Time": "2026.01.12 09:15"}, "Europe/Helsinki")

    assert trade["opened_at"] == "2026-01-12T07:15:00.000000Z"


@pytest.mark.parametrize(
    ("commission", "swap", "fees"),
    [
        ("-3.50", "0.00", "3.5"),
        ("0.00", "-2.10", "2.1"),
        ("-1.40", "-0.35", "1.75"),
        ("-1.40", "1.86", "-0.46"),
        ("0.00", "0.00", "0"),
        ("- 0.08", "0.00", "0.08"),
        ("-1 250.00", "0.00", "1250"),
    ],
    ids=["commission", "swap", "both", "a swap that was earned", "none", "a space", "thousands"],
)
def test_profit_is_gross_and_commission_and_swap_are_the_fees(commission: str, swap: str, fees: str) -> None:
    trade = only({"Commission": commission, "Swap": swap})

    assert (trade["gross_pnl"], trade["fees"]) == (units("121.50"), units(fees))


@pytest.mark.parametrize("blank", [" ", "\N{NO-BREAK SPACE}", "\N{THIN SPACE}"])
def test_thousands_are_divided_by_blanks(blank: str) -> None:
    trade = only({"Price": f"4{blank}182.78", "Price 2": f"4{blank}186.14", "Profit": f" 10{blank}020.31"})

    assert (trade["entry_price"], trade["gross_pnl"]) == (units("4182.78"), units("10020.31"))


@pytest.mark.parametrize("stop", ["", "0", "0.00000"])
def test_a_stop_of_zero_is_none(stop: str) -> None:
    assert only({"S / L": stop})["stop_loss"] is None


def test_a_stop_however_far_away_is_no_reason_to_refuse() -> None:
    trade = only(
        {"Price": "1000000", "Price 2": "1000001", "Volume": "1000000", "Profit": "1000000", "S / L": "1"}
    )

    assert (trade["stop_loss"], trade["initial_risk"]) == (units("1"), None)


def test_the_quantity_is_in_lots() -> None:
    assert only({"Volume": "12.50"})["quantity"] == units("12.5")


def test_of_a_position_closed_in_part_the_quantity_is_what_was_closed() -> None:
    assert only({"Volume": "0.10 / 0.30"})["quantity"] == units("0.1")


def test_the_position_is_the_external_id() -> None:
    assert only({"Position": "285600114"})["external_id"] == "285600114"


@pytest.mark.parametrize(
    ("kind", "volume", "opened", "closed", "profit", "multiplier"),
    [
        ("buy", "0.50", "1.08412", "1.08655", "121.50", "100000"),
        ("sell", "0.10", "2 034.56", "2 041.18", "-66.20", "100"),
        ("sell", "10.00", "38 512.00", "38 650.50", "-1 385.00", "1"),
        ("buy", "0.20", "147.352", "148.011", "89.05", "675.64491654"),
        ("buy", "1.00", "1.08412", "1.08412", "0.00", "1"),
        ("buy", "1.00", "1.08412", "1.08400", "3.00", "1"),
    ],
    ids=["forex", "gold", "index", "a result in yen, changed", "equal prices", "prices against the result"],
)
def test_the_value_of_a_point_follows_from_the_profit_which_stays_as_it_is(
    kind: str, volume: str, opened: str, closed: str, profit: str, multiplier: str
) -> None:
    cells = {"Type": kind, "Volume": volume, "Price": opened, "Price 2": closed, "Profit": profit}

    trade = only(cells)

    assert trade["multiplier"] == units(multiplier)
    assert trade["gross_pnl"] == units(profit.replace(" ", ""))


# What is refused ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        ("Time", ""),
        ("Time", "2026.01.12"),
        ("Time", "2026.13.12 09:15:04"),
        ("Time", "2026.02.30 09:15:04"),
        ("Time", "46034.3855"),
        ("Position", ""),
        ("Position", "1.31812E+09"),
        ("Position", "12a"),
        ("Position", "\N{ARABIC-INDIC DIGIT ONE}"),
        ("Position", "9" * 101),
        ("Symbol", ""),
        ("Symbol", "X" * 41),
        ("Type", "buy limit"),
        ("Type", "balance"),
        ("Volume", ""),
        ("Volume", "0"),
        ("Volume", "-0.5"),
        ("Volume", "0.10/0.30"),
        ("Price", "market"),
        ("S / L", "none"),
        ("Commission", ""),
        ("Swap", "1,23"),
        ("Profit", ""),
        ("Profit", "121.50 USD"),
        ("Profit", "1e2"),
    ],
)
def test_a_cell_that_breaks_its_rule_is_refused_with_its_line_and_column(column: str, cell: str) -> None:
    reason = refusal(copy_of({}, {column: cell}))

    assert reason.startswith(f"line 4: {column} ")


def test_a_second_time_or_price_is_told_from_the_first() -> None:
    reasons = [refusal(copy_of({column: "soon"})) for column in ("Time 2", "Price 2")]

    assert [reason.split(" must")[0] for reason in reasons] == ["line 3: Time 2", "line 3: Price 2"]


def test_a_close_before_the_opening_is_refused() -> None:
    assert refusal(copy_of({"Time 2": "2026.01.12 09:15:03"})) == (
        "line 3: closed_at must not be before opened_at"
    )


def test_fees_beyond_any_amount_are_refused() -> None:
    reason = refusal(copy_of({"Commission": "-10000000000", "Swap": "-0.01"}))

    assert reason.startswith("line 3: Swap with Commission must be between ")


def test_a_line_of_a_page_that_cannot_be_read_is_told() -> None:
    line = PAGE[: PAGE.index("89.05")].count("\n") + 2  # the row ends on the line after

    assert refusal(PAGE.replace("89.05", "much").encode()).startswith(f"line {line}: Profit must ")


# Whatever the file holds -------------------------------------------------------------------------------

FEW = tried(full=150, short=30)
CELLS = st.one_of(
    st.text(max_size=12),
    st.sampled_from([*PLAIN.values(), "", "Orders", "0", "-0", "0.10 / 0.30", "\0", "\n", '"', "1,5", "- 5"]),
    st.text("0123456789., $-:/", max_size=20),
    st.decimals(allow_nan=False, allow_infinity=False).map("{:f}".format),
)
TAGS = [
    "<tr>",
    "</tr>",
    "<td>",
    "</td>",
    "<th>",
    "</th>",
    '<td class="hidden">',
    '<td colspan="3">',
    "</table>",
]
PIECES = st.one_of(
    st.sampled_from(
        [*TAGS, "<td", 'colspan="', "<!--", "-->", "<?", "<!", "<![x[", "<script>", "</", "&#", "&nbsp;"]
    ),
    st.sampled_from([f"<td>{cell}</td>" for cell in (*PLAIN.values(), "Orders", "0.10 / 0.30")]),
    st.just("<tr>" + "".join(f"<td>{name}</td>" for name in HEADER) + "</tr>"),
    st.just("<tr>" + "".join(f"<td>{cell}</td>" for cell in PLAIN.values()) + "</tr>"),
    CELLS,
)


def check_readable(content: bytes) -> list[Candidate | Rejected]:
    """What came out of it: nothing but trades that can be stored, and lines with a reason."""
    try:
        found = read(content)
    except ValidationFailed:
        return []
    for one in found:
        if isinstance(one, Rejected):
            assert one.line >= 1
            assert one.reason
        else:
            amounts = [value for value in one.columns.values() if isinstance(value, int)]
            assert all(-(2**63) <= amount < 2**63 for amount in amounts)
            assert one.columns["initial_risk"] is None
    return found


def positions_in(rows: list[dict[str, str]]) -> int:
    """How many stand there before the next section, totals left out."""
    before = takewhile(lambda row: row["Time"].strip() != "Orders", rows)
    return sum(any(row[name].strip() for name in ("Time", "Position", "Symbol", "Type")) for row in before)


@FEW
@given(cells=st.lists(st.dictionaries(st.sampled_from(list(PLAIN)), CELLS, max_size=5), max_size=3))
def test_whatever_the_cells_hold_each_position_is_a_trade_or_refused(cells: list[dict[str, str]]) -> None:
    found = check_readable(copy_of(*cells))

    assert len(found) == positions_in([PLAIN | one for one in cells])


@FEW
@given(pieces=st.lists(PIECES, max_size=30))
def test_whatever_a_page_holds_only_trades_and_refusals_come_out(pieces: list[str]) -> None:
    check_readable(("<table>" + "".join(pieces)).encode())


@FEW
@given(where=st.integers(0, len(REPORT)))
def test_a_report_that_breaks_off_gives_the_positions_before(where: int) -> None:
    found = [one.columns for one in check_readable(REPORT[:where]) if isinstance(one, Candidate)]

    assert found == columns(REPORT)[: len(found)]
