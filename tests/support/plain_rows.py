"""A plain row of formats whose cells tests change: the cells by column name."""

import csv
from collections.abc import Mapping
from pathlib import Path

SAMPLES = Path(__file__).parents[1] / "data"
Cells = Mapping[str, str | None]


def read_row(file: str) -> dict[str, str]:
    """The last row of a file by the columns of its first."""
    header, *_, row = csv.reader(file.splitlines())
    return dict(zip(header, row, strict=True))


PLAIN: dict[str, dict[str, str]] = {
    "round trips": read_row(
        "symbol,direction,quantity,entry_price,opened_at,closed_at,exit_price\n"
        "ES,long,1,6000,2026-02-10 09:30:00,2026-02-10 10:00:00,6010"
    ),
    # A long of three MNQ that lost 70.50.
    "Tradovate": read_row((SAMPLES / "tradovate_position_history.csv").read_text()),
    # A long of two micros that earned 32.50, of which 3.46 were fees.
    "NinjaTrader": read_row(
        "Trade number,Instrument,Account,Strategy,Market pos.,Qty,Entry price,Exit price,Entry time,"
        "Exit time,Profit,Commission,Clearing Fee,Exchange Fee,IP Fee,NFA Fee\n"
        "1,MES 03-26,Sim101,Morning,Long,2,6012.25,6015.50,1/6/2026 9:31:12 AM,1/6/2026 9:48:03 AM,"
        "$29.04,$1.56,$0.38,$1.40,$0.04,$0.08"
    ),
    "MetaTrader 5": read_row(
        "Time,Position,Symbol,Type,Volume,Price,S / L,T / P,Time 2,Price 2,Commission,Swap,Profit\n"
        "2026.01.12 09:15:04,285600114,EURUSD,buy,0.50,1.08412,1.08250,1.08700,2026.01.12 16:42:31,"
        "1.08655,-3.50,0.00,121.50"
    ),
    "MetaTrader 4": read_row(
        "Ticket,Open Time,Type,Size,Item,Price,S / L,Close Time,Price 2,Commission,Taxes,Swap,Profit\n"
        "81200114,2026.01.12 09:15:04,buy,0.50,eurusd,1.08412,1.08250,2026.01.12 16:42:31,1.08655,"
        "-3.50,-0.25,0.00,121.50"
    ),
    # A long of two NQ from 25,300 to 25,310, in winter.
    "TradeZella": read_row(
        "Account Name,Avg Buy Price,Avg Sell Price,Close Date,Close Time,Entry Price,Exit Price,"
        "Gross P&L,Trade Risk,Instrument,Spread Type,Mistakes,Net P&L,Open Date,Open Time,Setups,"
        "Side,Playbook,Symbol,Quantity,Zella Score\n"
        "Futures,25300.0,25310.0,2026-02-09,12:58:32 EST,25290.0,25320.0,400.0,150.0,NQH6,future,"
        '"chased, no plan",400.0,2026-02-09,12:31:42 EST,Break,long,Opening range,NQ,2.0,50.0'
    ),
    # A long of 200 TSLA.
    "Tradervue": read_row(
        "Open Datetime,Close Datetime,Symbol,Side,Volume,Exec Count,Entry Price,Exit Price,Gross P&L,"
        "Notes,Tags,Commissions,Fees,Initial Risk\n"
        "2026-03-02 09:41:07,2026-03-02 09:58:30,TSLA,L,400,2,248.15,249.90,350,,patience,3,0.3,112.5"
    ),
}
FEES: Cells = dict.fromkeys(["Commission", "Clearing Fee", "Exchange Fee", "IP Fee", "NFA Fee"])
