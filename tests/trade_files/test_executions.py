"""Files of fills: docs/formats.md#executions."""

import random
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import pytest
from factories import Client, create_account, create_import
from file_tables import read_errors, read_rows, read_trade, read_trades, write_file
from positions import FileFill, book_positions, random_fills
from proofs import examples
from saved_journals import for_rows

from journal_api.positions.import_rows import Rejected

Fill = dict[str, str]
# A bought share at nine; a cell that a test does not name is this one's.
PLAIN = dict(
    zip(
        ("Date", "Time", "Symbol", "Quantity", "Price", "Side"),
        ("3/9/2026", "09:00:00", "NVTA", "1", "10", "Buy"),
        strict=True,
    )
)
FIRST_ID: Any = {"Exec ID": "E-1"}
OPTION = {"Expiration": "2024-01-19", "Strike": "18", "Call/Put": "Call"}


def buy(minute: int = 0, quantity: str = "1", price: str = "10", **cells: str) -> Fill:
    return {"Time": f"09:{minute:02}:00", "Quantity": quantity, "Price": price, "Side": "Buy", **cells}


def sell(minute: int, quantity: str = "1", price: str = "10", **cells: str) -> Fill:
    return {**buy(minute, quantity, price, **cells), "Side": "Sell"}


def trades_in(*fills: Fill, **options: Any) -> list[dict[str, Any]]:
    """The trades that the fills make, in the order of the lines on which they begin."""
    return read_trades(write_file(PLAIN, *fills), **options)


def trade_in(*fills: Fill) -> dict[str, Any]:
    (trade,) = trades_in(*fills)
    return trade


def errors_of(*fills: Fill) -> list[str]:
    """The lines that are rejected; nothing else may come of the file."""
    content = write_file(PLAIN, *fills)
    assert all(isinstance(row, Rejected) for row in read_rows(content))
    return read_errors(content)


def show(trade: dict[str, Any]) -> tuple[Any, ...]:
    """Side, size, prices and result."""
    return tuple(trade[name] for name in ("direction", "quantity", "entry_price", "exit_price", "gross_pnl"))


BUYS = ["Buy", "buy", "B", "BOT", "Bought", "BTO", "BTC", "BC", " Buy "]
SELLS = ["Sell", "sell", "S", "SLD", "Sold", "SS", "Short", "Sell short", "STO", "STC", " Sell"]
READ: list[tuple[Fill, dict[str, Any]]] = [
    *(({"Side": side}, {"direction": "long"}) for side in BUYS),
    *(({"Side": side}, {"direction": "short"}) for side in SELLS),
    *(
        ({"Side": side, "Quantity": quantity}, {"direction": direction, "quantity": "5"})
        for quantity in ("5", "-5", "(5)", "+5.00")
        for side, direction in (("Buy", "long"), ("Sell", "short"))
    ),
    ({"Side": "", "Quantity": "0.25"}, {"direction": "long", "quantity": "0.25"}),
    ({"Side": "", "Quantity": "-0.25"}, {"direction": "short", "quantity": "0.25"}),
    ({}, {"unstated": ["fees", "multiplier"], "fees": "0", "multiplier": "1"}),
    *(({column: ""}, {"unstated": ["multiplier"]}) for column in ("Commission", "ECNFee")),
    ({"Commission": "$1.00", "Fees": "0.10", "TransFee": "0.02", "ECNFee": "-0.30"}, {"fees": "0.82"}),
    ({"Multiplier": "50"}, {"multiplier": "50", "unstated": ["fees"]}),
    ({"Account": "Live"}, {"account": "Live"}),
    ({"account": "Live"}, {"account": "Live"}),
    *(({column: "E-1"}, {"external_id": "E-1"}) for column in ("Execution ID", "Exec ID", "Fill ID")),
    *(
        ({"Expiration": day, "Strike": strike, "Call/Put": right}, {"symbol": symbol, "multiplier": "100"})
        for day, strike, right, symbol in [
            ("2024-01-19", "470", "Call", "NVTA240119C00470000"),
            ("1/19/24", "470.50", "call", "NVTA240119C00470500"),
            ("01/19/2024", "$1,470", "C", "NVTA240119C01470000"),
            ("19 Jan 24", "2.5", "Put", "NVTA240119P00002500"),
            ("9-DEC-2024", "7", "p", "NVTA241209P00007000"),
        ]
    ),
    (OPTION | {"Multiplier": "10"}, {"multiplier": "10"}),
    (OPTION | {"Multiplier": "1"}, {"multiplier": "1"}),
    (OPTION | {"Symbol": "X" * 24}, {"symbol": "X" * 24 + " 2024-01-19 18 C"}),
    ({"Option": "JAN 24 18 CALL"}, {"symbol": "NVTA JAN 24 18 CALL", "multiplier": "100"}),
    (
        {"Symbol": "ES", "Expiration": "20 Mar 26", "Strike": "", "Call/Put": ""},
        {"symbol": "ES 2026-03-20", "multiplier": "50"},
    ),
    *(
        ({"Date": date, "Time": clock}, {"opened_at": "2026-03-09T14:05:09Z"})
        for date, clock in [
            ("3/9/2026", "14:05:09"),
            ("03/09/26", "2:05:09 PM"),
            ("03-09-2026", "02:05:09 pm"),
            ("2026-03-09", "14:05:09.000"),
            ("2026/3/9", " 14:05:09 "),
            ("2026.03.09", "14:05:09"),
        ]
    ),
]


@for_rows("cells, expected", READ)
def test_a_fill_is_read(cells: Fill, expected: dict[str, Any]) -> None:
    trade = trade_in(cells)

    assert {member: trade[member] for member in expected} == expected


REFUSED: dict[str, list[str]] = {
    "Date": ["", "2/30/2026"],
    "Time": ["", "09:30:00 EST", "0:15:00 AM", "13:15:00 PM"],
    "Symbol": ["", "X" * 41],
    "Quantity": ["", "0", "0.000000001"],
    "Price": ["", "10000000000.01", "1.000000001"],
    "Side": ["Long", "Cover", "1", "-"],
    "Commission": ["free"],
    "ECNFee": ["1e3"],
    "Multiplier": ["0", "-5"],
    "Execution ID": ["x" * 101],
    "Account": ["a\0b"],
    "Option": ["X" * 41],
}


@for_rows(
    "column, cells",
    [
        *((column, {column: cell}) for column, cells in REFUSED.items() for cell in cells),
        *(("Expiration", OPTION | {"Expiration": cell}) for cell in ("", "soon", "30 Feb 24")),
        *(("Strike", OPTION | {"Strike": cell}) for cell in ("", "0")),
        *(("Call/Put", OPTION | {"Call/Put": cell}) for cell in ("", "Cover")),
        ("Symbol with the rest of the contract", OPTION | {"Symbol": "X" * 25}),
    ],
)
def test_a_wrong_cell_is_an_error_of_its_line_and_column(column: str, cells: Fill) -> None:
    (error,) = errors_of(buy(), cells, sell(1))

    assert error.startswith(f"line 3: {column} ")


@for_rows(
    "fills, errors",
    [
        ([buy(**FIRST_ID), sell(1), buy(2, **FIRST_ID)], ["line 4: Exec ID 'E-1' is repeated"]),
        ([buy(Account="Sim", **FIRST_ID)] * 2, ["line 3: Exec ID 'E-1' is repeated"]),
        (
            [buy(Multiplier="50"), buy(Symbol="CRVS"), sell(1, Multiplier="5"), sell(2)],
            ["line 4: Multiplier must be the same", "line 5: Multiplier must be the same"],
        ),
        (
            [buy(), sell(1), {"Quantity": "none"}, buy(2), {"Price": "none"}],
            ["line 4: Quantity must be", "line 6: Price must be"],
        ),
        ([buy(0, "9000000000"), buy(1, "9000000000")], ["line 2: quantity computed from the fills must be"]),
        (
            [buy(0, "100000", "1"), sell(1, "100000", "1000000")],
            ["line 2: gross_pnl computed from the fills must be between -10000000000 and 10000000000"],
        ),
        ([{"Time": ""}], ["line 2: Time is required"]),
    ],
)
def test_fills_that_contradict_each_other_are_errors(fills: list[Fill], errors: list[str]) -> None:
    found = errors_of(*fills)

    assert [error[: len(begin)] for error, begin in zip(found, errors, strict=True)] == errors


def test_a_trade_out_of_range_is_the_error_of_its_line_alone() -> None:
    large = [buy(1, "100000", "1", Symbol="CRVS"), sell(2, "100000", "1000000", Symbol="CRVS")]
    rows = read_rows(write_file(PLAIN, buy(), *large))

    assert [row.line for row in rows if isinstance(row, Rejected)] == [3]
    assert len(rows) == 2


# What share by share, below, does not show.
ROUND_TRIPS: dict[str, tuple[list[Fill], list[tuple[Any, ...]]]] = {
    "each account is held apart": (
        [
            *(buy(0, account="Live"), sell(1, "1", "12", account="Sim")),
            *(sell(2, "1", "11", account="Live"), buy(3, "1", "13", account="Sim")),
        ],
        [("long", "1", "10", "11", "1"), ("short", "1", "12", "13", "-1")],
    ),
    "an average has eight decimals, the result is exact": (
        [buy(0, "1", "10.01"), buy(1, "2", "10.02"), sell(2, "3", "10.02")],
        [("long", "3", "10.01666667", "10.02", "0.01")],
    ),
    "an average has at most fifteen digits": (
        [
            *(buy(0, "1", "1000000000"), buy(1, "2", "1000000001")),
            *(sell(2, "2", "1000000002"), sell(3, "1", "1000000003")),
        ],
        [("long", "3", "1000000000.66667", "1000000002.33333", "5")],
    ),
    "a result keeps all its digits": (
        [buy(0, "2", "0"), sell(1, "1", "10000000"), sell(2, "1", "0.00000001")],
        [("long", "2", "0", "5000000", "10000000.00000001")],
    ),
    "a quantity has at most fifteen digits": (
        [buy(0, "100000000"), buy(1, "0.12345678")],
        [("long", "100000000.123457", "10", None, None)],
    ),
    "a result below the last decimal is rounded": (
        [buy(0, "0.00000001", "0.1", Multiplier="1"), sell(1, "0.00000001", "0.7", Multiplier="1")],
        [("long", "0.00000001", "0.1", "0.7", "0.00000001")],
    ),
    "a stated multiplier": (
        [buy(0, "2", "6000", Multiplier="50"), sell(1, "2", "6001.25", Multiplier="50")],
        [("long", "2", "6000", "6001.25", "125")],
    ),
    "a header alone": ([], []),
}


@for_rows("fills, expected", ROUND_TRIPS.values())
def test_fills_from_flat_to_flat_are_a_trade(fills: list[Fill], expected: list[tuple[Any, ...]]) -> None:
    assert [show(trade) for trade in trades_in(*fills)] == expected


@for_rows(
    "cost, shares",
    [
        ("1", ["0.33333333", "0.66666667"]),
        ("-0.9", ["-0.3", "-0.6"]),
        ("0.00000001", ["0", "0.00000001"]),
        ("0.00000002", ["0.00000001", "0.00000001"]),
    ],
)
def test_the_cost_of_a_fill_beyond_flat_is_split_by_quantity_to_the_last_decimal(cost: str, shares: list[str]) -> None:
    trades = trades_in(buy(0, "1"), sell(1, "3", Commission=cost), buy(2, "2"))

    assert [trade["fees"] for trade in trades] == shares


def test_no_cost_is_made_where_both_halves_would_be_rounded_up() -> None:
    trades = trades_in(buy(), sell(1, "2", Commission="0.00000003"), buy(2))

    assert sum(Decimal(trade["fees"]) for trade in trades) == Decimal("0.00000003")


@for_rows("is_newest_first", [False, True])
def test_fills_of_one_instant_are_in_the_order_of_the_file(is_newest_first: bool) -> None:
    fills = [buy(0, "1", "10"), sell(1, "2", "12"), buy(1, "3", "14"), sell(1, "2", "16")]

    trades = trades_in(*(reversed(fills) if is_newest_first else fills))

    assert sorted((show(trade) for trade in trades), key=lambda trade: float(trade[2])) == [
        ("long", "1", "10", "12", "2"),
        ("short", "1", "12", "14", "-2"),
        ("long", "2", "14", "16", "4"),
    ]


def test_symbols_one_after_another_do_not_make_a_file_newest_first() -> None:
    of_one = [buy(0, "1", "10"), sell(1, "2", "12"), buy(1, "1", "14")]

    trades = trades_in(*({**fill, "Symbol": symbol} for symbol in ("NVTA", "CRVS") for fill in of_one))

    assert [trade["gross_pnl"] for trade in trades] == ["2", "-2"] * 2


def test_trades_come_in_the_order_of_the_lines_on_which_they_begin() -> None:
    trades = trades_in(*(sell(5, Symbol="CRVS"), buy(1), buy(4, Symbol="CRVS"), sell(2), sell(0, Symbol="ABEV")))

    assert [trade["line"] for trade in trades] == [3, 4, 6]


def test_the_id_of_the_first_fill_is_the_id_of_the_trade() -> None:
    ids: list[Any] = [{"Exec ID": f"E-{number}"} for number in (1, 2, 3)]

    trades = trades_in(buy(0, **ids[0]), sell(1, "2", **ids[1]), buy(2, **ids[2]))
    of_two_accounts = trades_in(buy(Account="Live", **ids[0]), buy(Account="Sim", **ids[0]))

    assert [trade["external_id"] for trade in trades] == ["E-1", "E-2"]
    assert [trade["external_id"] for trade in of_two_accounts] == ["E-1", "E-1"]


ROUND_TRIP = [buy(0, "1000"), sell(1, "1000")]
# The same as another program writes it.
REWRITTEN = [{**fill, "Date": "2026-03-09", "Quantity": "-1,000", "Price": "10.0"} for fill in ROUND_TRIP]
REWRITTEN[0]["Time"] = "9:00 AM"


@for_rows(
    "earlier, later, verdicts",
    [
        (ROUND_TRIP, [*reversed(REWRITTEN)], ["duplicate"]),
        ([buy(), sell(1), buy(2), sell(3)], [buy(2), sell(3)], ["duplicate"]),
        ([buy(0, "2"), sell(1)], [buy(0, "2"), sell(1), sell(2)], ["updated"]),
        ([buy(), sell(0)] * 2, [buy(), sell(0)] * 3, ["duplicate", "duplicate", "new"]),
        ([buy()], [buy()] * 2, ["updated"]),
        ([buy()], [buy(Date="3/10/2026")], ["updated"]),
        ([buy()], [buy(Time="09:00:01")], ["updated"]),
        ([buy()], [sell(0)], ["updated"]),
        ([buy()], [buy(0, "2")], ["updated"]),
        ([buy()], [buy(0, "1", "10.01")], ["updated"]),
        ([buy()], [buy(Symbol="CRVS")], ["new"]),
        ([buy(Account="Live")], [buy(Account="Sim")], ["new"]),
    ],
)
async def test_a_fill_without_an_id_is_known_by_all_that_is_stated_of_it(
    client: Client, earlier: list[Fill], later: list[Fill], verdicts: list[str]
) -> None:
    account_id, _ = [(await create_account(client, name))["id"] for name in ("Live", "Sim")]
    if "Account" in earlier[0]:
        account_id = None
    found: list[list[str]] = []
    for fills in (earlier, later, later):
        report = await create_import(client, write_file(PLAIN, *fills), account_id=account_id)
        found.append([row["verdict"] for row in report["rows"]])

    assert found == [["new"] * len(found[0]), verdicts, ["duplicate"] * len(verdicts)]


def test_identical_fills_are_several() -> None:
    trades = trades_in(*[buy(), sell(0)] * 3, buy(), buy())

    assert [show(trade)[:2] for trade in trades] == [("long", "1")] * 3 + [("long", "2")]
    assert {trade["external_id"] for trade in trades} == {None}


def build_rows(fills: Iterable[FileFill], choose: random.Random) -> list[Fill]:
    """The fills as they stand in a file, each a second after the one before, with costs in cents."""
    return [
        {
            "Time": f"09:{number // 60:02}:{number % 60:02}",
            "Symbol": fill.symbol,
            "Quantity": str(abs(fill.quantity)),
            "Price": str(fill.price),
            "Side": "Buy" if fill.quantity > 0 else "Sell",
            "Commission": str(Decimal(choose.randint(-50, 200)) / 100),
        }
        for number, fill in enumerate(fills)
    ]


def by_opening(trades: Iterable[dict[str, Any]]) -> dict[tuple[str, str], dict[str, Any]]:
    return {(trade["symbol"], trade["opened_at"]): {**trade, "line": 0} for trade in trades}


@pytest.mark.soak
@for_rows("seed", range(examples(full=100, ci=20)))
def test_trades_are_those_of_the_book_whatever_the_order_of_lines_and_no_cent_is_lost(seed: int) -> None:
    choose, fills = random.Random(seed), random_fills(seed, 1 + 2 * seed)
    rows = build_rows(fills, choose)

    trades = trades_in(*rows)
    shuffled = trades_in(*choose.sample(rows, len(rows)))
    earlier = by_opening(trades_in(*rows[: choose.randint(1, len(rows))]))

    amounts = ("quantity", "entry_price", "exit_price", "gross_pnl")
    assert sorted((trade["direction"], *(Decimal(trade[name]) for name in amounts)) for trade in trades) == (
        sorted(
            (one["direction"], one["quantity"], *(round(one[name], 8) for name in ("entry", "exit", "gross")))
            for one in book_positions(fills)
        )
    )
    assert sum(Decimal(trade["fees"]) for trade in trades) == sum(Decimal(row["Commission"]) for row in rows)
    assert by_opening(shuffled) == by_opening(trades)
    assert earlier.keys() <= by_opening(trades).keys()
    assert all(by_opening(trades)[name] == trade for name, trade in earlier.items() if trade["closed_at"])


def test_columns_may_stand_in_any_order_and_others_are_ignored() -> None:
    turned = dict(reversed(PLAIN.items())) | {"Notes": "breakout"}

    trade = read_trade(write_file(turned, buy(), sell(1, "1", "12"), separator="\t"))

    assert show(trade) == ("long", "1", "10", "12", "2")
