"""Whole files as brokers write them today: what stands around the table, and other forms of known formats."""

from factories import read_file
from file_positions import FileTrade, read_positions_of
from file_tables import SAMPLES, show_trade
from saved_journals import for_rows

from journal_api.positions.import_rows import Rejected

FIDELITY = """\


Run Date,Action,Symbol,Description,Type,Price ($),Quantity,Commission ($),Fees ($),Amount ($)
03/12/2026,"YOU SOLD CLOSING TRANSACTION CALL (QLTX) (Margin)", -QLTX260417C65,CALL,Margin,3.10,-1,,0.02,309.98
03/11/2026,"DIVIDEND RECEIVED QLTX (Cash)",QLTX,QLTX INC,Cash,,0.000,,,12.00
03/10/2026,"YOU BOUGHT OPENING TRANSACTION CALL (QLTX) (Margin)", -QLTX260417C65,CALL,Margin,2.50,1,,0.02,-250.02

"The data in this spreadsheet is provided to you solely for your use, and"
"is not for distribution."

Date downloaded 03/31/2026 12:46 am
"""
FIDELITY_OF_ALL_ACCOUNTS = """\
Run Date,Account,Account Number,Action,Symbol,Type,Exchange Quantity,Price,Quantity,Commission,Fees,Amount
03/12/2026,"Brokerage","333",YOU SOLD QLTX INC,QLTX,Margin,0,31.00,-10,,0.05,309.95
03/10/2026,"Brokerage","333",YOU BOUGHT QLTX INC,QLTX,Margin,0,25.00,10,,,-250.00


Date downloaded 03/31/2026 3:00 pm
"""
METATRADER_ROW = (
    "<tr><td>{}</td><td>2026.03.12 09:57:14</td><td>buy</td><td>0.02</td><td>eurusd</td><td>1.10</td><td>0</td>"
    "<td>0</td><td>2026.03.12 10:57:14</td><td>1.11</td><td>-0.04</td><td>0</td><td>0</td><td>20</td></tr>\n"
)
METATRADER = (
    "<table><tr><td colspan=14>Closed Transactions:</td></tr><tr>"
    + "<td>Ticket</td><td>Open Time</td><td>Type</td><td>Size</td><td>Item</td><td>Price</td><td>S / L</td>"
    + "<td>T / P</td><td>Close Time</td><td>Price</td><td>Commission</td><td>Taxes</td><td>Swap</td><td>Profit</td>"
    + "</tr>\n"
    + METATRADER_ROW.format(1)
    + "<tr><td colspan=9>&nbsp;</td><td>21000</td><td colspan=3>[tp]</td></tr>\n"
    + METATRADER_ROW.format(2)
    + "<tr><td colspan=9>&nbsp;</td><td>21000</td><td colspan=3>&nbsp;</td></tr>\n</table>"
)
WEBULL = """\
Name,Symbol,Side,Status,Filled,Total Qty,Price,Avg Price,Time-in-Force,Placed Time,Filled Time
QLTX Vertical,,Sell,Filled,2,2,@1.20,1.20,DAY,03/06/2026 10:38:00 EST,03/06/2026 10:38:29 EST
,QLTX260320P00457000,Sell,Filled,2,2,@5.88,5.88,DAY,03/06/2026 10:38:00 EST,03/06/2026 10:38:29 EST
,QLTX260320P00452000,Buy,Filled,2,2,@4.68,4.68,DAY,03/06/2026 10:38:00 EST,03/06/2026 10:38:29 EST
QLTX Vertical,,Buy,Cancelled,0,2,@0.20,,DAY,03/06/2026 10:40:00 EST,
,QLTX260320P00457000,Buy,Cancelled,0,2,@5.00,,DAY,03/06/2026 10:40:00 EST,
X,QLTX260320P01457000,Sell,Filled,1,1,@0.22,0.22,DAY,03/06/2026 12:55:33 EST,03/06/2026 12:55:34 EST
X,QLTX 03/20/2026 00:00:00 EDT Put $1457.00,Buy,Filled,1,1,@0.20,0.20,DAY,\
03/06/2026 12:43:37 EST,03/06/2026 12:44:21 EST
"""
TRADINGVIEW = """\
Trade number,Type,Date and time,Signal,Price USDT,Size (qty),Size (value),Net PnL USD,Net PnL %
1,Exit short,2026-03-12 22:00,close,2198,1,2181,-17.07,-0.78
1,Entry short,2026-03-12 21:45,open,2181,1,2181,-17.07,-0.78
"""
WORKING_ORDERS = """\
Working Orders
"Account","Status","Buy/Sell","Symbol","Qty Filled","Order Number","Update Time (EDT)","Avg Fill Price"


"""
REPEATED = """\
Symbol,Markets,Side,Status,Filled,Avg Price,Filled Time,Markets
QLTX,US,Sell,Filled,1e1,6.71e-05,03/06/2026 10:38:29 EST,US
QLTX,US,Buy,Filled,10,5.71E-05,03/06/2026 10:37:29 EST,US
QLTX260320P00457000,US,Sell,Filled,1,0.22,03/06/2026 10:48:29 EST,US
QLTX 3/20/26 Put $457,US,Buy,Filled,1,0.20,03/06/2026 10:47:29 EST,US
"""
FILES: dict[str, tuple[str, str, list[tuple[str, str | None]], dict[str, int]]] = {
    # content, format, symbol and gross P&L of the trades, rows left out
    "a disclaimer below the table": (
        FIDELITY,
        "Fidelity history",
        [("QLTX260417C00065000", "60")],
        {
            "Action is not YOU BOUGHT* or YOU SOLD* or EXPIRED * or ASSIGNED * or EXERCISED *": 1,
            "is text below the table": 3,
        },
    ),
    "columns without a currency sign": (
        FIDELITY_OF_ALL_ACCOUNTS,
        "Fidelity history",
        [("QLTX", "60")],
        {"is text below the table": 1},
    ),
    "a row of magic number and comment under each trade": (
        METATRADER,
        "MetaTrader 4 statement",
        [("eurusd", "20"), ("eurusd", "20")],
        {},
    ),
    "spreads and long symbols": (
        WEBULL,
        "Webull orders",
        [("QLTX260320P00457000", None), ("QLTX260320P00452000", None), ("QLTX260320P01457000", "2")],
        {"Avg Price is empty": 2, "Symbol is empty": 1},
    ),
    "years of two digits": (
        (SAMPLES / "tradezero_trades.csv").read_text().replace("/2026", "/26").replace("/2025", "/25"),
        "TradeZero trades",
        [],
        {},
    ),
    "working orders above": (
        WORKING_ORDERS + (SAMPLES / "rithmic_orders.csv").read_text(),
        "Rithmic orders",
        [("MNQM6", "88.5")],
        {"Avg Fill Price is empty": 1},
    ),
    "a repeated column that is not read, exponents, two forms of an option": (
        REPEATED,
        "Webull orders",
        [("QLTX", "0.0001"), ("QLTX260320P00457000", "2")],
        {},
    ),
    "PnL in place of P&L": (TRADINGVIEW, "TradingView list of trades", [("TradingView", "-17.07")], {}),
}


@for_rows("content, name, trades, left_out", FILES.values())
def test_a_file_is_read_as_the_broker_writes_it(
    content: str, name: str, trades: list[tuple[str, str | None]], left_out: dict[str, int]
) -> None:
    file = read_file(content, "America/New_York")

    rows = read_positions_of(file)

    assert [row for row in rows if isinstance(row, Rejected)] == []
    found = [show_trade(row) for row in rows if isinstance(row, FileTrade)]
    assert (file.format, file.left_out.counts) == (name, left_out)
    assert found
    assert not trades or [(trade["symbol"], trade["gross_pnl"]) for trade in found] == trades


@for_rows(
    "below, warnings, left_out",
    [
        (
            "Commissions\nOrder ID,Commission\n2001,0.80\n2002,0.80\n",
            ["the table in line {} (Order ID, Commission) is not read and has costs that the trades lack"],
            {"is text below the table": 1, "is in another table: Order ID, Commission": 3},
        ),
        (
            "Holdings\nSymbol,Shares\nQLTX,20\n",
            ["the table in line {} (Symbol, Shares) is not read"],
            {"is text below the table": 1, "is in another table: Symbol, Shares": 2},
        ),
        ("For you, our client\nnot advice, nor an offer\n", [], {"is text below the table": 2}),
        ("Total,2\n", [], {"is text below the table": 1}),
    ],
)
def test_a_second_table_below_the_trades_is_told(below: str, warnings: list[str], left_out: dict[str, int]) -> None:
    above = (SAMPLES / "webull_orders.csv").read_text()
    file = read_file(f"{above}\n{below}", "America/New_York")

    rows = read_positions_of(file)

    assert [row for row in rows if isinstance(row, Rejected)] == []
    line = len(above.splitlines()) + 3
    assert file.left_out.warnings == [text.format(line) for text in warnings]
    for reason, number in left_out.items():
        assert file.left_out.counts[reason] == number


def test_what_changes_positions_is_told_of_rows_that_a_format_leaves_out() -> None:
    file = read_file(FIDELITY.replace("DIVIDEND RECEIVED QLTX (Cash)", "REVERSE SPLIT R/S FROM QLTX"))
    read_positions_of(file)

    told = "positions that these rows end or change stay as they are: Action is 'REVERSE SPLIT R/S FROM QLTX'"
    assert file.left_out.warnings == [told]
