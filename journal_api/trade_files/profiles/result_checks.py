"""What the amounts of an unknown file say: the sign of its costs, and whether its results are after them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from statistics import median
from typing import NamedTuple

from journal_api.trade_files.profiles.unknown_tables import Table

CENT = Decimal("0.01")
Numbers = Mapping[str, Decimal]  # of a row, by column


class Result(NamedTuple):
    """The result of a trade, its gain in points times quantity, and the sum of its costs as written."""

    amount: Decimal
    points: Decimal
    costs: Decimal


def find_cost_sign(rows: Sequence[Numbers], costs: Sequence[str], gross: str | None, net: str | None) -> int:
    """Return the sign of a cost in these columns: -1, 1, or 0 if the columns have different signs.

    A file with gross and net results states the sign; otherwise most numbers decide.
    """
    differences = [
        (row[net] - row[gross], charged)
        for row in rows
        if gross and net and row.keys() >= {gross, net} and (charged := sum_costs(row, costs))
    ]
    if differences:
        booked = sum(abs(difference - charged) <= CENT for difference, charged in differences)
        return -1 if 2 * booked > len(differences) else 1
    found = {column: [row[column] for row in rows if row.get(column)] for column in costs}
    is_alone = sum(map(bool, found.values())) == 1
    signs = {
        -1 if 2 * sum(cost < 0 for cost in amounts) > len(amounts) else 1
        for column, amounts in found.items()
        if amounts and (column.casefold() != "swap" or is_alone or max(amounts) < 0)
    }
    return sum(signs or {1})


def sum_costs(row: Numbers, costs: Sequence[str]) -> Decimal:
    return sum((row.get(column, Decimal()) for column in costs), Decimal())


def list_results(table: Table, members: Mapping[str, str], costs: Sequence[str]) -> list[list[Result]]:
    """Return the results of the rows that have one, and a gain or a loss in points, of each symbol."""
    quantity, entry, exit_, symbol = (
        members.get(name, "") for name in ("quantity", "entry_price", "exit_price", "symbol")
    )
    result = members.get("gross_pnl") or members.get("net_pnl", "")
    found: defaultdict[str, list[Result]] = defaultdict(list)
    for text, row in zip(table.rows, table.numbers, strict=True):
        is_stated = row.keys() >= {quantity, entry, exit_, result}
        if is_stated and (points := abs((row[exit_] - row[entry]) * row[quantity])):
            found[text.get(symbol, "")].append(Result(row[result], points, sum_costs(row, costs)))
    return [*found.values()]


def are_apart(results: Sequence[Sequence[Result]]) -> bool:
    """Return whether no value of a point explains the results of a symbol, as of currencies whose rates change.

    Joined to positions, the trades would have other results.
    """
    return any(
        abs(row.points * value - abs(row.amount)) > CENT + abs(row.costs)
        for rows in results
        if (value := median(abs(row.amount) / row.points for row in rows))
        for row in rows
    )


def are_net(results: Sequence[Sequence[Result]], sign: int) -> bool:
    """Return whether the results are after costs: then points have one value a symbol.

    `sign` is that of a cost: -1 if costs are written as negative numbers.
    """
    has_costs = any(row.costs for rows in results for row in rows)
    return has_costs and sum(measure_spread(results, sign)) < sum(measure_spread(results, 0))


def measure_spread(results: Sequence[Sequence[Result]], sign: int) -> Iterator[float]:
    """Yield how far the values of a point are apart within the symbols, with results before these costs."""
    for rows in results:
        values = [float(abs(row.amount + sign * row.costs) / row.points) for row in rows]
        for value in values:
            # The value of a point has few digits, of a symbol with one row too.
            odd = abs(value - float(f"{value:.2g}")) / (value or 1)
            yield min(abs(value / (median(values) or 1) - 1), 1) + odd
