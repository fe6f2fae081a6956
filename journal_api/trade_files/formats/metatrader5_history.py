"""MetaTrader 5's trade history report, as HTML or copied to CSV: one row per position."""

from collections.abc import Callable
from itertools import takewhile

from journal_api.rules.import_rows import LeftOut, Rejected
from journal_api.trade_files.cells import Row
from journal_api.trade_files.file_format import Format, Rows, Trades, one_trade_per_row
from journal_api.trade_files.formats.metatrader_positions import EXIT_PRICE, STOP, PositionColumns

CLOSED_AT = "Time 2"  # the time of the close has the same column name as that of the opening
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


POSITION = PositionColumns(
    ticket="Position",
    symbol="Symbol",
    volume="Volume",
    opened_at="Time",
    closed_at=CLOSED_AT,
    bookings=("Commission", "Swap"),
)
EACH: Callable[[Rows], Trades] = one_trade_per_row(POSITION.trade_of)
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
