"""What the amounts of an unknown file say: the sign of its costs, and whether its results are after them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from statistics import median
from typing import NamedTuple

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


class Results:
    """The results of the rows that have one, a gain or a loss in points, by symbol."""

    def __init__(
        self,
        texts: Sequence[Mapping[str, str]],
        rows: Sequence[Numbers],
        members: Mapping[str, str],
        costs: Sequence[str],
    ) -> None:
        self._by_symbol: defaultdict[str, list[Result]] = defaultdict(list)
        quantity, entry, exit_ = (members.get(name, "") for name in ("quantity", "entry_price", "exit_price"))
        result, symbol = members.get("gross_pnl") or members.get("net_pnl", ""), members.get("symbol", "")
        for text, row in zip(texts, rows, strict=True):
            if row.keys() >= {quantity, entry, exit_, result} and (
                points := abs((row[exit_] - row[entry]) * row[quantity])
            ):
                self._by_symbol[text.get(symbol, "")].append(Result(row[result], points, sum_costs(row, costs)))

    def are_apart(self) -> bool:
        """Return whether no value of a point explains the results of a symbol, as of currencies whose rates change.

        Joined to positions, the trades would have other results.
        """
        return any(
            abs(row.points * value - abs(row.amount)) > CENT + abs(row.costs)
            for rows in self._by_symbol.values()
            if (value := median(abs(row.amount) / row.points for row in rows))
            for row in rows
        )

    def are_net(self, sign: int) -> bool:
        """Return whether the results are after costs: then points have one value a symbol.

        `sign` is that of a cost: -1 if costs are written as negative numbers.
        """
        has_costs = any(row.costs for rows in self._by_symbol.values() for row in rows)
        return has_costs and sum(self._measure_spread(sign)) < sum(self._measure_spread(0))

    def _measure_spread(self, sign: int) -> Iterator[float]:
        """Yield how far the values of a point are apart within the symbols, with results before these costs."""
        for rows in self._by_symbol.values():
            values = [float(abs(row.amount + sign * row.costs) / row.points) for row in rows]
            for value in values:
                # The value of a point has few digits, of a symbol with one row too.
                odd = abs(value - float(f"{value:.2g}")) / (value or 1)
                yield min(abs(value / (median(values) or 1) - 1), 1) + odd
