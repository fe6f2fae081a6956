"""What the fills of a file make of positions, and the doubts that follow: sales before purchases, halves of fills."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from journal_api.positions.import_rows import FileCheck, ImportedFill, Noted
from journal_api.positions.statements import Effect, is_newest_first
from journal_api.trade_files.file_format import MAX_NAMES_SHOWN, failed_check
from journal_api.trade_files.fill_book import Book
from journal_api.trade_files.point_values import is_share
from journal_api.values.money import SCALE

HALF_A_CENT, SHARE_OF_VALUE = 0.005, 0.01  # that roundings of prices may make
UNLESS = "unless an earlier file buys it or it was held before (long_only)"


def check_openings(book: Book, column: str) -> Iterator[Noted | FileCheck]:
    """Yield what rejects a file in most of whose instruments no fill opens: each one has a result beside its costs.

    Fills of one side may close positions of earlier files: these are only told, as is a result of a first fill.
    """
    opened, sides, free = Counter[int](), defaultdict[int, set[bool]](set), set[int]()
    sizes, begun = Counter[int](), set[int]()
    for fill in list_in_order(book):
        opens = fill.effect == Effect.NOT_STATED
        opened[fill.number] += opens
        sides[fill.number].add(fill.quantity < 0)
        if not has_result(fill):
            free.add(fill.number)
        elif opens and not sizes[fill.number]:
            begun.add(fill.number)
        sizes[fill.number] += fill.quantity
    if 2 * sum(opened[number] for number in opened.keys() - free) > len(book.fills):
        text = f"all fills of a symbol have a {column}, as if none opened a position: is each row a whole trade?"
        is_clear = any(len(sides[number]) == 2 for number in opened.keys() - free)
        yield failed_check(book.fills[0].line, text) if is_clear else Noted(text)
    elif begun:
        names = show_names(book.instruments[number].symbol for number in sorted(begun))
        yield Noted(f"first fills have a {column}, as if they closed what an earlier file opens: {names}")


def check_sales(book: Book) -> Iterator[Noted]:
    """Yield which shares and coins are short at a time by fills that do not say that they open or close.

    In a file with results, a sale without one opens.
    """
    sizes, kinds, short = Counter[int](), defaultdict[int, set[Effect]](set), set[int]()
    states_results = any(map(has_result, book.fills))
    for fill in list_in_order(book):
        kinds[fill.number].add(fill.effect)
        sizes[fill.number] += fill.quantity
        if fill.quantity < 0 > sizes[fill.number] and (has_result(fill) or not states_results):
            short.add(fill.number)
    unstated = [book.instruments[number] for number in sorted(short) if kinds[number] == {Effect.NOT_STATED}]
    if names := [one.symbol for one in unstated if is_share(one)]:
        yield Noted(f"sold before it is bought: short, {UNLESS}: {show_names(names)}")


def has_result(fill: ImportedFill) -> bool:
    """Return whether a fill has a result beside its costs."""
    return abs(fill.result or 0) > abs(fill.cost or 0) / SCALE + HALF_A_CENT


def list_in_order(book: Book) -> Sequence[ImportedFill]:
    """Return the fills in the order of their times."""
    is_reversed = is_newest_first([fill.time.isoformat() for fill in book.fills])
    return sorted(book.fills[:: -1 if is_reversed else 1], key=lambda fill: fill.time)


def check_halves(book: Book) -> Iterator[FileCheck]:
    """Yield what rejects a file with two rows for many fills: of the amount, and of what was paid for it."""
    halves = 0
    for one, other in pairwise(book.fills):
        if one.number == other.number and one.time == other.time and one.quantity * other.quantity < 0:
            sizes, price = (abs(one.quantity), abs(other.quantity)), one.price / SCALE
            is_clear = abs(price - 1) > 2 * SHARE_OF_VALUE  # else opposite fills are each other's value
            halves += is_clear and any(abs(a * price - b) < SHARE_OF_VALUE * b for a, b in (sizes, sizes[::-1]))
    if 4 * halves >= len(book.fills) > 0:
        text = "fills of one time are each other's value, as if a fill had two rows: export one row per fill"
        yield failed_check(book.fills[0].line, text)


def show_names(names: Iterable[str]) -> str:
    """Return the first names, and how many more there are."""
    found = list(names)
    others = f" and {len(found) - MAX_NAMES_SHOWN} more" if len(found) > MAX_NAMES_SHOWN else ""
    return f"{', '.join(found[:MAX_NAMES_SHOWN])}{others}"
