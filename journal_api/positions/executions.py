"""The executions of a contract, united from all sources of them."""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from journal_api.positions.sources import NEAR, ORDERS, Execution, Half, SourceStatement, find_half_order, find_order
from journal_api.values.money import quotient

# The largest product of a burst's statements and executions in which runs of executions are compared.
MAX_COMPARED = 4096
MAX_RUN = 64
# Of a burst's statements and executions whose nearest ones are found.
MAX_PAIRED = 250_000
# Averages of two files may differ by less than this part of the price.
PRICE_PARTS = 10_000
# The prices of one order's fills differ from its average by less than this part of it.
SPREAD_PARTS = 10


def unite(stated: Iterable[SourceStatement]) -> list[Execution]:
    """Return the executions of all sources, in the order of time. What each source says counts once."""
    sources: defaultdict[tuple[int, str], list[Half]] = defaultdict(list)
    for one in stated:
        one.is_disputed = False
        sources[one.source] += [Half(one, index) for index in range(len(one.statement.sides))]
    book: list[Execution] = []
    by_id: dict[tuple[int, str], Execution] = {}
    for source, halves in sorted(sources.items()):
        halves.sort(key=find_half_order)
        is_first = not book
        find_by_id(halves, by_id, source)
        if not is_first:
            find_in_bursts(halves, book, source)
        for half in halves:
            if half.left:
                add_execution(half, book, by_id)
        book.sort(key=find_order)
    return book


def find_by_id(halves: Sequence[Half], by_id: dict[tuple[int, str], Execution], source: tuple[int, str]) -> None:
    """Find the executions that have the id of a half.

    The parts of a fill that pairs state are together the fill.
    """
    for half in halves:
        if half.external_id is None or (found := by_id.get((half.side, half.external_id))) is None:
            continue
        if abs(found.instant - half.instant) <= NEAR:
            if all(claim.stated.statement.is_kept for claim in found.claims):
                found.price = half.price
            found.quantity += max(0, half.left - found.left_for(source))
            half.claim(found, half.left)


def add_execution(half: Half, book: list[Execution], by_id: dict[tuple[int, str], Execution]) -> None:
    """Add an execution that only this half states, or the part of it that no other source has."""
    known = None if half.external_id is None else by_id.get((half.side, half.external_id))
    if known is not None and known.price == half.price and abs(known.instant - half.instant) <= NEAR:
        known.quantity += half.left
        half.claim(known, half.left)
        return
    execution = Execution(half)
    if half.stated.source[0] == ORDERS:
        execution.price = quotient(half.residual, half.left)
    book.append(execution)
    half.claim(execution, half.left)
    if half.external_id is not None:
        by_id.setdefault((half.side, half.external_id), execution)


def find_in_bursts(halves: Iterable[Half], book: Iterable[Execution], source: tuple[int, str]) -> None:
    """Find in the book what a source states without ids: burst by burst.

    A burst with the same quantity and value is the same; else a run of executions that has an order's
    quantity and average; else the nearest execution of the same price; else a part of an order, whose rest
    has a price that trades near it.
    """
    free = [execution for execution in book if execution.left_for(source)]
    for stated, held in find_bursts([half for half in halves if half.left], free):
        if is_equal(stated, [(one, one.left_for(source)) for one in held]):
            allot(stated, held, source)
            continue
        if len(stated) * len(held) <= MAX_COMPARED:
            find_runs(stated, held, source)
        find_nearest(stated, held, source)
        if len(stated) * len(held) <= MAX_COMPARED:
            find_parts(stated, held, source)
        # Pairs state parts of fills, so they may lack the rest of one; a file of fills has all of each.
        are_fills = any(claim.stated.statement.kind == "fill" for one in held for claim in one.claims)
        for half in stated:
            whole = half.stated.statement.quantity // len(half.stated.statement.sides)
            if are_fills and 0 < half.left < whole and source[0] < ORDERS:
                half.stated.is_disputed = True


def find_bursts(
    halves: Iterable[Half], executions: Iterable[Execution]
) -> Iterator[tuple[list[Half], list[Execution]]]:
    """Yield what is stated and held of one side without a gap of over NEAR, where there are both."""
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


def is_equal(stated: Sequence[Half], parts: Sequence[tuple[Execution, int]]) -> bool:
    """Return whether halves have the quantity and value of parts of executions, but for rounding."""
    if sum(half.left for half in stated) != sum(quantity for _, quantity in parts):
        return False
    difference = sum(half.residual for half in stated) - sum(one.price * quantity for one, quantity in parts)
    return bool(abs(difference) <= sum(find_rounding(half) * half.left for half in stated))


def find_rounding(half: Half) -> int:
    """Return by how much the average of an order may be rounded: half of its last digit."""
    unit, price = 1, abs(half.price)
    if half.stated.source[0] < ORDERS or not price:
        return 0
    while price % (unit * 10) == 0:
        unit *= 10
    return min((unit + 1) // 2, price // PRICE_PARTS)


def allot(stated: Sequence[Half], held: Sequence[Execution], source: tuple[int, str]) -> None:
    """Let halves claim executions of the same quantity together, first at one price."""
    claim_in_order(stated, held, source, lambda one: one.price)
    claim_in_order(stated, held, source, lambda one: None)


def claim_in_order(
    stated: Sequence[Half],
    held: Sequence[Execution],
    source: tuple[int, str],
    kind: Callable[[Half | Execution], object],
) -> None:
    """Let halves claim executions of their kind, both in their order."""
    queues: defaultdict[object, deque[list[Any]]] = defaultdict(deque)
    for one in held:
        if left := one.left_for(source):
            queues[kind(one)].append([one, left])
    for half in stated:
        queue = queues.get(kind(half))
        while half.left and queue:
            one, left = queue[0]
            quantity = min(half.left, left)
            half.claim(one, quantity)
            queue[0][1] -= quantity
            if quantity == left:
                queue.popleft()


def find_nearest(stated: Sequence[Half], held: Sequence[Execution], source: tuple[int, str]) -> None:
    """Let halves claim executions of their price, the nearest first; of very many only at one time."""
    claim_in_order(stated, held, source, lambda one: (one.price, one.instant))
    stated = [half for half in stated if half.left]
    held = [one for one in held if one.left_for(source)]
    if len(stated) * len(held) > MAX_PAIRED:
        claim_in_order(stated, held, source, lambda one: one.price)
        return
    pairs = (
        (abs(half.instant - one.instant), number, place)
        for number, half in enumerate(stated)
        for place, one in enumerate(held)
        if one.price == half.price
    )
    for _, number, place in sorted(pairs):
        if quantity := min(stated[number].left, held[place].left_for(source)):
            stated[number].claim(held[place], quantity)


def find_runs(stated: Sequence[Half], held: Sequence[Execution], source: tuple[int, str]) -> None:
    """Find runs of executions with the quantity and the average of one half.

    Those that end at its time first.
    """
    for is_exact in (True, False):
        for size in range(1, min(len(held), MAX_RUN) + 1):
            for half in stated:
                for begin in range(len(held) - size + 1):
                    run = held[begin : begin + size]
                    if not half.left or (is_exact and run[-1].instant != half.instant):
                        continue
                    parts = [(one, one.left_for(source)) for one in run]
                    if all(quantity for _, quantity in parts) and is_equal([half], parts):
                        for one, quantity in parts:
                            half.claim(one, quantity)


def find_parts(stated: Sequence[Half], held: Sequence[Execution], source: tuple[int, str]) -> None:
    """Find executions that are a part of an order of which another file has cut off the rest."""
    for half in stated:
        if not half.left or half.stated.source[0] < ORDERS:
            continue
        runs = [held[begin:end] for begin in range(len(held)) for end in range(begin + 1, len(held) + 1)]
        for run in sorted(runs, key=lambda run: -sum(one.left_for(source) for one in run)):
            parts = [(one, one.left_for(source)) for one in run]
            part = sum(quantity for _, quantity in parts)
            if not 0 < part < half.left or not all(quantity for _, quantity in parts):
                continue
            value = half.residual - sum(one.price * quantity for one, quantity in parts)
            price = quotient(value, half.left - part)
            if abs(price - half.price) * SPREAD_PARTS <= abs(half.price):
                for one, quantity in parts:
                    half.claim(one, quantity)
                break
