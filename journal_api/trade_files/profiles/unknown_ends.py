"""The opening and the close of the trades of an unknown table: times by their order, prices by the results."""

from collections import defaultdict
from collections.abc import Mapping
from decimal import Decimal
from itertools import combinations, islice, product
from statistics import median
from typing import NamedTuple

from journal_api.structs.import_answers import RESULTS
from journal_api.trade_files.profiles.unknown_factors import MAX_FACTORS, MIN_FACTORS, NEARLY_ALL, NO_FACTOR
from journal_api.trade_files.profiles.unknown_tables import AMOUNTS, LATER, TIMES, Table
from journal_api.trade_files.vocabulary import KNOWN, simplify, translate

MAX_ROWS, MIN_OF_UNKNOWN = 200, 5  # rows that are looked at; if quantity or result are unknown too
FAR, ODD = Decimal("0.5"), Decimal("0.03")  # of a price; of the value of a point, which costs change
POINT_VALUES = [Decimal(10) ** power for power in range(6)]  # where no other row shows one


class Ends(NamedTuple):
    """Columns of the prices of the opening and the close, of the quantity and the result."""

    entry: str
    exit: str
    size: str
    result: str


def find_ends(table: Table, found: Mapping[str, str]) -> dict[str, str]:
    """Return the members of a trade per row: columns of unknown names, of prices whose difference makes the results.

    That is if a point is worth the same in nearly all rows of a symbol. Of two unknown prices the first is that of
    the opening. Quantity and result may be of unknown names too. A table without two times is not one of trades.
    """
    times = find_end_times(table, found)
    result = next((name for name in RESULTS if found.get(name)), "gross_pnl")
    ends = find_end_prices(table, found, found.get(result)) if times else None
    if not ends:
        return {}
    if ends.entry == found.get("exit_price"):
        ends = ends._replace(entry=ends.exit, exit=ends.entry)
    return {**times, **dict(zip(("entry_price", "exit_price", "quantity", result), ends, strict=True))}


def find_end_times(table: Table, found: Mapping[str, str]) -> dict[str, str]:
    """Return the times of the opening and the close, one of which is never after the other."""
    ends = dict.fromkeys(found[name] for name in TIMES[:3] if found.get(name))
    if len(ends) > 1:
        return {name: found[name] for name in TIMES[:2] if found.get(name)}
    unknown = [name for name in table.columns if translate(name) not in KNOWN and not LATER.search(simplify(name))]
    others = [name for name in unknown if name not in ends and table.read_cells(name) and table.holds("at", name)]
    for pair in product(ends, others) if ends else combinations(others, 2):
        for times in (pair, pair[::-1]):
            if table.is_before(*times):
                return dict(zip(TIMES, times, strict=False))
    return {}


def find_end_prices(table: Table, found: Mapping[str, str], result: str | None) -> Ends | None:
    """Return the columns that explain the results best, None unless they do in nearly all rows."""
    prices = dict.fromkeys(found[name] for name in AMOUNTS if found.get(name))
    if len(prices) > 1:
        return None
    named = [name for name in table.columns if translate(name) not in KNOWN and not NO_FACTOR.search(simplify(name))]
    unknown = [name for name in named if any(table.read_amounts(name))][:MAX_FACTORS]
    symbol = found.get("symbol", "")
    sizes = [found["quantity"]] if found.get("quantity") else [n for n in unknown if changes(table, symbol, n)]
    results = [result] if result else [name for name in unknown if has_both_signs(table, name)]
    rows = min(len(table.rows), MAX_ROWS)
    is_known = bool(found.get("quantity") and result)
    least = max(MIN_FACTORS if is_known else MIN_OF_UNKNOWN, int(NEARLY_ALL * rows))
    explained = {
        ends: count_explained(table, symbol, ends)
        for pair in (product(prices, unknown) if prices else combinations(unknown, 2))
        if are_near(table, *pair, least)
        for ends in (Ends(*pair, *others) for others in product(sizes, results))
        if len({*ends}) == len(ends)
    }
    most = max(explained.values(), default=0)
    best = [ends for ends in explained if explained[ends] == most >= least]
    return best[0] if len({ends[:3] for ends in best}) == 1 else None


def has_both_signs(table: Table, name: str) -> bool:
    amounts = table.read_amounts(name)
    return min(amounts) < 0 < max(amounts)


def changes(table: Table, symbol: str, name: str) -> bool:
    """Return whether a symbol has several of these numbers, as of quantities."""
    pairs = {(text.get(symbol, ""), row.get(name)) for text, row in zip(table.rows, table.numbers, strict=True)}
    return len(pairs) > len({symbol for symbol, _ in pairs})


def are_near(table: Table, one: str, other: str, least: int) -> bool:
    """Return whether so many rows have both prices, and near each other, as before and after a trade."""
    rows = [*islice(table.pick_numbers(one, other), MAX_ROWS)]
    return sum(a > 0 and b > 0 and abs(a - b) <= FAR * a for a, b in rows) >= least


def count_explained(table: Table, symbol: str, ends: Ends) -> int:
    """Return the number of rows whose result is the difference of the prices times the quantity and one point value."""
    values = defaultdict[str, list[Decimal]](list)
    for text, row in islice(zip(table.rows, table.numbers, strict=True), MAX_ROWS):
        if row.keys() >= {*ends}:
            entry, close, size, result = (row[name] for name in ends)
            if points := abs((close - entry) * size):
                values[text.get(symbol, "")].append(abs(result) / points)
    return sum(
        any(abs(value - usual) <= ODD * usual for usual in ([median(found)] if len(found) > 1 else POINT_VALUES))
        for found in values.values()
        for value in found
    )
