"""The sides of an unknown table in words that nobody knows: of two words, the positions or the results tell which."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from itertools import permutations
from operator import ne
from typing import NamedTuple

from journal_api.positions.statements import is_newest_first
from journal_api.structs.import_profiles import Side
from journal_api.trade_files.dates import ANY_TIMES, find_date_order
from journal_api.trade_files.profiles.unknown_tables import Table

MIN_ROWS, MAX_LENGTH = 3, 40  # of a file, of a word


class Fill(NamedTuple):
    """A row with a quantity, and its time as a text that can be compared."""

    cells: dict[str, str]
    symbol: str
    time: str
    size: Decimal
    price: Decimal
    result: Decimal


def find_side_of_fills(
    table: Table, columns: Sequence[str], members: Mapping[str, str], clock: str | None
) -> Side | None:
    """Return the side of a column with two words of which one sells only what the other has bought.

    If positions do not tell, as of short trades, the results that the file states for closed positions do.
    """
    fills = list_fills(table, members, clock)

    def are_held(purchases: Sequence[bool]) -> bool:
        held = defaultdict[str, Decimal](Decimal)
        for fill, is_purchase in zip(fills, purchases, strict=True):
            held[fill.symbol] += fill.size if is_purchase else -fill.size
            if held[fill.symbol] < 0:
                return False
        return True

    def are_paid(purchases: Sequence[bool]) -> bool:
        sums = defaultdict[str, list[Decimal]](lambda: [Decimal()] * 3)
        for fill, is_purchase in zip(fills, purchases, strict=True):
            size = fill.size if is_purchase else -fill.size
            amounts = (size, -size * fill.price, fill.result)
            sums[fill.symbol] = [one + more for one, more in zip(sums[fill.symbol], amounts, strict=True)]
        signs = [gain * result > 0 for size, gain, result in sums.values() if not size and gain * result]
        return bool(signs) and all(signs)

    rows = [fill.cells for fill in fills]
    return find_side_of_words(rows, columns, are_held) or find_side_of_words(rows, columns, are_paid)


def list_fills(table: Table, members: Mapping[str, str], clock: str | None) -> list[Fill]:
    """Return the fills in the order of their times, as far as the cells tell it."""
    names = ("symbol", "at", "quantity", "price")
    if not all(map(members.get, names)):
        return []
    symbol, at, *amounts = (members[name] for name in names)
    result = members.get("gross_pnl") or members.get("net_pnl", "")
    times = [at, clock] if clock else [at]
    order = find_date_order((row[name] for row in table.rows for name in times), table.comma, is_local=False).order
    fills = []
    for cells, numbers in zip(table.rows, table.numbers, strict=True):
        size, price = (numbers.get(name, Decimal()) for name in amounts)
        with suppress(ValueError):
            time = ANY_TIMES[order](" ".join(cells[name] for name in times)).isoformat()
            fills += [Fill(cells, cells[symbol], time, size, price, numbers.get(result, Decimal()))] if size else []
    is_reversed = is_newest_first([fill.time for fill in fills])
    return sorted(fills[:: -1 if is_reversed else 1], key=lambda fill: fill.time)


def find_side_of_trades(table: Table, columns: Sequence[str], members: Mapping[str, str]) -> Side | None:
    """Return the side of a column with two words of which one gains if the price rises, the other if it falls."""
    entry, exit_ = (members.get(name, "") for name in ("entry_price", "exit_price"))
    result = members.get("gross_pnl") or members.get("net_pnl", "")
    rows, rises = list[dict[str, str]](), list[bool]()
    for cells, numbers in zip(table.rows, table.numbers, strict=True):
        if numbers.keys() >= {entry, exit_, result} and (gain := (numbers[exit_] - numbers[entry]) * numbers[result]):
            rows.append(cells)
            rises.append(gain > 0)
    # Costs may make a loss of a small gain.
    return find_side_of_words(rows, columns, lambda longs: 10 * sum(map(ne, longs, rises)) <= len(rows))


def find_side_of_words(
    rows: Sequence[dict[str, str]], columns: Sequence[str], is_side: Callable[[Sequence[bool]], bool]
) -> Side | None:
    """Return the side of a column with two words, None if no column has one or two tell different sides."""
    found = []
    for column in columns if len(rows) >= MIN_ROWS else ():
        words = dict.fromkeys(row[column] for row in rows)
        if len(words) == 2 and all(0 < len(word) <= MAX_LENGTH for word in words):
            for long, short in permutations(words):
                told = tuple(row[column] == long for row in rows)
                found += [(told, Side(column=column, long=[long], short=[short]))] if is_side(told) else []
    return found[0][1] if len({told for told, _ in found}) == 1 else None
