"""TradingView's list of trades of a strategy: two rows per trade, its entry and its exit."""

from collections.abc import Collection, Iterator
from typing import NamedTuple

from journal_api.rules.import_rows import ImportedTrade, LeftOut, Rejected
from journal_api.rules.trade_draft import TradeDraft
from journal_api.structs.trades import Direction
from journal_api.trade_files.cells import Row
from journal_api.trade_files.derived_amounts import multiplier_of
from journal_api.trade_files.file_format import Format, Rows, Trades, read_row
from journal_api.trade_files.profiles.columns import name_in
from journal_api.values.money import EXACT, ONE, Money, PositiveMoney
from journal_api.values.timestamps import Timestamp

NAME = "TradingView list of trades"
# The required columns with their names in exports of several years; the price names its currency.
HEADER = (
    ("Trade #", "Trade number"),
    ("Type",),
    ("Date and time", "Date/Time"),
    ("Price *",),
    ("Size (qty)", "Position size (qty)", "Quantity", "Contracts"),
    ("Net P&L *", "Profit *"),
)
SIGNAL, STILL_OPEN = "Signal", "open"
# The export does not name the symbol.
SYMBOL = "TradingView"
KINDS: dict[str, tuple[bool, Direction]] = {
    "entry long": (True, "long"),
    "entry short": (True, "short"),
    "exit long": (False, "long"),
    "exit short": (False, "short"),
}
# Trades of which one row was read. Both rows of a trade are neighbours in the export.
MAX_PENDING = 10_000


class Leg(NamedTuple):
    """The entry or the exit of a trade."""

    line: int
    number: int
    is_entry: bool
    direction: Direction
    at: Timestamp
    price: Money
    quantity: PositiveMoney
    net_pnl: Money
    is_open: bool


def format_for(header: Collection[str]) -> Format:
    """Return the format of a file with this header."""
    columns = [str(name_in(header, list(names))) for names in HEADER]

    def trades_of(rows: Rows) -> Trades:
        return paired(read_row(row, lambda row: leg_of(row, columns)) if isinstance(row, Row) else row
                      for row in rows)  # fmt: skip

    return Format(NAME, frozenset(columns), trades_of, optional=frozenset({SIGNAL} & set(header)))


def leg_of(row: Row, columns: list[str]) -> Leg:
    number, kind, at, price, quantity, net_pnl = columns
    is_entry, direction = row.read(kind, kind_of)
    return Leg(
        row.line,
        row.read(number, whole_number),
        is_entry,
        direction,
        row.time(at),
        row.amount(price, Money),
        row.amount(quantity, PositiveMoney),
        row.amount(net_pnl, Money),
        not is_entry and row.get(SIGNAL, "").strip().lower() == STILL_OPEN,
    )


def kind_of(cell: str) -> tuple[bool, Direction]:
    if cell.lower() not in KINDS:
        raise ValueError("must be Entry or Exit with long or short")
    return KINDS[cell.lower()]


def whole_number(cell: str) -> int:
    if not (cell.isascii() and cell.isdigit()) or len(cell) > 18:
        raise ValueError("must be the number of a trade")
    return int(cell)


def paired(legs: Iterator[Leg | Rejected | LeftOut]) -> Trades:
    """Yield a trade for each entry with its exit, and errors. Without errors, both rows must be there."""
    pending: dict[int, Leg] = {}
    has_errors = False
    for leg in legs:
        if not isinstance(leg, Leg):
            has_errors |= isinstance(leg, Rejected)
            yield leg
        elif (other := pending.pop(leg.number, None)) is None:
            if len(pending) == MAX_PENDING:
                yield Rejected(leg.line, f"is the {MAX_PENDING + 1}th row without its other row")
                return
            pending[leg.number] = leg
        elif leg.is_entry == other.is_entry or leg.direction != other.direction:
            has_errors = True
            yield Rejected(leg.line, f"is not the other row of trade {leg.number} in line {other.line}")
        else:
            yield trade_of(*((leg, other) if leg.is_entry else (other, leg)))
    for leg in () if has_errors else pending.values():
        if leg.is_entry:  # older exports have no second row of an open trade
            yield trade_of(leg, leg._replace(is_open=True))
        else:
            yield Rejected(leg.line, f"is the exit of trade {leg.number}, whose entry is missing")


def trade_of(entry: Leg, exit_: Leg) -> ImportedTrade:
    """Return the trade. The result is net of commissions, which the export does not state."""
    rise = EXACT.subtract(exit_.price, entry.price)
    points = rise if entry.direction == "long" else -rise
    is_stated = not exit_.is_open and points * exit_.net_pnl > 0
    trade = TradeDraft(
        symbol=SYMBOL,
        direction=entry.direction,
        quantity=entry.quantity,
        multiplier=multiplier_of(points, entry.quantity, exit_.net_pnl) if is_stated else ONE,
        entry_price=entry.price,
        exit_price=None if exit_.is_open else exit_.price,
        opened_at=entry.at,
        closed_at=None if exit_.is_open else exit_.at,
        gross_pnl=None if exit_.is_open else exit_.net_pnl,
    )
    return ImportedTrade(
        min(entry.line, exit_.line),
        trade,
        unstated=("fees",) if is_stated else ("fees", "multiplier"),
        has_multiplier_of_result=True,
    )
