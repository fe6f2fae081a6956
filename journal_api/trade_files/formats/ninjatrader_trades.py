"""NinjaTrader 8's trade performance, exported from its Trades grid: one row per trade.

It is not a profile: the costs are known even if all of their columns are hidden, because the profit is net of
them unless the prices make it without them, and the settings of a computer decide how dates are written.
"""

import re
from decimal import Decimal

from journal_api.positions.import_rows import ImportedTrade
from journal_api.trade_files.amounts import CURRENCY, derive_amount
from journal_api.trade_files.file_format import Format, one_trade_per_row, require_symbol
from journal_api.trade_files.named_rows import Row
from journal_api.trade_files.stated_results import build_trade, read_legs
from journal_api.values.instruments import BUILT_IN, find_contract
from journal_api.values.money import EXACT, Money, PositiveMoney
from journal_api.values.types import Name40, Name100

ACCOUNT = "Account"
COSTS = ("Commission", "Clearing Fee", "Exchange Fee", "IP Fee", "NFA Fee")
TIMES = ("Entry time", "Exit time")
CURRENCY_SIGN = re.compile(CURRENCY)


def read_trade(row: Row) -> ImportedTrade:
    require_symbol(row, "Instrument", "Market pos.")
    legs = read_legs(row, "Market pos.", "Entry price", "Entry time", "Exit price", "Exit time")
    quantity = row.amount("Qty", PositiveMoney)
    costs = (row.amount_if_any(column, Money) for column in COSTS)
    fees = derive_amount("Commission", "with the other fees", sum((cost for cost in costs if cost), Decimal()))
    row.read("Profit", require_currency)
    profit = row.amount("Profit", Money)
    symbol = row.read("Instrument", Name40.decode)
    contract = find_contract(symbol)
    points, value = EXACT.multiply(legs.points, quantity), contract and BUILT_IN.of_root(contract.root)
    is_gross = value and EXACT.multiply(points, value) == profit
    gross_pnl = derive_amount("Profit", "before the fees", profit if is_gross else EXACT.add(profit, fees))
    return build_trade(
        row.line,
        legs,
        symbol,
        quantity,
        gross_pnl,
        fees=fees,
        account=row.read_if_any(ACCOUNT, Name100.decode),
        mae=read_money(row, "MAE"),
        mfe=read_money(row, "MFE"),
    )


def read_money(row: Row, column: str) -> Money | None:
    """Return the amount of a cell, None for one that is not money."""
    return row.amount(column, Money) if CURRENCY_SIGN.search(row.get(column, "")) else None


def require_currency(cell: str) -> str:
    """Return the cell. Raises ValueError without a currency sign: the grid may also show points, ticks or pips."""
    if not CURRENCY_SIGN.search(cell):
        raise ValueError("must be money such as $20.00: export the grid as it shows currency")
    return cell


FORMAT = Format(
    "NinjaTrader trades",
    frozenset({"Instrument", "Market pos.", "Qty", "Entry price", "Exit price", *TIMES, "Profit"}),
    one_trade_per_row(read_trade),
    (ACCOUNT,),
    optional=frozenset({*COSTS, ACCOUNT, "MAE", "MFE"}),
    dates=TIMES,
    has_local_dates=True,
    is_pairs=True,
)
