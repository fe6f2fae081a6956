"""Groups fills to round trips: per instrument, from flat to flat. All amounts are integers of 10^-8."""

from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from enum import IntEnum
from heapq import merge
from itertools import islice, pairwise
from typing import NamedTuple

from journal_api.trade_files.threads import with_cancel_checks
from journal_api.values.money import quotient

SORTED_AT_ONCE = 20_000
UNMATCHED = -1


class Effect(IntEnum):
    """What a file says that a fill does to the position."""

    NOT_STATED = 0
    CLOSES = 1
    EXPIRES = 2  # closes, whichever side that takes


class Fill(NamedTuple):
    """One execution. The quantity of a sale is negative, the cost of a rebate too."""

    instrument: int
    time: int
    line: int
    quantity: int
    price: int
    cost: int

    def share_cost(self, part: int) -> int:
        """Return the share of the cost for a part of the quantity."""
        return self.cost if part == self.quantity else quotient(self.cost * part, self.quantity)


FIELDS = len(Fill._fields)
NOT_STATED = -(2**63)


class Differing(NamedTuple):
    """How many times the file states another position than its fills make, and the first line."""

    times: int = 0
    line: int = 0


class Fills:
    """The fills of a file in the order of lines, in 48 bytes each, because there may be a million."""

    def __init__(self) -> None:
        self._numbers = array("q")
        self._effects = bytearray()
        self.has_effects = False
        self._positions = array("q")  # stated after each fill; empty in a file that states none
        self.differing = Differing()

    def add(self, fill: Fill, effect: Effect = Effect.NOT_STATED, position: int | None = None) -> None:
        """Add a fill. One that closes, and after which the file states a position on its side, reverses."""
        if position is not None:
            self._positions.extend([NOT_STATED] * (len(self) - len(self._positions)))
            self._positions.append(position)
            effect = Effect.NOT_STATED if position * fill.quantity > 0 else effect
        self._numbers.extend(fill)
        self._effects.append(effect)
        self.has_effects |= effect != Effect.NOT_STATED

    def compare_position(self, numbers: Sequence[int], position: int) -> None:
        """Note where the file states another position than the one after fills of the same time.

        The order within that time may be another one, so the position of any of them will do.
        """
        known = len(self._positions)
        stated = [self._positions[number] if number < known else NOT_STATED for number in numbers]
        if stated and position not in stated and NOT_STATED not in stated:
            times, line = self.differing
            self.differing = Differing(times + 1, line or self[numbers[0]].line)

    @property
    def has_positions(self) -> bool:
        return bool(self._positions)

    def find_effective(self, number: int, position: int) -> tuple[Fill, bool]:
        """Return a fill with its side, and whether it closes nothing of the position although it says so."""
        fill, effect = self[number], self._effects[number]
        if effect == Effect.EXPIRES and position * fill.quantity > 0:
            fill = fill._replace(quantity=-fill.quantity)
        return fill, bool(effect) and position * fill.quantity >= 0

    def has_no_side(self, number: int) -> bool:
        """Return whether a fill closes with whichever side that takes."""
        return self._effects[number] == Effect.EXPIRES

    def opens_rest(self, number: int) -> bool:
        """Return whether what a fill has beyond flat opens a position."""
        return not self._effects[number]

    def __len__(self) -> int:
        return len(self._numbers) // FIELDS

    def __getitem__(self, number: int) -> Fill:
        return Fill._make(self._numbers[FIELDS * number : FIELDS * (number + 1)])

    def sort_numbers(self, ids: Sequence[int] | None = None) -> "array[int]":
        """Return the numbers of the fills, sorted by instrument and time.

        Fills of the same time are in the order of their ids. Without ids they are in the order of lines, or
        in reverse order in a file with the newest first.
        """
        times = islice(self._numbers, 1, None, FIELDS)
        rises = sum(
            (later > earlier) - (later < earlier) for earlier, later in with_cancel_checks(pairwise(times))
        )
        numbers = range(len(self)) if rises >= 0 else range(len(self) - 1, -1, -1)
        pieces = (numbers[begin : begin + SORTED_AT_ONCE] for begin in range(0, len(self), SORTED_AT_ONCE))

        def sort_key(number: int) -> tuple[int, int, int]:
            instrument, time = self._numbers[FIELDS * number : FIELDS * number + 2]
            return instrument, time, ids[number] if ids else 0

        # Sorted in pieces, because one sort of millions would hold the GIL until it is done.
        sorted_pieces = [array("q", sorted(piece, key=sort_key)) for piece in pieces]
        return array("q", with_cancel_checks(merge(*sorted_pieces, key=sort_key)))


class Opening(NamedTuple):
    """The start of a trade."""

    place: int  # the position of the fill in the sorted order; UNMATCHED for what closes nothing
    quantity: int  # the part of the fill that opens the trade; the rest closes the trade before
    occurrence: int  # the ordinal of the fill among equal fills of the same time


class Openings:
    """The trades by the number of the fill that opens them, in 24 bytes per fill."""

    def __init__(self, fills: int) -> None:
        self.columns = tuple(array("q", bytes(8 * fills)) for _ in Opening._fields)

    def add(self, number: int, opening: Opening) -> None:
        for column, value in zip(self.columns, opening, strict=True):
            column[number] = value

    def __iter__(self) -> Iterator[tuple[int, Opening]]:
        """Yield the openings with the number of their fill, in the order of lines."""
        for number, opening in enumerate(zip(*self.columns, strict=True)):
            if opening[1]:
                yield number, Opening(*opening)


class Part(NamedTuple):
    """The part of a fill that belongs to a trade."""

    number: int  # of the fill
    fill: Fill
    quantity: int
    cost: int


class RoundTrip:
    """A trade with its opened and closed quantity. `closed_at` is None while it is open."""

    def __init__(self, number: int, fill: Fill, opening: Opening) -> None:
        self.number = number  # the number of the fill that opens the trade
        self.first, self.occurrence = fill, opening.occurrence
        self.is_unmatched = opening.place == UNMATCHED
        self.sign = 1 if opening.quantity > 0 else -1
        self.position = opening.quantity
        self.opened, self.opened_value = abs(opening.quantity), abs(opening.quantity) * fill.price
        self.closed = self.closed_value = 0
        self.largest = abs(opening.quantity)
        cost = fill.cost - fill.share_cost(fill.quantity - opening.quantity)
        self.cost, self.parts = cost, [Part(number, fill, opening.quantity, cost)]
        self.closed_at: int | None = None

    def add(self, number: int, fill: Fill) -> None:
        """Add the fill with that number; if it reverses the position, only the part that closes it."""
        part = -self.position if crosses(self.position, fill.quantity) else fill.quantity
        if part * self.sign > 0:
            self.opened += abs(part)
            self.opened_value += abs(part) * fill.price
        else:
            self.closed += abs(part)
            self.closed_value += abs(part) * fill.price
        self.position += part
        self.largest = max(self.largest, abs(self.position))
        cost = fill.share_cost(part)
        self.cost += cost
        self.parts.append(Part(number, fill, part, cost))
        if not self.position:
            self.closed_at = fill.time

    @property
    def entry_price(self) -> int:
        return quotient(self.opened_value, self.opened)

    @property
    def exit_price(self) -> int:
        """The average exit price of a closed trade."""
        return quotient(self.closed_value, self.closed)

    def result(self, multiplier: int) -> int:
        """Return the result of a closed trade, computed from its fills and rounded once."""
        return quotient(self.sign * (self.closed_value - self.opened_value) * multiplier, 10**16)


def find_round_trips(fills: Fills, ids: Sequence[int] | None = None) -> Iterator[RoundTrip]:
    """Yield the trades in the order of the lines of their first fills."""
    order = fills.sort_numbers(ids)
    for number, opening in find_openings(fills, order):
        if opening.place == UNMATCHED:
            yield RoundTrip(number, fills[number], opening)
        else:
            yield follow_trade(fills, order, opening)


def find_openings(fills: Fills, order: "array[int]") -> Openings:
    """Return the openings of all trades."""
    openings = Openings(len(fills))
    equal_fills: Counter[tuple[int, int]] = Counter()
    position, last, has_effects, closes_nothing = 0, (-1, 0), fills.has_effects, False
    same_time: list[int] = []  # the numbers of the fills of that time, if the file states positions
    for place, number in enumerate(with_cancel_checks(order)):
        fill = fills[number]
        if (fill.instrument, fill.time) != last:
            fills.compare_position(same_time, position)
            same_time = []
            equal_fills.clear()
        if fill.instrument != last[0]:
            position = 0
        last = fill.instrument, fill.time
        if fills.has_positions:
            same_time.append(number)
        if has_effects:
            fill, closes_nothing = fills.find_effective(number, position)
        equal_fills[fill.quantity, fill.price] += 1
        occurrence = equal_fills[fill.quantity, fill.price]
        if closes_nothing:
            openings.add(number, Opening(UNMATCHED, fill.quantity, occurrence))
            continue
        after = position + fill.quantity
        if crosses(position, fill.quantity) and not fills.opens_rest(number):
            openings.add(number, Opening(UNMATCHED, after, occurrence))
            after = 0
        elif not position or crosses(position, fill.quantity):
            openings.add(number, Opening(place, after, occurrence))
        position = after
    fills.compare_position(same_time, position)
    return openings


def follow_trade(fills: Fills, order: "array[int]", opening: Opening) -> RoundTrip:
    """Return the trade from its opening until the position is flat, or until the last fill."""
    number = order[opening.place]
    trip = RoundTrip(number, fills[number], opening)
    for place in with_cancel_checks(range(opening.place + 1, len(order))):
        number = order[place]
        fill = fills[number]
        if fill.instrument != trip.first.instrument:
            break
        if fills.has_effects:
            fill, closes_nothing = fills.find_effective(number, trip.position)
            if closes_nothing:
                continue
        trip.add(number, fill)
        if trip.closed_at is not None:
            break
    return trip


def crosses(position: int, quantity: int) -> bool:
    """Return whether a fill reverses the position."""
    return position * (position + quantity) < 0
