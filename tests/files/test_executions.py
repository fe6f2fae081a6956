"""Files of fills: docs/imports.md "Executions"."""

import csv
import io
import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from factories import create_account, create_import, read_file, send_file, unwrap
from hypothesis import given
from hypothesis import strategies as st
from proofs import tried

from journal_api.rules.import_rows import Candidate, Rejected

DATA = Path(__file__).parents[1] / "data"
HEADER = ("Date", "Time", "Symbol", "Quantity", "Price", "Side")
# A bought share at nine; a cell that a test does not name is this one's.
PLAIN = dict(zip(HEADER, ("3/9/2026", "09:00:00", "NVTA", "1", "10", "Buy"), strict=True))


# Helpers -----------------------------------------------------------------------------------------------


def file_of(*fills: dict[str, str], delimiter: str = ",") -> bytes:
    """A file with the columns that any of the fills names; what one does not say is plain, else empty."""
    columns = list(dict.fromkeys([*HEADER, *(column for fill in fills for column in fill)]))
    written = io.StringIO()
    writer = csv.DictWriter(written, columns, restval="", lineterminator="\n", delimiter=delimiter)
    writer.writeheader()
    writer.writerows(PLAIN | fill for fill in fills)
    return written.getvalue().encode()


def buy(time: str, quantity: str = "1", price: str = "10", **cells: str) -> dict[str, str]:
    return {"Time": time, "Quantity": quantity, "Price": price, "Side": "Buy", **cells}


def sell(time: str, quantity: str = "1", price: str = "10", **cells: str) -> dict[str, str]:
    return {**buy(time, quantity, price), "Side": "Sell", **cells}


def found_in(file: bytes, zone: str = "UTC") -> list[Candidate | Rejected]:
    return list(read_file(file, zone).candidates)


def candidates_in(file: bytes, zone: str = "UTC") -> list[Candidate]:
    """The trades of a file of which every line can be read."""
    found = found_in(file, zone)
    rejected = [one for one in found if isinstance(one, Rejected)]
    assert not rejected
    return [one for one in found if isinstance(one, Candidate)]


def trades_in(*fills: dict[str, str], zone: str = "UTC") -> list[dict[str, Any]]:
    """The columns of the trades that the fills make, in the order of the lines on which they begin."""
    return [one.columns for one in candidates_in(file_of(*fills), zone)]


def trade_in(*fills: dict[str, str], zone: str = "UTC") -> dict[str, Any]:
    (trade,) = trades_in(*fills, zone=zone)
    return trade


def refusals_of(*fills: dict[str, str]) -> list[str]:
    """Why the lines are rejected; nothing but them may come of the file."""
    found = found_in(file_of(*fills))
    rejected = [one for one in found if isinstance(one, Rejected)]
    assert rejected == found
    return [f"line {one.line}: {one.reason}" for one in rejected]


def units(amount: str) -> int:
    return int(Decimal(amount) * 10**8)


def amounts(trade: dict[str, Any], *names: str) -> list[Any]:
    """As decimals, so that a failure can be read."""
    return [None if trade[name] is None else float(Decimal(trade[name]) / 10**8) for name in names]


def told(trade: dict[str, Any]) -> tuple[Any, ...]:
    """Side, size, prices and result, in whole amounts."""
    return trade["direction"], *amounts(trade, "quantity", "entry_price", "exit_price", "gross_pnl")


def clocks(trade: dict[str, Any]) -> list[str]:
    return [trade[name] and trade[name][11:19] for name in ("opened_at", "closed_at")]


# The examples ------------------------------------------------------------------------------------------


def test_fills_from_flat_to_flat_are_a_trade() -> None:
    file = read_file((DATA / "executions.csv").read_bytes(), "America/New_York")
    candidates = [one for one in file.candidates if isinstance(one, Candidate)]

    assert file.format == "executions"
    assert [(one.imported.line, one.columns["symbol"], *told(one.columns)) for one in candidates] == [
        (2, "NVTA", "long", 300, 18.38, 18.61, 69),
        (4, "CRVS", "short", 50, 64.1, 63.55, 27.5),
        (6, "CRVS", "long", 30, 63.55, 63.9, 10.5),
        (8, "NVTA", "long", 150, 18.7, None, None),
    ]
    assert [amounts(one.columns, "fees") for one in candidates] == [[2.74], [1.53], [0.95], [1.05]]
    assert [(one.columns["opened_at"], one.columns["closed_at"]) for one in candidates] == [
        ("2026-03-09T13:31:04.000000Z", "2026-03-09T13:52:55.000000Z"),
        ("2026-03-09T13:41:12.000000Z", "2026-03-09T14:15:00.000000Z"),
        ("2026-03-09T14:15:00.000000Z", "2026-03-09T14:48:27.000000Z"),
        ("2026-03-09T19:58:09.000000Z", None),
    ]


def test_the_template_of_tradezella_holds_shares_and_options_newest_first() -> None:
    file = read_file((DATA / "tradezella_template.csv").read_bytes(), "UTC")
    candidates = [one for one in file.candidates if isinstance(one, Candidate)]

    assert file.format == "TradeZella template"
    assert [
        (one.imported.line, one.columns["symbol"], *told(one.columns), *amounts(one.columns, "fees"))
        for one in candidates
    ] == [
        (3, "QLTX", "long", 120, 33.1, 33.95, 102, 2.06),
        (5, "QLTX 2026-04-17 35 C", "long", 3, 1.4, 1.85, 135, 3.9),
    ]


# Sides and quantities ----------------------------------------------------------------------------------


@pytest.mark.parametrize("side", ["Buy", "buy", "B", "BOT", "Bought", "BTO", "BTC", "BC", " Buy "])
def test_a_side_that_begins_with_b_buys(side: str) -> None:
    trade = trade_in({"Side": side})

    assert trade["direction"] == "long"


@pytest.mark.parametrize(
    "side", ["Sell", "sell", "S", "SLD", "Sold", "SS", "Short", "Sell short", "STO", "STC", " Sell"]
)
def test_a_side_that_begins_with_s_sells(side: str) -> None:
    trade = trade_in({"Side": side})

    assert trade["direction"] == "short"


@pytest.mark.parametrize("side", ["Long", "Cover", "1", "-"])
def test_any_other_side_is_refused(side: str) -> None:
    (refusal,) = refusals_of({"Side": side})

    assert refusal == f"line 2: Side must begin with B or S, as Buy and Sell do ({side!r})"


@pytest.mark.parametrize("quantity", ["5", "-5", "(5)", "+5.00"])
@pytest.mark.parametrize(("side", "direction"), [("Buy", "long"), ("Sell", "short")])
def test_the_side_tells_whatever_the_sign_of_the_quantity(side: str, direction: str, quantity: str) -> None:
    trade = trade_in({"Side": side, "Quantity": quantity})

    assert (trade["direction"], trade["quantity"]) == (direction, units("5"))


@pytest.mark.parametrize(("quantity", "direction"), [("0.25", "long"), ("-0.25", "short")])
def test_without_a_side_the_sign_of_the_quantity_tells(quantity: str, direction: str) -> None:
    trade = trade_in({"Side": "", "Quantity": quantity})

    assert (trade["direction"], trade["quantity"]) == (direction, units("0.25"))


# Which fills are one trade -----------------------------------------------------------------------------


def test_a_trade_is_as_large_as_all_that_was_opened_at_the_average_price() -> None:
    trade = trade_in(
        sell("09:00:00", "2", "10"),
        sell("09:01:00", "1", "13"),
        buy("09:02:00", "1", "9"),
        sell("09:03:00", "1", "15"),
        buy("09:04:00", "3", "12"),
    )

    assert told(trade) == ("short", 4, 12, 11.25, 3)
    assert clocks(trade) == ["09:00:00", "09:04:00"]


def test_a_symbol_that_is_still_held_leaves_the_next_one_flat() -> None:
    trades = trades_in(buy("09:00:00", Symbol="AAA"), buy("09:01:00", Symbol="BBB"))

    assert [trade["symbol"] for trade in trades] == ["AAA", "BBB"]


def test_each_symbol_is_held_apart() -> None:
    trades = trades_in(
        buy("09:00:00", price="10", Symbol="NVTA"),
        sell("09:01:00", price="64", Symbol="CRVS"),
        sell("09:02:00", price="11", Symbol="NVTA"),
        buy("09:03:00", price="63", Symbol="CRVS"),
    )

    assert [(trade["symbol"], *told(trade)) for trade in trades] == [
        ("NVTA", "long", 1, 10, 11, 1),
        ("CRVS", "short", 1, 64, 63, 1),
    ]


@pytest.mark.parametrize("column", ["Account", "account"])
def test_each_account_is_held_apart(column: str) -> None:
    file = file_of(
        buy("09:00:00", price="10", **{column: "Live"}),
        sell("09:01:00", price="12", **{column: "Sim"}),
        sell("09:02:00", price="11", **{column: "Live"}),
        buy("09:03:00", price="13", **{column: "Sim"}),
    )

    candidates = candidates_in(file)

    assert [(one.imported.account, *told(one.columns)) for one in candidates] == [
        ("Live", "long", 1, 10, 11, 1),
        ("Sim", "short", 1, 12, 13, -1),
    ]


def test_a_fill_beyond_flat_ends_one_trade_and_opens_the_next_on_the_other_side() -> None:
    trades = trades_in(
        buy("09:00:00", "2", "10"),
        sell("09:01:00", "5", "12"),
        buy("09:02:00", "4", "11"),
        sell("09:03:00", "1", "11.5"),
    )

    assert [told(trade) for trade in trades] == [
        ("long", 2, 10, 12, 4),
        ("short", 3, 12, 11, 3),
        ("long", 1, 11, 11.5, 0.5),
    ]
    assert [clocks(trade) for trade in trades] == [
        ["09:00:00", "09:01:00"],
        ["09:01:00", "09:02:00"],
        ["09:02:00", "09:03:00"],
    ]


@pytest.mark.parametrize(
    ("cost", "shares"),
    [
        ("1", ["0.33333333", "0.66666667"]),
        ("-0.9", ["-0.3", "-0.6"]),
        ("0.00000001", ["0", "0.00000001"]),
        ("0.00000002", ["0.00000001", "0.00000001"]),
    ],
)
def test_the_cost_of_a_fill_beyond_flat_is_split_by_quantity_to_the_last_decimal(
    cost: str, shares: list[str]
) -> None:
    trades = trades_in(buy("09:00:00", "1"), sell("09:01:00", "3", Commission=cost), buy("09:02:00", "2"))

    assert [trade["fees"] for trade in trades] == [units(share) for share in shares]


def test_no_cost_is_made_where_both_halves_would_be_rounded_up() -> None:
    trades = trades_in(buy("09:00:00"), sell("09:01:00", "2", Commission="0.00000003"), buy("09:02:00"))

    assert sum(trade["fees"] for trade in trades) == 3


def test_an_open_position_is_a_trade_without_exit_and_result() -> None:
    trade = trade_in(buy("09:00:00", "2", "10"), buy("09:01:00", "1", "13"))

    assert told(trade) == ("long", 3, 11, None, None)
    assert clocks(trade) == ["09:00:00", None]


def test_an_open_position_that_was_closed_in_part_is_what_was_opened_with_the_costs_so_far() -> None:
    trade = trade_in(
        buy("09:00:00", "3", "10", Commission="1"), sell("09:01:00", "2", "12", Commission="0.5")
    )

    assert told(trade) == ("long", 3, 10, None, None)
    assert amounts(trade, "fees") == [1.5]


# The order of the fills --------------------------------------------------------------------------------


def test_fills_may_stand_in_any_order() -> None:
    trades = trades_in(
        sell("09:03:00", price="13"),
        buy("09:00:00", price="10"),
        buy("09:02:00", price="12"),
        sell("09:01:00", price="9"),
    )

    assert [told(trade) for trade in trades] == [("long", 1, 10, 9, -1), ("long", 1, 12, 13, 1)]


@pytest.mark.parametrize("is_newest_first", [False, True], ids=["oldest first", "newest first"])
def test_fills_of_one_instant_are_in_the_order_of_the_file(is_newest_first: bool) -> None:
    fills = [
        buy("09:00:00", "1", "10"),
        sell("09:01:00", "2", "12"),
        buy("09:01:00", "3", "14"),
        sell("09:01:00", "2", "16"),
    ]

    trades = trades_in(*(reversed(fills) if is_newest_first else fills))

    assert sorted((told(trade) for trade in trades), key=lambda trade: float(trade[2])) == [
        ("long", 1, 10, 12, 2),
        ("short", 1, 12, 14, -2),
        ("long", 2, 14, 16, 4),
    ]


def test_symbols_one_after_another_do_not_make_a_file_newest_first() -> None:
    of_one = [buy("09:00:00", "1", "10"), sell("09:01:00", "2", "12"), buy("09:01:00", "1", "14")]
    symbols = ("NVTA", "CRVS", "ABEV")

    trades = trades_in(*({**fill, "Symbol": symbol} for symbol in symbols for fill in of_one))

    assert [told(trade) for trade in trades] == [("long", 1, 10, 12, 2), ("short", 1, 12, 14, -2)] * 3


def test_trades_come_in_the_order_of_the_lines_on_which_they_begin() -> None:
    file = file_of(
        sell("09:05:00", Symbol="CRVS"),
        buy("09:01:00", Symbol="NVTA"),
        buy("09:04:00", Symbol="CRVS"),
        sell("09:02:00", Symbol="NVTA"),
        sell("09:00:00", Symbol="ABEV"),
    )

    lines = [one.imported.line for one in candidates_in(file)]

    assert lines == [3, 4, 6]


# Amounts -----------------------------------------------------------------------------------------------


def test_an_average_is_rounded_to_eight_decimals_and_the_result_is_of_the_fills_themselves() -> None:
    trade = trade_in(
        buy("09:00:00", "1", "10.01"), buy("09:01:00", "2", "10.02"), sell("09:02:00", "3", "10.02")
    )

    assert trade["entry_price"] == units("10.01666667")
    assert trade["gross_pnl"] == units("0.01")


def test_an_average_has_at_most_fifteen_digits() -> None:
    trade = trade_in(
        buy("09:00:00", "1", "1000000000"),
        buy("09:01:00", "2", "1000000001"),
        sell("09:02:00", "2", "1000000002"),
        sell("09:03:00", "1", "1000000003"),
    )

    assert trade["entry_price"] == units("1000000000.66667")
    assert trade["exit_price"] == units("1000000002.33333")


def test_a_result_and_the_costs_keep_all_their_digits() -> None:
    trade = trade_in(
        buy("09:00:00", "1", "0", Commission="20000000"),
        buy("09:01:00", "1", "0", Commission="0.00000002"),
        sell("09:02:00", "1", "10000000"),
        sell("09:03:00", "1", "0.00000001"),
    )

    assert (trade["gross_pnl"], trade["fees"]) == (units("10000000.00000001"), units("20000000.00000002"))


def test_a_quantity_in_all_has_at_most_fifteen_digits() -> None:
    trade = trade_in(buy("09:00:00", "100000000"), buy("09:01:00", "0.12345678"))

    assert trade["quantity"] == units("100000000.123457")


def test_a_result_below_the_last_decimal_is_rounded() -> None:
    trade = trade_in(
        buy("09:00:00", "0.00000001", "0.1"), sell("09:01:00", "0.00000001", "0.7", Multiplier="1")
    )

    assert trade["gross_pnl"] == 1


@pytest.mark.parametrize(
    ("bought", "sold", "result"), [("-37.63", "-40", "-2.37"), ("0", "0.01", "0.01"), ("-1", "1", "2")]
)
def test_a_price_may_be_negative_or_zero(bought: str, sold: str, result: str) -> None:
    trade = trade_in(buy("09:00:00", price=bought), sell("09:01:00", price=sold))

    assert trade["gross_pnl"] == units(result)


def test_costs_are_summed_over_columns_and_fills_and_a_negative_one_is_a_rebate() -> None:
    trade = trade_in(
        buy("09:00:00", Commission="$1.00", Fees="0.10", TransFee="0.02", ECNFee="-0.30"),
        sell("09:01:00", Commission="", Fees="", TransFee="0.05", ECNFee="(0.01)"),
    )

    assert trade["fees"] == units("0.86")


@pytest.mark.parametrize("column", ["Commission", "Fees", "TransFee", "ECNFee"])
def test_a_file_with_one_column_of_costs_states_the_fees(column: str) -> None:
    (candidate,) = candidates_in(file_of({column: ""}))

    assert "fees" not in candidate.imported.unstated


def test_a_file_without_a_column_of_costs_or_multipliers_states_neither() -> None:
    (candidate,) = candidates_in(file_of({}))

    assert set(candidate.imported.unstated) == {"fees", "multiplier"}
    assert amounts(candidate.columns, "fees", "multiplier") == [0, 1]


def test_the_result_is_in_money_where_the_file_has_the_multiplier() -> None:
    (candidate,) = candidates_in(
        file_of(
            buy("09:00:00", "2", "6000", Multiplier="50"), sell("09:01:00", "2", "6001.25", Multiplier="50")
        )
    )

    assert amounts(candidate.columns, "multiplier", "gross_pnl") == [50, 125]
    assert "multiplier" not in candidate.imported.unstated


def test_a_multiplier_that_changes_is_refused() -> None:
    refusals = refusals_of(
        buy("09:00:00", Multiplier="50"),
        buy("09:00:00", Symbol="CRVS", Multiplier=""),
        sell("09:01:00", Multiplier="5"),
        sell("09:02:00", Multiplier=""),
    )

    assert refusals == [
        "line 4: Multiplier must be the same for all fills of a symbol",
        "line 5: Multiplier must be the same for all fills of a symbol",
    ]


# Options and futures -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expiration", "strike", "right", "symbol"),
    [
        ("2024-01-19", "470", "Call", "NVTA 2024-01-19 470 C"),
        ("1/19/24", "470.50", "call", "NVTA 2024-01-19 470.5 C"),
        ("01/19/2024", "$1,470", "C", "NVTA 2024-01-19 1470 C"),
        ("19 Jan 24", "2.5", "Put", "NVTA 2024-01-19 2.5 P"),
        ("9-DEC-2024", "7", "p", "NVTA 2024-12-09 7 P"),
    ],
)
def test_the_symbol_of_an_option_holds_its_contract(
    expiration: str, strike: str, right: str, symbol: str
) -> None:
    trade = trade_in({"Expiration": expiration, "Strike": strike, "Call/Put": right})

    assert trade["symbol"] == symbol


def test_options_of_one_symbol_and_its_shares_are_held_apart() -> None:
    contract = {"Expiration": "2024-01-19", "Strike": "18", "Call/Put": "Call"}

    trades = trades_in(
        buy("09:00:00"),
        buy("09:01:00", **contract),
        sell("09:02:00", **contract | {"Strike": "19"}),
        sell("09:03:00", **contract | {"Call/Put": "Put"}),
        sell("09:04:00", **contract | {"Expiration": "2024-01-26"}),
    )

    assert len({trade["symbol"] for trade in trades}) == 5


def test_the_symbol_of_a_future_holds_its_expiration() -> None:
    trade = trade_in({"Symbol": "ES", "Expiration": "20 Mar 26", "Strike": "", "Call/Put": ""})

    assert (trade["symbol"], *amounts(trade, "multiplier")) == ("ES 2026-03-20", 50)


def test_the_symbol_of_an_option_may_come_from_a_column_of_its_own() -> None:
    trade = trade_in({"Option": "JAN 24 18 CALL"})

    assert (trade["symbol"], *amounts(trade, "multiplier")) == ("NVTA JAN 24 18 CALL", 100)


@pytest.mark.parametrize(("stated", "multiplier"), [("", 100), ("10", 10), ("1", 1)])
def test_an_option_is_for_a_hundred_shares_unless_stated(stated: str, multiplier: int) -> None:
    contract = {"Expiration": "2024-01-19", "Strike": "18", "Call/Put": "Call", "Multiplier": stated}

    trade = trade_in(buy("09:00:00", price="1", **contract), sell("09:01:00", price="3", **contract))

    assert amounts(trade, "multiplier", "gross_pnl") == [multiplier, 2 * multiplier]


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        ("Expiration", ""),
        ("Expiration", "soon"),
        ("Expiration", "30 Feb 24"),
        ("Strike", ""),
        ("Strike", "0"),
        ("Call/Put", ""),
        ("Call/Put", "Cover"),
    ],
)
def test_an_option_without_its_whole_contract_is_refused(column: str, cell: str) -> None:
    contract = {"Expiration": "2024-01-19", "Strike": "18", "Call/Put": "Call"}

    (refusal,) = refusals_of(contract | {column: cell})

    assert refusal.startswith((f"line 2: {column} must ", f"line 2: {column} is not "))


def test_a_symbol_that_is_too_long_with_its_contract_is_refused() -> None:
    contract = {"Expiration": "2024-01-19", "Strike": "18", "Call/Put": "Call"}

    (fits,) = trades_in({"Symbol": "X" * 24, **contract})
    (refusal,) = refusals_of({"Symbol": "X" * 25, **contract})

    assert len(fits["symbol"]) == 40
    assert refusal == "line 2: Symbol with the rest of the contract must be 1 to 40 characters"


# Times -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("date", "clock"),
    [
        ("3/9/2026", "14:05:09"),
        ("03/09/26", "2:05:09 PM"),
        ("03-09-2026", "02:05:09 pm"),
        ("2026-03-09", "14:05:09.000"),
        ("2026/3/9", " 14:05:09 "),
        ("2026.03.09", "14:05:09"),
    ],
)
def test_dates_are_year_first_or_month_first_and_clocks_of_24_hours_or_12(date: str, clock: str) -> None:
    trade = trade_in({"Date": date, "Time": clock})

    assert trade["opened_at"] == "2026-03-09T14:05:09.000000Z"


def test_times_are_wall_clock_times_of_the_zone_that_is_named() -> None:
    fills = [buy("09:30:00", Date="3/6/2026"), sell("09:30:00", Date="3/9/2026")]

    trade = trade_in(*fills, zone="America/New_York")

    assert trade["opened_at"] == "2026-03-06T14:30:00.000000Z"
    assert trade["closed_at"] == "2026-03-09T13:30:00.000000Z"


def test_a_fill_without_a_time_is_refused() -> None:
    (refusal,) = refusals_of({"Time": ""})

    assert refusal.startswith("line 2: Time is required")


# How a trade is known again ----------------------------------------------------------------------------


@pytest.mark.parametrize("column", ["Execution ID", "Exec ID", "Fill ID"])
def test_the_id_of_the_first_fill_is_that_of_the_trade(column: str) -> None:
    trades = trades_in(
        buy("09:00:00", **{column: "E-1"}),
        sell("09:01:00", "2", **{column: "E-2"}),
        buy("09:02:00", **{column: "E-3"}),
    )

    assert [trade["external_id"] for trade in trades] == ["E-1", "E-2"]


def test_an_id_stands_once_in_an_account_that_the_file_names() -> None:
    fill = buy("09:00:00", Account="Sim", **{"Exec ID": "E-1"})

    assert refusals_of(fill, fill) == ["line 3: Exec ID 'E-1' is repeated"]


@pytest.mark.parametrize("time", ["0:15:00 AM", "13:15:00 PM"])
def test_an_hour_before_am_and_pm_is_1_to_12(time: str) -> None:
    (refusal,) = refusals_of(buy(time))

    assert refusal.startswith("line 2: Time must have an hour from 1 to 12 before AM and PM")


def test_without_ids_a_trade_has_one_id_while_it_is_open_and_when_it_is_closed() -> None:
    opened = trade_in(buy("09:00:00", "2"), sell("09:01:00"))

    closed, _ = trades_in(buy("09:00:00", "2"), sell("09:01:00"), sell("09:02:00"), buy("09:03:00"))

    assert opened["external_id"] == closed["external_id"]
    assert opened["external_id"].startswith("fill-")
    assert len(opened["external_id"]) == len("fill-") + 16


def test_a_trade_has_the_same_id_whatever_the_form_and_order_of_the_file() -> None:
    plain = [buy("14:00:00", "1000"), sell("14:01:00", "1000")]
    other = [{**fill, "Date": "2026-03-09", "Quantity": "-1,000", "Price": "10.0"} for fill in plain]
    other[0]["Time"] = "2:00 PM"

    ids = {trade["external_id"] for trade in (*trades_in(*plain), *trades_in(*reversed(other)))}

    assert len(ids) == 1


def test_the_id_of_a_trade_does_not_hang_on_what_was_traded_before() -> None:
    first, second = [buy("09:00:00"), sell("09:01:00")], [buy("09:02:00"), sell("09:03:00")]

    _, in_both = trades_in(*first, *second)
    alone = trade_in(*second)

    assert in_both["external_id"] == alone["external_id"]


@pytest.mark.parametrize(
    "cells",
    [
        {"Symbol": "CRVS"},
        {"Date": "3/10/2026"},
        {"Time": "09:00:01"},
        {"Side": "Sell"},
        {"Quantity": "2"},
        {"Price": "10.01"},
        {"Account": "Live"},
    ],
    ids=lambda cells: next(iter(cells)),
)
def test_another_first_fill_is_another_id(cells: dict[str, str]) -> None:
    one, other = trade_in(buy("09:00:00")), trade_in({**buy("09:00:00"), **cells})

    assert one["external_id"] != other["external_id"]


def test_identical_fills_are_several_and_each_trade_that_they_begin_has_its_own_id() -> None:
    fills = [buy("09:00:00"), sell("09:00:00")] * 3

    candidates = candidates_in(file_of(*fills, buy("09:00:00"), buy("09:00:00")))

    assert [told(one.columns)[:2] for one in candidates] == [("long", 1)] * 3 + [("long", 2)]
    assert len({one.columns["external_id"] for one in candidates}) == 4


def test_an_execution_that_stands_there_twice_is_refused() -> None:
    refusals = refusals_of(
        buy("09:00:00", **{"Exec ID": "E-1"}), sell("09:01:00"), buy("09:02:00", **{"Exec ID": "E-1"})
    )

    assert refusals == ["line 4: Exec ID 'E-1' is repeated"]


def test_two_accounts_may_have_executions_of_one_id() -> None:
    ids = {"Exec ID": "E-1"}

    trades = trades_in(buy("09:00:00", Account="Live", **ids), buy("09:00:00", Account="Sim", **ids))

    assert [trade["external_id"] for trade in trades] == ["E-1", "E-1"]


# What is refused ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        ("Date", ""),
        ("Date", "2/30/2026"),
        ("Date", "9 March"),
        ("Time", "25:00:00"),
        ("Time", "09:30:00 EST"),
        ("Symbol", ""),
        ("Symbol", "X" * 41),
        ("Quantity", ""),
        ("Quantity", "0"),
        ("Quantity", "many"),
        ("Quantity", "0.000000001"),
        ("Price", ""),
        ("Price", "market"),
        ("Price", "10000000000.01"),
        ("Commission", "free"),
        ("ECNFee", "1e3"),
        ("Multiplier", "0"),
        ("Multiplier", "-5"),
        ("Execution ID", "x" * 101),
        ("Account", "a\0b"),
        ("Option", "X" * 41),
    ],
)
def test_a_cell_that_breaks_its_rule_is_refused_with_its_line_and_column(column: str, cell: str) -> None:
    (refusal,) = refusals_of(buy("09:00:00"), {column: cell}, sell("09:01:00"))

    assert refusal.startswith(f"line 3: {column} ")


def test_of_a_file_with_broken_fills_only_those_are_told_in_the_order_of_the_lines() -> None:
    refusals = refusals_of(
        buy("09:00:00"),
        sell("09:01:00"),
        {"Quantity": "none"},
        buy("09:02:00"),
        {"Price": "none"},
        sell("09:03:00"),
    )

    assert [refusal[:7] for refusal in refusals] == ["line 4:", "line 6:"]


def test_a_result_out_of_range_is_told_for_the_line_on_which_the_trade_begins() -> None:
    found = found_in(
        file_of(
            buy("09:00:00"),
            buy("09:01:00", "100000", "1", Symbol="CRVS"),
            sell("09:02:00", "100000", "1000000", Symbol="CRVS"),
        )
    )

    assert [one for one in found if isinstance(one, Rejected)] == [
        Rejected(3, "gross_pnl computed from the fills must be between -10000000000 and 10000000000")
    ]


def test_a_quantity_out_of_range_is_told_for_the_line_on_which_the_trade_begins() -> None:
    (refusal,) = refusals_of(buy("09:00:00", "9000000000"), buy("09:01:00", "9000000000"))

    assert refusal.startswith("line 2: quantity ")


# What the file may look like ---------------------------------------------------------------------------


@pytest.mark.parametrize("delimiter", [",", ";", "\t"], ids=["comma", "semicolon", "tab"])
def test_columns_may_stand_in_any_order_whatever_parts_them_and_others_are_ignored(delimiter: str) -> None:
    fills = [buy("09:00:00", Notes="breakout"), sell("09:01:00", price="12")]
    table = list(csv.reader(file_of(*fills).decode().splitlines()))
    written = io.StringIO()
    csv.writer(written, delimiter=delimiter).writerows(reversed(row) for row in table)

    trades = [one.columns for one in candidates_in(written.getvalue().encode())]

    assert [told(trade) for trade in trades] == [("long", 1, 10, 12, 2)]


def test_a_file_with_a_header_and_no_fills_holds_no_trades() -> None:
    header = file_of({}).splitlines()[0]

    assert found_in(header) == []


# Over HTTP ---------------------------------------------------------------------------------------------


def verdicts(report: Any) -> list[tuple[int, str]]:
    return [(row["line"], row["verdict"]) for row in report["rows"]]


async def trades_of(client: httpx.AsyncClient, account_id: int) -> Any:
    """Oldest first."""
    answer = await client.get("/trades", params={"account_id": account_id})
    return list(reversed(answer.json()["data"]["trades"]))


async def test_a_later_export_closes_the_trade_that_was_open(client: httpx.AsyncClient) -> None:
    fills = [buy("09:00:00", "2", "10", Commission="1"), sell("09:01:00", "1", "12", Commission="1")]
    first = await create_import(client, file_of(*fills))
    account_id = first["account_id"]

    later = await create_import(
        client, file_of(*fills, sell("09:02:00", "1", "13", Commission="1")), account_id=account_id
    )

    (trade,) = await trades_of(client, account_id)
    assert verdicts(later) == [(2, "updated")]
    assert set(later["rows"][0]["changed"]) == {"exit_price", "closed_at", "gross_pnl", "fees"}
    assert (trade["quantity"], trade["exit_price"], trade["gross_pnl"], trade["fees"]) == (2, 12.5, 5, 3)
    assert trade["closed_at"] == "2026-03-09T09:02:00.000000Z"


async def test_a_later_export_that_turns_a_position_over_closes_it_and_adds_the_next(
    client: httpx.AsyncClient,
) -> None:
    first = await create_import(client, file_of(buy("09:00:00", "2", "10")))
    account_id = first["account_id"]

    later = await create_import(
        client, file_of(buy("09:00:00", "2", "10"), sell("09:01:00", "3", "12")), account_id=account_id
    )

    assert verdicts(later) == [(2, "updated"), (3, "new")]
    assert [(trade["direction"], trade["quantity"]) for trade in await trades_of(client, account_id)] == [
        ("long", 2),
        ("short", 1),
    ]


async def test_an_export_newest_first_knows_the_trades_of_one_oldest_first(
    client: httpx.AsyncClient,
) -> None:
    fills = [buy("09:00:00"), sell("09:01:00"), sell("09:01:00"), buy("09:02:00"), buy("09:03:00")]
    first = await create_import(client, file_of(*fills))

    again = await create_import(client, file_of(*reversed(fills)), account_id=first["account_id"])

    assert again["counts"] == {"new": 0, "duplicate": 3, "updated": 0, "error": 0}


async def test_fills_of_several_accounts_go_where_they_belong(client: httpx.AsyncClient) -> None:
    live, sim = [(await create_account(client, name))["id"] for name in ("Live", "Sim")]
    file = file_of(
        buy("09:00:00", price="10", account="Live"),
        buy("09:00:00", price="10", account="Sim"),
        sell("09:01:00", price="11", account="Sim"),
    )

    report = unwrap(await send_file(client, file))

    assert verdicts(report) == [(2, "new"), (3, "new")]
    assert [trade["gross_pnl"] for trade in await trades_of(client, live)] == [None]
    assert [trade["gross_pnl"] for trade in await trades_of(client, sim)] == [1]


async def test_what_the_file_does_not_state_stays_as_the_trader_has_it(client: httpx.AsyncClient) -> None:
    first = await create_import(client, file_of(buy("09:00:00", "1", "10")))
    account_id = first["account_id"]
    (trade,) = await trades_of(client, account_id)
    await client.patch(f"/trades/{trade['id']}", json={"fees": 2.5})

    await create_import(
        client, file_of(buy("09:00:00", "1", "10"), sell("09:01:00", "1", "12")), account_id=account_id
    )

    (trade,) = await trades_of(client, account_id)
    assert (trade["gross_pnl"], trade["fees"], trade["net_pnl"]) == (2, 2.5, -0.5)


# Against the simplest reading --------------------------------------------------------------------------

SOME = tried(full=60, short=12)


class Execution(NamedTuple):
    """Whole shares at whole cents."""

    symbol: str
    quantity: int  # negative when sold
    cents: int
    cost: int  # in cents


EXECUTIONS = st.lists(
    st.builds(
        Execution,
        symbol=st.sampled_from(["NVTA", "CRVS"]),
        quantity=st.integers(-4, 4).filter(bool),
        cents=st.integers(-300, 3000),
        cost=st.integers(-50, 200),
    ),
    max_size=40,
)


def fill_of(number: int, execution: Execution) -> dict[str, str]:
    """As it stands in a file; each a second after the one before."""
    return {
        "Time": clock_of(number),
        "Symbol": execution.symbol,
        "Quantity": str(abs(execution.quantity)),
        "Price": str(Decimal(execution.cents) / 100),
        "Side": "Buy" if execution.quantity > 0 else "Sell",
        "Commission": str(Decimal(execution.cost) / 100),
    }


def clock_of(number: int) -> str:
    return f"09:{number // 60:02}:{number % 60:02}"


class Naive:
    """A trade share by share: what was paid to open it, and what came in by all its shares, in cents."""

    def __init__(self, symbol: str, number: int, sign: int) -> None:
        self.symbol, self.opened_at, self.sign = symbol, clock_of(number), sign
        self.closed_at: str | None = None
        self.opened: list[int] = []
        self.closed: list[int] = []

    @property
    def cash(self) -> int:
        return self.sign * (sum(self.closed) - sum(self.opened))


def naive_trades(executions: Iterable[Execution]) -> list[Naive]:
    """Every share for itself; a symbol is flat when as many were sold as were bought."""
    trades: list[Naive] = []
    held: dict[str, Naive] = {}
    for number, execution in enumerate(executions):
        sign = 1 if execution.quantity > 0 else -1
        for _ in range(abs(execution.quantity)):
            if execution.symbol not in held:
                held[execution.symbol] = Naive(execution.symbol, number, sign)
                trades.append(held[execution.symbol])
            trade = held[execution.symbol]
            (trade.opened if sign == trade.sign else trade.closed).append(execution.cents)
            if len(trade.opened) == len(trade.closed):
                trade.closed_at = clock_of(number)
                del held[execution.symbol]
    return trades


def average(cents: Sequence[int]) -> int:
    return round(Fraction(sum(cents) * 10**6, len(cents)))


@SOME
@given(executions=EXECUTIONS)
def test_trades_are_those_of_share_by_share(executions: list[Execution]) -> None:
    trades = trades_in(*(fill_of(*numbered) for numbered in enumerate(executions)))

    expected = naive_trades(executions)
    assert [
        (trade["symbol"], trade["direction"], *clocks(trade), trade["quantity"], trade["entry_price"])
        for trade in trades
    ] == [
        (
            *(one.symbol, "long" if one.sign > 0 else "short", one.opened_at, one.closed_at),
            *(len(one.opened) * 10**8, average(one.opened)),
        )
        for one in expected
    ]
    assert [(trade["exit_price"], trade["gross_pnl"]) for trade in trades] == [
        (average(one.closed), one.cash * 10**6) if one.closed_at else (None, None) for one in expected
    ]


@SOME
@given(executions=EXECUTIONS)
def test_no_cent_and_no_share_is_lost(executions: list[Execution]) -> None:
    trades = trades_in(*(fill_of(*numbered) for numbered in enumerate(executions)))

    still_open = [one for one in naive_trades(executions) if not one.closed_at]
    earned = sum(trade["gross_pnl"] or 0 for trade in trades) + sum(one.cash for one in still_open) * 10**6
    assert earned == -sum(one.quantity * one.cents for one in executions) * 10**6
    assert sum(trade["fees"] for trade in trades) == sum(one.cost for one in executions) * 10**6
    closed: defaultdict[str, int] = defaultdict(int)
    for trade in trades:
        closed[trade["symbol"]] += trade["quantity"] * (2 if trade["closed_at"] else 1)
    partly = sum(len(one.closed) for one in still_open)
    assert sum(closed.values()) == (sum(abs(one.quantity) for one in executions) - partly) * 10**8


@SOME
@given(executions=EXECUTIONS, shuffle=st.randoms(use_true_random=False))
def test_the_order_of_the_lines_changes_nothing(executions: list[Execution], shuffle: random.Random) -> None:
    fills = [fill_of(*numbered) for numbered in enumerate(executions)]
    shuffled = shuffle.sample(fills, len(fills))

    before, after = trades_in(*fills), trades_in(*shuffled)

    assert sorted(before, key=by_id) == sorted(after, key=by_id)


def by_id(trade: dict[str, Any]) -> str:
    return str(trade["external_id"])


@SOME
@given(executions=EXECUTIONS, end=st.integers(0, 40))
def test_an_export_knows_every_trade_of_an_earlier_one(executions: list[Execution], end: int) -> None:
    fills = [fill_of(*numbered) for numbered in enumerate(executions)]

    earlier, later = trades_in(*fills[:end]), trades_in(*fills)

    assert {by_id(trade) for trade in earlier} <= {by_id(trade) for trade in later}
    closed = {by_id(trade): trade for trade in later}
    assert all(closed[by_id(trade)] == trade for trade in earlier if trade["closed_at"])


COLUMNS = (
    *("Date", "Time", "Symbol", "Quantity", "Price", "Side", "Commission", "Execution ID", "Multiplier"),
    *("Account", "Expiration", "Strike", "Call/Put", "Option"),
)
GOOD = {
    "Date": ["3/9/2026", "2026-03-10"],
    "Time": ["09:00:00", "9:01 AM"],
    "Symbol": ["NVTA", "CRVS"],
    "Quantity": ["1", "-2.5", "10000000000"],
    "Price": ["10", "-1.5", "0", "10000000000"],
    "Side": ["Buy", "SS", ""],
    "Strike": ["", "", "18"],
    "Expiration": ["", "17 Apr 26"],
    "Call/Put": ["", "", "Put"],
}
ANY_CELL = st.one_of(
    st.text(max_size=12),
    st.sampled_from(["", " ", "0", "-1", "nan", "1e9", "\0", "\n", '"', "1,5", "(5)", "\u3000"]),
    st.text("0123456789.,$()+-: /APMT", max_size=20),
)


@st.composite
def row_of_fill(draw: st.DrawFn) -> dict[str, str]:
    """Most often one that can be read, else with one cell of anything."""
    row = {column: draw(st.sampled_from(GOOD.get(column, [""]))) for column in COLUMNS}
    if draw(st.integers(0, 4)) == 0:
        row[draw(st.sampled_from(COLUMNS))] = draw(ANY_CELL)
    return row


@tried(full=150, short=30)
@given(table=st.lists(row_of_fill(), max_size=8))
def test_whatever_the_cells_hold_a_file_is_trades_and_rejected_lines(table: list[dict[str, str]]) -> None:
    file = file_of(*table)

    found = found_in(file)

    lines = [one.line if isinstance(one, Rejected) else one.imported.line for one in found]
    assert lines == sorted(set(lines))
    assert all(2 <= line <= file.count(b"\n") + file.count(b"\r") + 1 for line in lines)


async def test_an_older_file_leaves_a_trade_that_was_reopened_by_hand_open(client: httpx.AsyncClient) -> None:
    account = await create_account(client)
    header = "Date,Time,Symbol,Quantity,Price,Side"
    opened = f"{header}\n3/9/2026,09:00:00,ES,1,6000,Buy\n"
    closed = f"{opened}3/9/2026,09:01:00,ES,1,6002,Sell\n"
    report = await create_import(client, closed, account_id=account["id"])
    trade_id = report["rows"][0]["trade_id"]
    await client.patch(f"/trades/{trade_id}", json={"closed_at": None})

    await create_import(client, opened, account_id=account["id"])

    trade = unwrap(await client.get(f"/trades/{trade_id}"))
    assert (trade["closed_at"], trade["gross_pnl"]) == (None, None)
