"""Tradovate's performance export: one row a pair of fills, matched first in, first out."""

from decimal import Decimal

from journal_api.importing.cells import ImportedTrade, Row, amount, us_timestamp
from journal_api.money import EXACT, Money, PositiveMoney
from journal_api.structs.trades import Direction, TradeCreate
from journal_api.values import Name40, Name100

NAME = "Tradovate performance"
REQUIRED = {
    "Contract",
    "Pair ID",
    "Buy Fill ID",
    "Sell Fill ID",
    "Paired Qty",
    "Buy Price",
    "Sell Price",
    "P/L",
    "Bought Timestamp",
    "Sold Timestamp",
}


def trade_of(row: Row, account_id: int) -> ImportedTrade:
    """Sold before bought is a short. Within one second the lower fill id came first."""
    bought_at = row.read("Bought Timestamp", us_timestamp)
    sold_at = row.read("Sold Timestamp", us_timestamp)
    bought = row.read("Buy Price", amount(Money))
    sold = row.read("Sell Price", amount(Money))
    quantity = row.read("Paired Qty", amount(PositiveMoney))
    gross_pnl = row.read("P/L", amount(Money))
    buy_fill, sell_fill = row.read("Buy Fill ID", fill_id), row.read("Sell Fill ID", fill_id)
    is_short = (sold_at, sell_fill) < (bought_at, buy_fill)
    direction: Direction = "short" if is_short else "long"
    trade = TradeCreate(
        account_id=account_id,
        symbol=row.read("Contract", Name40.decode),
        direction=direction,
        quantity=quantity,
        multiplier=multiplier_of(sold - bought, quantity, gross_pnl),
        entry_price=sold if is_short else bought,
        exit_price=bought if is_short else sold,
        opened_at=sold_at if is_short else bought_at,
        closed_at=bought_at if is_short else sold_at,
        gross_pnl=gross_pnl,
        external_id=row.read("Pair ID", Name100.decode),
    )
    return ImportedTrade(trade)


def multiplier_of(points: Decimal, quantity: Decimal, gross_pnl: Decimal) -> PositiveMoney:
    """The value of a point, which the file says only through the P/L; 1 when the two do not tell it."""
    if not points:
        return PositiveMoney(1)
    value = EXACT.divide(gross_pnl, EXACT.multiply(points, quantity))
    try:
        return PositiveMoney.checked(value.quantize(Decimal("0.00000001"), context=EXACT))
    except ValueError:
        return PositiveMoney(1)


def fill_id(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise ValueError("must be a fill id")
    return int(text)
