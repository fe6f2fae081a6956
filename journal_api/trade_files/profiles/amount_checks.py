"""What the amounts of an unknown file say: the sign of costs, a net result, prices out of line."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from decimal import Decimal
from statistics import median
from typing import NamedTuple

from journal_api.errors import ValidationFailed
from journal_api.trade_files.amounts import parse_broker_number
from journal_api.values.instruments import BUILT_IN

# The names of a fill's value, by which its price and quantity are checked.
VALUES = (
    *("value", "amount", "netamount", "grossamount", "proceeds", "grossproceeds", "netproceeds"),
    *("principalamount", "fillamount", "tradevalue"),
)
# Costs and roundings make a value differ from price times quantity by a few percent.
TOLERANCE = 0.05
CENT = Decimal("0.01")


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
            ratios.append(float(product[0] * product[1] * multiplier / stated))
    if not ratios or abs(median(ratios) - 1) <= TOLERANCE:
        return []
    return [
        f"{price} times {quantity} and the value of a point is {median(ratios):.3g} times {value}:"
        " check symbol, divide_by and multiplier, or the results are wrong"
    ]


def find_point_value(symbol: str) -> Decimal:
    try:
        return BUILT_IN.point_value(symbol) or Decimal(1)
    except ValidationFailed:
        return Decimal(1)
