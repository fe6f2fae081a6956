"""MetaTrader 4's statement of an account, as HTML or copied to CSV: one row per closed order."""

from collections.abc import Callable
from itertools import takewhile

from journal_api.rules.import_rows import LeftOut, Rejected
from journal_api.trade_files.cells import Row
from journal_api.trade_files.file_format import Format, Rows, Trades, one_trade_per_row
from journal_api.trade_files.formats.metatrader_positions import EXIT_PRICE, STOP, PositionColumns

POSITION = PositionColumns(
    ticket="Ticket",
    symbol="Item",
    volume="Size",
    opened_at="Open Time",
    closed_at="Close Time",
    bookings=("Commission", "Taxes", "Swap"),
)
# What follows the closed orders: their total, and the next sections.
ENDS = ("Closed P/L:", "Open Trades:", "Working Orders:", "Summary:")


def trades_of(rows: Rows) -> Trades:
    """Yield the closed orders. Deposits and pending orders are left out; sums and comments are skipped."""
    for row in takewhile(is_before_the_total, rows):
        if not isinstance(row, Row):
            yield row
            continue
        kind = row["Type"].strip().lower()
        if kind in ("buy", "sell") or (row["Ticket"].strip() and not kind):
            yield from EACH([row])
        elif kind:
            yield LeftOut(row.line, "Type is not buy or sell")


def is_before_the_total(row: Row | Rejected | LeftOut) -> bool:
    return not isinstance(row, Row) or not any(cell.strip() in ENDS for cell in row.values())


EACH: Callable[[Rows], Trades] = one_trade_per_row(POSITION.trade_of)
FORMAT = Format(
    "MetaTrader 4 statement",
    frozenset(
        {
            *("Ticket", "Open Time", "Type", "Size", "Item", "Price", "Close Time", EXIT_PRICE),
            *("Commission", "Taxes", "Swap", "Profit"),
        }
    ),
    trades_of,
    optional=frozenset({STOP}),
)
