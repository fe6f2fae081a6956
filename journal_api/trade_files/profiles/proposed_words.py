"""What the words of a table with an unknown header mean: the sides, the orders that were filled, what ends options."""

import re
from collections.abc import Iterable, Set

from journal_api.structs.import_profiles import Effect, Side
from journal_api.trade_files.named_rows import shorten
from journal_api.trade_files.profiles.unknown_tables import Table
from journal_api.trade_files.timezones import guess_zone_of_column
from journal_api.trade_files.vocabulary import (
    ENDING,
    FILLED,
    FORCED,
    KINDS,
    SIGNS,
    STATUS,
    UNFILLED,
    find_direction,
    read_words,
    simplify,
    split_name,
    translate,
)
from journal_api.values.options import find_option, looks_like_option

MAX_WORD = 100  # characters of a word of a profile
IN_PART = re.compile("(?i)part|parc|teil")
OF_ORDERS = frozenset({"status", "order", "execution", "fill", "transaction"})
MIDNIGHT = re.compile(r"(?:^|[^0-9:])0?0:00(?::00)?(?:\.0+)?Z?$|^[^:]*$")


def find_condition(table: Table, side: str | None, size: str) -> dict[str, list[str]] | None:
    """Return the condition that leaves out the orders that were not filled, None without such a column.

    If the quantity is what was filled, only the kind of a fill counts: an order may be filled in part.
    """
    known = KINDS if is_filled(size) else STATUS | KINDS
    exact = [column for column in table.columns if simplify(column) in known]
    named = [column for column in table.columns if not is_filled(size) and is_of_orders(split_name(column))]
    for column in [*exact, *named]:
        words = dict.fromkeys(table.read_cells(column))
        has_others = not UNFILLED.isdisjoint(map(simplify, words))
        # OK is also what somebody thinks of a trade.
        filled = [word for word in words if simplify(word) in FILLED and (has_others or simplify(word) != "ok")]
        is_status = column in exact or (filled and has_others and not any(map(IN_PART.search, words)))
        # A word that no trade has is of other rows: COMPLETED of a deposit, OK of a trade.
        trades = {row[column] for row in table.rows if find_direction(row.get(side or "", ""))}
        is_of_others = bool(trades and filled) and (UNFILLED | {*map(simplify, filled)}).isdisjoint(
            map(simplify, trades)
        )
        if column != side and (filled or has_others) and is_status and not is_of_others:
            return {column: [*filled, *(FORCED if simplify(column) in KINDS else ())] or ["Filled"]}
    return None


def is_filled(size: str) -> bool:
    """Return whether a quantity is by its name what was filled of an order."""
    return "trad" not in simplify(size) and any(word in translate(size) for word in ("fill", "exec", "deal"))


def is_of_orders(words: Iterable[str]) -> bool:
    """Return whether a column is the status of orders by the words of its name, and of nothing else."""
    return "status" in words and OF_ORDERS.issuperset(words)


def find_side_words(table: Table, column: str, *, of_trades: bool, is_first: bool) -> Side:
    """Return the side with the words of the cells that state one; rows with other words are no trades.

    With `is_first` the first word of a cell tells the side, and what follows is the symbol or the price.
    """
    cells = dict.fromkeys(table.read_cells(column))
    if is_first:
        cells = dict.fromkeys(f"{cell.split(' ')[0]}*" for cell in cells if find_direction(cell))
    words = {word: find_direction(word, of_fill=not of_trades) for word in cells}
    if words.keys() <= SIGNS.keys():
        words = {word: SIGNS[word] for word in words}
    long, short = ([word for word in words if words[word] == kind][:50] for kind in ("long", "short"))
    usual = ("Long", "Short") if of_trades else ("Buy", "Sell")
    return Side(column=column, long=long or [usual[0]], short=short or [usual[1]])


def find_sign(table: Table, value: str) -> Side | None:
    """Return the sign of a value as the side of a fill, a purchase if negative; None without both signs."""
    rows = zip(table.rows, table.numbers, strict=True)
    amounts = [(text[value], numbers[value]) for text, numbers in rows if value in numbers]
    bought = {f"{cell[0]}*" for cell, amount in amounts if amount < 0}
    sold = {f"{cell[0]}*" for cell, amount in amounts if amount > 0}
    digits = {f"{digit}*" for digit in range(10)}
    if not (bought and sold) or bought & (sold | digits):
        return None
    return Side(column=value, long=sorted(bought), short=sorted(sold | digits))


def find_effect(table: Table, side: str, symbol: str, amounts: Set[str]) -> Effect | None:
    """Return the words by which options end, None if a row with one is of anything else or has one of the amounts."""
    ends = [row for row in table.rows if read_words(row[side]) & ENDING]
    is_paid = any(row[name].strip("0.,-$ ") for name in amounts for row in ends)
    words = [word for word in dict.fromkeys(row[side] for row in ends) if find_direction(word) is None]
    if is_paid or not words or not all(find_option(row[symbol]) for row in ends) or max(map(len, words)) > MAX_WORD:
        return None
    return Effect(column=side, expire=words[:50])


def find_option_beside(table: Table, symbol: str) -> tuple[str | None, str]:
    """Return the column that names options whose symbol is the share, and a cell of it that cannot be read."""
    for row in (row for row in table.rows if row.get(symbol) and not looks_like_option(row[symbol])):
        for name, cell in row.items():
            if looks_like_option(cell) and row[symbol].upper() in re.split("[^A-Z0-9.]", cell.upper()):
                options = filter(looks_like_option, table.read_cells(name))
                return name, next((shorten(other) for other in options if not find_option(other)), "")
    return None, ""


def find_zones(table: Table, columns: Iterable[str]) -> set[str]:
    """Return the zones that the names of columns state, an empty one for a column without one or of days."""
    times = {name: not all(map(MIDNIGHT.search, table.read_cells(name))) for name in columns}
    return {guess_zone_of_column(name) if is_timed else "" for name, is_timed in times.items()}
