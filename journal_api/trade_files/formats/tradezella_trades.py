"""TradeZella's trades export: one row per trade, with additional columns for the owner's categories."""

import re
from datetime import time
from decimal import Context, Decimal

from journal_api.errors import ValidationFailed
from journal_api.positions.import_rows import ImportedTrade
from journal_api.structs.trades import Direction
from journal_api.trade_files.amounts import derive_amount
from journal_api.trade_files.cells import parse_direction
from journal_api.trade_files.dates import parse_clock
from journal_api.trade_files.file_format import Format, one_trade_per_row
from journal_api.trade_files.named_rows import Row
from journal_api.trade_files.stated_results import Legs, build_trade, derive_multiplier
from journal_api.values.money import EXACT, ZERO, Money, PositiveMoney, Result
from journal_api.values.time_formats import OFFSETS
from journal_api.values.timestamps import Timestamp
from journal_api.values.types import Name, Name40, Name100

# The export states the zone of every time.
CLOCK_AND_ZONE = re.compile(r"(?P<clock>[0-9:.]+)(?: (?P<zone>[A-Za-z]+))?")
ACCOUNT = "Account Name"
NOT_OPTIONS = ("", "stock", "future", "forex", "crypto")
# The file rounds average prices to three decimals.
ROUNDING = Decimal("0.001")
HALF_A_CENT = Decimal("0.005")


def read_trade(row: Row) -> ImportedTrade:
    """Return the trade of a row.

    Avg Buy Price is the entry, of shorts too; Entry Price is the price of the first fill.
    """
    is_closed = row.has("Close Date")
    quantity = row.amount("Quantity", PositiveMoney)
    entry_price = row.amount("Avg Buy Price", Money)
    exit_price = row.amount("Avg Sell Price", Money) if is_closed else None
    gross_pnl = row.amount("Gross P&L", Money) if is_closed else None
    rise = Decimal(0) if exit_price is None else EXACT.subtract(exit_price, entry_price)
    direction = find_direction(row, rise, gross_pnl or ZERO)
    fees = derive_fees(row)
    symbol = read_symbol(row)
    opened_at = read_time(row, "Open")
    closed_at = read_time(row, "Close") if is_closed else None
    legs = Legs(direction, entry_price, opened_at, exit_price, closed_at)
    return build_trade(
        row.line,
        legs,
        symbol,
        quantity,
        gross_pnl,
        fees=fees,
        find_multiplier=find_multiplier,
        account=row.read_if_any(ACCOUNT, Name100.decode),
    )


def find_direction(row: Row, rise: Decimal, gross_pnl: Decimal) -> Direction:
    """Return the direction, by prices and result if possible.

    Side of an option is the view of the market, so that a bought put is short. Raises ValidationFailed when
    Side contradicts prices and result and the trade is not an option.
    """
    side = row.read("Side", parse_direction)
    if not gross_pnl or abs(rise) <= ROUNDING:
        opposite: Direction = "long" if side == "short" else "short"
        return opposite if find_instrument(row).endswith(" PUT") else side
    earned: Direction = "long" if (rise > 0) == (gross_pnl > 0) else "short"
    if earned != side and not is_option(row):
        raise ValidationFailed(fields={"Side": f"is {side}, but Gross P&L and the average prices say {earned}"})
    return earned


def is_option(row: Row) -> bool:
    kind = row.get("Spread Type", "").strip().lower()
    return kind not in NOT_OPTIONS or find_instrument(row).endswith((" PUT", " CALL"))


def find_instrument(row: Row) -> str:
    return row.get("Instrument", "").strip().upper()


def read_symbol(row: Row) -> Name40:
    """Return the symbol, of an option with its contract unless that is too long."""
    symbol = row.read("Symbol", Name40.decode)
    instrument = row.read_if_any("Instrument", Name.decode)
    if not is_option(row) or instrument is None:
        return symbol
    contract = f"{symbol} {instrument}"
    return Name40(contract) if len(contract) <= Name40.max_length else symbol


def find_multiplier(points: Decimal, quantity: Decimal, gross_pnl: Decimal) -> PositiveMoney | None:
    """Return the value of a point: the shortest number that gives the result within rounding errors.

    Average prices are rounded, so the quotient for an option may be 100.0285 instead of 100.
    """
    exact = derive_multiplier(points, quantity, gross_pnl)
    if exact is None:
        return None
    short = [PositiveMoney(Context(prec=digits).create_decimal(exact)) for digits in (1, 2, 3, 4)]
    if short[-1] == exact:
        return exact
    # The rounding error of a price, at most one unit of its last decimal, is multiplied by the quantity.
    last_place = min(ROUNDING, Decimal((0, (1,), int(points.as_tuple().exponent))))
    tolerance = EXACT.multiply(quantity, last_place)
    fitting = (
        multiplier
        for multiplier in short
        if abs(gross_pnl - points * quantity * multiplier) <= tolerance * multiplier + HALF_A_CENT
    )
    return next(fitting, exact)


def derive_fees(row: Row) -> Result | None:
    """Return gross minus net P&L. Commission, Fee and Swap have no documented sign."""
    gross_pnl, net_pnl = row.amount_if_any("Gross P&L", Money), row.amount_if_any("Net P&L", Money)
    if gross_pnl is None or net_pnl is None:
        return None
    return derive_amount("Net P&L", "makes fees that", EXACT.subtract(gross_pnl, net_pnl))


def read_time(row: Row, event: str) -> Timestamp:
    return Timestamp.combine(row.day(f"{event} Date"), row.read(f"{event} Time", parse_clock_and_zone))


def parse_clock_and_zone(cell: str) -> time:
    """Return a time such as 12:31:42 EST; without a zone it is in the time zone of the import."""
    match = CLOCK_AND_ZONE.fullmatch(cell)
    if not match:
        raise ValueError("must be a time such as 12:31:42 EST")
    clock, zone = match.groups()
    if zone and zone not in OFFSETS:
        raise ValueError(
            f"must be in one of the zones {', '.join(OFFSETS)}; for another zone remove its name"
            " and state the time zone of the import"
        )
    return parse_clock(clock).replace(tzinfo=OFFSETS.get(zone))


FORMAT = Format(
    "TradeZella trades",
    frozenset(
        {
            *("Open Date", "Open Time", "Close Date", "Close Time", "Symbol", "Side", "Quantity"),
            *("Avg Buy Price", "Avg Sell Price", "Gross P&L", "Net P&L", "Zella Score"),
        }
    ),
    one_trade_per_row(read_trade),
    (ACCOUNT,),
    optional=frozenset({"Instrument", "Spread Type", ACCOUNT}),
    dates=("Open Date", "Close Date"),
)
