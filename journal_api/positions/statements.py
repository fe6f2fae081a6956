"""What files state of fills: all that the journal keeps of a file (docs/imports.md#what-one-trade-is).

Amounts are integers of 10^-8, times stored UTC text.
"""

import hashlib
from collections import Counter
from collections.abc import Sequence
from enum import IntEnum
from itertools import pairwise
from typing import Literal, NamedTuple

from msgspec import Struct, json
from msgspec.structs import astuple, replace

from journal_api.structs.trades import FeesSource

# One side; the entry and the exit that a row pairs; a position, which is not folded with others.
Kind = Literal["fill", "pair", "whole"]
Key = int  # of a statement, eight bytes of a hash


class Effect(IntEnum):
    """What a file says that a fill does to the position."""

    NOT_STATED = 0
    CLOSES = 1
    EXPIRES = 2  # closes, whichever side that takes
    HELD = 3  # closes what was held before the file, as its owner says, and not the file


class Side(NamedTuple):
    """A purchase, or a sale of a negative quantity. `price` is None for an exit whose price nobody stated."""

    quantity: int
    price: int | None
    at: str
    external_id: str | None = None
    fees: int = 0  # of a position whose fills are stated; else the statement has the fees


class Statement(Struct, frozen=True, gc=False, array_like=True):
    """One or more fills, and what is stated beside them; None is not stated."""

    kind: Kind
    symbol: str
    multiplier: int
    sides: tuple[Side, ...]
    fees: int | None = None
    gross_pnl: int | None = None
    external_id: str | None = None
    place: int | None = None  # the ordinal among the fills of the file that have the same time
    has_multiplier: bool = False  # whether the file states it; else it is the point value of the symbol
    mae: int | None = None
    mfe: int | None = None
    effect: Effect | None = None
    fees_source: FeesSource | None = None  # if the file says it, as an export does
    is_future: bool = False
    is_apart: bool = False  # a pair that is a trade of its own, because the owner keeps the rows of a file
    is_kept: bool = False  # a trade of a journal that did not keep statements yet, with all of its fills

    @property
    def is_position(self) -> bool:
        """Whether it is a position by itself, beside the book of the contract."""
        return self.kind == "whole" or self.is_apart

    @property
    def quantity(self) -> int:
        return sum(abs(side.quantity) for side in self.sides)

    def says_same(self, other: "Statement") -> bool:
        """Return whether two statements with one key state the same.

        Point values may have changed since the first of them was stored.
        """
        return read_content(self) == read_content(other)


def read_content(statement: Statement) -> tuple[object, ...]:
    multiplier = statement.multiplier if statement.has_multiplier else None
    beside = (statement.fees, statement.gross_pnl, statement.mae, statement.mfe, statement.effect)
    return statement.kind, statement.symbol, multiplier, statement.sides, statement.place, *beside


def encode(statement: Statement) -> bytes:
    """Return the statement as it is stored: a JSON array without the missing members at its end."""
    values = list(astuple(statement))
    while values[-1] is None or values[-1] is False:
        values.pop()
    return json.encode(values)


decoder = json.Decoder(Statement)
decode = decoder.decode


def identify(file_format: str, statement: Statement, times: Sequence[str] = ()) -> tuple[object, ...]:
    """Return what identifies a statement in files of a format: its id, else its fills at local `times`."""
    if statement.external_id is not None:
        return file_format, statement.kind, statement.external_id
    if statement.kind == "fill" and statement.sides[0].external_id is not None:
        return file_format, statement.kind, statement.sides[0].external_id
    at = times or [side.at for side in statement.sides]
    sides = [(side.quantity, side.price, time) for side, time in zip(statement.sides, at, strict=True)]
    return file_format, statement.kind, statement.symbol, *sides


def build_key(identity: tuple[object, ...], number: int) -> Key:
    digest = hashlib.blake2b(repr((identity, number)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


class Numbering:
    """The keys of the statements of a file, in the order of time.

    Identical fills differ by number.
    """

    def __init__(self, file_format: str) -> None:
        self.file_format = file_format
        self._numbers: Counter[tuple[int, tuple[object, ...]]] = Counter()

    def key(self, account_id: int, statement: Statement, times: Sequence[str] = ()) -> tuple[Key, bool]:
        """Return the key of a statement, and whether an earlier one of the file has the same id."""
        identity = identify(self.file_format, statement, times)
        self._numbers[account_id, identity] += 1
        number = self._numbers[account_id, identity]
        has_id = len(identity) == 3
        return build_key(identity, number), has_id and number > 1


def is_newest_first(times: Sequence[str]) -> bool:
    """Return whether the rows of a file are in reverse order of time."""
    return sum((b > a) - (b < a) for a, b in pairwise(times)) < 0


# What a later file need not state again.
BESIDE = ("fees", "gross_pnl", "mae", "mfe")


def choose_last(versions: Sequence[tuple[Statement, int]]) -> tuple[int, Statement]:
    """Return the index of the statement that holds of several with one key, and what they state together.

    Each is given with the newest import that states it. The later file corrects the earlier one, but an
    order may have filled further since, and what is closed is not open again. What the later one does not
    state stays.
    """
    ranked = sorted(
        range(len(versions)),
        key=lambda index: (find_progress(versions[index][0]), versions[index][1], index),
        reverse=True,
    )
    last = versions[ranked[0]][0]
    for index in ranked[1:]:
        earlier = versions[index][0]
        names = BESIDE if earlier.sides == last.sides else ("fees", "mae", "mfe")
        stated = {name: getattr(earlier, name) for name in names if getattr(last, name) is None}
        if not last.has_multiplier and earlier.has_multiplier:
            stated |= {"multiplier": earlier.multiplier, "has_multiplier": True}
        if not last.effect and earlier.effect == Effect.HELD and last.sides[0].quantity < 0:
            stated |= {"effect": Effect.HELD}
        last = replace(last, **stated)
    # A file that begins within a second does not know the place of its fills there.
    return ranked[0], replace(last, place=max((one.place or 0 for one, _ in versions), default=0) or None)


def find_progress(statement: Statement) -> int:
    """Return how far an order is filled, or whether a position is closed."""
    if statement.kind == "fill":
        return statement.quantity
    return not sum(side.quantity for side in statement.sides)
