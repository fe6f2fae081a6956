"""Tradovate's performance export: one row per pair of fills, matched first in, first out."""

from journal_api.rules.import_rows import ImportedTrade
from journal_api.rules.trade_draft import TradeDraft
from journal_api.structs.trades import Direction
from journal_api.trade_files.cells import Row
from journal_api.trade_files.derived_amounts import multiplier_of
from journal_api.trade_files.file_format import Format, one_trade_per_row
from journal_api.values.money import Money, PositiveMoney
from journal_api.values.types import Name40, Name100


def trade_of(row: Row) -> ImportedTrade:
    """Return the trade of a row.

    Sold before bought is a short; in one second the lower fill id came first.
    """
    bought_at = row.time("Bought Timestamp")
    sold_at = row.time("Sold Timestamp")
    bought = row.amount("Buy Price", Money)
    sold = row.amount("Sell Price", Money)
    quantity = row.amount("Paired Qty", PositiveMoney)
    gross_pnl = row.amount("P/L", Money)
    buy_fill, sell_fill = row.read("Buy Fill ID", fill_id), row.read("Sell Fill ID", fill_id)
    is_short = (sold_at, sell_fill) < (bought_at, buy_fill)
    direction: Direction = "short" if is_short else "long"
    trade = TradeDraft(
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
    is_explained = (sold - bought) * gross_pnl > 0
    return ImportedTrade(
        row.line,
        trade,
        unstated=("fees",) if is_explained else ("fees", "multiplier"),
        has_multiplier_of_result=True,
        account=row.read_if_any("Account", Name100.decode),
    )


def fill_id(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise ValueError("must be a fill id")
    return int(text)


FORMAT = Format(
    "Tradovate performance",
    frozenset(
        {
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
    ),
    one_trade_per_row(trade_of),
    ("Account",),
    optional=frozenset({"Account"}),
    dates=("Bought Timestamp", "Sold Timestamp"),
)
