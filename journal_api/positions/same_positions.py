"""Which positions are one: of a broker's fills, of another program's list, of a trader who typed them."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, product
from typing import Any, NamedTuple

from journal_api.positions.book import Position
from journal_api.positions.executions import PRICE_PARTS
from journal_api.positions.sources import NEAR
from journal_api.values.clock import SECOND, read_instant

MINUTE = 60 * SECOND
DAY = 86_400 * SECOND
QUARTER = 900 * SECOND  # by which time zones differ, or a multiple of it
EVER = 2**62


class Extent(NamedTuple):
    """What two accounts of one position have in common. Times are microseconds, amounts 10^-8."""

    direction: int
    size: int
    opened: int
    closed: int | None
    entry: int
    exit: int | None
    ids: frozenset[str] = frozenset()  # of fills

    def overlaps(self, other: "Extent") -> bool:
        """Return whether both were open at one time, if only for an instant."""
        mine, theirs = self.closed or EVER, other.closed or EVER
        is_same = (self.opened, mine) == (other.opened, theirs)
        return is_same or (self.opened < theirs and other.opened < mine)

    def is_same(self, other: "Extent") -> bool:
        """Return whether two files have one position, but for the precision of times and averages."""
        if self.direction != other.direction:
            return False
        if self.ids and self.ids & other.ids:
            return True
        return (
            self.size == other.size
            and abs(self.opened - other.opened) <= NEAR
            and (self.closed is None) == (other.closed is None)
            and abs((self.closed or 0) - (other.closed or 0)) <= NEAR
            and self.has_prices(other)
        )

    def is_shifted(self, other: "Extent") -> bool:
        """Return whether two closed positions differ by quarters of an hour alone, as time zones do."""
        if None in (self.closed, other.closed) or (self.direction, self.size) != (other.direction, other.size):
            return False
        opened, closed = self.opened - other.opened, (self.closed or 0) - (other.closed or 0)
        quarters = round(opened / QUARTER)
        return (
            0 < abs(opened) <= DAY
            and quarters != 0
            and abs(opened - quarters * QUARTER) <= NEAR
            and abs(opened - closed) <= NEAR
            and self.has_prices(other)
        )

    def has_prices(self, other: "Extent") -> bool:
        """Return whether the prices agree, but for rounded averages. A result may have no exit price."""
        pairs = [(self.entry, other.entry), (self.exit, other.exit)]
        return all(
            one is None or two is None or abs(one - two) * PRICE_PARTS <= max(abs(one), abs(two)) for one, two in pairs
        )


def find_extent(position: Position) -> Extent:
    """Return the extent of a position of a book."""
    sign = 1 if position.parts[0].quantity > 0 else -1
    size = largest = 0
    sums = {1: [0, 0], -1: [0, 0]}  # quantity and value by side
    for part in position.parts:
        size += part.quantity * sign
        largest = max(largest, size)
        side = sums[1 if part.quantity * sign > 0 else -1]
        side[0] += abs(part.quantity)
        side[1] += abs(part.quantity) * (part.execution.price or 0)
    ids = (part.execution.external_id for part in position.parts)
    has_exit = sums[-1][0] and None not in [part.execution.price for part in position.parts]
    return Extent(
        sign,
        largest,
        position.opened,
        position.closed,
        sums[1][1] // sums[1][0],
        sums[-1][1] // sums[-1][0] if has_exit else None,
        frozenset(one for one in ids if one is not None),
    )


def find_extent_of_trade(columns: dict[str, Any]) -> Extent:
    """Return the extent of a trade by its columns."""
    closed_at = columns["closed_at"]
    return Extent(
        1 if columns["direction"] == "long" else -1,
        columns["quantity"],
        read_instant(columns["opened_at"]),
        closed_at and read_instant(closed_at),
        columns["entry_price"],
        columns["exit_price"],
    )


class UnitedPositions(NamedTuple):
    """The positions that are trades, and pairs of a position that may be there twice and its double."""

    positions: list[Position]
    doubles: list[tuple[Position, Position]]


def unite_positions(folded: Sequence[Position], apart: Iterable[Position]) -> UnitedPositions:
    """Return all positions; one that another source has as well is the same one.

    A position by itself that overlaps one of another source, and is not it, may be there twice.
    """
    found, doubles = list(folded), list[tuple[Position, Position]]()
    by_source: dict[tuple[int, str], list[Position]] = {}
    for position in apart:
        (stated,) = position.stated
        by_source.setdefault(stated.source, []).append(position)
    for _, positions in sorted(by_source.items()):
        extents = sorted(
            ((find_extent(one), number) for number, one in enumerate(found)), key=lambda one: one[0].opened
        )
        begins = [extent.opened for extent, _ in extents]
        longest = max(((extent.closed or EVER) - extent.opened for extent, _ in extents), default=0)
        taken: set[int] = set()
        new: list[Position] = []
        for position in positions:
            mine = find_extent(position)
            first = bisect_left(begins, mine.opened - min(longest, EVER) - NEAR) if longest < EVER else 0
            last = bisect_left(begins, (mine.closed or EVER) + NEAR)
            near = [(extent, number) for extent, number in extents[first:last] if number not in taken]
            same = [number for extent, number in near if mine.is_same(extent)]
            if same:
                taken.add(same[0])
                found[same[0]].positions.extend(position.stated)
                continue
            doubles += [(position, found[number]) for extent, number in near if mine.overlaps(extent)]
            new.append(position)
        found += new
    return UnitedPositions(found, doubles)


def find_shifted(positions: Sequence[Position]) -> list[tuple[Position, Position]]:
    """Return the pairs of positions of different sources that differ by a time zone alone."""
    by_kind: dict[tuple[int, int], list[tuple[Extent, Position]]] = {}
    for position in positions:
        extent = find_extent(position)
        by_kind.setdefault((extent.direction, extent.size), []).append((extent, position))
    found = []
    for group in by_kind.values():
        if len({stated.source for _, position in group for stated in position.stated}) < 2:
            continue
        group.sort(key=lambda one: one[0].opened)
        begins = [extent.opened for extent, _ in group]
        for place, (extent, position) in enumerate(group):
            for other, candidate in group[place + 1 : bisect_left(begins, extent.opened + DAY + 1)]:
                if extent.is_shifted(other) and not share_source(position, candidate):
                    found.append((position, candidate))
    return found


def share_source(one: Position, other: Position) -> bool:
    return not {stated.source for stated in one.stated}.isdisjoint(stated.source for stated in other.stated)


class Typed(NamedTuple):
    """The trades by the index of the position that each is, and the pairs that a person decides."""

    found: dict[int, int]
    asked: set[tuple[int, int]]


def match_typed(typed: Sequence[Extent], stated: Sequence[Extent]) -> Typed:
    """Return which trades that were typed during the day are which positions of a file, by index.

    Direction and times agree, to the precision that was typed: a minute either way. Of several that fit, the
    one is taken that fits better than all others, by size, then by prices; others are asked.
    """
    numbers, places = group_equal(typed), group_equal(stated)
    fitting = {
        (mine, theirs): find_likeness(mine, theirs) for mine, theirs in product(numbers, places) if fits(mine, theirs)
    }
    found: dict[int, int] = {}
    while clear := find_clear(fitting):
        for mine, theirs in clear:
            pairs = dict(zip(places[theirs], numbers[mine], strict=False))
            found |= pairs
            del places[theirs][: len(pairs)], numbers[mine][: len(pairs)]
        fitting = {pair: likeness for pair, likeness in fitting.items() if numbers[pair[0]] and places[pair[1]]}
    asked = (product(numbers[mine], places[theirs]) for mine, theirs in fitting)
    return Typed(found, set(chain.from_iterable(asked)))


def group_equal(extents: Sequence[Extent]) -> dict[Extent, list[int]]:
    """Return the indexes of equal extents."""
    groups: dict[Extent, list[int]] = {}
    for number, extent in enumerate(extents):
        groups.setdefault(extent, []).append(number)
    return groups


def find_clear(fitting: Mapping[tuple[Extent, Extent], tuple[int, ...]]) -> list[tuple[Extent, Extent]]:
    """Return the pairs that fit better than every other pair of either."""
    best: dict[tuple[int, Extent], tuple[tuple[int, ...], int]] = {}
    for pair, likeness in fitting.items():
        for side in enumerate(pair):
            known, times = best.get(side, (likeness, 0))
            best[side] = (likeness, 1) if likeness > known else (known, times + (likeness == known))
    return [pair for pair, likeness in fitting.items() if all(best[side] == (likeness, 1) for side in enumerate(pair))]


def find_likeness(typed: Extent, stated: Extent) -> tuple[int, ...]:
    """Return how well a typed trade fits a position: by its size, then by its prices."""
    entry = abs(typed.entry - stated.entry)
    leave = 0 if None in (typed.exit, stated.exit) else abs((typed.exit or 0) - (stated.exit or 0))
    return typed.size == stated.size, entry * 2000 <= abs(stated.entry), -entry, -leave


def fits(typed: Extent, stated: Extent) -> bool:
    """Return whether a typed trade may be a position.

    Seconds that were typed are right, else the minute is.
    """
    return (
        typed.direction == stated.direction
        and is_at(typed.opened, stated.opened)
        and (typed.closed is None or stated.closed is None or is_at(typed.closed, stated.closed))
    )


def is_at(typed: int, stated: int) -> bool:
    if typed % MINUTE:
        return abs(stated - typed) <= NEAR
    return -MINUTE <= stated - typed < 2 * MINUTE
