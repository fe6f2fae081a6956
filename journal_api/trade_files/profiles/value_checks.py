"""What the fills of a file are worth, beside the values and results that the file states for them.

They show the value of a point where the symbol does not, and that a profile is wrong.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from statistics import median
from typing import NamedTuple

from journal_api.errors import ValidationFailed
from journal_api.positions.import_rows import FileCheck, ImportedTrade, Instrument, Noted
from journal_api.positions.statements import Effect
from journal_api.trade_files.file_format import Rows, Trades, failed_check
from journal_api.trade_files.fill_book import Book
from journal_api.trade_files.fill_checks import HALF_A_CENT, SHARE_OF_VALUE, show_names
from journal_api.trade_files.profiles.readers import ProfileReader
from journal_api.values.instruments import BUILT_IN, CONTRACT_ROOTS, InstrumentTable
from journal_api.values.money import SCALE, PositiveMoney

# Costs and roundings make a value differ from price times quantity by a few percent.
TOLERANCE = 0.05
MIN_HIDDEN, NEARLY_ALL = 3, 0.9  # fills whose values differ by costs
# What a point can be worth if a file shows it by the values of its fills: 0.01 for prices in cents.
SHOWN_POINT_VALUES = tuple(
    sorted({0.01, 0.1, 1.0, 10.0, 100.0, 1000.0, *(float(root.point_value) for root in CONTRACT_ROOTS.values())})
)
OF_MONTH = re.compile("(?:[A-Za-z]{1,2}[0-9]{1,2}|.*20[0-9]{2})(?:0[1-9]|1[0-2])")
QUOTES = ("USD", "USDT", "USDC", "EUR")  # of coins and currencies
ROOTS = CONTRACT_ROOTS.keys() - {"BTC", "ETH", "SOL", "XRP"}  # which are coins too


class Sample(NamedTuple):
    """A fill's price times quantity, the value that the file states, and the costs that may be in it."""

    product: float
    stated: float
    cost: float

    def agrees(self, multiplier: float) -> bool:
        room = self.cost + HALF_A_CENT + SHARE_OF_VALUE * self.stated
        return abs(self.product * multiplier - self.stated) <= room

    def is_near(self, multiplier: float) -> bool:
        """Return whether only costs in the value may make the difference."""
        return self.agrees(multiplier) or 0.5 <= self.product * multiplier / self.stated <= 2

    def compare(self, multiplier: float) -> float:
        """Return how many times the stated value the fill is worth."""
        worth = self.product * multiplier
        return 1 if abs(worth - self.stated) <= self.cost + HALF_A_CENT else worth / self.stated


def check_values(book: Book, price: str, quantity: str, value: str) -> Iterator[Noted | FileCheck]:
    """Give instruments the point value that the values of their fills show, and yield a check of the others."""
    samples: defaultdict[int, list[Sample]] = defaultdict(list)
    hidden = 0  # costs in values
    for fill in book.fills:
        product = abs(fill.price * fill.quantity) / SCALE**2
        is_size = round(abs(fill.value or 0) * SCALE) == abs(fill.quantity)  # the amount of an order
        if product and fill.value and not is_size and fill.effect != Effect.EXPIRES:
            samples[fill.number].append(Sample(product, abs(fill.value), abs(fill.cost or 0) / SCALE))
            paid = (abs(fill.value) - product) * (1 if fill.quantity > 0 else -1)
            hidden += not fill.cost and 2 * HALF_A_CENT < paid <= TOLERANCE * product
    if MIN_HIDDEN <= hidden >= NEARLY_ALL * sum(map(len, samples.values())):
        yield Noted(f"{value} differs from {price} times {quantity} by what may be costs, which are not read")
    shown = {number: show_point_value(book.instruments[number], found) for number, found in samples.items()}
    yield from state_multipliers(book, {number: one for number, one in shown.items() if one is not None}, value)

    def find_warning(instruments: InstrumentTable) -> str | None:
        ratios = [
            sample.compare(find_multiplier(book.instruments[number], instruments))
            for number, found in samples.items()
            for sample in found
        ]
        if not ratios or abs(median(ratios) - 1) <= TOLERANCE:
            return None
        return (
            f"{price} times {quantity} and the value of a point is {median(ratios):.3g} times {value}:"
            " check symbol, divide_by and multiplier, or the results are wrong"
        )

    yield FileCheck(book.fills[0].line if book.fills else 1, find_warning)


def check_stated_results(book: Book, column: str) -> Iterator[Noted | FileCheck]:
    """Give instruments the point value that their results show, and yield which results the fills do not make."""
    sizes, points, costs, stated = Counter[int](), Counter[int](), Counter[int](), Counter[int]()
    for fill in book.fills:
        sizes[fill.number] += fill.quantity
        points[fill.number] -= fill.quantity * fill.price
        costs[fill.number] += abs(fill.cost or 0)
        stated[fill.number] += round(SCALE * (fill.result or 0))
    shown = {}
    for number, instrument in enumerate(book.instruments):
        made, result, known = points[number] / SCALE**2, stated[number] / SCALE, find_multiplier(instrument, BUILT_IN)
        if sizes[number] or not made or not result:
            continue
        sample = Sample(abs(made), abs(result), costs[number] / SCALE)
        values = (known,) if instrument.is_stated else (known, *SHOWN_POINT_VALUES)
        value, text = next(filter(sample.agrees, values), None), f"{column} of {instrument.symbol} is {result:.2f}"
        if value is None:
            yield Noted(f"{text}, but its fills make {made * known:.2f}")
        elif made * result < 0:
            text = f"{text}, and its fills make the opposite: are purchases and sales reversed?"
            yield failed_check(book.fills[0].line, text)
        elif value != known:
            shown[number] = value
    yield from state_multipliers(book, shown, column)


def state_multipliers(book: Book, shown: Mapping[int, float], column: str) -> Iterator[Noted]:
    """Give instruments, by their numbers, these point values, and say so."""
    symbols: defaultdict[float, list[str]] = defaultdict(list)
    for number, value in shown.items():
        instrument = book.instruments[number]
        book.instruments[number] = instrument._replace(multiplier=PositiveMoney(f"{value:g}"), is_stated=True)
        symbols[value].append(instrument.symbol)
    for value, found in symbols.items():
        yield Noted(f"a point of {show_names(found)} is worth {value:g}, as {column} shows")


def show_point_value(instrument: Instrument, samples: Sequence[Sample]) -> float | None:
    """Return the point value that explains all fills of an instrument, None if its own explains any."""
    if instrument.is_stated:
        return None
    known, is_unknown = None, False
    try:
        known = BUILT_IN.point_value(instrument.contract)
    except ValidationFailed:  # it looks like a future or an option that the table does not know
        is_unknown = True
    if any(sample.agrees(float(known or 1)) for sample in samples):
        return 1.0 if is_unknown and all(sample.agrees(1) for sample in samples) else None
    # The price of a contract whose point value is known may be that of the whole contract.
    possible = SHOWN_POINT_VALUES if known is None else (1.0,)
    most = max(samples, key=lambda sample: sample.stated)
    return next((one for one in possible if most.agrees(one) and all(sample.is_near(one) for sample in samples)), None)


def find_multiplier(instrument: Instrument, instruments: InstrumentTable) -> float:
    value: Decimal | None = instrument.multiplier
    if not instrument.is_stated:
        with suppress(ValidationFailed):
            value = instruments.point_value(instrument.contract) or value
    return float(value or 1)


def check_roots(symbols: Iterable[str]) -> FileCheck:
    """Return the doubt about a file all of whose symbols but pairs are roots of futures, or name a month as RB2510.

    Without a month a root is a share, of which a point is worth 1.
    """
    names = sorted(name for name in {*symbols} if not name.upper().endswith(QUOTES))
    is_of_futures = bool(names) and all(name.upper() in ROOTS or OF_MONTH.fullmatch(name) for name in names)

    def find_warning(instruments: InstrumentTable) -> str | None:
        unknown = [name for name in names if is_of_futures and instruments.point_value(name) is None]
        text = "may be futures, and a point of them is read as worth 1: if so, set their point values"
        return f"{show_names(unknown)} {text} (PUT /v1/instruments/{unknown[0]})" if unknown else None

    return FileCheck(1, find_warning, rejects=False)


def check_trades(read_trades: Callable[[Rows], Trades], reader: ProfileReader, rows: Rows) -> Trades:
    """Yield the trades of rows, what rejects the file if most results contradict their directions, and doubts."""
    results = against = line = 0
    computed = set[str]()
    for trade in read_trades(rows):
        yield trade
        if isinstance(trade, ImportedTrade) and trade.is_computed and not trade.states("multiplier"):
            computed.add(trade.trade.symbol)
        if isinstance(trade, ImportedTrade) and (is_against := contradicts(trade)) is not None:
            results, against, line = results + 1, against + is_against, line or trade.line
    if 2 * against > results:
        text = f"{against} of {results} results contradict the direction and the prices of their trades"
        yield failed_check(line, f"{text}: are long and short reversed?")
    yield check_roots(computed)
    yield from reader.tell_unknown_sides()
    if number := reader.nameless_fills:
        yield Noted(f"trades without a symbol, which are not imported: {number}")
    if number := reader.exits_without_time:
        yield Noted(f"trades that have an exit price and no time of the exit, which are read as open: {number}")


def contradicts(row: ImportedTrade) -> bool | None:
    """Return whether a trade gains while its price goes against it; None for what costs could explain."""
    trade = row.trade
    gross = None if row.is_computed else trade.gross_pnl
    if not gross or trade.exit_price is None or (gross < 0 and not row.states("fees")):
        return None
    rises = trade.exit_price > trade.entry_price
    return None if trade.exit_price == trade.entry_price else rises != ((gross > 0) == (trade.direction == "long"))
