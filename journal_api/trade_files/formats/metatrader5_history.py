"""MetaTrader 5's trade history report, as HTML or copied to CSV: one row per position."""

from collections.abc import Callable
from itertools import takewhile

from journal_api.rules.import_rows import ImportedTrade, LeftOut, Rejected
from journal_api.rules.trade_draft import TradeDraft
from journal_api.trade_files.cells import Row, date_and_clock
from journal_api.trade_files.derived_amounts import derived, multiplier_of
from journal_api.trade_files.directions import direction as direction_of
from journal_api.trade_files.file_format import Format, Rows, Trades, one_trade_per_row
from journal_api.values.money import EXACT, Money, PositiveMoney, Result
from journal_api.values.types import Name40, Name100

# Time and price of the close have the same column names as those of the opening.
CLOSED_AT, EXIT_PRICE = "Time 2", "Price 2"
STOP = "S / L"
NEXT_SECTIONS = ("Orders", "Deals", "Open Positions", "Working Orders")


def trades_of(rows: Rows) -> Trades:
    """Yield the positions. The sections after them list their orders and deals."""
    positions = takewhile(is_before_the_next_section, rows)
    return EACH(row for row in positions if not is_total(row))


def is_before_the_next_section(row: Row | Rejected | LeftOut) -> bool:
    return not isinstance(row, Row) or row["Time"].strip() not in NEXT_SECTIONS


def is_total(row: Row | Rejected | LeftOut) -> bool:
    """Return whether the row has the totals of the section: it has costs and results but no position."""
    names = ("Time", "Position", "Symbol", "Type")
    return isinstance(row, Row) and not any(row[name].strip() for name in names)


def trade_of(row: Row) -> ImportedTrade:
    direction = row.read("Type", direction_of)
    entry_price, exit_price = row.amount("Price", Money), row.amount(EXIT_PRICE, Money)
    rise = EXACT.subtract(exit_price, entry_price)
    points = rise if direction == "long" else -rise
    quantity = closed_volume(row)
    gross_pnl = row.amount("Profit", Money)
    trade = TradeDraft(
        symbol=row.read("Symbol", Name40.decode),
        direction=direction,
        quantity=quantity,
        multiplier=multiplier_of(points, quantity, gross_pnl),
        entry_price=entry_price,
        exit_price=exit_price,
        opened_at=row.read("Time", date_and_clock),
        closed_at=row.read(CLOSED_AT, date_and_clock),
        gross_pnl=gross_pnl,
        fees=fees_of(row),
        external_id=row.read("Position", ticket),
        # The last stop, not the first, so no initial risk is derived from it.
        stop_loss=row.amount_if_any(STOP, Money) or None,
    )
    return ImportedTrade(
        row.line,
        trade,
        unstated=() if points * gross_pnl > 0 else ("multiplier",),
        has_multiplier_of_result=True,
    )


def closed_volume(row: Row) -> PositiveMoney:
    """Return the closed lots.

    The cell of a partly closed position has two numbers: 0.10 of 0.30 is 0.10 / 0.30.
    """
    row["Volume"] = row["Volume"].partition(" / ")[0]
    return row.amount("Volume", PositiveMoney)


def fees_of(row: Row) -> Result:
    """Return commission and swap as fees. The file has bookings, which are negative for payments."""
    booked = EXACT.add(row.amount("Commission", Money), row.amount("Swap", Money))
    return derived("Swap", "with Commission", EXACT.minus(booked))


def ticket(cell: str) -> Name100:
    """Return the position number, digits only: spreadsheets change it to 1.2346E+12 for many positions."""
    if not (cell.isascii() and cell.isdigit()):
        raise ValueError("must be the number of a position")
    return Name100.decode(cell)


EACH: Callable[[Rows], Trades] = one_trade_per_row(trade_of)
FORMAT = Format(
    "MetaTrader 5 history",
    frozenset(
        {
            *("Time", "Position", "Symbol", "Type", "Volume", "Price", CLOSED_AT, EXIT_PRICE),
            *("Commission", "Swap", "Profit"),
        }
    ),
    trades_of,
    optional=frozenset({STOP}),
)
