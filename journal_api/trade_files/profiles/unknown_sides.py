"""The sides of an unknown table in words that nobody knows: of two words, the positions or the results tell which."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from itertools import permutations
from operator import ne
from typing import NamedTuple

from journal_api.positions.statements import is_newest_first
from journal_api.structs.import_profiles import Side
from journal_api.trade_files.profiles.unknown_tables import Table

MIN_ROWS, MAX_LENGTH = 3, 40  # of a file, of a word
MUCH_FEWER, MIN_CLOSED = 4, 2  # times, positions


class Fill(NamedTuple):
    """A row with a quantity, and its time as a text that can be compared."""

    cells: dict[str, str]
    symbol: str
    time: str
    size: Decimal
    price: Decimal
    result: Decimal


class Position:
    """What fills of a symbol make of it, if their sides are those."""

    def __init__(self) -> None:
        self.size = self.least = self.gain = self.result = Decimal()
        self.sides, self.closed = set[bool](), 0

    def add(self, fill: Fill, is_purchase: bool) -> None:
        size = fill.size if is_purchase else -fill.size
        self.size, self.gain, self.result = self.size + size, self.gain - size * fill.price, self.result + fill.result
        self.least = min(self.least, self.size)
        self.closed += not self.size
        self.sides.add(is_purchase)


def find_side_of_fills(
    table: Table, columns: Sequence[str], members: Mapping[str, str], clock: str | None
) -> Side | None:
    """Return the side of a column with two words, by the gains that the file states for closed positions.

    Without gains one word sells what the other has bought, or losses tell, which may be costs. In a column that no
    name tells, sales must close positions: words may be of whatever else.
    """
    fills = list_fills(table, members, clock)
    rows = [fill.cells for fill in fills]

    def fold(purchases: Sequence[bool]) -> list[Position]:
        positions = defaultdict[str, Position](Position)
        for fill, is_purchase in zip(fills, purchases, strict=True):
            positions[fill.symbol].add(fill, is_purchase)
        return [one for one in positions.values() if len(one.sides) == 2]

    def count_shorts(purchases: Sequence[bool]) -> int:
        return sum(one.least < 0 for one in fold(purchases))

    def count_opposite_results(purchases: Sequence[bool]) -> int:
        return sum(not one.size and one.gain * one.result < 0 for one in fold(purchases))

    def count_opposite_gains(purchases: Sequence[bool]) -> int:
        return sum(not one.size and one.gain < 0 < one.result for one in fold(purchases))

    for count in (count_opposite_gains, count_shorts, count_opposite_results):
        if side := find_side_of_words(rows, columns, count):
            closed = sum(one.closed for one in fold([row[str(side.column)] in side.long for row in rows]))
            is_letter = max(map(len, (*side.long, *side.short))) == 1
            if side.column == members.get("side") or closed >= (1 if is_letter else MIN_CLOSED):
                return side
    return None


def list_fills(table: Table, members: Mapping[str, str], clock: str | None) -> list[Fill]:
    """Return the fills in the order of their times, as far as the cells tell it."""
    names = ("symbol", "at", "quantity", "price")
    if not all(map(members.get, names)):
        return []
    symbol, at, *amounts = (members[name] for name in names)
    result = members.get("gross_pnl") or members.get("net_pnl", "")
    times = table.read_times(at, *filter(None, [clock]))
    fills = []
    for cells, numbers, time in zip(table.rows, table.numbers, times, strict=True):
        size, price = (numbers.get(name, Decimal()) for name in amounts)
        if size and time:
            fills.append(Fill(cells, cells[symbol], time, size, price, numbers.get(result, Decimal())))
    is_reversed = is_newest_first([fill.time for fill in fills])
    return sorted(fills[:: -1 if is_reversed else 1], key=lambda fill: fill.time)


def find_side_of_trades(table: Table, columns: Sequence[str], members: Mapping[str, str]) -> Side | None:
    """Return the side of a column with two words of which one gains if the price rises, the other if it falls.

    Only gains tell: costs make a loss of a small one.
    """
    entry, exit_ = (members.get(name, "") for name in ("entry_price", "exit_price"))
    result = members.get("gross_pnl") or members.get("net_pnl", "")
    rows, rises = list[dict[str, str]](), list[bool]()
    for cells, numbers in zip(table.rows, table.numbers, strict=True):
        is_gain = numbers.keys() >= {entry, exit_, result} and numbers[result] > 0
        if is_gain and (rise := numbers[exit_] - numbers[entry]):
            rows.append(cells)
            rises.append(rise > 0)

    def count_opposite_results(longs: Sequence[bool]) -> int:
        return sum(map(ne, longs, rises))

    return find_side_of_words(rows, columns, count_opposite_results) if len({*rises}) == 2 else None


def find_side_of_words(
    rows: Sequence[dict[str, str]], columns: Sequence[str], count: Callable[[Sequence[bool]], int]
) -> Side | None:
    """Return the side of a column with two words of which `count` finds much fewer errors than with both exchanged.

    The errors are of positions held before, and of costs. None if two columns tell different sides equally well.
    """
    found: dict[tuple[bool, ...], tuple[int, Side]] = {}
    for column in columns if len(rows) >= MIN_ROWS else ():
        words = dict.fromkeys(row[column] for row in rows)
        if len(words) == 2 and all(0 < len(word) <= MAX_LENGTH for word in words):
            for long, short in permutations(words):
                told = tuple(row[column] == long for row in rows)
                errors, others = count(told), count([not one for one in told])
                if others and MUCH_FEWER * errors <= others:
                    found.setdefault(told, (others - errors, Side(column=column, long=[long], short=[short])))
    most = max((difference for difference, _ in found.values()), default=0)
    sides = [side for difference, side in found.values() if difference == most]
    return sides[0] if len(sides) == 1 else None
