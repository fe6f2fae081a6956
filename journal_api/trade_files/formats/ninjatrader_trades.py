"""NinjaTrader 8's trade performance, exported from its Trades grid: one row per trade."""

import re
from decimal import Decimal

from journal_api.rules.import_rows import ImportedTrade
from journal_api.rules.trade_draft import TradeDraft
from journal_api.trade_files.cells import CURRENCY, Row
from journal_api.trade_files.derived_amounts import derived, multiplier_of
from journal_api.trade_files.directions import direction as direction_of
from journal_api.trade_files.file_format import Format, one_trade_per_row
from journal_api.values.money import EXACT, Money, PositiveMoney, Result
from journal_api.values.types import Name40, Name100

ACCOUNT = "Account"
COSTS = ("Commission", "Clearing Fee", "Exchange Fee", "IP Fee", "NFA Fee")
TIMES = ("Entry time", "Exit time")
CURRENCY_SIGN = re.compile(CURRENCY)
# The columns by their names in Portuguese and German. The grid has the language of the program, but some
# columns keep their English names.
PORTUGUESE = {
    "Ativo": "Instrument",
    "Instrumento": "Instrument",
    "Conta": "Account",
    "Pos mercado.": "Market pos.",
    "Pos. mercado": "Market pos.",
    "Qtd": "Qty",
    "Qtd.": "Qty",
    "Preço entrada": "Entry price",
    "Preço saída": "Exit price",
    "Hora entrada": "Entry time",
    "Hora saída": "Exit time",
    "Lucro": "Profit",
    "Corretagem": "Commission",
    "Comissão": "Commission",
}
GERMAN = {
    "Konto": "Account",
    "Marktpos.": "Market pos.",
    "Marktposition": "Market pos.",
    "Menge": "Qty",
    "Anzahl": "Qty",
    "Einstiegspreis": "Entry price",
    "Ausstiegspreis": "Exit price",
    "Einstiegszeit": "Entry time",
    "Ausstiegszeit": "Exit time",
    "Gewinn": "Profit",
    "Kommission": "Commission",
    "Provision": "Commission",
}


def trade_of(row: Row) -> ImportedTrade:
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
        opened_at=row.time("Entry time"),
        closed_at=row.time("Exit time"),
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
        account=row.read_if_any(ACCOUNT, Name100.decode),
    )


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


FORMAT = Format(
    "NinjaTrader trades",
    frozenset({"Instrument", "Market pos.", "Qty", "Entry price", "Exit price", *TIMES, "Profit"}),
    one_trade_per_row(trade_of),
    (ACCOUNT,),
    optional=frozenset({*COSTS, ACCOUNT}),
    dates=TIMES,
    has_local_dates=True,
    aliases=PORTUGUESE | GERMAN,
)
