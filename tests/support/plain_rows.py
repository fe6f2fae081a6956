"""A plain row of formats whose cells tests change: the cells by column name."""

import csv
from collections.abc import Mapping
from pathlib import Path

SAMPLES = Path(__file__).parents[1] / "data"

Cells = Mapping[str, str | None]
HEADER, *_, PAIR = csv.reader((SAMPLES / "tradovate_position_history.csv").read_text().splitlines())
PLAIN: dict[str, dict[str, str]] = {
    "round trips": {
        "symbol": "ES",
        "direction": "long",
        "quantity": "1",
        "entry_price": "6000",
        "opened_at": "2026-02-10 09:30:00",
        "closed_at": "2026-02-10 10:00:00",
        "exit_price": "6010",
    },
    # A long of three MNQ that lost 70.50.
    "Tradovate": dict(zip(HEADER, PAIR, strict=True)),
    # A long of two micros that earned 32.50, of which 3.46 were fees.
    "NinjaTrader": {
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
    },
    "MetaTrader 5": {
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
    },
    "MetaTrader 4": {
        "Ticket": "81200114",
        "Open Time": "2026.01.12 09:15:04",
        "Type": "buy",
        "Size": "0.50",
        "Item": "eurusd",
        "Price": "1.08412",
        "S / L": "1.08250",
        "Close Time": "2026.01.12 16:42:31",
        "Price 2": "1.08655",
        "Commission": "-3.50",
        "Taxes": "-0.25",
        "Swap": "0.00",
        "Profit": "121.50",
    },
    # A long of two NQ from 25,300 to 25,310, in winter.
    "TradeZella": {
        "Account Name": "Futures",
        "Avg Buy Price": "25300.0",
        "Avg Sell Price": "25310.0",
        "Close Date": "2026-02-09",
        "Close Time": "12:58:32 EST",
        "Entry Price": "25290.0",
        "Exit Price": "25320.0",
        "Gross P&L": "400.0",
        "Trade Risk": "150.0",
        "Instrument": "NQH6",
        "Spread Type": "future",
        "Mistakes": "chased, no plan",
        "Net P&L": "400.0",
        "Open Date": "2026-02-09",
        "Open Time": "12:31:42 EST",
        "Setups": "Break",
        "Side": "long",
        "Playbook": "Opening range",
        "Symbol": "NQ",
        "Quantity": "2.0",
        "Zella Score": "50.0",
    },
    # A long of 200 TSLA.
    "Tradervue": {
        "Open Datetime": "2026-03-02 09:41:07",
        "Close Datetime": "2026-03-02 09:58:30",
        "Symbol": "TSLA",
        "Side": "L",
        "Volume": "400",
        "Exec Count": "2",
        "Entry Price": "248.15",
        "Exit Price": "249.90",
        "Gross P&L": "350",
        "Notes": "",
        "Tags": "patience",
        "Commissions": "3",
        "Fees": "0.3",
        "Initial Risk": "112.5",
    },
}
FEES: Cells = dict.fromkeys(["Commission", "Clearing Fee", "Exchange Fee", "IP Fee", "NFA Fee"])
