"""NinjaTrader's Trades grid: docs/imports.md, "NinjaTrader trades"."""

import codecs
import csv
import io
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest
from factories import create_account, create_import, details_of, error_of, read_file, send_file, unwrap
from hypothesis import given
from hypothesis import strategies as st
from proofs import tried

from journal_api.rules.import_rows import Candidate, Rejected

DATA = Path(__file__).parents[1] / "data"
EXPORT = (DATA / "ninjatrader_trades.csv").read_bytes()
SEMICOLONS = (DATA / "ninjatrader_trades_semicolons.csv").read_bytes()
FEES = ("Commission", "Clearing Fee", "Exchange Fee", "IP Fee", "NFA Fee")
# A long of two micros that earned 32.50, of which 3.46 were fees.
PLAIN = {
    "Trade number": "1",
    "Instrument": "MES 03-26",
    "Account": "Sim101",
    "Strategy": "Morning",
    "Market pos.": "Long",
    "Qty": "2",
    "Entry price": "6012.25",
    "Exit price": "6015.50",
    "Entry time": "1/6/2026 9:31:12 AM",
    "Exit time": "1/6/2026 9:48:03 AM",
    "Profit": "$29.04",
    "Commission": "$1.56",
    "Clearing Fee": "$0.38",
    "Exchange Fee": "$1.40",
    "IP Fee": "$0.04",
    "NFA Fee": "$0.08",
}


def export_of(*trades: dict[str, str], hidden: tuple[str, ...] = (), separator: str = ",") -> bytes:
    """The grid as it is exported, with an empty column at the end; what a trade does not say is PLAIN's."""
    names = [name for name in PLAIN if name not in hidden]
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator)
    writer.writerow([*names, ""])
    writer.writerows([*((PLAIN | cells)[name] for name in names), ""] for cells in trades)
    return text.getvalue().encode()


def at(*times: str) -> list[dict[str, str]]:
    """A trade for each, that was opened and closed at once."""
    return [{"Entry time": time, "Exit time": time} for time in times]


def read(content: bytes, zone: str = "UTC") -> list[Candidate | Rejected]:
    return list(read_file(content, zone).candidates)


def columns(content: bytes, zone: str = "UTC") -> list[dict[str, Any]]:
    """What would be stored of each trade; fails for a line that cannot be read."""
    found = read(content, zone)
    assert [one for one in found if isinstance(one, Rejected)] == []
    return [one.columns for one in found if isinstance(one, Candidate)]


def only(cells: dict[str, str], **form: Any) -> dict[str, Any]:
    """What would be stored of the one trade with those cells."""
    (trade,) = columns(export_of(cells, **form))
    return trade


def refusals(content: bytes) -> list[str]:
    """The line and the reason of each that cannot be read."""
    return [f"line {one.line}: {one.reason}" for one in read(content) if isinstance(one, Rejected)]


def days_of(content: bytes) -> list[str]:
    """The days on which the trades were opened."""
    return [trade["opened_at"][:10] for trade in columns(content)]


def units(amount: str) -> int:
    return int(Decimal(amount) * 10**8)


# Over HTTP ---------------------------------------------------------------------------------------------


async def test_an_export_comes_in_as_it_was_written(client: httpx.AsyncClient) -> None:
    account_id = (await create_account(client))["id"]

    report = unwrap(await send_file(client, EXPORT, account_id))

    assert report["format"] == "NinjaTrader trades"
    assert report["counts"] == {"new": 5, "duplicate": 0, "updated": 0, "error": 0}
    trades = (await client.get("/trades", params={"account_id": account_id})).json()["data"]["trades"]
    names = ("opened_at", "symbol", "direction", "quantity", "multiplier", "entry_price", "exit_price")
    found = sorted(
        tuple(trade[name] for name in (*names, "gross_pnl", "fees", "net_pnl")) for trade in trades
    )
    twice = ("2026-01-07T12:05:00.000000Z", "MES 03-26", "long", 1, 5, 6020, 6021, 5, 1.73, 3.27)
    assert found == [
        ("2026-01-06T09:31:12.000000Z", "MES 03-26", "long", 2, 5, 6012.25, 6015.5, 32.5, 3.46, 29.04),
        ("2026-01-06T10:15:40.000000Z", "NQ 03-26", "short", 1, 20, 21540.5, 21556, -310, 4.28, -314.28),
        twice,
        twice,
        ("2026-01-15T00:30:59.000000Z", "ES 03-26", "short", 1, 50, 6050, 6028.5, 1075, 3.9, 1071.1),
    ]
    assert {trade["external_id"] for trade in trades} == {None}


async def test_an_export_with_semicolons_comes_in_too(client: httpx.AsyncClient) -> None:
    await create_import(client, SEMICOLONS)

    trades = (await client.get("/trades")).json()["data"]["trades"]

    names = ("opened_at", "quantity", "multiplier", "entry_price", "gross_pnl", "fees", "net_pnl")
    assert sorted(tuple(trade[name] for name in names) for trade in trades) == [
        ("2025-09-02T12:18:21.000000Z", 1, 5, 6387.5, -20, 1.24, -21.24),
        ("2025-09-03T09:45:12.000000Z", 2, 20, 23450.25, 740, 8.56, 731.44),
        ("2025-09-10T15:30:05.000000Z", 2, 20, 23400, 1200, 8.56, 1191.44),
    ]


async def test_a_later_export_that_counts_from_one_again_adds_only_what_is_new(
    client: httpx.AsyncClient,
) -> None:
    account_id = (await create_account(client))["id"]
    first, second = {"Qty": "1"}, {"Qty": "3"}
    await create_import(client, export_of(first, second | {"Trade number": "2"}), account_id=account_id)

    later = await create_import(
        client, export_of(second, {"Qty": "4", "Trade number": "2"}), account_id=account_id
    )

    assert later["counts"] == {"new": 1, "duplicate": 1, "updated": 0, "error": 0}


async def test_fees_that_were_hidden_at_first_are_corrected_and_the_net_result_stays(
    client: httpx.AsyncClient,
) -> None:
    account_id = (await create_account(client))["id"]
    await create_import(client, export_of({}, hidden=FEES), account_id=account_id)

    shown = await create_import(client, export_of({}), account_id=account_id)

    assert shown["rows"][0]["changed"] == ["multiplier", "gross_pnl", "fees"]
    (trade,) = (await client.get("/trades")).json()["data"]["trades"]
    assert (trade["gross_pnl"], trade["fees"], trade["net_pnl"]) == (32.5, 3.46, 29.04)


async def test_hidden_fees_do_not_take_away_the_value_of_a_point_that_is_known(
    client: httpx.AsyncClient,
) -> None:
    account_id = (await create_account(client))["id"]
    scalp = {"Exit price": "6012.50", "Profit": "($0.96)"}
    await create_import(client, export_of(scalp), account_id=account_id)

    hidden = await create_import(client, export_of(scalp, hidden=FEES), account_id=account_id)

    assert hidden["rows"][0]["changed"] == ["gross_pnl", "fees"]
    (trade,) = (await client.get("/trades")).json()["data"]["trades"]
    assert (trade["multiplier"], trade["net_pnl"]) == (5, -0.96)


async def test_the_strategy_of_the_grid_is_none_of_the_journal(client: httpx.AsyncClient) -> None:
    await create_import(client, export_of({"Strategy": "ATM 2-4"}))

    (trade,) = (await client.get("/trades")).json()["data"]["trades"]

    assert trade["strategy_id"] is None


async def test_a_grid_of_points_is_refused_and_says_what_to_do(client: httpx.AsyncClient) -> None:
    account_id = (await create_account(client))["id"]

    refused = await send_file(client, export_of({}, {"Profit": "3.25"}), account_id)

    assert error_of(refused) == (400, "validation_error")
    assert details_of(refused)["line"] == 3
    assert "export the grid as it shows currency" in details_of(refused)["reason"]


async def test_a_grid_of_version_7_is_refused_and_says_what_is_missing(client: httpx.AsyncClient) -> None:
    account_id = (await create_account(client))["id"]
    version_7 = EXPORT.replace(b"Trade number", b"Trade-#").replace(b"Qty", b"Quantity")

    refused = await send_file(client, version_7, account_id)

    assert error_of(refused) == (400, "validation_error")
    assert details_of(refused)["missing"]["NinjaTrader trades"] == ["Qty"]


# What tells the format ---------------------------------------------------------------------------------


def test_columns_may_be_hidden_and_stand_in_any_order() -> None:
    names = (
        "Instrument",
        "Market pos.",
        "Qty",
        "Entry time",
        "Exit time",
        "Entry price",
        "Exit price",
        "Profit",
    )
    reduced = "\n".join([",".join(names), ",".join(PLAIN[name] for name in names)])

    (trade,) = columns(reduced.encode())

    assert (trade["direction"], trade["exit_price"], trade["gross_pnl"]) == (
        "long",
        units("6015.5"),
        units("29.04"),
    )


@pytest.mark.parametrize(
    "content",
    [
        codecs.BOM_UTF8 + EXPORT,
        codecs.BOM_UTF16_LE + EXPORT.decode().encode("utf-16-le"),
        EXPORT.replace(b"\r\n", b"\n"),
        EXPORT.replace(b",\r\n", b"\r\n"),
        EXPORT + b"," * 23 + b"\r\n",
        EXPORT.replace(b"$29.04,", b"$29.04 ,"),
    ],
    ids=["a mark", "UTF-16", "line feeds", "no comma at the end", "an empty row", "a blank after the money"],
)
def test_the_same_export_is_read_whatever_wrote_it(content: bytes) -> None:
    assert columns(content) == columns(EXPORT)


# What a trade is ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("side", "direction"), [("Long", "long"), ("Short", "short")])
def test_the_market_position_is_the_direction(side: str, direction: str) -> None:
    assert only({"Market pos.": side})["direction"] == direction


@pytest.mark.parametrize(
    ("hidden", "gross", "fees"),
    [
        ((), "32.5", "3.46"),
        (FEES[1:], "30.6", "1.56"),
        (("IP Fee", "NFA Fee"), "32.38", "3.34"),
        (FEES, "29.04", "0"),
    ],
    ids=["none", "all but the commission", "two", "all"],
)
def test_profit_is_net_of_all_costs_whichever_are_hidden(
    hidden: tuple[str, ...], gross: str, fees: str
) -> None:
    trade = only({}, hidden=hidden)

    assert (trade["gross_pnl"], trade["fees"]) == (units(gross), units(fees))
    assert trade["gross_pnl"] - trade["fees"] == units("29.04")


def test_a_cost_that_is_empty_is_none() -> None:
    assert only({"Clearing Fee": "", "NFA Fee": " "})["fees"] == units("3")


@pytest.mark.parametrize(
    ("side", "quantity", "opened", "closed", "profit", "multiplier"),
    [
        ("Long", "2", "6012.25", "6015.50", "$29.04", "5"),
        ("Short", "1", "21540.50", "21556.00", "($313.46)", "20"),
        ("Short", "1", "6050.00", "6028.50", "$1,071.54", "50"),
        ("Long", "2", "6012.25", "6012.25", "($3.46)", "5"),  # the point value of the contract, an MES
    ],
    ids=["micro", "loss of a short", "gain of a short", "equal prices"],
)
def test_the_value_of_a_point_follows_from_the_result_before_costs(
    side: str, quantity: str, opened: str, closed: str, profit: str, multiplier: str
) -> None:
    cells = {"Market pos.": side, "Qty": quantity, "Entry price": opened, "Exit price": closed}

    trade = only(cells | {"Profit": profit})

    assert trade["multiplier"] == units(multiplier)


@pytest.mark.parametrize(
    ("written", "separator", "amount"),
    [
        ("$20.00", ",", "20"),
        ("$0", ",", "0"),
        ("($307.80)", ",", "-307.8"),
        ("-$18.98", ",", "-18.98"),
        ("$-18.98", ",", "-18.98"),
        ("$1,025.00", ",", "1025"),
        ("($1,025.00)", ",", "-1025"),
        ("90.00 $", ",", "90"),
        ("-90.00 $", ",", "-90"),
        ("307,42 €", ";", "307.42"),
        ("-1.250,00 €", ";", "-1250"),
        ("$ 262,50", ";", "262.5"),
        ("-$ 117,00", ";", "-117"),
        ("$-1.155,76", ";", "-1155.76"),
        ("20 010,00 $", ";", "20010"),
        ("20\N{NO-BREAK SPACE}010,00\N{NO-BREAK SPACE}$", ";", "20010"),
        ("£12.34", ",", "12.34"),
    ],
)
def test_money_is_read_in_every_form_that_windows_gives_it(written: str, separator: str, amount: str) -> None:
    prices = {"Entry price": "6012", "Exit price": "6015"}

    trade = only(prices | {"Profit": written}, hidden=FEES, separator=separator)

    assert trade["gross_pnl"] == units(amount)


@pytest.mark.parametrize(
    "written", ["-($5.00)", "$--5.00", "-$-5.00", "+$-5.00", "$- 5.00", "$+5.00", "$5.00-"]
)
def test_a_loss_is_not_marked_twice_or_anywhere(written: str) -> None:
    (reason,) = refusals(export_of({"Profit": written}))

    assert reason.startswith("line 2: Profit must be a number")


def test_identical_rows_are_trades_of_their_own_and_none_has_an_id() -> None:
    trades = columns(export_of({}, {"Trade number": "2"}))

    one, other = trades
    assert one["external_id"] is None
    assert one["fingerprint"] == other["fingerprint"]


# Day and month -----------------------------------------------------------------------------------------


def test_times_are_wall_clock_times_of_the_import() -> None:
    (trade,) = columns(export_of({}), "America/Chicago")

    assert (trade["opened_at"], trade["closed_at"]) == (
        "2026-01-06T15:31:12.000000Z",
        "2026-01-06T15:48:03.000000Z",
    )


def test_a_twelve_in_second_place_does_not_say_that_months_stand_first() -> None:
    file = export_of({"Entry time": "5.12.2026 22:00:00", "Exit time": "5.12.2026 23:00:00"}, separator=";")

    assert days_of(file) == ["2026-12-05"]


def test_a_date_of_the_united_states_has_the_month_first() -> None:
    assert days_of(export_of(*at("1/6/2026 9:31:12 AM", "12/10/2026 12:00:00 PM"))) == [
        *("2026-01-06", "2026-12-10")
    ]


@pytest.mark.parametrize(
    "telling", ["16/06/2026 09:45:59", "16/6/2026 9:45:59 am", "16-06-2026 09:45:59", "16/06/26 09:45"]
)
def test_a_first_number_over_12_says_that_all_days_stand_first(telling: str) -> None:
    file = export_of(*at("2/7/2026 9:30:00 AM", "03/06/2026 09:45:59", telling))

    assert days_of(file) == ["2026-07-02", "2026-06-03", "2026-06-16"]


@pytest.mark.parametrize(
    ("telling", "separator"), [("7/14/2026 9:12", ","), ("07/14/2026 09:12:00", ","), ("7/14/2026 9:12", ";")]
)
def test_a_second_number_over_12_says_that_all_months_stand_first(telling: str, separator: str) -> None:
    file = export_of(*at("7/2/2026 9:12", telling), separator=separator)

    assert days_of(file) == ["2026-07-02", "2026-07-14"]


def test_the_time_of_the_exit_tells_the_order_too() -> None:
    file = export_of({"Entry time": "12/6/2026 22:00:00", "Exit time": "13/6/2026 01:00:00"})

    assert days_of(file) == ["2026-06-12"]


@pytest.mark.parametrize(
    "time",
    [
        "01-04-2026 00:27:56",
        "1.4.2026 0:27:56",
        "01.04.2026 00:27",
        "01-04-26 00:27:56",
        "1-4-2026 12:27:56 AM",
    ],
)
def test_before_dashes_and_points_stands_the_day(time: str) -> None:
    assert days_of(export_of(*at(time))) == ["2026-04-01"]


def test_in_a_file_with_semicolons_the_day_stands_first() -> None:
    assert days_of(SEMICOLONS) == ["2025-09-02", "2025-09-03", "2025-09-10"]


@pytest.mark.parametrize(
    "time",
    [
        *("1/6/2026 15:31:12", "1/6/2026 9:12", "01/06/2026 9:31:12 AM", "1/06/2026 9:31:12 AM"),
        *("1/6/2026 9:31:12 am", "1/6/26 9:31 AM"),
    ],
)
def test_an_order_that_nothing_tells_is_that_of_the_united_states(time: str) -> None:
    file = read_file(export_of(*at(time)), "UTC")

    assert file.dates == ("month", "assumed")
    assert [one.columns["opened_at"][:10] for one in file.candidates if isinstance(one, Candidate)] == [
        "2026-01-06"
    ]


def test_a_date_in_the_other_order_than_the_others_is_refused() -> None:
    (reason,) = refusals(export_of(*at("16/06/2026 09:45:59", "06/16/2026 09:45:59")))

    assert reason.startswith("line 3: Entry time has no month 16: other dates of the file ")


@pytest.mark.parametrize("time", ["2026-01-06 09:31:12", "2026/1/6 9:31:12", "2026.01.06 9:31:12 AM"])
def test_a_year_that_stands_first_leaves_no_question(time: str) -> None:
    assert days_of(export_of(*at(time))) == ["2026-01-06"]


def test_a_file_is_read_beyond_the_rows_that_tell_the_order() -> None:
    early, late = {"Entry time": "1/6/2026 9:30:00 AM"}, {"Entry time": "1/6/2026 9:30:01 AM"}

    trades = columns(export_of(*[early] * 5000, late))

    assert len(trades) == 5001
    assert trades[-1]["opened_at"] == "2026-01-06T09:30:01.000000Z"


# What is refused ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        ("Instrument", ""),
        ("Instrument", "X" * 41),
        ("Market pos.", ""),
        ("Market pos.", "Flat"),
        ("Qty", ""),
        ("Qty", "0"),
        ("Qty", "-1"),
        ("Entry price", ""),
        ("Exit price", "6015,50"),
        ("Entry time", ""),
        ("Entry time", "1/6/2026"),
        ("Entry time", "2/30/2026 9:30:00 AM"),
        ("Exit time", "1/6/2026 13:00:00 PM"),
        ("Exit time", "January 6"),
        ("Profit", ""),
        ("Profit", "0.29%"),
        ("Profit", "29.04"),
        ("Profit", "$1e2"),
        ("Profit", "US$29.04"),
        ("Commission", "free"),
        ("NFA Fee", "$"),
    ],
)
def test_a_cell_that_breaks_its_rule_is_refused_with_its_line_and_column(column: str, cell: str) -> None:
    (reason,) = refusals(export_of(*at("1/15/2026 9:30:00 AM"), {column: cell}, {}))

    assert reason.startswith(f"line 3: {column} ")


def test_an_exit_before_the_entry_is_refused() -> None:
    assert refusals(export_of({"Exit time": "1/6/2026 9:31:11 AM"})) == [
        "line 2: closed_at must not be before opened_at"
    ]


def test_sums_beyond_any_amount_are_refused() -> None:
    file = export_of({"Commission": "$10,000,000,000", "NFA Fee": "$0.01"}, {"Profit": "$10,000,000,000"})

    fees, gross = refusals(file)

    assert fees.startswith("line 2: Commission with the other fees must be between ")
    assert gross.startswith("line 3: Profit before the fees must be between ")


# Whatever the file holds -------------------------------------------------------------------------------

FEW = tried(full=150, short=30)
CELLS = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        [*PLAIN.values(), "", "($5.00)", "-$ 5", "13/6/2026 01:00", "1.4.2026 0:27", "\0", "\n", '"']
    ),
    st.text("0123456789., $-()/:APM", max_size=20),
    st.decimals(allow_nan=False, allow_infinity=False).map("${:f}".format),
)


@FEW
@given(
    cells=st.lists(st.dictionaries(st.sampled_from(list(PLAIN)), CELLS, max_size=5), max_size=3),
    hidden=st.sets(st.sampled_from(["Trade number", "Account", "Strategy", *FEES])),
    separator=st.sampled_from(",;\t"),
)
def test_whatever_the_cells_hold_each_row_is_a_trade_or_refused(
    cells: list[dict[str, str]], hidden: set[str], separator: str
) -> None:
    found = read(export_of(*cells, hidden=tuple(hidden), separator=separator))

    assert len(found) == len(cells)
    for one in found:
        if isinstance(one, Candidate):
            amounts = [value for value in one.columns.values() if isinstance(value, int)]
            assert all(-(2**63) <= amount < 2**63 for amount in amounts)
        else:
            assert one.reason


@tried(full=80, short=16)
@given(
    cents=st.integers(-(10**9), 10**9),
    fees=st.lists(st.integers(0, 10**6), min_size=5, max_size=5),
)
def test_what_is_left_after_the_fees_is_the_profit(cents: int, fees: list[int]) -> None:
    costs = {name: f"${Decimal(fee) / 100:,.2f}" for name, fee in zip(FEES, fees, strict=True)}
    profit = f"${Decimal(cents) / 100:,.2f}" if cents >= 0 else f"(${Decimal(-cents) / 100:,.2f})"

    trade = only(costs | {"Profit": profit})

    assert trade["fees"] == sum(fees) * 10**6
    assert trade["gross_pnl"] - trade["fees"] == cents * 10**6
