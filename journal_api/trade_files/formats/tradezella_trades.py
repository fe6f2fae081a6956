"""TradeZella's trades export: one row a trade, among columns for whatever categories its owner has."""

import re
from datetime import time, timedelta, timezone
from decimal import Context, Decimal
from typing import cast, get_args

from journal_api.errors import ValidationFailed
from journal_api.rules.import_rows import ImportedTrade
from journal_api.rules.trade_draft import TradeDraft
from journal_api.structs.trades import Direction
from journal_api.trade_files.cells import Row, one_of, timestamp
from journal_api.trade_files.derived_amounts import derived, multiplier_of
from journal_api.trade_files.file_format import Format, one_trade_per_row
from journal_api.values.money import EXACT, Money, PositiveMoney, Result
from journal_api.values.types import Name, Name40, Timestamp

# The export names the zone of every time, summer and winter apart.
ZONES = {0: "UTC GMT", -4: "EDT", -5: "EST CDT", -6: "CST MDT", -7: "MST PDT", -8: "PST"}
OFFSETS = {zone: timezone(timedelta(hours=hours)) for hours, zones in ZONES.items() for zone in zones.split()}
CLOCK_AND_ZONE = re.compile(r"(?P<clock>[0-9:.]+)(?: (?P<zone>[A-Za-z]+))?")
SIDE = one_of(*get_args(Direction))
NOT_OPTIONS = ("", "stock", "future", "forex", "crypto")
# Averages are rounded to three decimals, however many the prices have.
ROUNDING = Decimal("0.001")
HALF_A_CENT = Decimal("0.005")


def trade_of(row: Row) -> ImportedTrade:
    """Of a short too Avg Buy Price is the entry; Entry Price is that of the first fill alone."""
    is_closed = bool(row.get("Close Date", "").strip())
    quantity = row.amount("Quantity", PositiveMoney)
    entry_price = row.amount("Avg Buy Price", Money)
    exit_price = row.amount("Avg Sell Price", Money) if is_closed else None
    gross_pnl = row.amount("Gross P&L", Money) if is_closed else None
    rise = Decimal(0) if exit_price is None else EXACT.subtract(exit_price, entry_price)
    direction = direction_of(row, rise, gross_pnl or Decimal(0))
    multiplier = multiplier_if_told(rise if direction == "long" else -rise, quantity, gross_pnl or Decimal(0))
    fees = fees_if_told(row)
    trade = TradeDraft(
        symbol=symbol_of(row),
        direction=direction,
        quantity=quantity,
        multiplier=multiplier or PositiveMoney(1),
        entry_price=entry_price,
        exit_price=exit_price,
        opened_at=instant(row, "Open"),
        closed_at=instant(row, "Close") if is_closed else None,
        gross_pnl=gross_pnl,
        fees=fees or Money(0),
    )
    told = {"multiplier": multiplier, "fees": fees}
    return ImportedTrade(row.line, trade, unstated=tuple(name for name in told if told[name] is None))


def direction_of(row: Row, rise: Decimal, gross_pnl: Decimal) -> Direction:
    """Of an option Side is the view of the market, so that a bought put is short; the result tells better.

    Raises ValidationFailed when Side and the result contradict each other and it is no option.
    """
    side = cast("Direction", row.read("Side", SIDE))
    if not gross_pnl or abs(rise) <= ROUNDING:
        return other(side) if instrument_of(row).endswith(" PUT") else side
    earned: Direction = "long" if (rise > 0) == (gross_pnl > 0) else "short"
    if earned != side and not is_option(row):
        raise ValidationFailed(
            fields={"Side": f"is {side}, but Gross P&L and the average prices say {earned}"}
        )
    return earned


def other(side: Direction) -> Direction:
    return "long" if side == "short" else "short"


def is_option(row: Row) -> bool:
    kind = row.get("Spread Type", "").strip().lower()
    return kind not in NOT_OPTIONS or instrument_of(row).endswith((" PUT", " CALL"))


def instrument_of(row: Row) -> str:
    return row.get("Instrument", "").strip().upper()


def symbol_of(row: Row) -> Name40:
    """With the contract, if it is an option and the name of it is not too long."""
    symbol = row.read("Symbol", Name40.decode)
    instrument = row.read_if_any("Instrument", Name.decode)
    if not is_option(row) or instrument is None:
        return symbol
    contract = f"{symbol} {instrument}"
    return Name40(contract) if len(contract) <= Name40.max_length else symbol


def multiplier_if_told(points: Decimal, quantity: Decimal, gross_pnl: Decimal) -> PositiveMoney | None:
    """The value of a point: the shortest number that explains the result, if a short one does.

    Averages are rounded, so that the result of an option divides into 100.0285 where 100 is meant.
    """
    if points * gross_pnl <= 0:
        return None
    exact = multiplier_of(points, quantity, gross_pnl)
    short = [PositiveMoney(Context(prec=digits).create_decimal(exact)) for digits in (1, 2, 3, 4)]
    if short[-1] == exact:
        return exact
    # What rounding has done to one price grows with the size.
    open_to = EXACT.multiply(quantity, last_place(points))
    return next(
        (one for one in short if abs(gross_pnl - points * quantity * one) <= open_to * one + HALF_A_CENT),
        exact,
    )


def last_place(points: Decimal) -> Decimal:
    """One of the last decimal, of the third at least."""
    return min(ROUNDING, Decimal((0, (1,), int(points.as_tuple().exponent))))


def fees_if_told(row: Row) -> Result | None:
    """Commission, Fee and Swap of the file have no documented sign; what they took off the result has."""
    gross_pnl, net_pnl = row.amount_if_any("Gross P&L", Money), row.amount_if_any("Net P&L", Money)
    if gross_pnl is None or net_pnl is None:
        return None
    return derived("Net P&L", "makes fees that", EXACT.subtract(gross_pnl, net_pnl))


def instant(row: Row, event: str) -> Timestamp:
    return Timestamp.combine(row.read(f"{event} Date", midnight), row.read(f"{event} Time", clock_and_zone))


def midnight(cell: str) -> Timestamp:
    return timestamp(cell, "00:00")


def clock_and_zone(cell: str) -> time:
    """A time of the day such as 12:31:42 EST; without a zone it is one of the import's."""
    found = CLOCK_AND_ZONE.fullmatch(cell)
    if not found:
        raise ValueError("must be a time such as 12:31:42 EST")
    clock, zone = found.groups()
    if zone and zone not in OFFSETS:
        # CST is China's too and IST three countries', so nothing but the American ones is guessed.
        raise ValueError(
            f"must be in one of the zones {', '.join(OFFSETS)}; of another leave the name out"
            " and say the time zone of the import"
        )
    return timestamp("2000-01-01", clock).time().replace(tzinfo=OFFSETS.get(zone))


FORMAT = Format(
    "TradeZella trades",
    frozenset(
        {
            *("Open Date", "Open Time", "Close Date", "Close Time", "Symbol", "Side", "Quantity"),
            *("Avg Buy Price", "Avg Sell Price", "Gross P&L", "Net P&L", "Zella Score"),
        }
    ),
    one_trade_per_row(trade_of),
    optional=frozenset({"Instrument", "Spread Type"}),
)
