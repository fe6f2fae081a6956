"""TradeZella's trades export: docs/imports.md."""

import csv
import io
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest
from factories import create_account, create_import, create_tag, read_file, send_file, unwrap
from hypothesis import given
from hypothesis import strategies as st
from proofs import tried

from journal_api.rules.import_rows import Candidate, Rejected

EXPORT = Path(__file__).parents[1] / "data" / "tradezella_trades.csv"
# A long of two NQ from 25,300 to 25,310, in winter.
PLAIN = {
    "Account Name": "Futures",
    "Avg Buy Price": "25300.0",
    "Avg Sell Price": "25310.0",
    "Close Date": "2026-02-09",
    "Close Time": "12:58:32 EST",
    "Entry Price": "25300.0",
    "Exit Price": "25310.0",
    "Gross P&L": "400.0",
    "Trade Risk": "0.0",
    "Instrument": "NQ",
    "Spread Type": "future",
    "Mistakes": "",
    "Net P&L": "400.0",
    "Open Date": "2026-02-09",
    "Open Time": "12:31:42 EST",
    "Setups": "",
    "Side": "long",
    "Playbook": "",
    "Symbol": "NQ",
    "Quantity": "2.0",
    "Zella Score": "50.0",
}
OPEN = {"Close Date": "", "Close Time": "", "Avg Sell Price": "", "Gross P&L": "0.0", "Net P&L": "0.0"}
# Bought at 8.065 and sold at 10.744: the market fell.
PUT = {
    "Avg Buy Price": "8.065",
    "Avg Sell Price": "10.744",
    "Gross P&L": "3750.6",
    "Net P&L": "3750.6",
    "Instrument": "2026-03-20 560 PUT",
    "Spread Type": "single",
    "Side": "short",
    "Symbol": "SPY",
    "Quantity": "14.0",
}


def file_of(*rows: dict[str, str]) -> bytes:
    """An export with a row of PLAIN for each, but for those cells."""
    written = io.StringIO()
    table = csv.DictWriter(written, list(PLAIN | rows[0]), restval="")
    table.writeheader()
    table.writerows(PLAIN | row for row in rows)
    return written.getvalue().encode()


def read(content: bytes, zone: str = "Asia/Tokyo") -> list[Candidate | Rejected]:
    return list(read_file(content, zone).candidates)


def read_one(*changes: dict[str, str], zone: str = "Asia/Tokyo") -> Candidate:
    """The trade of a row of PLAIN with these cells, in units and in UTC."""
    cells = {column: cell for change in changes for column, cell in change.items()}
    (found,) = read(file_of(cells), zone)
    assert isinstance(found, Candidate), found
    return found


def reason_of(*changes: dict[str, str]) -> str:
    cells = {column: cell for change in changes for column, cell in change.items()}
    (found,) = read(file_of(cells))
    assert isinstance(found, Rejected), found
    return found.reason


def units(amount: str) -> int:
    return int(Decimal(amount) * 10**8)


async def trades_of(client: httpx.AsyncClient) -> Any:
    return unwrap(await client.get("/trades"))


async def import_export(client: httpx.AsyncClient) -> Any:
    """The report of the documented export, whose three accounts go into the first of the journal."""
    if not unwrap(await client.get("/accounts")):
        await create_account(client, "Main")
    accounts = ["Futures:1", "Options:1", "Shares:1"]
    return unwrap(await send_file(client, EXPORT.read_bytes(), accounts=accounts))


# The whole file ----------------------------------------------------------------------------------------


async def test_the_trades_of_an_export_are_what_it_says_they_were(client: httpx.AsyncClient) -> None:
    await import_export(client)

    trades = await trades_of(client)

    fields = ("symbol", "direction", "quantity", "multiplier", "entry_price", "exit_price")
    assert [[trade[field] for field in fields] for trade in reversed(trades)] == [
        ["ES", "long", 4, 50, 6096, 6097.875],
        ["SPY 2026-03-20 560 PUT", "long", 30, 100, 4.107, 5.05],
        ["NQ", "short", 1, 20, 25300.75, 25270.25],
        ["AAPL 2026-03-13 210 CALL", "long", 1, 100, 4.1, 2.9],
        ["AAPL", "long", 100, 1, 231.1, 231.1],
        ["AMD", "long", 100, 1, 84.2, None],
    ]
    assert [(trade["gross_pnl"], trade["fees"]) for trade in reversed(trades)] == [
        (375, 9.2),
        (2830, 0),
        (610, 4.6),
        (-120, 1.3),
        (0, 1.5),
        (None, 0),
    ]


async def test_a_corrected_commission_corrects_the_trade(client: httpx.AsyncClient) -> None:
    account = await create_account(client)
    await create_import(client, file_of({}), account_id=account["id"])

    later = await create_import(client, file_of({"Net P&L": "395.5"}), account_id=account["id"])

    assert later["rows"][0]["verdict"] == "updated"
    assert later["rows"][0]["changed"] == ["fees"]


async def test_names_of_mistakes_setups_and_playbooks_are_not_imported(client: httpx.AsyncClient) -> None:
    await create_tag(client, "chased")
    named = {"Mistakes": "chased, no plan", "Setups": "Break", "Playbook": "Opening range"}

    await create_import(client, file_of(named))

    (trade,) = await trades_of(client)
    assert (trade["tag_ids"], trade["strategy_id"], trade["setup_id"]) == ([], None, None)


async def test_two_rows_with_all_the_same_cells_are_two_trades(client: httpx.AsyncClient) -> None:
    report = await create_import(client, file_of({}, {}))

    assert [row["verdict"] for row in report["rows"]] == ["new", "new"]


# Prices and results ------------------------------------------------------------------------------------


def test_prices_are_the_averages_not_those_of_the_first_and_last_fill() -> None:
    trade = read_one({"Entry Price": "25290.0", "Exit Price": "25320.0"})

    assert trade.columns["entry_price"] == units("25300")
    assert trade.columns["exit_price"] == units("25310")


def test_the_average_buy_price_of_a_short_is_its_entry() -> None:
    trade = read_one({"Side": "short", "Avg Sell Price": "25290.0"})

    assert trade.columns["direction"] == "short"
    assert trade.columns["entry_price"] == units("25300")
    assert trade.columns["exit_price"] == units("25290")


@pytest.mark.parametrize(
    ("gross", "net", "fees"),
    [
        ("400.0", "395.4", "4.6"),
        ("400.0", "400.0", "0"),
        ("-400.0", "-404.6", "4.6"),
        ("400.0", "401.0", "-1"),
    ],
    ids=["of a gain", "none", "of a loss", "a rebate"],
)
def test_fees_are_what_gross_is_more_than_net(gross: str, net: str, fees: str) -> None:
    exit_price = "25310.0" if gross == "400.0" else "25290.0"

    trade = read_one({"Gross P&L": gross, "Net P&L": net, "Avg Sell Price": exit_price})

    assert trade.columns["gross_pnl"] == units(gross)
    assert trade.columns["fees"] == units(fees)


def test_without_a_net_result_the_file_says_nothing_of_fees() -> None:
    trade = read_one({"Net P&L": ""})

    assert trade.columns["fees"] == 0
    assert trade.imported.unstated == ("fees",)


def test_fees_beyond_any_amount_are_refused() -> None:
    reason = reason_of({"Gross P&L": "10000000000", "Net P&L": "-10000000000"})

    assert reason.startswith("Net P&L makes fees that must be between ")


@pytest.mark.parametrize(
    ("entry", "exit_price", "quantity", "gross", "multiplier"),
    [
        ("25380.0", "25378.75", "2.0", "-50.0", "20"),
        ("64.35", "64.47", "3.0", "360.0", "1000"),
        ("1.0825", "1.0826", "1.0", "12.5", "125000"),
        ("2.1505", "2.151", "1.0", "21.0", "42000"),
        ("112.5", "112.515625", "1.0", "15.625", "1000"),
        ("8.799", "9.756", "22.0", "2106.0", "100"),
        ("10.333", "10.5", "300.0", "50.0", "1"),
        ("1.0", "2.11", "0.37", "0.41", "1"),
        ("18000.0", "18100.0", "1.0", "108.347123", "1.08347123"),
    ],
    ids=[
        "index",
        "oil",
        "euro",
        "gasoline",
        "treasury",
        "averaged option",
        "averaged share",
        "cents",
        "converted",
    ],
)
def test_the_value_of_a_point_is_the_shortest_number_that_explains_the_result(
    entry: str, exit_price: str, quantity: str, gross: str, multiplier: str
) -> None:
    trade = read_one(
        {
            "Avg Buy Price": entry,
            "Avg Sell Price": exit_price,
            "Quantity": quantity,
            "Gross P&L": gross,
            "Net P&L": gross,
        }
    )

    assert trade.columns["multiplier"] == units(multiplier)
    assert trade.columns["gross_pnl"] == units(gross)
    assert trade.imported.unstated == ()


@pytest.mark.parametrize(
    "cells",
    [{"Gross P&L": "0.0", "Net P&L": "0.0"}, {"Avg Sell Price": "25300.0"}, OPEN],
    ids=["no result", "equal prices", "open"],
)
def test_where_nothing_tells_the_value_of_a_point_it_is_one_and_unstated(cells: dict[str, str]) -> None:
    trade = read_one(cells)

    assert trade.columns["multiplier"] == units("1")
    assert trade.imported.unstated == ("multiplier",)


def test_the_risk_of_a_trade_is_left_out() -> None:
    trade = read_one({"Trade Risk": "150.0"})

    assert trade.columns["initial_risk"] is None


# Sides and options -------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", ["long", "short"])
@pytest.mark.parametrize(
    ("exit_price", "gross", "direction"),
    [("10.744", "3750.6", "long"), ("5.386", "-3750.6", "long"), ("5.386", "3750.6", "short")],
    ids=["bought, gained", "bought, lost", "sold, gained"],
)
def test_the_direction_of_an_option_is_the_one_in_which_its_prices_explain_its_result(
    side: str, exit_price: str, gross: str, direction: str
) -> None:
    trade = read_one(PUT, {"Side": side, "Avg Sell Price": exit_price, "Gross P&L": gross, "Net P&L": gross})

    assert trade.columns["direction"] == direction
    assert trade.columns["multiplier"] == units("100")
    assert trade.columns["gross_pnl"] == units(gross)


@pytest.mark.parametrize(
    "untold",
    [
        OPEN,
        {"Avg Sell Price": "8.065"},
        {"Gross P&L": "0.0"},
        {"Avg Sell Price": "8.066", "Gross P&L": "-0.5"},
    ],
    ids=["open", "equal prices", "no result", "prices equal but for rounding"],
)
@pytest.mark.parametrize(
    ("right", "side", "direction"),
    [
        ("PUT", "short", "long"),
        ("PUT", "long", "short"),
        ("CALL", "long", "long"),
        ("CALL", "short", "short"),
    ],
)
def test_without_a_result_that_tells_a_put_is_held_against_the_view_of_the_market_that_side_is(
    untold: dict[str, str], right: str, side: str, direction: str
) -> None:
    trade = read_one(PUT, untold, {"Side": side, "Instrument": f"2026-03-20 560 {right}"})

    assert trade.columns["direction"] == direction


@pytest.mark.parametrize("kind", ["future", "stock", "Future", "forex", "crypto", ""])
@pytest.mark.parametrize("side", ["long", "short"])
def test_a_side_that_the_result_contradicts_is_refused_for_what_is_no_option(kind: str, side: str) -> None:
    exit_price = "25290.0" if side == "long" else "25310.0"

    reason = reason_of({"Spread Type": kind, "Side": side, "Avg Sell Price": exit_price})

    assert reason.startswith(f"Side is {side}, but ")


def test_a_contradiction_within_the_rounding_of_the_averages_is_none() -> None:
    trade = read_one({"Avg Sell Price": "25300.001", "Gross P&L": "-1.0", "Net P&L": "-1.0"})

    assert trade.columns["direction"] == "long"
    assert trade.columns["gross_pnl"] == units("-1")


@pytest.mark.parametrize(
    ("kind", "instrument"),
    [("single", "2026-03-20 560 PUT"), ("", "2026-03-20 560 put"), ("vertical", "2026-03-20 560/570")],
    ids=["single", "by its instrument", "spread"],
)
def test_an_option_is_named_by_symbol_and_instrument(kind: str, instrument: str) -> None:
    trade = read_one(PUT, {"Spread Type": kind, "Instrument": instrument})

    assert trade.columns["symbol"] == f"SPY {instrument}"


@pytest.mark.parametrize(
    ("instrument", "symbol"),
    [("2026-03-20 560/570/580/590 MANY CALL", "SPY 2026-03-20 560/570/580/590 MANY CALL"), ("2" * 37, "SPY")],
    ids=["forty characters", "forty-one"],
)
def test_an_option_whose_name_does_not_fit_is_named_by_its_symbol_alone(instrument: str, symbol: str) -> None:
    trade = read_one(PUT, {"Instrument": instrument})

    assert trade.columns["symbol"] == symbol


def test_what_is_no_option_is_named_by_its_symbol_alone() -> None:
    trade = read_one({"Symbol": "NQ", "Instrument": "NQH6"})

    assert trade.columns["symbol"] == "NQ"


# Times -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("zone", "utc"),
    [
        ("UTC", "12"),
        ("GMT", "12"),
        ("EDT", "16"),
        ("EST", "17"),
        ("CDT", "17"),
        ("CST", "18"),
        ("MDT", "18"),
        ("MST", "19"),
        ("PDT", "19"),
        ("PST", "20"),
    ],
)
def test_a_zone_is_a_fixed_offset_whatever_the_date_and_the_zone_of_the_import(zone: str, utc: str) -> None:
    for day in ("2026-02-09", "2026-07-09"):
        trade = read_one(
            {
                "Open Date": day,
                "Open Time": f"12:00:00 {zone}",
                "Close Date": day,
                "Close Time": f"12:31:42 {zone}",
            }
        )

        assert trade.columns["opened_at"] == f"{day}T{utc}:00:00.000000Z"
        assert trade.columns["closed_at"] == f"{day}T{utc}:31:42.000000Z"


def test_a_trade_may_open_and_close_in_two_zones() -> None:
    trade = read_one({"Open Date": "2025-11-01", "Open Time": "09:59:29 EDT"})

    assert trade.columns["opened_at"] == "2025-11-01T13:59:29.000000Z"
    assert trade.columns["closed_at"] == "2026-02-09T17:58:32.000000Z"


@pytest.mark.parametrize("zone", ["CET", "IST", "AM", "est", "X"])
def test_another_zone_is_refused_with_what_to_do(zone: str) -> None:
    reason = reason_of({"Open Time": f"12:31:42 {zone}"})

    assert reason.startswith("Open Time must be in one of the zones UTC, GMT, EDT, ")
    assert "remove its name" in reason


def test_a_time_without_a_zone_is_one_of_the_import() -> None:
    trade = read_one({"Open Time": "12:31:42", "Close Time": "12:58:32"}, zone="Europe/Berlin")

    assert trade.columns["opened_at"] == "2026-02-09T11:31:42.000000Z"


def test_a_trade_without_a_close_date_is_open() -> None:
    trade = read_one(OPEN, {"Gross P&L": "120.0", "Net P&L": "117.5"})

    assert (trade.columns["closed_at"], trade.columns["exit_price"]) == (None, None)
    assert trade.columns["gross_pnl"] is None
    assert trade.columns["fees"] == units("2.5")


# Whatever the cells hold -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        ("Symbol", ""),
        ("Symbol", "X" * 41),
        ("Side", ""),
        ("Side", "flat"),
        ("Quantity", ""),
        ("Quantity", "0.0"),
        ("Quantity", "-2.0"),
        ("Avg Buy Price", ""),
        ("Avg Sell Price", ""),
        ("Gross P&L", ""),
        ("Net P&L", "some"),
        ("Open Date", ""),
        ("Open Date", "2026-02-30"),
        ("Open Time", ""),
        ("Open Time", "25:00:00 EST"),
        ("Close Date", "yesterday"),
        ("Close Time", ""),
        ("Close Time", "noon EST"),
        ("Instrument", "\x01"),
    ],
)
def test_a_cell_that_breaks_its_rule_is_refused_with_its_column(column: str, cell: str) -> None:
    reason = reason_of({column: cell})

    assert reason.startswith(f"{column} ")


def test_a_trade_that_closes_before_it_opens_is_refused() -> None:
    reason = reason_of({"Close Time": "12:31:41 EST"})

    assert reason == "closed_at must not be before opened_at"


CELLS = st.one_of(
    st.text(max_size=12),
    st.text("0123456789.,$()+-: ESTPU", max_size=20),
    st.sampled_from(
        [
            *("", " ", "0", "-1", "1e9", "nan", "9" * 30, "0.00000001", "10000000000", "-10000000000"),
            *("long", "short", "single", "1 PUT", "x" * 300, "\0", "\N{COMBINING ACUTE ACCENT}"),
            *("2026-02-09", "1970-01-01", "2200-12-31", "00:00:00 PST", "23:59:59 UTC"),
        ]
    ),
)


@tried(full=200, short=40)
@given(
    rows=st.lists(st.dictionaries(st.sampled_from(sorted(PLAIN)), CELLS, max_size=8), min_size=1, max_size=4)
)
def test_whatever_the_cells_hold_each_row_is_a_trade_or_rejected_with_a_reason(
    rows: list[dict[str, str]],
) -> None:
    found = read(file_of(PLAIN, *rows))

    assert len(found) == 1 + len(rows)
    assert isinstance(found[0], Candidate)
    assert all(one.reason for one in found if isinstance(one, Rejected))
