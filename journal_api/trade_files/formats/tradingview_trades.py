"""TradingView's list of trades of a strategy: two rows per trade, its entry and its exit."""

from collections.abc import Collection, Iterator
from typing import NamedTuple

from journal_api.positions.import_rows import ImportedTrade, LeftOut, Noted, Rejected
from journal_api.structs.trades import Direction
from journal_api.trade_files.amounts import derive_amount
from journal_api.trade_files.file_format import Format, KnownFormat, Rows, Trades, read_row
from journal_api.trade_files.named_rows import Row
from journal_api.trade_files.stated_results import Legs, build_trade
from journal_api.trade_files.vocabulary import find_column
from journal_api.values.money import EXACT, ZERO, Money, PositiveMoney
from journal_api.values.timestamps import Timestamp
from journal_api.values.types import Name40

NAME = "TradingView list of trades"
# The required columns with their names in exports of several years; the price names its currency.
HEADER = (
    ("Trade #", "Trade number"),
    ("Type",),
    ("Date and time", "Date/Time"),
    ("Price *",),
    ("Size (qty)", "Position size (qty)", "Quantity", "Contracts"),
    ("Net P&L *", "Net PnL *", "Profit *"),
)
OTHERS = (("Adverse excursion *", "Drawdown *"), ("Favorable excursion *", "Run-up *"), ("Commission *",))
SIGNAL, STILL_OPEN = "Signal", "open"
# Of all symbols, also of those that paper trading names: trades are stored with it.
SYMBOL = Name40("TradingView")
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
    mae: Money | None
    mfe: Money | None
    paid: Money | None


def format_for_header(header: Collection[str]) -> Format:
    """Return the format of a file with this header."""
    columns = [str(find_column(header, names)) for names in HEADER]
    in_money = [name for name in header if not name.endswith("%")]
    others = [find_column(in_money, names) or "" for names in OTHERS]

    def read_trades(rows: Rows) -> Trades:
        if "Symbol" in header:
            yield Noted(f"the symbols that the file names are not read: its trades are of {SYMBOL}")
        yield from pair_legs(
            read_row(row, lambda row: read_leg(row, columns, others)) if isinstance(row, Row) else row for row in rows
        )

    optional = frozenset({SIGNAL, *others} & set(header))
    return Format(NAME, frozenset(columns), read_trades, optional=optional)


def read_leg(row: Row, columns: list[str], others: list[str]) -> Leg:
    number, kind, at, price, quantity, net_pnl = columns
    is_entry, direction = row.read(kind, parse_kind)
    return Leg(
        row.line,
        row.read(number, parse_whole_number),
        is_entry,
        direction,
        row.time(at),
        row.amount(price, Money),
        row.amount(quantity, PositiveMoney),
        ZERO if is_entry else row.amount(net_pnl, Money),  # that of an entry may be empty
        not is_entry and row.get(SIGNAL, "").strip().lower() == STILL_OPEN,
        *(row.amount_if_any(column, Money) for column in others),
    )


def parse_kind(cell: str) -> tuple[bool, Direction]:
    if cell.lower() not in KINDS:
        raise ValueError("must be Entry or Exit with long or short")
    return KINDS[cell.lower()]


def parse_whole_number(cell: str) -> int:
    if not (cell.isascii() and cell.isdigit()) or len(cell) > 18:
        raise ValueError("must be the number of a trade")
    return int(cell)


def pair_legs(legs: Iterator[Leg | Rejected | LeftOut]) -> Trades:
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
            yield pair_trade(*((leg, other) if leg.is_entry else (other, leg)))
    for leg in () if has_errors else pending.values():
        if leg.is_entry:  # older exports have no second row of an open trade
            yield pair_trade(leg, leg._replace(is_open=True, paid=None))
        else:
            yield Rejected(leg.line, f"is the exit of trade {leg.number}, whose entry is missing")


def pair_trade(entry: Leg, exit_: Leg) -> ImportedTrade:
    """Return the trade. The result is net of commissions, which the export of a strategy does not state."""
    paid = [leg.paid for leg in (entry, exit_) if leg.paid is not None]
    fees = derive_amount("Commission", "of both rows", sum(map(abs, paid), ZERO)) if paid else None
    gross = exit_.net_pnl if fees is None else derive_amount("Net P&L", "with them", EXACT.add(exit_.net_pnl, fees))
    closing = (None, None) if exit_.is_open else (exit_.price, exit_.at)
    legs = Legs(entry.direction, entry.price, entry.at, *closing)
    return build_trade(
        min(entry.line, exit_.line),
        legs,
        SYMBOL,
        entry.quantity,
        None if exit_.is_open else gross,
        fees=fees,
        mae=exit_.mae,
        mfe=exit_.mfe,
    )


FORMAT = KnownFormat(NAME, HEADER, format_for_header)
