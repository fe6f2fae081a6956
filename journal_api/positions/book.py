"""A book: the positions of one contract in one account, folded from all that files state of it.

It is a pure function of a set of statements, whatever the order in which they came. Files state the same
fills in several ways: as fills, as pairs of an entry and an exit, as orders with averages. These sources
are united execution by execution, the most detailed first; then the executions are folded from flat to
flat.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from journal_api.positions.executions import unite
from journal_api.positions.sources import Claim, Execution, Half, SourceStatement, is_of
from journal_api.positions.statements import Effect


class Part:
    """What a position has of an execution; a negative quantity was sold."""

    __slots__ = ("claims", "execution", "quantity")

    def __init__(self, execution: Execution, quantity: int, claims: list[Claim]) -> None:
        self.execution, self.quantity, self.claims = execution, quantity, claims


class Position:
    """Parts of executions from flat to flat, or until now."""

    __slots__ = ("is_closed", "parts", "positions")

    def __init__(self, parts: list[Part], *, is_closed: bool) -> None:
        self.parts, self.is_closed = parts, is_closed
        self.positions: list[SourceStatement] = []  # positions of other sources that are this one

    @property
    def claims(self) -> Iterator[Claim]:
        """What is said of it; a position of another source says it of all."""
        for part in self.parts:
            yield from part.claims
        for stated in self.positions:
            yield Claim(stated, stated.statement.quantity, 0)

    @property
    def stated(self) -> dict[SourceStatement, int]:
        """The quantity of the position that each statement has."""
        found: dict[SourceStatement, int] = {}
        for claim in self.claims:
            found[claim.stated] = found.get(claim.stated, 0) + claim.quantity
        return found

    @property
    def opened(self) -> int:
        return self.parts[0].execution.instant

    @property
    def closed(self) -> int | None:
        return self.parts[-1].execution.instant if self.is_closed else None


def fold(executions: Iterable[Execution]) -> tuple[list[Position], list[Part]]:
    """Return the positions from flat to flat, and what should close a position that nobody has."""
    positions: list[Position] = []
    unmatched: list[Part] = []
    parts: list[Part] = []
    size = 0
    queue = list(executions)
    deferred: set[int] = set()
    place = 0
    while place < len(queue):
        one = queue[place]
        place += 1
        quantity = one.side * one.quantity
        if one.effect == Effect.EXPIRES and size * quantity > 0:
            quantity = -quantity
        closing = min(one.quantity, abs(size)) if size * quantity < 0 else 0
        claims = one.claims
        if one.effect and not closing and id(one) not in deferred:
            # What it closes may be opened at the same instant: sources differ in the order of one time.
            last = bisect_right(queue, one.instant, lo=place, key=lambda other: other.instant)
            if last > place:
                deferred.add(id(one))
                queue.insert(last, one)
                continue
        if closing and closing < one.quantity:
            taken = take_claims(claims, closing, {claim.stated for part in parts for claim in part.claims})
            parts.append(Part(one, closing if quantity > 0 else -closing, taken))
            positions.append(Position(parts, is_closed=True))
            parts, size = [], 0
            quantity = one.quantity - closing if quantity > 0 else closing - one.quantity
        if one.effect and closing < one.quantity:
            unmatched.append(Part(one, quantity, claims))
            continue
        parts.append(Part(one, quantity, claims))
        size += quantity
        if not size:
            positions.append(Position(parts, is_closed=True))
            parts = []
    if parts:
        positions.append(Position(parts, is_closed=False))
    return positions, unmatched


def take_claims(claims: list[Claim], quantity: int, known: set[SourceStatement]) -> list[Claim]:
    """Take the part of the claims that says something of a position that ends out of `claims`.

    Of each source this is the given quantity: first of what the position has already, such as the exit of a
    pair.
    """
    taken: list[Claim] = []
    for source in {claim.stated.source: None for claim in claims}:
        left = quantity
        for claim in sorted(claims, key=lambda claim: claim.stated not in known):
            if claim.stated.source != source or not left:
                continue
            part = min(left, claim.quantity)
            left -= part
            if part == claim.quantity:
                claims.remove(claim)
                taken.append(claim)
            else:
                taken.append(claim.split(part))
    return taken


def find_apart(stated: Iterable[SourceStatement]) -> Iterator[Position]:
    """Yield the statements that are positions by themselves."""
    for one in stated:
        halves = [Half(one, index) for index in range(len(one.statement.sides))]
        parts = []
        for half, side in zip(halves, one.statement.sides, strict=True):
            execution = Execution(half)
            half.claim(execution, half.left)
            execution.price = side.price
            parts.append(Part(execution, side.quantity, execution.claims))
        yield Position(parts, is_closed=not sum(side.quantity for side in one.statement.sides))


def fold_book(stated: Sequence[SourceStatement]) -> tuple[list[Position], list[Part]]:
    """Return the positions of a book, and what closes nothing."""
    return fold(unite(one for one in stated if not one.statement.is_position))


def has_new(position: Position, new_import: int) -> bool:
    return any(is_of(claim.stated, new_import) for claim in position.claims)
