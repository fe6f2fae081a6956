"""Multipliers of trades from files that do not state them (docs/imports.md#point-values), and doubts about them."""

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from statistics import median

from msgspec.structs import replace

from journal_api.errors import ValidationFailed
from journal_api.positions.import_rows import ImportedFill, ImportedTrade, Instrument, Rejected
from journal_api.trade_files.file_format import find_first_reason
from journal_api.values.currencies import CURRENCIES
from journal_api.values.instruments import BUILT_IN, InstrumentTable
from journal_api.values.money import ONE, SCALE, Money, PositiveMoney

# The rows that are read ahead for the multipliers of their symbols.
ROWS_AHEAD = 500
# Symbols whose point values are cached.
MAX_CACHED = 8192
# Files round results to cents. In units of 10^-8.
HALF_A_CENT = SCALE // 200

PAIR = re.compile(r"([A-Z]{3})[/._-]?([A-Z]{3})(?:[^A-Z].*)?")
METALS = {"XAU": 100, "XAG": 5000}  # ounces of a lot
MAX_LOTS = 1000 * SCALE  # fewer units of a currency are hardly traded

Read = Iterator[ImportedTrade | ImportedFill | Rejected]
# Of a symbol, and whether the file says that it is a future (`is_future`).
PointValue = Callable[..., PositiveMoney | None]


def with_point_values(trades: Read, instruments: InstrumentTable) -> Read:
    """Yield the trades with their multipliers, and with the results and risks that follow from these.

    A future without a point value is rejected.
    """
    of_file: dict[str, Money] = {}  # the first multiplier of a symbol that the file's results make
    point_value = lru_cache(maxsize=MAX_CACHED)(instruments.point_value)
    while rows := list(islice(trades, ROWS_AHEAD)):
        for row in rows:
            if isinstance(row, ImportedTrade) and row.multiplier_from_result and row.states("multiplier"):
                of_file.setdefault(row.trade.symbol, row.trade.multiplier)
        for row in rows:
            if isinstance(row, ImportedTrade):
                yield complete_trade(row, point_value, of_file)
            else:
                yield complete_fill(row, point_value) if isinstance(row, ImportedFill) else row


def complete_trade(
    imported: ImportedTrade, point_value: PointValue, of_file: dict[str, Money]
) -> ImportedTrade | Rejected:
    """Return the trade with its multiplier and the amounts that depend on it."""
    trade = imported.trade
    try:
        multiplier = find_multiplier(imported, point_value, of_file) or trade.multiplier
        if imported.is_computed:
            trade = trade.with_multiplier(multiplier)
        elif multiplier != trade.multiplier:
            trade = replace(trade, multiplier=multiplier)
        if imported.derives_risk:
            trade = trade.with_initial_risk()
    except ValidationFailed as error:
        return Rejected(imported.line, find_first_reason(error))
    return imported if trade is imported.trade else replace(imported, trade=trade)


def complete_fill(fill: ImportedFill, point_value: PointValue) -> ImportedFill | Rejected:
    """Return the fill with the point value of its symbol, if the file states no multiplier."""
    instrument = fill.instrument
    if instrument.is_stated:
        return fill
    try:
        multiplier = point_value(instrument.symbol, is_future=instrument.is_future)
    except ValidationFailed as error:
        return Rejected(fill.line, find_first_reason(error))
    if multiplier is not None:
        fill.instrument = instrument._replace(multiplier=multiplier)
    return fill


def find_multiplier(imported: ImportedTrade, point_value: PointValue, of_file: dict[str, Money]) -> Money | None:
    """Return the multiplier to use instead of the one that was read, None to keep it.

    Raises ValidationFailed for a future whose multiplier neither the file nor the table has.
    """
    trade = imported.trade
    if not imported.multiplier_from_result:
        if imported.states("multiplier"):
            return None
        return point_value(trade.symbol, is_future=imported.is_future)
    try:
        known = point_value(trade.symbol, is_future=imported.is_future)
    except ValidationFailed:
        if trade.gross_pnl is None and trade.symbol not in of_file:
            raise
        known = None
    if not imported.states("multiplier"):
        return known or of_file.get(trade.symbol)
    if known is None or trade.exit_price is None or trade.gross_pnl is None:
        return None
    result = replace(trade, multiplier=known).compute_units_at(trade.exit_price)
    return known if abs(result - trade.gross_pnl.units) <= HALF_A_CENT else None


def warn_of_values(rows: Read, instruments: InstrumentTable, warnings: list[str]) -> Read:
    """Yield the rows, and warn if small quantities of currencies may be lots, and results of contracts points."""
    pair, ratios, shown = "", list[float](), ""
    point_value = lru_cache(maxsize=8192)(instruments.point_value)
    for row in rows:
        yield row
        multiplier: Money
        if isinstance(row, ImportedFill):
            symbol, size, multiplier = row.instrument.symbol, abs(row.quantity), row.instrument.multiplier
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


@lru_cache(maxsize=8192)
def is_pair(symbol: str) -> bool:
    """Return whether the symbol is that of two currencies: EURUSD, EUR/USD, eurgbp-2."""
    match = PAIR.fullmatch(symbol.upper())
    return match is not None and CURRENCIES.union(METALS).issuperset(match.groups())


def is_share(instrument: Instrument) -> bool:
    """Return whether an instrument is neither a contract nor a pair of currencies."""
    with suppress(ValidationFailed):
        has_value = BUILT_IN.point_value(instrument.contract, is_future=instrument.is_future) is not None
        is_contract = has_value or (instrument.is_stated and instrument.multiplier != ONE)
        return not (is_contract or is_pair(instrument.contract))
    return False
