"""What the amounts of an unknown file say: the sign of costs, a net result, prices out of line."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from statistics import median
from typing import NamedTuple

from journal_api.errors import ValidationFailed
from journal_api.trade_files.amounts import Comma, parse_broker_number
from journal_api.trade_files.fill_book import Execution, Instrument
from journal_api.trade_files.fills import Effect
from journal_api.values.instruments import BUILT_IN, InstrumentTable
from journal_api.values.money import SCALE

# The names of a fill's value, by which its price and quantity are checked.
VALUES = (
    *("value", "amount", "netamount", "grossamount", "proceeds", "grossproceeds", "netproceeds"),
    *("principalamount", "fillamount", "tradevalue"),
)
# Costs and roundings make a value differ from price times quantity by a few percent.
TOLERANCE = 0.05
CENT = Decimal("0.01")
MAX_SAMPLES, HALF_A_CENT = 1000, 0.005
CURRENCY_OR_REMARK = re.compile(r" +[A-Z]{3}\Z| *\([^()]*\)\Z")


class Row(NamedTuple):
    """The result of a trade, its gain in points times quantity, and the sum of its costs as written."""

    symbol: str
    result: Decimal
    points: Decimal
    costs: Decimal


class Numbers:
    """The numbers in the rows of a table, by column."""

    def __init__(self, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        self._columns, self.rows = {name: index for index, name in enumerate(columns)}, rows

    def read(self, row: Sequence[str], column: str | None) -> Decimal | None:
        """Return the number in a cell, None for another text or no column."""
        try:
            return None if column is None else parse_broker_number(row[self._columns[column]], "thousands")
        except ValueError:
            return None

    def read_column(self, column: str) -> list[Decimal]:
        """Return the numbers of a column that are not 0."""
        return [number for row in self.rows if (number := self.read(row, column))]

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
    signs = {
        -1 if 2 * sum(cost < 0 for cost in found) > len(found) else 1
        for column in costs
        if (found := numbers.read_column(column)) and column.casefold() != "swap"
    }
    return sum(signs or {1})


def sum_costs(numbers: Numbers, costs: Sequence[str], row: Sequence[str]) -> Decimal:
    return sum((numbers.read(row, column) or Decimal() for column in costs), Decimal())


def is_net_of_costs(numbers: Numbers, members: Mapping[str, str], costs: Sequence[str], sign: int) -> bool:
    """Return whether the result of the trades is after costs: then its points have one value a symbol.

    `sign` is that of a cost: -1 if costs are written as negative numbers.
    """
    rows = [row for line in numbers.rows if (row := read_row(numbers, members, costs, line))]
    if not any(row.costs for row in rows):
        return False
    gross = measure_spread(rows, 0)
    return measure_spread(rows, sign) < gross


def read_row(
    numbers: Numbers, members: Mapping[str, str], costs: Sequence[str], line: Sequence[str]
) -> Row | None:
    """Return the amounts of a row, None for a row without one of them or without a gain or loss."""
    names = ("gross_pnl", "quantity", "entry_price", "exit_price")
    result, quantity, entry, exit_ = (numbers.read(line, members.get(name)) for name in names)
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


class ValueSamples:
    """What the first fills of a file are worth, beside the value that the file states for each of them."""

    def __init__(self, price: str, quantity: str, value: str) -> None:
        self.price, self.quantity, self.value = price, quantity, value
        self.line = 0  # of the first
        self._samples: list[tuple[Instrument, float, float, float]] = []

    def add(self, line: int, execution: Execution, cell: str, comma: Comma) -> None:
        """Add a fill. Its value may include its costs."""
        if len(self._samples) == MAX_SAMPLES or execution.effect == Effect.EXPIRES:
            return
        try:
            stated = abs(float(parse_broker_number(cell, comma)))
        except ValueError:
            return
        product = abs(execution.price * execution.quantity) / SCALE**2
        if stated and product:
            self.line = self.line or line
            self._samples.append((execution.instrument, product, stated, abs(execution.cost or 0) / SCALE))

    def find_warning(self, instruments: InstrumentTable) -> str | None:
        """Return what is wrong if most fills are not worth what the file states."""
        ratios = []
        for instrument, product, stated, cost in self._samples:
            worth = product * float(find_multiplier(instrument, instruments))
            ratios.append(1 if abs(worth - stated) <= cost + HALF_A_CENT else worth / stated)
        return warn_of_ratios(self.price, self.quantity, self.value, ratios)


def find_multiplier(instrument: Instrument, instruments: InstrumentTable) -> Decimal:
    if instrument.is_stated:
        return instrument.multiplier
    return find_point_value(instrument.contract, instruments) or instrument.multiplier


def find_warnings(numbers: Numbers, members: Mapping[str, str], value: str | None) -> list[str]:
    """Return a warning if price times quantity is not the value that the file states for its fills."""
    price, quantity = members.get("price"), members.get("quantity")
    if value is None or price is None or quantity is None:
        return []
    ratios = []
    for row in numbers.rows:
        product = [abs(numbers.read(row, column) or Decimal()) for column in (price, quantity)]
        multiplier = numbers.read(row, members.get("multiplier")) or find_point_value(
            numbers.text(row, members.get("symbol"))
        )
        stated = abs(numbers.read(row, value) or Decimal())
        if stated and product[0] and product[1]:
            ratios.append(float(product[0] * product[1] * (multiplier or 1) / stated))
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


def find_value_column(header: Iterable[str]) -> str | None:
    """Return the column with the value of a fill, None without one."""
    return next((name for name in header if simplify(name) in VALUES), None)


def simplify(column: str) -> str:
    """Return the name without capitals, signs, the currency and a remark in parentheses."""
    name = CURRENCY_OR_REMARK.sub("", column)
    return "".join(character for character in name.casefold() if character.isalnum())


def find_point_value(symbol: str, instruments: InstrumentTable = BUILT_IN) -> Decimal | None:
    try:
        return instruments.point_value(symbol)
    except ValidationFailed:
        return None
