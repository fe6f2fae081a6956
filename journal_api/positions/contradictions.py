"""Files that cannot both be right: of one account, or of one stretch of time."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import permutations
from typing import Any, NamedTuple

from journal_api.positions.book import Position
from journal_api.positions.sources import NEAR, Execution, SourceStatement, is_of
from journal_api.values.clock import read_instant


class Contradiction(NamedTuple):
    """An execution that a file does not have, although it states what was before and after it."""

    position: "Position"
    execution: Execution
    import_id: int


def find_contradictions(stated: Iterable[SourceStatement], positions: Iterable[Position]) -> Iterator[Contradiction]:
    """Yield the executions within the stretch of time of a file that the file does not have.

    A file states all of a contract from its first fill to its last; a file of pairs states all exits.
    """
    stated = list(stated)
    stretches = find_stretches(stated)
    if len(stretches) < 2:
        return
    contradicted = find_corrected(stated, stretches)
    for position in positions:
        of_whole = {import_id for whole in position.positions for import_id in whole.imports}
        for part in position.parts:
            for claim in part.claims:
                if claim.stated in contradicted:
                    yield Contradiction(position, part.execution, contradicted[claim.stated])
            instant, is_exit = part.execution.instant, part.quantity * position.parts[0].quantity < 0
            by = of_whole.union(*(claim.stated.imports for claim in part.execution.claims))
            for (import_id, is_pair), (first, last) in stretches.items():
                if first + NEAR < instant < last - NEAR and import_id not in by and (is_exit or not is_pair):
                    yield Contradiction(position, part.execution, import_id)


def find_stretches(stated: Iterable[SourceStatement]) -> dict[tuple[int, bool], list[int]]:
    """Return the first and the last time that each file covers, by import and whether it states pairs."""
    stretches: dict[tuple[int, bool], list[int]] = {}
    for one in stated:
        instant = read_instant(one.statement.sides[-1].at)
        for import_id in one.imports:
            stretch = stretches.setdefault((import_id, one.statement.kind == "pair"), [instant, instant])
            stretch[:] = min(stretch[0], instant), max(stretch[1], instant)
    return stretches


def find_strangers(stated: Sequence[SourceStatement], new_import: int) -> set[int]:
    """Return the imports of the new file's format that state the same stretch of time, and none of its fills.

    Both state all fills of the contract, so one of them is of another account.
    """
    if all(is_of(one, new_import) for one in stated):
        return set()
    stretches = find_stretches(stated)
    exact = [one for one in stated if is_exact(one)]
    mine = [one for one in exact if new_import in one.imports]
    sources = {one.source for one in mine}
    # Pairs of one fill may be in two files.
    sides = {side._replace(quantity=0) for one in mine for side in one.statement.sides}
    openings = [read_instant(one.statement.sides[0].at) for one in mine]
    found, related = set[int](), {import_id for one in mine for import_id in one.imports}
    for one in exact:
        if one.source in sources:
            is_pair = one.statement.kind == "pair"
            first, last = stretches[new_import, is_pair]
            if is_pair and not sides.isdisjoint(side._replace(quantity=0) for side in one.statement.sides):
                related.update(one.imports)
            for import_id in one.imports:
                begin, end = stretches[import_id, is_pair]
                # If all that both state is a copied trade, it is seconds apart, at its opening too.
                opening = read_instant(one.statement.sides[0].at)
                is_copied = any(abs(opening - other) < NEAR for other in openings)
                near = NEAR if is_pair and first == last and begin == end and is_copied else 0
                if first < end + near and begin < last + near:
                    found.add(import_id)
    return found - related


def is_exact(stated: SourceStatement) -> bool:
    """Return whether its file states all fills or pairs of a stretch of time."""
    return stated.statement.kind != "whole" and not stated.statement.is_kept


def find_corrected(
    stated: Iterable[SourceStatement], stretches: Mapping[tuple[int, bool], Sequence[int]]
) -> dict[SourceStatement, int]:
    """Return what another file of the format states at other prices, and the import of that file.

    Both files begin before it, or both end after it; of parts of one file, one ends where the other begins.
    """
    by_times: dict[tuple[Any, ...], dict[frozenset[int], list[SourceStatement]]] = {}
    for one in stated:
        sides, kind = one.statement.sides, one.statement.kind
        if kind != "whole" and sides[0].external_id is one.statement.external_id is None:
            times = one.source, kind == "pair", *((side.quantity, side.at) for side in sides)
            by_times.setdefault(times, {}).setdefault(frozenset(one.imports), []).append(one)
    found: dict[SourceStatement, int] = {}
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
