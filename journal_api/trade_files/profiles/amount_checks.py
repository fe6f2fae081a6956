"""What the amounts of an unknown file say: the sign of costs, a net result, prices out of line."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from statistics import median
from typing import NamedTuple

from journal_api.errors import ValidationFailed
from journal_api.positions.import_rows import FileCheck, Noted
from journal_api.positions.statements import Effect
from journal_api.trade_files.amounts import Comma, parse_broker_number
from journal_api.trade_files.file_format import failed_check
from journal_api.trade_files.fill_book import Book, Execution, Instrument
from journal_api.values.instruments import BUILT_IN, CONTRACT_ROOTS, InstrumentTable
from journal_api.values.money import SCALE, PositiveMoney

# Costs and roundings make a value differ from price times quantity by a few percent.
TOLERANCE = 0.05
CENT = Decimal("0.01")
MAX_SAMPLES, HALF_A_CENT = 1000, 0.005
# What a point can be worth if a file shows it by the values of its fills: 0.01 for prices in cents.
SHOWN_POINT_VALUES = tuple(
    sorted({0.01, 0.1, 1.0, 10.0, 100.0, 1000.0, *(float(root.point_value) for root in CONTRACT_ROOTS.values())})
)
SHARE_OF_VALUE = 0.01  # that roundings of prices may make


class Row(NamedTuple):
    """The result of a trade, its gain in points times quantity, and the sum of its costs as written."""

    symbol: str
    result: Decimal
    points: Decimal
    costs: Decimal


class Numbers:
    """The numbers in the rows of a table, by column."""

    def __init__(self, columns: Sequence[str], rows: Sequence[Sequence[str]], comma: Comma = "thousands") -> None:
        self._columns, self.rows = {name: index for index, name in enumerate(columns)}, rows
        self._comma: Comma = comma

    def read(self, row: Sequence[str], column: str | None) -> Decimal | None:
        """Return the number in a cell, None for another text or no column."""
        return None if column is None else self.parse(row[self._columns[column]])

    def parse(self, cell: str) -> Decimal | None:
        """Return the number of a cell, None for another text."""
        try:
            return parse_broker_number(cell, self._comma)
        except ValueError:
            return None

    def read_column(self, column: str) -> list[Decimal]:
        """Return the numbers of a column that are not 0."""
        return [number for row in self.rows if (number := self.read(row, column))]

    def read_all(self, column: str | None) -> list[Decimal]:
        """Return the numbers of a column."""
        return [number for row in self.rows if (number := self.read(row, column)) is not None]

    def text(self, row: Sequence[str], column: str | None) -> str:
        return "" if column is None else row[self._columns[column]]


def find_cost_sign(numbers: Numbers, costs: Sequence[str], gross: str | None, net: str | None) -> int:
    """Return the sign of a cost in these columns: -1, 1, or 0 if the columns have different signs.

    A file with gross and net results states the sign; otherwise most numbers decide.
    """
    differences = [
        (stated - before, charged)
        for row in numbers.rows
        if (stated := numbers.read(row, net)) is not None
        and (before := numbers.read(row, gross)) is not None
        and (charged := sum_costs(numbers, costs, row))
    ]
    if differences:
        booked = sum(abs(difference - charged) <= CENT for difference, charged in differences)
        return -1 if 2 * booked > len(differences) else 1
    found = {column: amounts for column in costs if (amounts := numbers.read_column(column))}
    signs = {
        -1 if 2 * sum(cost < 0 for cost in amounts) > len(amounts) else 1
        for column, amounts in found.items()
        if column.casefold() != "swap" or len(found) == 1 or max(amounts) < 0
    }
    return sum(signs or {1})


def sum_costs(numbers: Numbers, costs: Sequence[str], row: Sequence[str]) -> Decimal:
    return sum((numbers.read(row, column) or Decimal() for column in costs), Decimal())


def are_results_apart(numbers: Numbers, members: Mapping[str, str], costs: Sequence[str]) -> bool:
    """Return whether no value of a point explains the results of a symbol, as of currencies whose rates change.

    Joined to positions, the trades would have other results.
    """
    found: defaultdict[str, list[Row]] = defaultdict(list)
    for line in numbers.rows:
        if row := read_row(numbers, members, costs, line):
            found[row.symbol].append(row)
    return any(
        abs(row.points * value - abs(row.result)) > CENT + abs(row.costs)
        for rows in found.values()
        if (value := median(abs(row.result) / row.points for row in rows))
        for row in rows
    )


def is_net_of_costs(numbers: Numbers, members: Mapping[str, str], costs: Sequence[str], sign: int) -> bool:
    """Return whether the result of the trades is after costs: then its points have one value a symbol.

    `sign` is that of a cost: -1 if costs are written as negative numbers.
    """
    rows = [row for line in numbers.rows if (row := read_row(numbers, members, costs, line))]
    if not any(row.costs for row in rows):
        return False
    gross = measure_spread(rows, 0)
    return measure_spread(rows, sign) < gross


def read_row(numbers: Numbers, members: Mapping[str, str], costs: Sequence[str], line: Sequence[str]) -> Row | None:
    """Return the amounts of a row, None for a row without one of them or without a gain or loss."""
    names = ("quantity", "entry_price", "exit_price")
    quantity, entry, exit_ = (numbers.read(line, members.get(name)) for name in names)
    result = numbers.read(line, members.get("gross_pnl") or members.get("net_pnl"))
    if result is None or not quantity or entry is None or exit_ is None or entry == exit_:
        return None
    points = abs((exit_ - entry) * quantity)
    return Row(numbers.text(line, members.get("symbol")), result, points, sum_costs(numbers, costs, line))


def measure_spread(rows: Sequence[Row], sign: int) -> float:
    """Return how far the values of a point are apart within the symbols, with results before these costs."""
    values: defaultdict[str, list[float]] = defaultdict(list)
    for row in rows:
        values[row.symbol].append(float(abs(row.result + sign * row.costs) / row.points))
    # The value of a point has few digits, of a symbol with one row too.
    return sum(
        min(abs(value / (median(found) or 1) - 1), 1) + abs(value - float(f"{value:.2g}")) / (value or 1)
        for found in values.values()
        for value in found
    )


class Sample(NamedTuple):
    """A fill's price times quantity, the value that the file states, and the costs that may be in it."""

    product: float
    stated: float
    cost: float

    def agrees(self, multiplier: float) -> bool:
        room = self.cost + HALF_A_CENT + SHARE_OF_VALUE * self.stated
        return abs(self.product * multiplier - self.stated) <= room

    def compare(self, multiplier: float) -> float:
        """Return how many times the stated value the fill is worth."""
        worth = self.product * multiplier
        return 1 if abs(worth - self.stated) <= self.cost + HALF_A_CENT else worth / self.stated


class ValueSamples:
    """What the first fills of a file are worth, beside the value that the file states for each of them."""

    def __init__(self, price: str, quantity: str, value: str) -> None:
        self.price, self.quantity, self.value = price, quantity, value
        self.line = self._count = 0  # the line of the first
        self._samples: defaultdict[Instrument, list[Sample]] = defaultdict(list)

    def add(self, line: int, execution: Execution, cell: str, comma: Comma) -> None:
        """Add a fill."""
        if self._count == MAX_SAMPLES or execution.effect == Effect.EXPIRES:
            return
        try:
            stated = abs(float(parse_broker_number(cell, comma)))
        except ValueError:
            return
        product = abs(execution.price * execution.quantity) / SCALE**2
        if stated and product:
            self.line, self._count = self.line or line, self._count + 1
            cost = abs(execution.cost or 0) / SCALE
            self._samples[execution.instrument].append(Sample(product, stated, cost))

    def correct(self, book: Book) -> Iterator[Noted]:
        """Give instruments the point value that the values of their fills show, if theirs is another."""
        for number, instrument in enumerate(book.instruments):
            samples = self._samples.get(instrument, [])
            shown = None if instrument.is_stated else show_point_value(instrument.contract, samples)
            if shown is not None:
                book.instruments[number] = state_multiplier(instrument, shown)
                self._samples[book.instruments[number]] = self._samples.pop(instrument)
                yield Noted(f"a point of {instrument.symbol} is worth {shown:g}, as {self.value} shows")

    def find_warning(self, instruments: InstrumentTable) -> str | None:
        """Return what is wrong if most fills are not worth what the file states."""
        ratios = [
            sample.compare(float(find_multiplier(instrument, instruments)))
            for instrument, samples in self._samples.items()
            for sample in samples
        ]
        return warn_of_ratios(self.price, self.quantity, self.value, ratios)


class StatedResults:
    """What a file of fills states as their results, beside what the fills of each instrument make."""

    def __init__(self, column: str) -> None:
        self.column, self._line = column, 0
        self._stated: defaultdict[Instrument, float] = defaultdict(float)

    def add(self, line: int, instrument: Instrument, cell: str, comma: Comma) -> None:
        """Add the result that the row of a fill states, if it does."""
        with suppress(ValueError):
            self._stated[instrument] += float(parse_broker_number(cell, comma))
            self._line = self._line or line

    def correct(self, book: Book) -> Iterator[Noted | FileCheck]:
        """Give instruments the point value that their results show; say which results it does not explain."""
        for number, (points, fees) in sum_results(book).items():
            instrument, stated = book.instruments[number], self._stated.get(book.instruments[number], 0)
            sample = Sample(abs(points), abs(stated), fees)
            known = float(find_multiplier(instrument, BUILT_IN))
            values = (known,) if instrument.is_stated else (known, *SHOWN_POINT_VALUES)
            shown = next((one for one in values if points and stated and sample.agrees(one)), None)
            is_opposite = points * stated < 0
            if not (points and stated) or (shown == known and not is_opposite):
                continue
            if shown is not None and is_opposite:
                text = f"{self.column} of {instrument.symbol} is {stated:.2f}, and its fills make the opposite"
                yield failed_check(self._line, f"{text}: are purchases and sales reversed?")
            elif shown is not None:
                book.instruments[number] = state_multiplier(instrument, shown)
                yield Noted(f"a point of {instrument.symbol} is worth {shown:g}, as {self.column} shows")
            else:
                made = points * known
                yield Noted(f"{self.column} of {instrument.symbol} is {stated:.2f}, but its fills make {made:.2f}")


def sum_results(book: Book) -> dict[int, tuple[float, float]]:
    """Return the gain in points times quantity, and the costs, of instruments without an open position."""
    sizes: Counter[int] = Counter()
    sums: defaultdict[int, list[int]] = defaultdict(lambda: [0, 0])
    for _, number, _, execution in book.fills:
        sizes[number] += execution.quantity
        sums[number][0] -= execution.quantity * execution.price
        sums[number][1] += abs(execution.cost or 0)
    return {number: (points / SCALE**2, fees / SCALE) for number, (points, fees) in sums.items() if not sizes[number]}


def state_multiplier(instrument: Instrument, shown: float) -> Instrument:
    return instrument._replace(multiplier=PositiveMoney(f"{shown:g}"), is_stated=True)


def show_point_value(symbol: str, samples: Sequence[Sample]) -> float | None:
    """Return the point value that explains all fills of a symbol, None if its own explains any."""
    known = find_point_value(symbol)
    if not samples or any(sample.agrees(float(known or 1)) for sample in samples):
        agree = bool(samples) and is_unknown(symbol) and all(sample.agrees(1) for sample in samples)
        return 1.0 if agree else None
    # The price of a contract whose point value is known may be that of the whole contract.
    possible = SHOWN_POINT_VALUES if known is None else (1.0,)
    return next((one for one in possible if all(sample.agrees(one) for sample in samples)), None)


def is_unknown(symbol: str) -> bool:
    """Return whether the symbol looks like a future or an option that the table does not know."""
    try:
        BUILT_IN.point_value(symbol)
    except ValidationFailed:
        return True
    return False


def find_multiplier(instrument: Instrument, instruments: InstrumentTable) -> Decimal:
    if instrument.is_stated:
        return instrument.multiplier
    return find_point_value(instrument.contract, instruments) or instrument.multiplier


def find_warnings(numbers: Numbers, members: Mapping[str, str], costs: Sequence[str], value: str | None) -> list[str]:
    """Return a warning if price times quantity is not the value that the file states for its fills."""
    price, quantity = members.get("price"), members.get("quantity")
    if value is None or price is None or quantity is None:
        return []
    samples: defaultdict[str, list[Sample]] = defaultdict(list)
    ratios = []
    for row in numbers.rows:
        symbol = numbers.text(row, members.get("symbol"))
        product = [abs(float(numbers.read(row, column) or 0)) for column in (price, quantity)]
        stated = abs(float(numbers.read(row, value) or 0))
        if not (stated and product[0] and product[1]):
            continue
        sample = Sample(product[0] * product[1], stated, float(abs(sum_costs(numbers, costs, row))))
        if multiplier := numbers.read(row, members.get("multiplier")):
            ratios.append(sample.compare(float(multiplier)))
        else:
            samples[symbol].append(sample)
    for symbol, found in samples.items():
        point_value = show_point_value(symbol, found) or float(find_point_value(symbol) or 1)
        ratios += [sample.compare(point_value) for sample in found]
    warning = warn_of_ratios(price, quantity, value, ratios)
    return [warning] if warning else []


def warn_of_ratios(price: str, quantity: str, value: str, ratios: Sequence[float]) -> str | None:
    """Return the warning for fills worth this many times what the file states, None if they agree."""
    if not ratios or abs(median(ratios) - 1) <= TOLERANCE:
        return None
    return (
        f"{price} times {quantity} and the value of a point is {median(ratios):.3g} times {value}:"
        " check symbol, divide_by and multiplier, or the results are wrong"
    )


def find_point_value(symbol: str, instruments: InstrumentTable = BUILT_IN) -> Decimal | None:
    try:
        return instruments.point_value(symbol)
    except ValidationFailed:
        return None
