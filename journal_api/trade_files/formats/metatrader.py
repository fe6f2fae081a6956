"""MetaTrader's reports, as HTML or copied to CSV: one row per closed order (4) or position (5).

They are not profiles: several columns together decide whether a row is skipped, left out or refused, a volume
may be a part of another, a stop of 0 is none, and a cost that is empty is an error.
"""

from collections.abc import Collection
from decimal import Decimal
from typing import NamedTuple

from journal_api.positions.import_rows import ImportedTrade, LeftOut
from journal_api.trade_files.amounts import derive_amount
from journal_api.trade_files.file_format import Format, NoTrade, Rows, Trades, read_row
from journal_api.trade_files.named_rows import Row
from journal_api.trade_files.stated_results import build_trade, read_legs
from journal_api.values.money import EXACT, Money, PositiveMoney, Result
from journal_api.values.types import Name40, Name100

# The opening and the close have the same column names.
CLOSED_AT, EXIT_PRICE = "Time 2", "Price 2"
STOP = "S / L"
# What follows the closed orders: their total, and the next sections.
OPEN = ("Open Trades:", "Open Positions")
STATEMENT_ENDS = ("Closed P/L:", "Open Trades:", "Working Orders:", "Summary:")
ORDERS = ("Orders", "Ordens", "Órdenes", "Ordres", "Ordini", "Aufträge")
HISTORY_ENDS = (*ORDERS, "Deals", "Open Positions", "Working Orders")


class PositionColumns(NamedTuple):
    """The columns of a position that the versions name differently."""

    ticket: str
    symbol: str
    volume: str
    opened_at: str
    closed_at: str
    bookings: tuple[str, ...]  # costs, which are negative for payments

    def read_trade(self, row: Row) -> ImportedTrade:
        """Return the trade of a row. Raises ValidationFailed."""
        legs = read_legs(row, "Type", "Price", self.opened_at, EXIT_PRICE, self.closed_at)
        if not (legs.entry_price or legs.exit_price):
            raise NoTrade("both prices are 0: a summary of archived trades")
        # The cell of a partly closed position has two numbers: 0.10 of 0.30 is 0.10 / 0.30.
        row[self.volume] = row[self.volume].partition(" / ")[0]
        quantity, gross_pnl = row.amount(self.volume, PositiveMoney), row.amount("Profit", Money)
        return build_trade(
            row.line,
            legs,
            row.read(self.symbol, Name40.decode),
            quantity,
            gross_pnl,
            fees=self._sum_bookings(row),
            external_id=row.parse(self.ticket, parse_ticket),
            # The last stop, not the first, so no initial risk is derived from it.
            stop_loss=row.amount_if_any(STOP, Money) or None,
        )

    def _sum_bookings(self, row: Row) -> Result:
        booked = Decimal()
        for column in self.bookings:
            booked = EXACT.add(booked, row.amount(column, Money))
        how = f"with {' and '.join(self.bookings[:-1])}"
        return derive_amount(self.bookings[-1], how, EXACT.minus(booked))

    @property
    def names(self) -> frozenset[str]:
        """The columns that a report must have."""
        times = {self.opened_at, self.closed_at}
        return frozenset(
            {self.ticket, self.symbol, self.volume, *times, *self.bookings, "Type", "Price", EXIT_PRICE, "Profit"}
        )


def parse_ticket(cell: str) -> Name100:
    """Return the position number, digits only: spreadsheets change it to 1.2346E+12 for many positions."""
    if not (cell.isascii() and cell.isdigit()):
        raise ValueError("must be the number of a position")
    return Name100.decode(cell)


ORDER = PositionColumns("Ticket", "Item", "Size", "Open Time", "Close Time", ("Commission", "Taxes", "Swap"))
POSITION = PositionColumns("Position", "Symbol", "Volume", "Time", CLOSED_AT, ("Commission", "Swap"))
IDENTIFYING = ("Time", "Position", "Symbol", "Type")


def read_statement(rows: Rows) -> Trades:
    """Yield the closed orders. Deposits and pending orders are left out; sums and comments are skipped."""
    for row in leave_out_open(rows, STATEMENT_ENDS):
        if not isinstance(row, Row):
            yield row
            continue
        kind = row["Type"].strip().lower()
        if kind in ("buy", "sell") or (row["Ticket"].strip().isdigit() and not kind):
            yield read_row(row, ORDER.read_trade)
        elif kind:
            yield LeftOut(row.line, "Type is not buy or sell")


def read_history(rows: Rows) -> Trades:
    """Yield the positions. The row with their totals, which names none, is skipped."""
    for row in leave_out_open(rows, HISTORY_ENDS):
        if not isinstance(row, Row):
            yield row
        elif any(row[name].strip() for name in IDENTIFYING):
            yield read_row(row, POSITION.read_trade)


def leave_out_open(rows: Rows, ends: Collection[str]) -> Rows:
    """Yield the rows of the section, and leave out the open positions of later ones."""
    section = ""
    for row in rows:
        if isinstance(row, Row):
            section = next((title for cell in row.values() if (title := cell.strip()) in ends), section)
        if not section:
            yield row
        elif section in OPEN and isinstance(row, Row) and row["Type"].strip().lower() in ("buy", "sell"):
            yield LeftOut(row.line, "is an open trade, of which a later report has the close")


STATEMENT = Format("MetaTrader 4 statement", ORDER.names, read_statement, optional=frozenset({STOP}))
HISTORY = Format("MetaTrader 5 history", POSITION.names, read_history, optional=frozenset({STOP}))
