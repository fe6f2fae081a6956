"""NinjaTrader 8's trade performance, exported from its Trades grid: one row per trade."""

import re
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from itertools import chain, islice

from journal_api.rules.import_rows import ImportedTrade
from journal_api.rules.trade_draft import TradeDraft
from journal_api.structs.trades import Direction
from journal_api.trade_files.cells import CURRENCY, Row, date_and_clock
from journal_api.trade_files.derived_amounts import derived, multiplier_of
from journal_api.trade_files.file_format import Format, Rows, Trades, one_trade_per_row
from journal_api.values.money import EXACT, Money, PositiveMoney, Result
from journal_api.values.types import Name40, Timestamp

DIRECTIONS: dict[str, Direction] = {"Long": "long", "Short": "short"}
TimeReader = Callable[[str], Timestamp]
COSTS = ("Commission", "Clearing Fee", "Exchange Fee", "IP Fee", "NFA Fee")
TIMES = ("Entry time", "Exit time")
CURRENCY_SIGN = re.compile(CURRENCY)
# The order of day and month depends on the regional settings of the computer: 7/28/2026, 28.07.2026.
DATE = re.compile(
    r"(?P<first>[0-9]{1,2})(?P<separator>[-/.])(?P<second>[0-9]{1,2})(?P=separator)"
    r"(?P<rest>(?:[0-9]{4}|[0-9]{2})[ T].*)"
)
LIKE_IN_THE_US = re.compile(r"[1-9][0-9]?/[1-9][0-9]?/[0-9]{4} .* [AP]M")
# The number of rows that are searched for the order of day and month.
ROWS_SEARCHED = 5000


def trades_of(rows: Rows) -> Trades:
    remaining = iter(rows)
    first_rows = list(islice(remaining, ROWS_SEARCHED))
    read_time = time_reader_for([row for row in first_rows if isinstance(row, Row)])
    yield from one_trade_per_row(partial(trade_of, read_time))(chain(first_rows, remaining))


def trade_of(read_time: TimeReader, row: Row) -> ImportedTrade:
    direction = row.read("Market pos.", direction_of)
    entry_price, exit_price = row.amount("Entry price", Money), row.amount("Exit price", Money)
    rise = EXACT.subtract(exit_price, entry_price)
    points = rise if direction == "long" else -rise
    quantity = row.amount("Qty", PositiveMoney)
    fees = fees_of(row)
    gross_pnl = gross_of(row, fees)
    trade = TradeDraft(
        symbol=row.read("Instrument", Name40.decode),
        direction=direction,
        quantity=quantity,
        multiplier=multiplier_of(points, quantity, gross_pnl),
        entry_price=entry_price,
        exit_price=exit_price,
        opened_at=row.read("Entry time", read_time),
        closed_at=row.read("Exit time", read_time),
        gross_pnl=gross_pnl,
        fees=fees,
    )
    # Fees count as stated even if their columns are hidden, because gross P&L is computed with those of the
    # row.
    return ImportedTrade(
        row.line,
        trade,
        unstated=() if points * gross_pnl > 0 else ("multiplier",),
        has_multiplier_of_result=True,
    )


def direction_of(cell: str) -> Direction:
    if cell not in DIRECTIONS:
        raise ValueError("must be Long or Short")
    return DIRECTIONS[cell]


def fees_of(row: Row) -> Result:
    """Return the sum of the costs. Any of their columns may be hidden."""
    parts = (row.amount_if_any(column, Money) for column in COSTS)
    return derived("Commission", "with the other fees", sum((part for part in parts if part), Decimal()))


def gross_of(row: Row, fees: Result) -> Result:
    """Return the gross P&L. Profit is net of all costs, hidden ones included."""
    row.read("Profit", with_currency)
    return derived("Profit", "before the fees", EXACT.add(row.amount("Profit", Money), fees))


def with_currency(cell: str) -> str:
    """Return the cell.

    Raises ValueError without a currency sign: the grid may also show points, ticks or pips.
    """
    if not CURRENCY_SIGN.search(cell):
        raise ValueError("must be money such as $20.00: export the grid as it shows currency")
    return cell


def time_reader_for(rows: list[Row]) -> TimeReader:
    """Return the reader of times. A number over 12 shows the order of day and month for all rows.

    Without one, the day is first in a file with semicolons and in dates with points or dashes, and the month
    is first in times in the format of the United States.
    """
    dates = [match for row in rows for name in TIMES if (match := DATE.fullmatch(row[name].strip()))]
    if any(int(date["first"]) > 12 for date in dates):
        return day_first
    if any(int(date["second"]) > 12 for date in dates):
        return month_first
    if any(row.comma == "decimals" for row in rows) or any(date["separator"] != "/" for date in dates):
        return day_first
    return month_first if dates and all(LIKE_IN_THE_US.fullmatch(date[0]) for date in dates) else undecided


def month_first(cell: str) -> Timestamp:
    match = DATE.fullmatch(cell)
    return from_parts(match["first"], match["second"], match["rest"]) if match else date_and_clock(cell)


def day_first(cell: str) -> Timestamp:
    match = DATE.fullmatch(cell)
    return from_parts(match["second"], match["first"], match["rest"]) if match else date_and_clock(cell)


def from_parts(month: str, day: str, rest: str) -> Timestamp:
    if int(month) > 12:
        raise ValueError(
            f"has no month {month}: other dates of the file have day and month the other way round"
        )
    return date_and_clock(f"{month}/{day}/{rest}")


def undecided(cell: str) -> Timestamp:
    """Return a time whose date has the year first. Raises ValueError for other dates."""
    if DATE.fullmatch(cell):
        raise ValueError("may be day or month first: export a longer period, with a day after the 12th")
    return date_and_clock(cell)


FORMAT = Format(
    "NinjaTrader trades",
    frozenset({"Instrument", "Market pos.", "Qty", "Entry price", "Exit price", *TIMES, "Profit"}),
    trades_of,
    optional=frozenset(COSTS),
)
