"""Checks of all rows of a file together: what no row shows alone."""

import re
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from statistics import median
from typing import TypeVar

from journal_api.errors import ValidationFailed
from journal_api.positions.import_rows import ImportedFill, ImportedTrade
from journal_api.trade_files.file_format import Trades, failed_check
from journal_api.values.currencies import CURRENCIES
from journal_api.values.instruments import InstrumentTable
from journal_api.values.money import ONE, SCALE, Money

T = TypeVar("T")
PAIR = re.compile(r"([A-Z]{3})[/._-]?([A-Z]{3})(?:[^A-Z].*)?")
METALS = {"XAU": 100, "XAG": 5000}  # ounces of a lot
MAX_LOTS = 1000 * SCALE  # fewer units of a currency are hardly traded


def check_results(trades: Trades) -> Trades:
    """Yield the trades of a profile, and what rejects the file if most results contradict their directions."""
    results = against = line = 0
    for trade in trades:
        yield trade
        if isinstance(trade, ImportedTrade) and (is_against := contradicts(trade)) is not None:
            results, against, line = results + 1, against + is_against, line or trade.line
    if 2 * against > results:
        text = f"{against} of {results} results contradict the direction and the prices of their trades"
        yield failed_check(line, f"{text}: are long and short reversed?")


def warn_of_values(rows: Iterator[T], instruments: InstrumentTable, warnings: list[str]) -> Iterator[T]:
    """Yield the rows, and warn if small quantities of currencies may be lots, and results of contracts points."""
    pair, ratios, shown = "", list[float](), ""
    point_value = lru_cache(maxsize=8192)(instruments.point_value)
    for row in rows:
        yield row
        multiplier: Money
        if isinstance(row, ImportedFill):
            symbol, size, multiplier = row.symbol, abs(row.quantity), row.multiplier
        elif isinstance(row, ImportedTrade) and row.is_computed:
            symbol, size, multiplier = row.trade.symbol, row.trade.quantity.units, row.trade.multiplier
        elif isinstance(row, ImportedTrade) and row.multiplier_from_result and row.states("multiplier"):
            symbol, multiplier = row.trade.symbol, row.trade.multiplier
            with suppress(ValidationFailed):
                if known := point_value(symbol, is_future=row.is_future):
                    ratios.append(float(multiplier / known))
                    shown = shown or f"a point of {symbol} is worth {float(multiplier):g} by its results, not {known:f}"
            continue
        else:
            continue
        if multiplier == ONE and not pair and size < MAX_LOTS and is_pair(symbol):
            pair = symbol
    if pair:
        text = f"quantities of {pair} are read as units of the currency: if they are lots, state the point value of"
        warnings.append(f"{text} {pair} as {METALS.get(pair[:3].upper(), 100_000)}")
    if ratios and abs(median(ratios) - 1) > 0.25:  # of which costs may be a part
        warnings.append(f"{shown}: are the results points?")


def contradicts(row: ImportedTrade) -> bool | None:
    """Return whether a trade gains while its price goes against it; None for what costs could explain."""
    trade = row.trade
    gross = None if row.is_computed else trade.gross_pnl
    if not gross or trade.exit_price is None or (gross < 0 and not row.states("fees")):
        return None
    rises = trade.exit_price > trade.entry_price
    return None if trade.exit_price == trade.entry_price else rises != ((gross > 0) == (trade.direction == "long"))


@lru_cache(maxsize=8192)
def is_pair(symbol: str) -> bool:
    """Return whether the symbol is that of two currencies: EURUSD, EUR/USD, eurgbp-2."""
    match = PAIR.fullmatch(symbol.upper())
    return match is not None and CURRENCIES.union(METALS).issuperset(match.groups())
