"""From fills to round trips: each instrument apart, from flat to flat, in whole units of 10^-8."""

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from heapq import merge
from itertools import pairwise
from typing import NamedTuple

from journal_api.trade_files.threads import with_cancel_checks

SORTED_AT_ONCE = 20_000


class Fill(NamedTuple):
    """One execution. The quantity is negative when it sold, the cost when it was a rebate."""

    instrument: int
    time: int
    line: int
    quantity: int
    price: int
    cost: int

    def cost_of(self, part: int) -> int:
        """The share of the cost that falls on that much of the quantity."""
        return rounded(self.cost * part, self.quantity)


class Fills:
    """The fills of a file in the order of its lines, 48 bytes each, because there may be a million."""

    def __init__(self) -> None:
        self.columns = tuple(array("q") for _ in Fill._fields)

    def add(self, fill: Fill) -> None:
        for column, value in zip(self.columns, fill, strict=True):
            column.append(value)

    def __len__(self) -> int:
        return len(self.columns[0])

    def __getitem__(self, number: int) -> Fill:
        return Fill(*[column[number] for column in self.columns])

    def in_order(self) -> "array[int]":
        """Their numbers, those of an instrument together, in order of time.

        Within one instant they are in the order of the lines, or against it in a file that is newest first.
        """
        instruments, times, *_ = self.columns
        rises = sum(
            (later > earlier) - (later < earlier) for earlier, later in with_cancel_checks(pairwise(times))
        )
        numbers = range(len(self)) if rises >= 0 else range(len(self) - 1, -1, -1)
        pieces = (numbers[begin : begin + SORTED_AT_ONCE] for begin in range(0, len(self), SORTED_AT_ONCE))

        def place(number: int) -> tuple[int, int]:
            return instruments[number], times[number]

        # A sort of millions would keep all other threads waiting until it is done.
        return array(
            "q", with_cancel_checks(merge(*[sorted_array(piece, place) for piece in pieces], key=place))
        )


def sorted_array(numbers: Iterable[int], key: Callable[[int], tuple[int, int]]) -> "array[int]":
    return array("q", sorted(numbers, key=key))


class Opening(NamedTuple):
    """Where a trade begins."""

    place: int  # of the fill among those in order
    quantity: int  # what the fill opens with: not all of it, if it closed another trade first
    occurrence: int  # the how-manieth of its kind the fill is, within one instant


class Openings:
    """For each fill the trade that it opens, if it does: 24 bytes each."""

    def __init__(self, fills: int) -> None:
        self.columns = tuple(array("q", bytes(8 * fills)) for _ in Opening._fields)

    def add(self, number: int, opening: Opening) -> None:
        for column, value in zip(self.columns, opening, strict=True):
            column[number] = value

    def __iter__(self) -> Iterator[Opening]:
        """In the order of the lines of the file."""
        for opening in zip(*self.columns, strict=True):
            if opening[1]:
                yield Opening(*opening)


class RoundTrip:
    """A trade: what its fills opened and what they closed again; `closed_at` is None while it is open."""

    def __init__(self, number: int, fill: Fill, opening: Opening) -> None:
        self.number = number  # of the fill that opens it
        self.first, self.occurrence = fill, opening.occurrence
        self.sign = 1 if opening.quantity > 0 else -1
        self.position = opening.quantity
        self.opened, self.opened_value = abs(opening.quantity), abs(opening.quantity) * fill.price
        self.closed = self.closed_value = 0
        self.cost = fill.cost - fill.cost_of(fill.quantity - opening.quantity)
        self.closed_at: int | None = None

    def add(self, fill: Fill) -> None:
        """Only the part that closes it, if the fill goes on to the other side."""
        part = -self.position if crosses(self.position, fill.quantity) else fill.quantity
        if part * self.sign > 0:
            self.opened += abs(part)
            self.opened_value += abs(part) * fill.price
        else:
            self.closed += abs(part)
            self.closed_value += abs(part) * fill.price
        self.position += part
        self.cost += fill.cost_of(part)
        if not self.position:
            self.closed_at = fill.time

    @property
    def entry_price(self) -> int:
        return rounded(self.opened_value, self.opened)

    @property
    def exit_price(self) -> int:
        """Of a trade that is closed."""
        return rounded(self.closed_value, self.closed)

    def result(self, multiplier: int) -> int:
        """What it earned, from the fills themselves and rounded once; of a trade that is closed."""
        return rounded(self.sign * (self.closed_value - self.opened_value) * multiplier, 10**16)


def round_trips_of(fills: Fills) -> Iterator[RoundTrip]:
    """In the order of the lines on which they begin."""
    order = fills.in_order()
    for opening in openings_of(fills, order):
        yield followed(fills, order, opening)


def openings_of(fills: Fills, order: "array[int]") -> Openings:
    openings = Openings(len(fills))
    alike: Counter[tuple[int, int]] = Counter()
    position, last = 0, (-1, 0)
    for place, number in enumerate(with_cancel_checks(order)):
        fill = fills[number]
        if fill.instrument != last[0]:
            position = 0
        if (fill.instrument, fill.time) != last:
            last = fill.instrument, fill.time
            alike.clear()
        alike[fill.quantity, fill.price] += 1
        after = position + fill.quantity
        if not position or crosses(position, fill.quantity):
            openings.add(number, Opening(place, after, alike[fill.quantity, fill.price]))
        position = after
    return openings


def followed(fills: Fills, order: "array[int]", opening: Opening) -> RoundTrip:
    """The trade from its opening to where it is flat, or to the last fill that there is."""
    number = order[opening.place]
    trip = RoundTrip(number, fills[number], opening)
    for place in with_cancel_checks(range(opening.place + 1, len(order))):
        fill = fills[order[place]]
        if fill.instrument != trip.first.instrument:
            break
        trip.add(fill)
        if trip.closed_at is not None:
            break
    return trip


def crosses(position: int, quantity: int) -> bool:
    """Whether a fill takes the position beyond flat to the other side."""
    return position * (position + quantity) < 0


def rounded(numerator: int, denominator: int) -> int:
    return round(Fraction(numerator, denominator))
