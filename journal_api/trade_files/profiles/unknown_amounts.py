"""What the amounts of an unknown table say: the sign of values and of costs, results after costs."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from decimal import Decimal
from statistics import median
from typing import NamedTuple

from journal_api.trade_files.profiles.unknown_factors import MIN_FACTORS
from journal_api.trade_files.profiles.unknown_tables import Table
from journal_api.trade_files.readings import UNNAMED
from journal_api.trade_files.vocabulary import (
    KNOWN,
    NO_COSTS,
    find_costs,
    has_part,
    moves_money,
    simplify,
    spell,
    translate,
)

CENT = Decimal("0.01")
TAXES = re.compile("(?!.*(?:fee|comm|charge|brokerage)).*(?:(?<!stamp)tax|税金)")
STOPS, TARGETS = {"sl", "stoploss"}, {"tp", "takeprofit"}  # of positions that are kept apart
DIGIT = re.compile("[1-9]")
# Of the value of a fill; the least of nearly equal shares, and of different values, as parts of the largest.
LARGEST_SHARE, NEARLY_SAME, DIFFERENT = Decimal("0.005"), Decimal("0.97"), Decimal("0.9")
LARGEST_COST = Decimal("0.05")  # of the value of a fill
Numbers = Mapping[str, Decimal]  # of a row, by column


class Result(NamedTuple):
    """The result of a trade, its gain in points times quantity, and the sum of its costs as written."""

    amount: Decimal
    points: Decimal
    costs: Decimal


def find_signed_value(table: Table, size: str, price: str) -> str | None:
    """Return the column of an unknown name with the value of the fills and signs, as of what was paid or received."""
    for name in (name for name in table.columns if translate(name) not in KNOWN):
        amounts = table.read_amounts(name)
        rows = [abs(of / (number * at)) for of, number, at in table.pick_numbers(name, size, price) if number * at]
        is_value = len(rows) > 1 and any(
            all(abs(of / shares - 1) <= LARGEST_COST for of in rows) for shares in (1, 100)
        )
        if is_value and min(amounts) < 0 < max(amounts):
            return name
    return None


def find_unnamed_costs(table: Table, size: str, price: str) -> list[str]:
    """Return the column of a file without names that has a small part of the value of each fill."""
    for name in (name for name in table.columns if name.startswith(UNNAMED) and name not in (size, price)):
        rows = [(abs(cost), abs(of * at)) for cost, of, at in table.pick_numbers(name, size, price)]
        is_small = all(0 < 20 * cost <= value for cost, value in rows)
        if is_small and len({cost for cost, _ in rows}) > 1:
            return [name]
    return []


def find_cost_columns(table: Table, members: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Return the columns of costs, and those that may be costs, of which somebody must say whether they are."""
    side, size, price = (members.get(name, "") for name in ("side", "quantity", "price"))
    known = find_costs(table.columns)
    named = [name for name in known if table.holds("commission", name) and not is_total(table, name, size, price)]
    costs = named or find_unnamed_costs(table, size, price)
    costs = [name for name in costs if not sums_up(table, name, [other for other in costs if other != name])]
    withheld = [name for name in costs if side and TAXES.match(simplify(name)) and is_withheld(table, name, side)]
    likely = [name for name in find_costs(table.columns, are_likely=True) if any(table.read_amounts(name))]
    likely += [name for name in known if name not in named and table.count(name, DIGIT.search)]  # 0.1%
    read = {*members.values(), *costs, *likely}
    others = [name for name in table.columns if name not in read and translate(name) not in KNOWN]
    likely += [name for name in others if is_share(table, name, size, price)]
    result = table.read_amounts(members.get("gross_pnl") or members.get("net_pnl"))
    entry = members.get("entry_price", "entry")
    if result and translate(entry) not in KNOWN and not spell(entry):  # somebody has named it, and not the costs
        largest = {name: max(map(abs, table.read_amounts(name)), default=0) for name in others if name not in likely}
        likely += [name for name in largest if 0 < largest[name] < max(map(abs, result))]
    return [name for name in costs if name not in withheld], withheld + likely


def sums_up(table: Table, name: str, others: Sequence[str]) -> bool:
    """Return whether a column has the sums of two other columns of costs or more, if it is named so to the cent."""
    room = CENT if has_part(name, "totals") else 0
    rows = [row for row in table.numbers if row.get(name)]
    are_several = any(sum(bool(row.get(other)) for other in others) > 1 for row in rows)
    return (
        are_several
        and len({row[name] for row in rows}) > 1
        and all(abs(row[name] - sum_costs(row, others)) <= room for row in rows)
    )


def is_total(table: Table, name: str, size: str, price: str) -> bool:
    """Return whether the numbers of a column are rather the values of the fills than their costs."""
    rows = [(abs(cost), abs(of * at)) for cost, of, at in table.pick_numbers(name, size, price) if cost and of and at]
    values = sum(any(abs(cost - value * one) <= LARGEST_COST * value * one for one in (1, 100)) for cost, value in rows)
    return values >= MIN_FACTORS and 2 * values > len(rows)


def is_share(table: Table, name: str, size: str, price: str) -> bool:
    """Return whether the numbers of a column are one small share of the values, as a tax on trades is."""
    rows = [(abs(cost), abs(of * at)) for cost, of, at in table.pick_numbers(name, size, price) if cost and of and at]
    if len({cost for cost, _ in rows}) < MIN_FACTORS or any(part in name.casefold() for part in NO_COSTS):
        return False
    least, *_, most = sorted(cost / value for cost, value in rows)
    values = [value for _, value in rows]
    return most <= LARGEST_SHARE and least >= NEARLY_SAME * most and min(values) <= DIFFERENT * max(values)


def is_withheld(table: Table, tax: str, side: str) -> bool:
    """Return whether a tax is on income: it stands in rows of dividends and interest too."""
    rows = zip(table.rows, table.numbers, strict=True)
    return any(numbers.get(tax) and moves_money(row[side]) for row, numbers in rows)


def find_cost_sign(
    rows: Sequence[Numbers], costs: Sequence[str], gross: str | None, net: str | None, size: str = ""
) -> int:
    """Return the sign of a cost in these columns: -1, 1, or 0 if signs differ, or one has those of the quantity.

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
    fees = [name for name in costs if "swap" not in name.casefold()]
    signs_of_sizes = (
        {(row[size] > 0, row[name] > 0) for row in rows if row.get(name) and row.get(size)} for name in fees
    )
    if {(True, True), (False, False)} in signs_of_sizes:
        return 0
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


def find_result(
    table: Table, members: Mapping[str, str], costs: Sequence[str], sign: int, said: Set[str]
) -> dict[str, str]:
    """Return the column of the result, before or after costs, and whether every row is a trade of its own.

    If somebody has said which of the two it is, it is that.
    """
    gross, net = members.get("gross_pnl"), members.get("net_pnl")
    results = list_results(table, members, costs)
    is_net = gross is None or (net is None and are_net(results, sign))
    if "net_pnl" in said:
        is_net = net is not None
    elif "gross_pnl" in said and gross is not None:
        is_net = False
    column = (net or gross) if is_net else gross
    names = table.names.simple
    is_apart = are_apart(results) or bool(STOPS & names.keys() and TARGETS & names.keys())
    tickets = table.read_cells(names.get("ticket"))
    is_apart |= bool(tickets) and len({*tickets}) == len(tickets)
    apart = {"one_trade_is": "row"} if is_apart else {}
    return apart | ({"net_pnl" if is_net else "gross_pnl": column} if column else {})


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
