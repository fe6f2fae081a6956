"""The opening and the close of the trades of an unknown table: times by their order, prices by the results."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import combinations, permutations, product
from statistics import median
from typing import NamedTuple

from journal_api.structs.import_answers import RESULTS
from journal_api.structs.trades import Direction
from journal_api.trade_files.profiles.unknown_factors import MAX_FACTORS, MIN_FACTORS, NEARLY_ALL, NO_FACTOR
from journal_api.trade_files.profiles.unknown_tables import AMOUNTS, LATER, TIMES, Table
from journal_api.trade_files.vocabulary import KNOWN, find_direction, simplify, spell, translate

MAX_ROWS, MIN_OF_UNKNOWN = 100, 5  # rows that are looked at; if quantity or result are unknown too
FAR, ODD = 0.5, 0.03  # of a price; of the value of a point, which costs change
LEAST_POINT = 0.1  # of less the quantity is a sum of money
NO_END = re.compile("mark|last|target|stop|limit|trigger|strike")  # prices
POINT_VALUES = [10.0**power for power in range(6)]  # where no other row shows one

Column = Sequence[float]


class Ends(NamedTuple):
    """Columns of the prices of the opening and the close, of the quantity and the result."""

    entry: str
    exit: str
    size: str
    result: str


def find_ends(table: Table, found: Mapping[str, str]) -> dict[str, str]:
    """Return the members of a trade per row: columns of unknown names, of prices whose difference makes the results.

    That is if a point is worth the same in nearly all rows of a symbol. Quantity and result may be of unknown names
    too. A file with another price is one of fills, one without two times of positions.
    """
    times = {} if found.get("price") else find_end_times(table, found)
    if not times or found.keys() >= {*AMOUNTS[1:]}:
        named = [name for name in filter(None, map(found.get, TIMES[:3])) if translate(name) in KNOWN or spell(name)]
        return {} if named else times
    result = next((name for name in RESULTS if found.get(name)), "gross_pnl")
    directions = [find_direction(row.get(found.get("side", ""), "")) for row in table.rows]
    ends = find_end_prices(table, found, found.get(result))
    if not ends or {*directions} == {"short"}:  # sales
        return {}
    places = [table.columns.index(name) for name in (*times.values(), ends.entry, ends.exit)]
    told = sum(tell_order(row, ends, one) for row, one in zip(table.numbers, directions, strict=True))
    opened, closed, entry, close = places
    is_beside, is_crossed = (
        abs(opened - one) == abs(closed - other) == 1 for one, other in ((entry, close), (close, entry))
    )
    is_reversed = is_crossed if is_beside != is_crossed else told < 0 if told else opened > closed
    if ends.entry == found.get("exit_price") or (found.keys().isdisjoint(AMOUNTS) and is_reversed):
        ends = ends._replace(entry=ends.exit, exit=ends.entry)
    return {**times, **dict(zip(("entry_price", "exit_price", "quantity", result), ends, strict=True))}


def tell_order(row: Mapping[str, Decimal], ends: Ends, direction: Direction | None) -> int:
    """Return 1 if the result of a row has the sign of its prices in this order, -1 of the other, 0 if it tells none."""
    gain = (row.get(ends.exit, 0) - row.get(ends.entry, 0)) * row.get(ends.result, 0)
    return 0 if direction is None or not gain else 1 if (gain > 0) == (direction == "long") else -1


def find_end_times(table: Table, found: Mapping[str, str]) -> dict[str, str]:
    """Return the times of the opening and the close: the only two columns of times, one never after the other."""
    unknown = (name for name in table.columns if translate(name) not in KNOWN and not LATER.search(simplify(name)))
    named = dict.fromkeys(found[name] for name in TIMES[:2] if found.get(name))
    columns = dict.fromkeys([*filter(None, map(found.get, TIMES[:3])), *unknown])
    times = [*named] if len(named) == 2 else [name for name in columns if is_of_times(table, name)]
    for pair in permutations(times) if len(times) == 2 else ():
        ends = dict(zip(TIMES, pair, strict=False))
        if table.is_before(*pair) and all(found.get(name, ends[name]) == ends[name] for name in ends):
            return ends
    return {}


def is_of_times(table: Table, name: str) -> bool:
    """Return whether a column has dates, and not always the same; a number may be one of whatever else."""
    cells = {*table.read_cells(name)}
    return len(cells) > 1 and table.holds("at", name) and not any(map(str.isdecimal, cells))


def find_end_prices(table: Table, found: Mapping[str, str], result: str | None) -> Ends | None:
    """Return the columns that explain the results best, None unless they do in nearly all rows."""
    prices = dict.fromkeys(found[name] for name in AMOUNTS if found.get(name))
    if len(prices) > 1:
        return None
    simple = {name: simplify(name) for name in table.columns if translate(name) not in KNOWN}
    named = [name for name, text in simple.items() if not (NO_FACTOR.search(text) or NO_END.search(text))]
    unknown = [name for name in named if any(table.read_amounts(name))][:MAX_FACTORS]
    symbols = [row.get(found.get("symbol", ""), "") for row in table.rows[:MAX_ROWS]]
    known = [*prices, *filter(None, (found.get("quantity"), result))]
    numbers = {
        name: [float(row.get(name, 0)) for row in table.numbers[:MAX_ROWS]] for name in dict.fromkeys(known + unknown)
    }
    sizes = [found["quantity"]] if found.get("quantity") else unknown
    results = [result] if result else [name for name in unknown if min(numbers[name]) < 0 < max(numbers[name])]
    least = max(MIN_FACTORS if found.get("quantity") and result else MIN_OF_UNKNOWN, int(NEARLY_ALL * len(symbols)))
    explained = {
        ends: count_explained(symbols, *(numbers[name] for name in ends))
        for pair in (product(prices, unknown) if prices else combinations(unknown, 2))
        if count_near(*(numbers[name] for name in pair)) >= least
        for ends in (Ends(*pair, *others) for others in product(sizes, results))
        if len({*ends}) == len(ends)
    }
    most = max(explained.values(), default=0)
    best = [ends for ends in explained if explained[ends] == most >= least]
    is_clear = len(best) == 1 and (found.get("quantity") or changes(symbols, numbers[best[0].size]))
    return best[0] if is_clear else None


def changes(symbols: Sequence[str], sizes: Column) -> bool:
    """Return whether the quantities of a symbol differ by more than the value of a point may."""
    found = defaultdict[str, list[float]](list)
    for symbol, size in zip(symbols, sizes, strict=True):
        found[symbol].append(abs(size))
    return any(max(one) > (1 + 2 * ODD) * min(one) for one in found.values())


def count_near(one: Column, other: Column) -> int:
    """Return the number of rows with two prices near each other, as before and after a trade; 0 of spreads."""
    near = [abs(a - b) for a, b in zip(one, other, strict=True) if a > 0 and abs(a - b) <= FAR * a]
    return len(near) if len({*near}) >= MIN_FACTORS else 0


def count_explained(symbols: Sequence[str], entry: Column, close: Column, size: Column, result: Column) -> int:
    """Return the number of rows whose result is the difference of the prices times the quantity and one point value."""
    values = defaultdict[str, list[float]](list)
    for symbol, first, last, number, amount in zip(symbols, entry, close, size, result, strict=True):
        if amount and (points := (last - first) * number):
            values[symbol].append(abs(amount / points))
    return sum(
        any(abs(value - usual) <= ODD * usual for usual in ([median(found)] if len(found) > 1 else POINT_VALUES))
        and value > LEAST_POINT
        for found in values.values()
        for value in found
    )
