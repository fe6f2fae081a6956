"""What is multiplied by what in an unknown table: the quantity and the price of fills are found by their values."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import product

from journal_api.trade_files.profiles.unknown_tables import AMOUNTS, Table
from journal_api.trade_files.vocabulary import KNOWN, NAMES, has_part, translate

MIN_FACTORS, MAX_FACTORS = 3, 20  # rows, and columns
NEARLY_ALL, NEAR, DIFFERENT = Decimal("0.9"), Decimal("0.01"), Decimal("1.05")  # of rows, of 1, of prices


def find_factors(table: Table, found: Mapping[str, str]) -> dict[str, str]:
    """Return quantity and price of fills: columns of unknown names, whose product is the value in nearly all rows.

    What has a known name stays; but a quantity is the value if it is another one times the price, or may be the value
    by its name, another column is the quantity, and nothing shows that it is none. Of two unknown ones the quantity
    has signs, or repeats more and has fewer decimals, or changes more. Of two prices neither is found: a trade has
    both.
    """
    size, price, value = (found.get(name, "") for name in ("quantity", "price", "value"))
    named = (name for name in table.columns if name != size and translate(name) in NAMES["quantity"])
    if size and price:
        for name in named:
            levels = sorted(map(abs, table.read_amounts(price))) or [Decimal()]
            if levels[-1] > DIFFERENT * levels[0] and multiplies(table, name, price, size, least=2):
                return {"quantity": name}
    is_value = translate(size) in NAMES["value"] and (value == size or not multiplies(table, size, price, value))
    if is_value:
        size, value = "", size
    known = [found[name] for name in AMOUNTS if found.get(name)]
    if size and known:
        return {}
    others = [name for name in table.columns if translate(name) not in KNOWN and not has_part(name, "no_factors")]
    numbers = {name: {*table.read_amounts(name)} for name in others}
    unknown = [name for name in numbers if numbers[name]][:MAX_FACTORS]
    changing = [name for name in unknown if len(numbers[name]) > 1]
    sizes, prices, values = (
        [size] if size else changing,
        known or unknown,
        [value] * bool(value) + changing * (not is_value),
    )
    looks = {name: measure_size(table, name, found.get("symbol", "")) for name in unknown}
    pairs = [
        (one, other)
        for one, other, of in product(sizes, prices, values)
        if (size or known or is_rather_size(looks[one], looks[other]))
        and len({one, other, of}) == 3
        and multiplies(table, one, other, of)
    ]
    members = ("quantity",) if known else ("quantity", "price")
    found_columns = zip(members, zip(*pairs, strict=True), strict=False)
    return {member: columns[0] for member, columns in found_columns if len({*columns}) == 1}


def measure_size(table: Table, column: str, symbol: str) -> tuple[float, ...]:
    """Return how little a column looks like quantities: by signs, repetition, decimals, and changes of a symbol."""
    amounts = table.read_amounts(column)
    within = defaultdict[str, list[Decimal]](list)
    for text, row in zip(table.rows, table.numbers, strict=True):
        if row.get(column):
            within[text.get(symbol, "")].append(abs(row[column]))
    different = round(len({*amounts}) / len(amounts), 1) if len({*amounts}) > 1 else 1  # all are of one price
    has_decimals = 2 * sum(one != one.to_integral_value() for one in amounts) > len(amounts)
    return min(amounts) >= 0, different, has_decimals, -float(sum(max(one) / min(one) - 1 for one in within.values()))


def is_rather_size(one: Sequence[float], other: Sequence[float]) -> bool:
    """Return whether one column has signs and the other none, else what repetition and decimals say, or changes."""
    has_no_sign, different, has_decimals, changes = (-1 if a < b else a > b for a, b in zip(one, other, strict=True))
    return (has_no_sign or different + has_decimals or changes) < 0


def multiplies(table: Table, size: str, price: str, value: str, *, least: int = MIN_FACTORS) -> bool:
    """Return whether a size times the price is the value in nearly all rows, of which there must be so many.

    They differ by costs and signs and, if the names of price and value are known, the hundred shares of an option.
    """
    rows = others = 0
    shares = (1, 100) if {translate(price), translate(value)} <= KNOWN else (1,)
    for number, at, of in table.pick_numbers(size, price, value):
        if of and abs(at - 1) > 2 * NEAR:
            rows += 1
            others += all(abs(abs(number * at / of) * one - 1) > NEAR for one in shares)
            if others > (1 - NEARLY_ALL) * len(table.rows):
                return False
    return rows >= least and others <= (1 - NEARLY_ALL) * rows
