"""The rows of closed positions in MetaTrader's reports, of which version 4 and 5 have different columns."""

from decimal import Decimal
from typing import NamedTuple

from journal_api.rules.import_rows import ImportedTrade
from journal_api.rules.trade_draft import TradeDraft
from journal_api.trade_files.cells import Row
from journal_api.trade_files.derived_amounts import derived, multiplier_of
from journal_api.trade_files.directions import direction as direction_of
from journal_api.values.money import EXACT, Money, PositiveMoney, Result
from journal_api.values.types import Name40, Name100

# The price of the close has the same column name as that of the opening.
EXIT_PRICE = "Price 2"
STOP = "S / L"


class PositionColumns(NamedTuple):
    """The columns of a position that the versions name differently."""

    ticket: str
    symbol: str
    volume: str
    opened_at: str
    closed_at: str
    bookings: tuple[str, ...]  # costs, which are negative for payments

    def trade_of(self, row: Row) -> ImportedTrade:
        """Return the trade of a row. Raises ValidationFailed."""
        direction = row.read("Type", direction_of)
        entry_price, exit_price = row.amount("Price", Money), row.amount(EXIT_PRICE, Money)
        rise = EXACT.subtract(exit_price, entry_price)
        points = rise if direction == "long" else -rise
        quantity = closed_volume(row, self.volume)
        gross_pnl = row.amount("Profit", Money)
        trade = TradeDraft(
            symbol=row.read(self.symbol, Name40.decode),
            direction=direction,
            quantity=quantity,
            multiplier=multiplier_of(points, quantity, gross_pnl),
            entry_price=entry_price,
            exit_price=exit_price,
            opened_at=row.time(self.opened_at),
            closed_at=row.time(self.closed_at),
            gross_pnl=gross_pnl,
            fees=fees_of(row, self.bookings),
            external_id=row.parse(self.ticket, ticket),
            # The last stop, not the first, so no initial risk is derived from it.
            stop_loss=row.amount_if_any(STOP, Money) or None,
        )
        return ImportedTrade(
            row.line,
            trade,
            unstated=() if points * gross_pnl > 0 else ("multiplier",),
            has_multiplier_of_result=True,
        )


def closed_volume(row: Row, column: str) -> PositiveMoney:
    """Return the closed lots.

    The cell of a partly closed position has two numbers: 0.10 of 0.30 is 0.10 / 0.30.
    """
    row[column] = row[column].partition(" / ")[0]
    return row.amount(column, PositiveMoney)


def fees_of(row: Row, bookings: tuple[str, ...]) -> Result:
    """Return the bookings as fees."""
    booked = Decimal()
    for column in bookings:
        booked = EXACT.add(booked, row.amount(column, Money))
    return derived(bookings[-1], f"with {' and '.join(bookings[:-1])}", EXACT.minus(booked))


def ticket(cell: str) -> Name100:
    """Return the position number, digits only: spreadsheets change it to 1.2346E+12 for many positions."""
    if not (cell.isascii() and cell.isdigit()):
        raise ValueError("must be the number of a position")
    return Name100.decode(cell)
