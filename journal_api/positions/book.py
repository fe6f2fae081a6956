"""A book: the positions of one contract in one account, folded from all that files state of it.

It is a pure function of a set of statements, whatever the order in which they came. Files tell the same
fills in several ways: as fills, as pairs of an entry and an exit, as orders with averages. These tellings
are united execution by execution, the one with most detail first; then the executions are folded from flat
to flat.
"""

from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import permutations
from typing import Any, NamedTuple

from journal_api.positions.statements import Effect, Statement
from journal_api.values.money import quotient

SECOND = 1_000_000
# Microseconds between the times of one fill in two formats: some have no fractions, some the order's time.
NEAR = 2 * SECOND
# The largest product of a burst's statements and executions in which runs of executions are compared.
MAX_COMPARED = 4096
MAX_RUN = 64
# Of a burst's statements and executions whose nearest ones are found.
MAX_PAIRED = 250_000
ORDERS = 3  # the place of orders among tellings
EPOCH = datetime.fromisoformat("1970-01-01T00:00:00Z")
MICROSECOND = timedelta(microseconds=1)
# Averages of two files may differ by less than this part of the price.
PRICE_PARTS = 10_000
# The prices of one order's fills differ from its average by less than this part of it.
SPREAD_PARTS = 10


def read_instant(text: str) -> int:
    """Return a stored timestamp in microseconds."""
    return (datetime.fromisoformat(text) - EPOCH) // MICROSECOND


class Told:
    """A statement in a book: who tells it, and the trade that it is in so far."""

    __slots__ = ("imports", "is_disputed", "is_left_out", "line", "row_id", "statement", "telling", "trade_id")

    def __init__(
        self,
        statement: Statement,
        file_format: str,
        *,
        imports: Iterable[int] = (),
        row_id: int | None = None,
        trade_id: int | None = None,
        line: int = 0,
        is_left_out: bool = False,
    ) -> None:
        self.statement, self.row_id, self.trade_id, self.line = statement, row_id, trade_id, line
        self.imports = tuple(imports)
        self.is_left_out = is_left_out  # the owner has deleted its trade
        self.is_disputed = False  # a file of fills has a part of it at its time, and no more
        # What was kept of earlier imports is a telling of its own, which the files themselves tell once more.
        self.telling = find_telling(statement, file_format)


def find_telling(statement: Statement, file_format: str) -> tuple[int, str]:
    return share((rank(statement, file_format), "" if statement.is_kept else file_format))


@lru_cache(maxsize=1024)
def share(telling: tuple[int, str]) -> tuple[int, str]:
    """Return one object for equal tellings: a file may have a million statements."""
    return telling


def rank(statement: Statement, file_format: str) -> int:
    """Return the place of a telling by its detail: fills, pairs with ids, pairs, orders with averages."""
    if statement.kind == "fill" or statement.is_kept:
        return ORDERS if "order" in file_format.casefold() else int(statement.is_kept)
    return 1 if statement.sides[0].external_id is not None else 2


class Claim:
    """What a statement says of a part of an execution."""

    __slots__ = ("fees", "quantity", "told")

    def __init__(self, told: Told, quantity: int, fees: int) -> None:
        self.told, self.quantity, self.fees = told, quantity, fees

    def split(self, quantity: int) -> "Claim":
        """Take a part of the claim out of it, with its part of the fees."""
        fees = quotient(self.fees * quantity, self.quantity)
        self.quantity, self.fees = self.quantity - quantity, self.fees - fees
        return Claim(self.told, quantity, fees)


class Execution:
    """A purchase or a sale, and all that is said of it."""

    __slots__ = ("at", "claims", "effect", "external_id", "instant", "place", "price", "quantity", "side")

    def __init__(self, half: "Half") -> None:
        self.side, self.quantity = half.side, half.left
        self.price: Any = half.price  # None only for an exit of a position by itself, which nobody stated
        self.at, self.instant, self.place = half.at, half.instant, half.place
        self.external_id, self.effect = half.external_id, half.told.statement.effect
        self.claims: list[Claim] = []

    def left_for(self, telling: tuple[int, str]) -> int:
        """Return the quantity of which a telling has said nothing."""
        return self.quantity - sum(claim.quantity for claim in self.claims if claim.told.telling == telling)


class Half:
    """One side of a statement, and the quantity of it that is not found in the book yet."""

    __slots__ = (*("at", "external_id", "fees", "instant", "left", "place", "price", "residual", "side"), "told")

    def __init__(self, told: Told, index: int) -> None:
        statement = told.statement
        quantity, price, self.at, self.external_id, fees = statement.sides[index]
        self.told, self.side, self.left = told, 1 if quantity > 0 else -1, abs(quantity)
        self.price = price or 0
        self.residual = self.left * self.price  # the value of what is left
        has_own = any(side.fees for side in statement.sides)
        self.fees = fees if has_own else (statement.fees or 0) if index == 0 else 0
        self.instant, self.place = read_instant(self.at), find_place(statement, index)

    def claim(self, execution: Execution, quantity: int) -> None:
        """Say that a part of the execution is a part of this."""
        fees = self.fees if quantity == self.left else quotient(self.fees * quantity, self.left)
        execution.claims.append(Claim(self.told, quantity, fees))
        execution.effect = execution.effect or self.told.statement.effect
        self.left, self.fees = self.left - quantity, self.fees - fees
        self.residual -= quantity * execution.price


def find_place(statement: Statement, index: int) -> tuple[int, int]:
    """Return the place of a side among those of one time.

    Fills of one time are in the order of their ids or of the file. Without ids a pair that closes is before
    one that opens and closes at once, and that is before one that opens.
    """
    fill_id = statement.sides[index].external_id
    if fill_id is not None and fill_id.isdecimal():
        return 0, int(fill_id)
    if len(statement.sides) == 1:
        return 0, statement.place or 0
    if statement.sides[0].at == statement.sides[-1].at:
        return 1, 2 * (statement.place or 0) + index
    return (2, index) if index < len(statement.sides) - 1 else (0, 0)


def find_order(execution: Execution) -> tuple[Any, ...]:
    """Return the place of an execution in the book, whatever the order in which files were read."""
    known = execution.external_id or ""
    return execution.instant, execution.place, known, execution.side, execution.price, execution.quantity


def find_half_order(half: Half) -> tuple[Any, ...]:
    statement = half.told.statement
    known = half.external_id or statement.external_id or ""
    return half.instant, half.place, known, half.side, half.price, half.left, statement.sides


def unite(told: Iterable[Told]) -> list[Execution]:
    """Return the executions of all tellings, in the order of time. What each telling says counts once."""
    tellings: defaultdict[tuple[int, str], list[Half]] = defaultdict(list)
    for one in told:
        one.is_disputed = False
        tellings[one.telling] += [Half(one, index) for index in range(len(one.statement.sides))]
    book: list[Execution] = []
    by_id: dict[tuple[int, str], Execution] = {}
    for telling, halves in sorted(tellings.items()):
        halves.sort(key=find_half_order)
        is_first = not book
        find_by_id(halves, by_id, telling)
        if not is_first:
            find_in_bursts(halves, book, telling)
        for half in halves:
            if half.left:
                add_execution(half, book, by_id)
        book.sort(key=find_order)
    return book


def find_by_id(halves: Sequence[Half], by_id: dict[tuple[int, str], Execution], telling: tuple[int, str]) -> None:
    """Find the executions that have the id of a half.

    The parts of a fill that pairs tell are together the fill.
    """
    for half in halves:
        if half.external_id is None or (found := by_id.get((half.side, half.external_id))) is None:
            continue
        if abs(found.instant - half.instant) <= NEAR:
            if all(claim.told.statement.is_kept for claim in found.claims):
                found.price = half.price
            found.quantity += max(0, half.left - found.left_for(telling))
            half.claim(found, half.left)


def add_execution(half: Half, book: list[Execution], by_id: dict[tuple[int, str], Execution]) -> None:
    """Add an execution that only this half tells, or the part of it that no other telling has."""
    known = None if half.external_id is None else by_id.get((half.side, half.external_id))
    if known is not None and known.price == half.price and abs(known.instant - half.instant) <= NEAR:
        known.quantity += half.left
        half.claim(known, half.left)
        return
    execution = Execution(half)
    if half.told.telling[0] == ORDERS:
        execution.price = quotient(half.residual, half.left)
    book.append(execution)
    half.claim(execution, half.left)
    if half.external_id is not None:
        by_id.setdefault((half.side, half.external_id), execution)


def find_in_bursts(halves: Iterable[Half], book: Iterable[Execution], telling: tuple[int, str]) -> None:
    """Find in the book what a telling states without ids: burst by burst.

    A burst with the same quantity and value is the same; else a run of executions that has an order's
    quantity and average; else the nearest execution of the same price; else a part of an order, whose rest
    has a price that trades near it.
    """
    free = [execution for execution in book if execution.left_for(telling)]
    for told, held in find_bursts([half for half in halves if half.left], free):
        if is_equal(told, [(one, one.left_for(telling)) for one in held]):
            allot(told, held, telling)
            continue
        if len(told) * len(held) <= MAX_COMPARED:
            find_runs(told, held, telling)
        find_nearest(told, held, telling)
        if len(told) * len(held) <= MAX_COMPARED:
            find_parts(told, held, telling)
        # Pairs tell parts of fills, so they may lack the rest of one; a file of fills has all of each.
        are_fills = any(claim.told.statement.kind == "fill" for one in held for claim in one.claims)
        for half in told:
            whole = half.told.statement.quantity // len(half.told.statement.sides)
            if are_fills and 0 < half.left < whole and telling[0] < ORDERS:
                half.told.is_disputed = True


def find_bursts(
    halves: Iterable[Half], executions: Iterable[Execution]
) -> Iterator[tuple[list[Half], list[Execution]]]:
    """Yield what is told and held of one side without a gap of over NEAR, where there are both."""
    events: list[tuple[int, int, int, Any]] = [(half.side, half.instant, 0, half) for half in halves]
    events += [(one.side, one.instant, 1, one) for one in executions]
    events.sort(key=lambda event: event[:3])
    burst: tuple[list[Half], list[Execution]] = ([], [])
    last = 0, 0
    for side, instant, kind, one in events:
        if side != last[0] or instant - last[1] > NEAR:
            if burst[0] and burst[1]:
                yield burst
            burst = [], []
        burst[kind].append(one)
        last = side, instant
    if burst[0] and burst[1]:
        yield burst


def is_equal(told: Sequence[Half], parts: Sequence[tuple[Execution, int]]) -> bool:
    """Return whether halves have the quantity and value of parts of executions, but for rounding."""
    if sum(half.left for half in told) != sum(quantity for _, quantity in parts):
        return False
    difference = sum(half.residual for half in told) - sum(one.price * quantity for one, quantity in parts)
    return bool(abs(difference) <= sum(find_rounding(half) * half.left for half in told))


def find_rounding(half: Half) -> int:
    """Return by how much the average of an order may be rounded: half of its last digit."""
    unit, price = 1, abs(half.price)
    if half.told.telling[0] < ORDERS or not price:
        return 0
    while price % (unit * 10) == 0:
        unit *= 10
    return min((unit + 1) // 2, price // PRICE_PARTS)


def allot(told: Sequence[Half], held: Sequence[Execution], telling: tuple[int, str]) -> None:
    """Let halves claim executions of the same quantity together, those of one price first."""
    claim_in_order(told, held, telling, lambda one: one.price)
    claim_in_order(told, held, telling, lambda one: None)


def claim_in_order(
    told: Sequence[Half],
    held: Sequence[Execution],
    telling: tuple[int, str],
    kind: Callable[[Half | Execution], object],
) -> None:
    """Let halves claim executions of their kind, both in their order."""
    queues: defaultdict[object, deque[list[Any]]] = defaultdict(deque)
    for one in held:
        if left := one.left_for(telling):
            queues[kind(one)].append([one, left])
    for half in told:
        queue = queues.get(kind(half))
        while half.left and queue:
            one, left = queue[0]
            quantity = min(half.left, left)
            half.claim(one, quantity)
            queue[0][1] -= quantity
            if quantity == left:
                queue.popleft()


def find_nearest(told: Sequence[Half], held: Sequence[Execution], telling: tuple[int, str]) -> None:
    """Let halves claim executions of their price, the nearest first; of very many those of one time."""
    claim_in_order(told, held, telling, lambda one: (one.price, one.instant))
    told = [half for half in told if half.left]
    held = [one for one in held if one.left_for(telling)]
    if len(told) * len(held) > MAX_PAIRED:
        claim_in_order(told, held, telling, lambda one: one.price)
        return
    pairs = (
        (abs(half.instant - one.instant), number, place)
        for number, half in enumerate(told)
        for place, one in enumerate(held)
        if one.price == half.price
    )
    for _, number, place in sorted(pairs):
        if quantity := min(told[number].left, held[place].left_for(telling)):
            told[number].claim(held[place], quantity)


def find_runs(told: Sequence[Half], held: Sequence[Execution], telling: tuple[int, str]) -> None:
    """Find runs of executions with the quantity and the average of one half.

    Those that end at its time first.
    """
    for is_exact in (True, False):
        for size in range(1, min(len(held), MAX_RUN) + 1):
            for half in told:
                for begin in range(len(held) - size + 1):
                    run = held[begin : begin + size]
                    if not half.left or (is_exact and run[-1].instant != half.instant):
                        continue
                    parts = [(one, one.left_for(telling)) for one in run]
                    if all(quantity for _, quantity in parts) and is_equal([half], parts):
                        for one, quantity in parts:
                            half.claim(one, quantity)


def find_parts(told: Sequence[Half], held: Sequence[Execution], telling: tuple[int, str]) -> None:
    """Find executions that are a part of an order of which another file has cut off the rest."""
    for half in told:
        if not half.left or half.told.telling[0] < ORDERS:
            continue
        runs = [held[begin:end] for begin in range(len(held)) for end in range(begin + 1, len(held) + 1)]
        for run in sorted(runs, key=lambda run: -sum(one.left_for(telling) for one in run)):
            parts = [(one, one.left_for(telling)) for one in run]
            part = sum(quantity for _, quantity in parts)
            if not 0 < part < half.left or not all(quantity for _, quantity in parts):
                continue
            value = half.residual - sum(one.price * quantity for one, quantity in parts)
            price = quotient(value, half.left - part)
            if abs(price - half.price) * SPREAD_PARTS <= abs(half.price):
                for one, quantity in parts:
                    half.claim(one, quantity)
                break


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
        self.positions: list[Told] = []  # positions of other tellings that are this one

    @property
    def claims(self) -> Iterator[Claim]:
        """What is said of it; a position of another telling says it of all."""
        for part in self.parts:
            yield from part.claims
        for told in self.positions:
            yield Claim(told, told.statement.quantity, 0)

    @property
    def told(self) -> dict[Told, int]:
        """The quantity of the position that each statement tells."""
        found: dict[Told, int] = {}
        for claim in self.claims:
            found[claim.told] = found.get(claim.told, 0) + claim.quantity
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
            # What it closes may be opened at the same instant: tellings differ in the order of one time.
            last = bisect_right(queue, one.instant, lo=place, key=lambda other: other.instant)
            if last > place:
                deferred.add(id(one))
                queue.insert(last, one)
                continue
        if closing and closing < one.quantity:
            taken = take_claims(claims, closing, {claim.told for part in parts for claim in part.claims})
            parts.append(Part(one, closing if quantity > 0 else -closing, taken))
            positions.append(Position(parts, is_closed=True))
            parts, size = [], 0
            quantity = one.quantity - closing if quantity > 0 else closing - one.quantity
        if (not closing and one.effect) or (closing and closing < one.quantity and one.effect):
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


def take_claims(claims: list[Claim], quantity: int, known: set[Told]) -> list[Claim]:
    """Take the part of the claims that says something of a position that ends out of `claims`.

    Of each telling this is the given quantity: first of what the position has already, such as the exit of a
    pair.
    """
    taken: list[Claim] = []
    for telling in {claim.told.telling: None for claim in claims}:
        left = quantity
        for claim in sorted(claims, key=lambda claim: claim.told not in known):
            if claim.told.telling != telling or not left:
                continue
            part = min(left, claim.quantity)
            left -= part
            if part == claim.quantity:
                claims.remove(claim)
                taken.append(claim)
            else:
                taken.append(claim.split(part))
    return taken


def find_apart(told: Iterable[Told]) -> Iterator[Position]:
    """Yield the statements that are positions by themselves."""
    for one in told:
        halves = [Half(one, index) for index in range(len(one.statement.sides))]
        parts = []
        for half, side in zip(halves, one.statement.sides, strict=True):
            execution = Execution(half)
            half.claim(execution, half.left)
            execution.price = side.price
            parts.append(Part(execution, side.quantity, execution.claims))
        yield Position(parts, is_closed=not sum(side.quantity for side in one.statement.sides))


class Contradiction(NamedTuple):
    """An execution that a file does not have, although it tells what was before and after it."""

    position: "Position"
    execution: Execution
    import_id: int


def find_contradictions(told: Iterable[Told], positions: Iterable[Position]) -> Iterator[Contradiction]:
    """Yield the executions within the stretch of time of a file that the file does not have.

    A file tells all of a contract from its first fill to its last; a file of pairs tells all exits.
    """
    told = list(told)
    stretches = find_stretches(told)
    if len(stretches) < 2:
        return
    contradicted = find_corrected(told, stretches)
    for position in positions:
        of_whole = {import_id for whole in position.positions for import_id in whole.imports}
        for part in position.parts:
            for claim in part.claims:
                if claim.told in contradicted:
                    yield Contradiction(position, part.execution, contradicted[claim.told])
            instant, is_exit = part.execution.instant, part.quantity * position.parts[0].quantity < 0
            by = of_whole.union(*(claim.told.imports for claim in part.execution.claims))
            for (import_id, is_pair), (first, last) in stretches.items():
                if first + NEAR < instant < last - NEAR and import_id not in by and (is_exit or not is_pair):
                    yield Contradiction(position, part.execution, import_id)


def find_stretches(told: Iterable[Told]) -> dict[tuple[int, bool], list[int]]:
    """Return the first and the last time that each file tells, by import and whether it tells pairs."""
    stretches: dict[tuple[int, bool], list[int]] = {}
    for one in told:
        instant = read_instant(one.statement.sides[-1].at)
        for import_id in one.imports:
            stretch = stretches.setdefault((import_id, one.statement.kind == "pair"), [instant, instant])
            stretch[:] = min(stretch[0], instant), max(stretch[1], instant)
    return stretches


def find_strangers(told: Sequence[Told], new_import: int) -> set[int]:
    """Return the imports of the new file's format that state the same stretch of time, and none of its fills.

    Both tell all fills of the contract, so one of them is of another account.
    """
    stretches = find_stretches(told)
    exact = [one for one in told if is_exact(one)]
    mine = [one for one in exact if new_import in one.imports]
    tellings = {one.telling for one in mine}
    # Pairs of one fill may be in two files.
    sides = {side._replace(quantity=0) for one in mine for side in one.statement.sides}
    found, related = set[int](), {import_id for one in mine for import_id in one.imports}
    for one in exact:
        if one.telling in tellings:
            is_pair = one.statement.kind == "pair"
            first, last = stretches[new_import, is_pair]
            if is_pair and not sides.isdisjoint(side._replace(quantity=0) for side in one.statement.sides):
                related.update(one.imports)
            for import_id in one.imports:
                begin, end = stretches[import_id, is_pair]
                # A copied trade that is all that both tell is seconds apart.
                near = NEAR if is_pair and first == last and begin == end else 0
                if first < end + near and begin < last + near:
                    found.add(import_id)
    return found - related


def is_exact(told: Told) -> bool:
    """Return whether it is one of all fills or pairs that its file tells of a stretch of time."""
    return told.statement.kind != "whole" and not told.statement.is_kept


def find_corrected(told: Iterable[Told], stretches: Mapping[tuple[int, bool], Sequence[int]]) -> dict[Told, int]:
    """Return what another file of the format states at other prices, and the import of that file.

    Both files begin before it, or both end after it; of parts of one file, one ends where the other begins.
    """
    by_times: dict[tuple[Any, ...], dict[frozenset[int], list[Told]]] = {}
    for one in told:
        sides, kind = one.statement.sides, one.statement.kind
        if kind != "whole" and sides[0].external_id is one.statement.external_id is None:
            times = one.telling, kind == "pair", *((side.quantity, side.at) for side in sides)
            by_times.setdefault(times, {}).setdefault(frozenset(one.imports), []).append(one)
    found: dict[Told, int] = {}
    for (_, is_pair, *_, (_, at)), by_imports in by_times.items():
        for mine, theirs in permutations(by_imports, 2):
            if not mine & theirs and overlap(read_instant(at), is_pair, mine, theirs, stretches):
                found |= dict.fromkeys(by_imports[mine], min(theirs))
    return found


def overlap(
    instant: int,
    is_pair: bool,
    mine: Iterable[int],
    theirs: Iterable[int],
    stretches: Mapping[tuple[int, bool], Sequence[int]],
) -> bool:
    """Return whether files of both begin before an instant, or end after it."""
    sides = [[stretches[import_id, is_pair] for import_id in imports] for imports in (mine, theirs)]
    return all(any(first < instant for first, _ in side) for side in sides) or all(
        any(last > instant for _, last in side) for side in sides
    )


def fold_book(told: Sequence[Told]) -> tuple[list[Position], list[Part]]:
    """Return the positions of a book, and what closes nothing."""
    return fold(unite(one for one in told if not one.statement.is_position))
