"""Trades of which a row states both prices and the result, which together make the value of a point."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any, NamedTuple

from journal_api.positions.import_rows import ImportedTrade, list_unstated
from journal_api.positions.trade_draft import TradeDraft
from journal_api.structs.trades import Direction
from journal_api.trade_files.cells import parse_direction
from journal_api.trade_files.named_rows import Row
from journal_api.values.money import EXACT, ONE, ZERO, Money, PositiveMoney, Result, UnsignedMoney
from journal_api.values.timestamps import Timestamp
from journal_api.values.types import Name40, Name100

EIGHT_DECIMALS = Decimal("0.00000001")


class Legs(NamedTuple):
    """Entry and exit of a trade. The exit of an open trade is None."""

    direction: Direction
    entry_price: Money
    opened_at: Timestamp
    exit_price: Money | None
    closed_at: Timestamp | None
    fill_ids: tuple[str, str] | None = None  # of entry and exit

    @property
    def points(self) -> Decimal:
        """The gain in points, 0 while the trade is open."""
        if self.exit_price is None:
            return Decimal()
        rise = EXACT.subtract(self.exit_price, self.entry_price)
        return rise if self.direction == "long" else -rise


def derive_multiplier(points: Decimal, quantity: Decimal, gross_pnl: Decimal) -> PositiveMoney | None:
    """Return the value of a point, computed from the result.

    Returns None if the result contradicts the prices or one of them is 0, and 1 beyond the limits of an
    amount.
    """
    if points * gross_pnl <= 0:
        return None
    value = EXACT.divide(gross_pnl, EXACT.multiply(points, quantity))
    try:
        return PositiveMoney.checked(value.quantize(EIGHT_DECIMALS, context=EXACT))
    except ValueError:
        return ONE


# Of points, quantity and result; None if they do not show the value of a point.
FindMultiplier = Callable[[Decimal, Decimal, Decimal], PositiveMoney | None]


def read_legs(row: Row, direction: str, entry: str, opened: str, exit_: str, closed: str) -> Legs:
    """Return entry and exit in these columns."""
    prices, times = [row.amount(name, Money) for name in (entry, exit_)], [row.time(name) for name in (opened, closed)]
    return Legs(row.read(direction, parse_direction), prices[0], times[0], prices[1], times[1])


def build_trade(
    line: int,
    legs: Legs,
    symbol: Name40,
    quantity: PositiveMoney,
    gross_pnl: Money | None,
    *,
    fees: Result | None,
    find_multiplier: FindMultiplier = derive_multiplier,
    account: Name100 | None = None,
    mae: Money | None = None,
    mfe: Money | None = None,
    **fields: Any,
) -> ImportedTrade:
    """Return the trade of a line. The fees are None if the file does not state them.

    Programs write the worst result `mae` with or without its sign, and `mfe`, the best one, may be a loss.
    """
    multiplier = find_multiplier(legs.points, quantity, gross_pnl or ZERO)
    trade = TradeDraft(
        symbol=symbol,
        direction=legs.direction,
        quantity=quantity,
        multiplier=multiplier or ONE,
        entry_price=legs.entry_price,
        exit_price=legs.exit_price,
        opened_at=legs.opened_at,
        closed_at=legs.closed_at,
        gross_pnl=gross_pnl,
        fees=fees or ZERO,
        mae=None if mae is None else UnsignedMoney(abs(mae)),
        mfe=None if mfe is None else UnsignedMoney(max(mfe, ZERO)),
        **fields,
    )
    return ImportedTrade(
        line,
        trade,
        unstated=list_unstated(multiplier=multiplier, fees=fees),
        multiplier_from_result=True,
        account=account,
        fill_ids=legs.fill_ids,
    )
