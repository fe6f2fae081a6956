"""TradingView's list of trades of a strategy: two rows per trade, its entry and its exit."""

from collections.abc import Collection, Iterator
from typing import NamedTuple

from journal_api.positions.import_rows import ImportedTrade, LeftOut, Rejected
from journal_api.structs.trades import Direction
from journal_api.trade_files.file_format import Format, KnownFormat, Rows, Trades, read_row
from journal_api.trade_files.named_rows import Row
from journal_api.trade_files.stated_results import Legs, build_trade, find_loss, find_profit
from journal_api.trade_files.vocabulary import find_column
from journal_api.values.money import ZERO, Money, PositiveMoney
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
EXCURSIONS = (("Adverse excursion *", "Drawdown *"), ("Favorable excursion *", "Run-up *"))
SIGNAL, STILL_OPEN = "Signal", "open"
# The export does not name the symbol.
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


def format_for_header(header: Collection[str]) -> Format:
    """Return the format of a file with this header."""
    columns = [str(find_column(header, names)) for names in HEADER]
    in_money = [name for name in header if not name.endswith("%")]
    excursions = [find_column(in_money, names) or "" for names in EXCURSIONS]

    def read_trades(rows: Rows) -> Trades:
        return pair_legs(
            read_row(row, lambda row: read_leg(row, columns, excursions)) if isinstance(row, Row) else row
            for row in rows
        )

    optional = frozenset({SIGNAL, *excursions} & set(header))
    return Format(NAME, frozenset(columns), read_trades, optional=optional)


def read_leg(row: Row, columns: list[str], excursions: list[str]) -> Leg:
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
        *(row.amount_if_any(column, Money) for column in excursions),
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
            yield pair_trade(leg, leg._replace(is_open=True))
        else:
            yield Rejected(leg.line, f"is the exit of trade {leg.number}, whose entry is missing")


def pair_trade(entry: Leg, exit_: Leg) -> ImportedTrade:
    """Return the trade. The result is net of commissions, which the export does not state."""
    closing = (None, None) if exit_.is_open else (exit_.price, exit_.at)
    legs = Legs(entry.direction, entry.price, entry.at, *closing)
    return build_trade(
        min(entry.line, exit_.line),
        legs,
        SYMBOL,
        entry.quantity,
        None if exit_.is_open else exit_.net_pnl,
        fees=None,
        mae=find_loss(exit_.mae),
        mfe=find_profit(exit_.mfe),
    )


FORMAT = KnownFormat(NAME, HEADER, format_for_header)
