"""What is particular to a format, as rows of tables: cells, and the trade or the error that they make.

Each format has a plain row; a case names the cells that differ. A cell of None leaves its column out.
"""

import codecs
from collections.abc import Callable
from typing import Any

import pytest
from factories import read_file
from file_positions import FileTrade, read_positions_of
from file_tables import SAMPLES, read_errors, read_rows, read_trade, read_trades, write_file
from hypothesis import given
from hypothesis import strategies as st
from plain_rows import FEES, PLAIN, Cells
from proofs import max_examples
from saved_journals import for_rows

from journal_api.errors import ValidationFailed
from journal_api.positions.import_rows import Rejected

DAY = "02/12/2026 "
NO_COSTS = {"Commissions": None, "Fees": None}
# TradeZella: bought at 8.065 and sold at 10.744, the market fell.
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
OPEN = {"Close Date": "", "Close Time": "", "Avg Sell Price": "", "Gross P&L": "0.0", "Net P&L": "0.0"}


def cells_of(*columns: str) -> Callable[..., Cells]:
    """A function from the cells of these columns."""
    return lambda *cells: dict(zip(columns, cells, strict=True))


zella = cells_of("Avg Buy Price", "Avg Sell Price", "Quantity", "Gross P&L", "Net P&L")
meta = cells_of("Type", "Volume", "Price", "Price 2", "Profit")
vue = cells_of("Entry Price", "Exit Price", "Volume", "Gross P&L")
ninja = cells_of("Market pos.", "Qty", "Entry price", "Exit price", "Profit")
pair = cells_of("Bought Timestamp", "Sold Timestamp", "Buy Fill ID", "Sell Fill ID")

READ: list[tuple[str, str, Any, dict[str, Any]]] = [
    # format, what it shows, cells, members of the trade
    *(("round trips", f"an amount of {cell!r}", {"gross_pnl": cell}, {"gross_pnl": amount})
      for cell, amount in [("615.", "615"), ("0001.50", "1.5"), ("(45.25)", "-45.25"), ("-0.00", "0"),
                           ("0.00000001", "0.00000001"), ("10000000000", "10000000000"),
                           ("123456789.012345", "123456789.012345")]),
    *(("round trips", f"a {direction} by {word!r}", {"direction": word}, {"direction": direction})
      for direction, words in [("long", ("long", "Buy", " B ", "bot", "COMPRA", "kauf")),
                               ("short", ("short", "Sell", " S ", "sld", "VENDA", "verkauf"))]
      for word in words),
    *(("MetaTrader 5", f"a half is rounded to the even digit: {cell}", {"Price 2": cell},
       {"exit_price": price})
      for cell, price in [("1.000000005", "1"), ("1.000000015", "1.00000002")]),
    *(("Tradovate", f"the fill that came first is the entry: {what}", cells,
       {"direction": direction, "entry_price": entry, "exit_price": leave, "gross_pnl": "-70.5"})
      for direction, entry, leave, cases in [
          ("long", "22510.25", "22498.5", {
              "bought first": pair(DAY + "10:00:00", DAY + "10:00:01", "9", "8"),
              "one second, bought first": pair(DAY + "10:00:00", DAY + "10:00:00", "8", "9")}),
          ("short", "22498.5", "22510.25", {
              "sold first": pair(DAY + "10:00:01", DAY + "10:00:00", "8", "9"),
              "one second, sold first": pair(DAY + "10:00:00", DAY + "10:00:00", "9", "8"),
              "ids are numbers": pair(DAY + "10:00:00", DAY + "10:00:00", "10", "9")})]
      for what, cells in cases.items()),
    ("NinjaTrader", "profit is net of all costs, the strategy is not read, nor a number", {},
     {"gross_pnl": "32.5", "fees": "3.46", "unstated": [], "strategy": None, "external_id": None}),
    ("NinjaTrader", "some costs are hidden", {"IP Fee": None, "NFA Fee": None},
     {"gross_pnl": "32.38", "fees": "3.34"}),
    ("NinjaTrader", "all costs are hidden", FEES, {"gross_pnl": "29.04", "fees": "0", "unstated": []}),
    ("NinjaTrader", "empty costs", {"Clearing Fee": "", "NFA Fee": " "}, {"fees": "3"}),
    ("NinjaTrader", "a loss of a short", ninja("Short", "1", "21540.50", "21556.00", "($313.46)"),
     {"direction": "short", "multiplier": "20", "gross_pnl": "-310"}),
    ("NinjaTrader", "equal prices: the point value of an MES",
     ninja("Long", "2", "6012.25", "6012.25", "($3.46)"), {"multiplier": "5", "unstated": ["multiplier"]}),
    ("NinjaTrader", "hidden optional columns",
     {"Account": None, "Trade number": None, "Strategy": None, **FEES}, {"account": None}),
    *(("NinjaTrader", f"excursions {mae!r} and {mfe!r}", {"MAE": mae, "MFE": mfe}, dict(zip(
        ("mae", "mfe"), expected, strict=True)))
      for mae, mfe, expected in (
        ("$10.00", "$35.00", ("10", "35")), ("-$ 10.00", "-$ 2.00", ("10", "0")),
        ("($10.00)", "$0.00", ("10", "0")), ("4", "8.25 ticks", (None, None)), ("", "0.29%", (None, None)))),
    ("MetaTrader 5", "the first time and price open, the second close", {},
     {"opened_at": "2026-01-12T09:15:04Z", "entry_price": "1.08412", "closed_at": "2026-01-12T16:42:31Z",
      "exit_price": "1.08655", "external_id": "285600114", "quantity": "0.5"}),
    ("MetaTrader 5", "no levels", {"S / L": None, "T / P": None},
     {"exit_price": "1.08655", "stop_loss": None}),
    ("MetaTrader 5", "a stop makes no initial risk", {}, {"stop_loss": "1.0825", "initial_risk": None}),
    *(("MetaTrader 5", f"the stop {stop!r} is none", {"S / L": stop}, {"stop_loss": None})
      for stop in ("", "0", "0.00000")),
    *(("MetaTrader 5", f"booked {commission} and {swap}", {"Commission": commission, "Swap": swap},
       {"gross_pnl": "121.5", "fees": fees})
      for commission, swap, fees in [("-1.40", "-0.35", "1.75"), ("-1.40", "1.86", "-0.46"),
                                     ("- 0.08", "0.00", "0.08"), ("-1 250.00", "0.00", "1250")]),
    ("MetaTrader 5", "closed in part", {"Volume": "0.10 / 0.30"}, {"quantity": "0.1"}),
    ("MetaTrader 5", "a short of gold", meta("sell", "0.10", "2 034.56", "2 041.18", "-66.20"),
     {"direction": "short", "multiplier": "100", "gross_pnl": "-66.2"}),
    ("MetaTrader 5", "a result in yen, changed", meta("buy", "0.20", "147.352", "148.011", "89.05"),
     {"multiplier": "675.64491654", "unstated": []}),
    ("MetaTrader 5", "equal prices", meta("buy", "1.00", "1.08412", "1.08412", "0.00"),
     {"multiplier": "1", "unstated": ["multiplier"]}),
    ("MetaTrader 5", "prices against the result", meta("buy", "1.00", "1.08412", "1.08400", "3.00"),
     {"multiplier": "1", "unstated": ["multiplier"]}),
    ("MetaTrader 5", "a stop however far away",
     {"S / L": "1", **meta("buy", "1000000", "1000000", "1000001", "1000000")}, {"stop_loss": "1"}),
    ("MetaTrader 4", "taxes are fees too", {},
     {"fees": "3.75", "symbol": "eurusd", "external_id": "81200114"}),
    ("TradeZella", "average prices", {}, {"entry_price": "25300", "exit_price": "25310", "multiplier": "20"}),
    ("TradeZella", "categories and risk are not read", {},
     {"tags": [], "setup": None, "strategy": None, "initial_risk": None, "symbol": "NQ"}),
    ("TradeZella", "the average buy price of a short is its entry",
     {"Side": "short", "Avg Sell Price": "25290.0"},
     {"direction": "short", "entry_price": "25300", "exit_price": "25290"}),
    *(("TradeZella", f"gross 400 and net {net}", {"Net P&L": net}, {"gross_pnl": "400", "fees": fees})
      for net, fees in [("395.4", "4.6"), ("400.0", "0"), ("401.0", "-1")]),
    ("TradeZella", "fees of a loss", zella("25300.0", "25290.0", "2.0", "-400.0", "-404.6"),
     {"fees": "4.6"}),
    ("TradeZella", "no net result", {"Net P&L": ""}, {"fees": "0", "unstated": ["fees"]}),
    *(("TradeZella", f"the point value of {what}", zella(*cells, cells[-1]),
       {"multiplier": value, "gross_pnl": gross, "unstated": []})
      for what, cells, value, gross in [
          ("euro", ("1.0825", "1.0826", "1.0", "12.5"), "125000", "12.5"),
          ("gasoline", ("2.1505", "2.151", "1.0", "21.0"), "42000", "21"),
          ("an averaged option", ("8.799", "9.756", "22.0", "2106.0"), "100", "2106"),
          ("an averaged share", ("10.333", "10.5", "300.0", "50.0"), "1", "50"),
          ("cents", ("1.0", "2.11", "0.37", "0.41"), "1", "0.41"),
          ("a converted result", ("18000.0", "18100.0", "1.0", "108.347123"), "1.08347123", "108.347123"),
      ]),
    *(("TradeZella", f"no point value: {what}", cells, {"multiplier": "1", "unstated": ["multiplier"]})
      for what, cells in [("no result", zella("25300.0", "25310.0", "2.0", "0.0", "0.0")),
                          ("equal prices", {"Avg Sell Price": "25300.0"}), ("open", OPEN)]),
    *(("TradeZella", f"an option, {side}, {what}",
       PUT | {"Side": side, "Avg Sell Price": price, "Gross P&L": gross, "Net P&L": gross},
       {"direction": direction, "multiplier": "100"})
      for side in ("long", "short")
      for what, price, gross, direction in [("bought, gained", "10.744", "3750.6", "long"),
                                            ("bought, lost", "5.386", "-3750.6", "long"),
                                            ("sold, gained", "5.386", "3750.6", "short")]),
    *(("TradeZella", f"a {right} viewed {side}, {what}",
       PUT | cells | {"Side": side, "Instrument": f"2026-03-20 560 {right}"}, {"direction": direction})
      for what, cells in [("open", OPEN), ("equal prices", {"Avg Sell Price": "8.065"}),
                          ("no result", {"Gross P&L": "0.0"}),
                          ("equal but for rounding", {"Avg Sell Price": "8.066", "Gross P&L": "-0.5"})]
      for right, side, direction in [("PUT", "short", "long"), ("PUT", "long", "short"),
                                     ("CALL", "long", "long"), ("CALL", "short", "short")]),
    ("TradeZella", "a contradiction within the rounding",
     zella("25300.0", "25300.001", "2.0", "-1.0", "-1.0"), {"direction": "long", "gross_pnl": "-1"}),
    *(("TradeZella", f"the name of an option: {kind} {instrument}",
       PUT | {"Spread Type": kind, "Instrument": instrument}, {"symbol": symbol})
      for kind, instrument, symbol in [
          ("single", "2026-03-20 560 PUT", "SPY 2026-03-20 560 PUT"),
          ("", "2026-03-20 560 put", "SPY 2026-03-20 560 put"),
          ("vertical", "2026-03-20 560/570", "SPY 2026-03-20 560/570"),
          ("single", "2026-03-20 560/570/580/590 MANY CALL", "SPY 2026-03-20 560/570/580/590 MANY CALL"),
          ("single", "2" * 37, "SPY"),
      ]),
    *(("TradeZella", f"times in {zone} on {day}",
       {"Open Date": day, "Close Date": day, "Open Time": f"12:00:00 {zone}",
        "Close Time": f"12:31:42 {zone}"},
       {"opened_at": f"{day}T{utc:02}:00:00Z", "closed_at": f"{day}T{utc:02}:31:42Z"})
      for zone, utc in [("UTC", 12), ("GMT", 12), ("EDT", 16), ("EST", 17), ("CDT", 17), ("CST", 18),
                        ("MDT", 18), ("MST", 19), ("PDT", 19), ("PST", 20), ("AEST", 2)]
      for day in ["2026-02-09"]),
    ("TradeZella", "no zone: of the import", {"Open Time": "12:31:42", "Close Time": "12:58:32"},
     {"opened_at": "2026-02-09T12:31:42Z"}),
    ("TradeZella", "open", OPEN | {"Gross P&L": "120.0", "Net P&L": "117.5"},
     {"closed_at": None, "exit_price": None, "gross_pnl": None, "fees": "2.5"}),
    *(("Tradervue", f"a volume of {volume}", {"Volume": volume}, {"quantity": quantity})
      for volume, quantity in [("400", "200"), ("1", "0.5"), ("1,000", "500"), ("0.05", "0.025")]),
    ("Tradervue", "the file's result", {"Exec Count": "3", "Gross P&L": "-15.7281"},
     {"gross_pnl": "-15.7281"}),
    ("Tradervue", "excursions of the position", {"Position MAE": "-31.5", "Price MAE": "-0.21",
                                                  "Position MFE": "-2"}, {"mae": "31.5", "mfe": "0"}),
    ("Tradervue", "excursions under names in capitals", {"Position MAE": None, "Position MFE": None,
     "POSITION MAE": "-31.5", "POSITION MFE": "280.5"}, {"mae": "31.5", "mfe": "280.5"}),
    ("Tradervue", "tags are not read", {}, {"tags": [], "initial_risk": "112.5"}),
    *(("Tradervue", f"costs {commissions!r} and {fees!r}", {"Commissions": commissions, "Fees": fees},
       {"fees": paid, "unstated": []})
      for commissions, fees, paid in [("3", "0.3", "3.3"), ("3", "", "3"), ("", "0.3", "0.3"),
                                      ("3", "-0.5", "2.5")]),
    *(("Tradervue", f"costs not stated: {cells}", cells, {"fees": "0", "unstated": ["fees"]})
      for cells in [NO_COSTS, {"Commissions": "", "Fees": ""}, {"Fees": None}, {"Commissions": None}]),
    *(("Tradervue", f"an initial risk of {risk!r} is none", {"Initial Risk": risk}, {"initial_risk": None})
      for risk in ("", "0", "0.0000", "-5")),
    *(("Tradervue", f"two fills show the point value of {what}", vue(*cells),
       {"multiplier": value, "unstated": []})
      for what, cells, value in [("an index", ("6012.25", "6014", "2", "87.5"), "50"),
                                 ("an option", ("2.15", "2.45", "10", "150"), "100"),
                                 ("a half", ("110.5", "110.75", "2", "3.125"), "12.5")]),
    *(("Tradervue", f"no point value: {cells}", cells, {"multiplier": "1", "unstated": ["multiplier"],
                                                       "gross_pnl": cells.get("Gross P&L", "350")})
      for cells in [{"Exec Count": "3", "Gross P&L": "340.585"}, {"Exec Count": "3", "Gross P&L": "26250"},
                    {"Exec Count": "", "Gross P&L": "17500"}, {"Gross P&L": "350.035"},
                    {"Gross P&L": "350.0001"}, {"Gross P&L": "-350"}, {"Gross P&L": "0"},
                    {"Exit Price": "248.15"}]),
    *(("Tradervue", f"notes {cell[:30]!r}", {"Notes": cell}, {"notes": notes})
      for cell, notes in [
          ("<p>in</p>\r\n\r\n<p>out</p>\n", "in\nout"),
          ("in<br>out<BR />again<ul><li>one</li><li>two</li></ul>", "in\nout\nagain\none\ntwo"),
          ('<p style="color: red">a <b>bold</b>  <em>move</em></p>', "a bold move"),
          ("<p>R&amp;D &lt;b&gt; 5&nbsp;&#8364;</p>", "R&D <b> 5 €"),
          ("<p>risk < 5 and reward > 3</p>", "risk < 5 and reward > 3"),
          ("seen<!-- <p>hidden</p> --> too", "seen too"),
          ("seen<!-- to the end", "seen"),
          ("<![if x]>seen<![endif]>", "seen"),
          ("<p><br></p>", None), (" ", None),
          (f"<p>{'a' * 9_999}&amp;cut</p>", "a" * 9_999 + "&"),
      ]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "cells", "expected"),
    [pytest.param(name, cells, expected, id=f"{name}: {what}") for name, what, cells, expected in READ],
)
def test_a_row_is_read(name: str, cells: Cells, expected: dict[str, Any]) -> None:
    trade = read_trade(write_file(PLAIN[name], cells))

    assert {member: trade[member] for member in expected} == expected


# By format and column, cells that are an error of their line and column.
REFUSED: dict[str, dict[str, list[str]]] = {
    "round trips": {
        "symbol": ["", "X" * 41, "E\tS"],
        "quantity": ["", "0", "-1"],
        "multiplier": ["0", "-50"],
        "direction": ["", "longer", "sell short"],
        "entry_price": ["", "1.000000001"],
        "exit_price": [""],
        "stop_loss": ["none"],
        "fees": ["free"],
        "initial_risk": ["0", "-5"],
        "grade": ["E", "a"],
        "opened_at": [
            *("", "2026-02-10", "02/10/2026 09:30:00", "2026-02-30 09:30:00", "2026-02-10 24:00:00"),
            *("2026-02-10 09:30:60", "1776000000", "2026-02-10T09:30:00+25:00"),
        ],
        "closed_at": ["2026-02-10 09:29:59", "yesterday"],
        "external_id": ["x" * 101],
        "notes": ["x" * 10_001, "a\0b"],
        "gross_pnl": [
            *("0x10", "Infinity", "1_000", "()", ".", "1.2.3", "5 USD", "(5", "5)", "(-45)", "(+45)", "1 00"),
            *("\N{FULLWIDTH DIGIT ONE}", "12,50", "1,2,3", "1,", "1234,567", "1,23.45", "12,3456"),
            *("10000000000.01", "-10000000001", "0.000000001", "9" * 5000),
            *(f"1.{'0' * 30}1", f"-1.{'0' * 120}1"),
        ],
    },
    "Tradovate": {
        "Buy Price": [""],
        "P/L": [""],
        "Buy Fill ID": ["x1", "9" * 5000],
        "Sell Fill ID": ["\N{ARABIC-INDIC DIGIT ONE}", "-1"],
        "Paired Qty": ["-3"],
        "Bought Timestamp": ["2026-02"],
        "Sold Timestamp": ["02/12/2026 09:31:60", "02/30/2026 09:31:04"],
    },
    "NinjaTrader": {
        "Instrument": [""],
        "Market pos.": [""],
        "Qty": ["0", "-1"],
        "Entry time": ["", "1/6/2026", "2/30/2026 9:30:00 AM"],
        "Exit time": ["1/6/2026 13:00:00 PM"],
        "Profit": ["", "0.29%", "29.04", "$1e2", "ZZ$29.04", "$5.00-"],
        "Commission": ["free"],
        "NFA Fee": ["$"],
    },
    "MetaTrader 5": {
        "Time": ["", "2026.01.12", "2026.13.12 09:15:04", "46034.3855"],
        "Position": ["", "1.31812E+09", "12a", "\N{ARABIC-INDIC DIGIT ONE}", "9" * 101],
        "Type": ["", "buy limit", "balance"],
        "Volume": ["", "0", "-0.5", "0.10/0.30", "0.000000001"],
        "S / L": ["some"],
        "Commission": [""],
        "Swap": ["1,2,3"],
        "Profit": ["", "121.50 dollars"],
    },
    "MetaTrader 4": {"Type": [""], "Ticket": ["8.12E+07"], "Commission": [""], "Taxes": [""]},
    "TradeZella": {
        "Side": [""],
        "Quantity": ["0.0", "-2.0"],
        "Avg Sell Price": [""],
        "Gross P&L": [""],
        "Net P&L": ["some"],
        "Open Time": ["", "25:00:00 EST", "12:31:42 BST", "12:31:42 AM", "12:31:42 est"],
        "Close Date": ["yesterday"],
        "Close Time": ["", "noon EST"],
        "Instrument": ["\x01"],
    },
    "Tradervue": {
        "Open Datetime": [""],
        "Close Datetime": ["2026-03-32 09:58:30"],
        "Side": [""],
        "Volume": ["", "0", "-400", "0.00000001"],
        "Exec Count": ["two"],
        "Exit Price": [""],
        "Gross P&L": ["", "Inf"],
        "Notes": ["a\0b", f"&#{'9' * 5000};"],
    },
}


@pytest.mark.parametrize(
    ("name", "column", "cell"),
    [
        pytest.param(name, column, cell, id=f"{name}: {column} {cell[:12]!r}")
        for name, columns in REFUSED.items()
        for column, cells in columns.items()
        for cell in cells
    ],
)
def test_a_wrong_cell_is_an_error_of_its_line_and_column(name: str, column: str, cell: str) -> None:
    plain = {column: "", **PLAIN[name]}

    wrong, _ = read_rows(write_file(plain, {column: cell}, {}))

    assert isinstance(wrong, Rejected)
    assert wrong.line == 2
    assert wrong.reason.startswith(f"{column} ")


TOO_MUCH = "10000000000"
REASONS: list[tuple[str, Cells, str]] = [
    *(("round trips", cells, reason) for cells, reason in [
        ({"quantity": "10000000000"}, "gross_pnl computed from the prices exceeds"),
        ({"opened_at": "2200-12-31T23:30:00-05:00", "exit_price": "", "closed_at": ""},
         "opened_at must be in the years"),
        ({"closed_at": "2201-01-01 00:00:00"}, "closed_at must be in the years"),
        ({"closed_at": ""}, "exit_price requires closed_at"),
        ({"closed_at": "", "exit_price": "", "gross_pnl": "3"}, "gross_pnl requires closed_at"),
        ({"exit_price": ""}, "exit_price is required"),
        ({"direction": "longer"}, "direction must be long or short"),
        ({"entry_price": "1.000000001"}, "entry_price must have at most 15 significant digits and 8 "),
        ({"fees": "1.000000001"}, "fees must have at most 19 significant digits and 8 decimals"),
    ]),
    ("NinjaTrader", {"Exit time": "1/6/2026 9:31:11 AM"}, "closed_at must not be before opened_at"),
    ("NinjaTrader", {"Profit": "3.25"}, "Profit must be money such as $20.00: export the grid"),
    ("NinjaTrader", {"Commission": f"${TOO_MUCH}"}, "Commission with the other fees must be between "),
    ("NinjaTrader", {"Profit": f"${TOO_MUCH}"}, "Profit before the fees must be between "),
    ("MetaTrader 5", {"Commission": f"-{TOO_MUCH}", "Swap": "-1"}, "Swap with Commission must be between "),
    ("MetaTrader 4", {"Taxes": f"-{TOO_MUCH}"}, "Swap with Commission and Taxes must be between "),
    ("TradeZella", {"Gross P&L": TOO_MUCH, "Net P&L": f"-{TOO_MUCH}"}, "Net P&L makes fees that must be "),
    ("TradeZella", {"Open Time": "12:31:42 IST"}, "Open Time must be in one of the zones UTC, GMT, EDT, "),
    *(("TradeZella", {"Spread Type": kind, "Avg Sell Price": "25290.0"}, "Side is long, but ")
      for kind in ("future", "stock", "Future", "forex", "crypto", "")),
    ("Tradervue", {"Commissions": TOO_MUCH, "Fees": "1"}, "Fees with Commissions must be between "),
    ("Tradervue", {"Close Datetime": ""}, "Close Datetime is empty, and Volume is not the quantity"),
]  # fmt: skip


@for_rows("name, cells, reason", REASONS)
def test_an_error_says_what_is_wrong(name: str, cells: Cells, reason: str) -> None:
    (error,) = read_errors(write_file(PLAIN[name], cells))

    assert error.startswith(f"line 2: {reason}")


# The reports of MetaTrader -------------------------------------------------------------------------------

PAGE = (SAMPLES / "metatrader5_history.html").read_text("utf-16")
COPY = (SAMPLES / "metatrader5_history.csv").read_bytes()
STATEMENT = (SAMPLES / "metatrader4_statement.html").read_text()


def trades_without_lines(content: bytes) -> list[dict[str, Any]]:
    return [trade | {"line": 0} for trade in read_trades(content)]


@for_rows(
    "content",
    [
        codecs.BOM_UTF16_BE + PAGE.encode("utf-16-be"),
        codecs.BOM_UTF8 + PAGE.encode(),
        PAGE.replace("\r\n", "").encode(),
        PAGE.replace('colspan="8"></td>', 'colspan="8">1.5</td>').encode(),
        COPY,
        PAGE[: PAGE.index("<b>Deals</b>")].encode(),
    ],
)
def test_a_report_of_metatrader_5_is_the_same_in_every_form(content: bytes) -> None:
    assert trades_without_lines(content) == trades_without_lines(PAGE.encode())


COMMAS = "," * 12


@pytest.mark.parametrize("total", ["", ",,,,,,,,,,-3.50,0.00,121.50\n"], ids=["no total", "a total"])
@pytest.mark.parametrize("section", ["Orders", "Deals", "Open Positions", "Working Orders"])
def test_the_positions_of_metatrader_5_end_at_the_next_section(section: str, total: str) -> None:
    after = f'{total}{section}{COMMAS}\n2026.01.12 09:15:04,1,EURUSD,buy,in{COMMAS}\n"not CSV"at all\n'

    assert len(read_trades(write_file(PLAIN["MetaTrader 5"], {}) + after.encode())) == 1


@pytest.mark.parametrize(
    ("symbol", "time", "price", "swap"),
    [
        ("Symbole", "Heure", "Prix", "Echange"),
        ("Ativo", "Horário", "Preço", "Swap"),
        ("Símbolo", "Fecha/Hora", "Precio", "Swap"),
    ],
)
def test_positions_of_metatrader_5_are_read_in_other_languages(symbol: str, time: str, price: str, swap: str) -> None:
    names = {"Symbol": symbol, "Time": time, "Price": price, "Swap": swap}
    content = write_file(PLAIN["MetaTrader 5"], {}).decode()
    for name, other in names.items():
        content = content.replace(name, other)

    assert len(read_trades(f"{content}Ordens{COMMAS}\n".encode())) == 1


@for_rows(
    "content",
    [
        PAGE[: PAGE.index("<b>Positions</b>")] + PAGE[PAGE.index("<b>Orders</b>") :],
        "Open Positions\nTime,Position,Symbol,Type,Volume,Price,S / L,Market Price,Swap,Profit,Comment\n",
    ],
)
def test_another_section_is_not_taken_for_positions(content: str) -> None:
    with pytest.raises(ValidationFailed, match="no known format"):
        read_file(content)


def test_a_row_of_a_report_with_a_shown_hidden_cell_is_refused_not_misread() -> None:
    (error,) = read_errors(PAGE.replace('class="hidden" colspan="8"', "", 1).encode())

    assert error.endswith("cells where the header has 13")


def test_an_error_of_a_report_names_the_line_on_which_the_row_ends() -> None:
    line = PAGE[: PAGE.index("89.05")].count("\n") + 2

    assert read_errors(PAGE.replace("89.05", "much").encode())[0].startswith(f"line {line}: Profit must ")


def test_a_comment_below_an_order_of_metatrader_4_is_skipped() -> None:
    comment = "<tr align=right><td colspan=9>&nbsp;</td><td>0</td><td colspan=4>my robot</td></tr>\n"
    deposit = '<tr align=right><td title="Deposit"'

    file = read_file(STATEMENT.replace(deposit, comment + deposit))

    assert len(read_positions_of(file)) == 3
    assert file.left_out.counts == {
        "Type is not buy or sell": 2,
        "is an open trade, of which a later report has the close": 1,
    }


@for_rows("name", ["MetaTrader 4", "MetaTrader 5"])
def test_a_summary_of_archived_trades_at_price_0_is_left_out(name: str) -> None:
    content = write_file(PLAIN[name], {}, {"Price": "0.00000", "Price 2": "0.00000", "Profit": "812.40"})

    file = read_file(content)

    assert len(read_positions_of(file)) == 1
    assert file.left_out.counts == {"both prices are 0: a summary of archived trades": 1}


# Interactive Brokers -------------------------------------------------------------------------------------

HEADER = (
    "Trades,Header,DataDiscriminator,Asset Category,Currency,Symbol,Date/Time,Quantity,T. Price,C. Price,"
    "Proceeds,Comm/Fee,Basis,Realized P/L,MTM P/L,Code\n"
)
TRADE = 'symbol="QLTX" dateTime="20260302;093105" quantity="1" tradePrice="40" buySell="BUY" levelOfDetail="EXECUTION"'


def order(
    category: str, symbol: str, quantity: str, price: str, value: str, level: str = "Order", minute: int = 0
) -> str:
    time = f'"2026-03-02, 10:{minute:02}:00"'
    return f"Trades,Data,{level},{category},USD,{symbol},{time},{quantity},{price},0,{value},-1,0,0,0,O\n"


def flex(*trades: str, statement: str = 'accountId="U1"') -> str:
    elements = "".join(f"<Trade {trade}/>" for trade in trades)
    return f"<FlexQueryResponse><FlexStatement {statement}>{elements}</FlexStatement></FlexQueryResponse>"


def test_a_flex_trade_without_an_account_has_the_account_of_its_statement_and_no_fees() -> None:
    trades = read_trades(flex(TRADE, f'accountId="U2" {TRADE}'))

    assert [(trade["account"], trade["unstated"]) for trade in trades] == [
        ("U1", ["fees", "multiplier"]),
        ("U2", ["fees", "multiplier"]),
    ]


@for_rows(
    "file, reason",
    [
        (flex(), "has no <Trade>: add Trades to the Flex Query"),
        ('<?xml version="1.0"?><Workbook/>', "is <Workbook>, and a Flex Query begins with <FlexQueryResponse>"),
        ("<FlexQueryResponse><Trade", "is not XML: unclosed token"),
        ("Statement,Header,Field Name,Field Value\n", "the statement has no section Trades"),
        (HEADER.replace("T. Price", "Price"), "it has no column 'T. Price'"),
    ],
)
def test_a_file_of_interactive_brokers_without_trades_says_what_is_missing(file: str, reason: str) -> None:
    with pytest.raises(ValidationFailed, match=reason):
        read_file(file)


def test_a_flex_query_or_a_row_of_a_statement_that_is_cut_is_an_error_of_its_line() -> None:
    begin = flex(TRADE).partition("</FlexStatement>")[0]
    row = order("Stocks", "QLTX", "1", "40", "-40").rpartition(",-1,")[0]

    assert read_rows(f"{begin}\n") == [Rejected(2, "is not XML: no element found")]
    assert read_rows(HEADER + row) == [Rejected(2, "has 11 cells where its header has 16")]


@for_rows(
    "category, price, value, multiplier",
    [
        ("Equity and Index Options", "1.05", "-105", "100"),
        ("Options On Futures", "12.25", "-612.5", "50"),
        ("Futures", "0.0067125", "-83906.25", "12500000"),
        ("Bonds", "98.5", "-0.985", "0.01"),
        ("Stocks", "0.0041", "-0", "1"),
    ],
)
def test_the_multiplier_of_an_order_follows_from_its_value(
    category: str, price: str, value: str, multiplier: str
) -> None:
    trade = read_trade(HEADER + order(category, "QLTX", "1", price, value))

    assert trade["multiplier"] == multiplier


def test_a_column_of_accounts_goes_before_the_account_of_the_statement() -> None:
    account = "Account Information,Header,Field Name,Field Value\nAccount Information,Data,Account,U1\n"
    buy = order("Stocks", "U2,QLTX", "1", "40", "-40")

    assert read_trade(account + HEADER.replace("Symbol", "Account,Symbol") + buy)["account"] == "U2"


# TradingView ---------------------------------------------------------------------------------------------

LEG = {
    "Trade #": "1",
    "Type": "Entry long",
    "Date and time": "2026-03-02 09:31",
    "Price USD": "100",
    "Size (qty)": "2",
    "Net P&L USD": "20",
}
EXIT = {"Type": "Exit long", "Date and time": "2026-03-02 10:31", "Price USD": "110"}


@for_rows(
    "legs, expected",
    [
        ([{}, EXIT], ("long", "110", "20", "1")),
        ([EXIT, {}], ("long", "110", "20", "1")),
        ([{}, EXIT | {"Signal": "Open"}], ("long", None, None, "1")),
        ([{}], ("long", None, None, "1")),
        ([{}, EXIT | {"Net P&L USD": "1000"}], ("long", "110", "1000", "50")),
    ],
)
def test_two_rows_of_tradingview_are_a_trade(legs: list[Cells], expected: tuple[Any, ...]) -> None:
    trade = read_trade(write_file(LEG, *legs))

    assert tuple(trade[name] for name in ("direction", "exit_price", "gross_pnl", "multiplier")) == expected


def test_a_list_of_tradingview_may_name_commissions_and_its_symbols_are_not_read() -> None:
    cells = {"Symbol": "OANDA:XAUUSD", "Commission USD": "0.5", "Net P&L USD": "19"}

    content = write_file(LEG, cells, EXIT | cells, {**cells, "Trade #": "2", "Symbol": ""})
    trades, warnings = read_trades(content), read_file(content).left_out.warnings

    assert warnings == ["the symbols that the file names are not read: its trades are of TradingView"]
    shown = [tuple(trade[name] for name in ("symbol", "gross_pnl", "fees")) for trade in trades]
    assert shown == [("TradingView", "20", "1"), ("TradingView", None, "0.5")]


@for_rows(
    "cells, expected",
    [
        ({"Adverse excursion %": "-1", "Adverse excursion USD": "-5"}, ("5", None)),
        ({"Run-up USD": "25", "Drawdown USD": "5", "Drawdown %": "2"}, ("5", "25")),
        ({"Favorable excursion %": "25"}, (None, None)),
    ],
)
def test_excursions_of_tradingview_are_in_money(cells: Cells, expected: tuple[Any, ...]) -> None:
    trade = read_trade(write_file(LEG, cells, {**EXIT, **cells}))

    assert (trade["mae"], trade["mfe"]) == expected


@for_rows(
    "legs, errors",
    [
        ([{}, {}], ["line 3: is not the other row of trade 1 in line 2"]),
        ([{}, EXIT | {"Type": "Exit short"}], ["line 3: is not the other row of trade 1 in line 2"]),
        ([EXIT], ["line 2: is the exit of trade 1, whose entry is missing"]),
        ([EXIT, {"Trade #": "x"}], ["line 3: Trade # must be the number of a trade ('x')"]),
        ([{}, EXIT | {"Type": "Exit"}], ["line 3: Type must be Entry or Exit with long or short ('Exit')"]),
        ([{"Trade #": str(n)} for n in range(10_001)], ["line 10002: is the 10001th row without its other row"]),
    ],
)
def test_rows_of_tradingview_without_their_other_row_are_errors(legs: list[Cells], errors: list[str]) -> None:
    assert read_errors(write_file(LEG, *legs)) == errors


# Whatever the cells hold ---------------------------------------------------------------------------------

CELLS = st.one_of(
    st.text(max_size=12),
    st.text("0123456789.,$()+-: /APMESTU", max_size=20),
    st.text("<>&#;!-/pbr x1", max_size=30),
    st.sampled_from(
        [
            *("", " ", "0", "-0", "-1", "1e9", "nan", "Inf", "9" * 30, "0.00000001", "10000000000"),
            *("-10000000000", "0.10 / 0.30", "Orders", "long", "single", "1 PUT", "x" * 300, "\0", "\n", '"'),
            *("1,5", "- 5", "($5.00)", "13/6/2026 01:00", "1.4.2026 0:27", "1970-01-01 00:00:00"),
            *("2200-12-31 23:59:59", "00:00:00 PST", "<![x[", "&#xD800;"),
        ]
    ),
    st.decimals(allow_nan=False, allow_infinity=False).map("{:f}".format),
)


@max_examples(full=600, ci=100)
@given(name=st.sampled_from(sorted(PLAIN)), data=st.data())
def test_whatever_the_cells_hold_each_row_is_a_trade_or_refused(name: str, data: st.DataObject) -> None:
    cells = st.dictionaries(st.sampled_from(sorted(PLAIN[name])), CELLS, max_size=6)
    changed = data.draw(st.lists(cells, max_size=3))
    ends = any("Orders" in map(str.strip, row.values()) for row in changed)

    file = read_file(write_file(PLAIN[name], {}, *changed), one_trade_is=lambda file_format: "row")
    rows = read_positions_of(file)

    assert isinstance(rows[0], FileTrade)
    assert len(rows) + file.left_out.counts.total() == 1 + len(changed) or "MetaTrader" in name or ends
    for row in rows:
        if isinstance(row, Rejected):
            assert row.reason
        else:
            amounts = [value for value in row.columns.values() if isinstance(value, int)]
            assert all(-(2**63) <= amount < 2**63 for amount in amounts)


TAGS = ["<tr>", "</tr>", "<td>", "</td>", '<td class="hidden">', '<td colspan="3">', "</table>", "<td"]
ODD = ['colspan="', "<!--", "-->", "<?", "<!", "<![x[", "<script>", "</", "&#", "&nbsp;"]
ROW = "<tr>" + "".join(f"<td>{cell}</td>" for cell in PLAIN["MetaTrader 5"].values()) + "</tr>"
HEAD = "<tr>" + "".join(f"<td>{name.removesuffix(' 2')}</td>" for name in PLAIN["MetaTrader 5"]) + "</tr>"


@max_examples(full=150, ci=30)
@given(pieces=st.lists(st.one_of(st.sampled_from([*TAGS, *ODD, ROW, HEAD]), CELLS), max_size=30))
def test_whatever_a_page_holds_only_trades_and_errors_come_out(pieces: list[str]) -> None:
    try:
        rows = read_rows("<table>" + "".join(pieces))
    except ValidationFailed:
        return
    assert all(isinstance(row, FileTrade) or (row.reason and row.line >= 1) for row in rows)
