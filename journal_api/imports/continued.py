"""Positions that a file of fills continues: they were open when an earlier file ended, or a later one began.

A file that begins inside a position takes its exits for entries. So the fills of the file and of the journal
go through one book, contract by contract.
"""

import hashlib
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

from msgspec.structs import replace

from journal_api.positions.fills import Fill, fold_fills
from journal_api.positions.import_rows import ResolvedRow, StoredTrade
from journal_api.positions.position_fills import (
    Key,
    add_parts,
    find_key,
    find_place,
    list_sizes,
    read_fills,
    with_fills,
)
from journal_api.positions.trade_identity import compute_fingerprint
from journal_api.structs.trades import FillSide

MAX_MADE_IDS = 3  # of positions that begin with the same fill: other trades may have these


class Contract(NamedTuple):
    """What has one position at a time."""

    account_id: int
    name: str

    @classmethod
    def of_row(cls, row: ResolvedRow) -> "Contract":
        return cls(row.columns["account_id"], row.columns["contract"])


class Continued(NamedTuple):
    """A position of both books, and the stored trade that it was until now; None if it is new."""

    row: ResolvedRow
    stored: StoredTrade | None


def closes_nothing(rows: Sequence[ResolvedRow], stored_trades: Sequence[StoredTrade]) -> bool:
    """Return whether the fills of the rows only close, and no stored position is open."""
    return all(row.imported.is_unmatched for row in rows) and all(
        stored.fields["closed_at"] is not None for stored in stored_trades
    )


def continue_positions(
    rows: Sequence[ResolvedRow],
    stored_trades: Sequence[StoredTrade],
    related: Container[int],
    taken: set[str],
) -> list[Continued] | None:
    """Return the positions of the fills of both, None if a stored trade would be no position any more.

    All rows and trades are of one contract. `related` are the trades that other positions of the file are: a
    fill that ends one of them may begin a position of the rows. `taken` are the external ids that trades of
    the account have.
    """
    rows = [turn_expired(row, stored_trades) for row in rows]
    held = add_parts(fill for stored in stored_trades for fill in read_fills(stored.fields))
    closing = {
        find_key(fill) for row in rows if row.imported.is_unmatched for fill in read_fills(row.columns)
    } - held.keys()
    # What a fill has beyond the position that it closed opens nothing in a later import either.
    opening = (
        fill
        for row in rows
        for fill in read_fills(row.columns)
        if not row.imported.is_unmatched or find_key(fill) in closing
    )
    known = (stored.fields for stored in stored_trades if stored.trade_id in related)
    read = add_parts(chain(opening, *map(read_fills, known)))
    mine = {find_key(fill): row for row in rows for fill in read_fills(row.columns)}
    fills = sorted(unite(held, read), key=find_place)
    positions = fold_fills(fills, lambda fill: find_key(fill) in closing)
    continued: list[Continued] = []
    claimed = claim_trades(positions, stored_trades)
    for number, position in enumerate(positions):
        stored, sizes = claimed.get(number), list_sizes(position)
        is_related = stored is not None and stored.trade_id in related
        is_known = is_related or mine.keys().isdisjoint(sizes)
        if stored and is_known and sizes == list_sizes(read_fills(stored.fields)):
            continue
        if is_related:
            return None
        template = min((mine[key] for key in sizes if key in mine), key=by_line, default=rows[0])
        row = with_fills(template, position)
        continued.append(Continued(row if stored else with_own_id(row, taken), stored))
    return continued if len(claimed) == len(stored_trades) else None


def claim_trades(
    positions: Sequence[Sequence[Fill]], stored_trades: Sequence[StoredTrade]
) -> dict[int, StoredTrade]:
    """Return the stored trades by the index of the position that each is now.

    A position is the trade of the same fills, else the first that has one of them and is no other position.
    """
    sizes = [list_sizes(read_fills(stored.fields)) for stored in stored_trades]
    holders: defaultdict[Key, list[int]] = defaultdict(list)
    for place, keys in enumerate(sizes):
        for key in keys:
            holders[key].append(place)
    claimed: dict[int, int] = {}
    free = set(range(len(stored_trades)))
    for is_exact in (True, False):
        for number, mine in enumerate(map(list_sizes, positions)):
            places = {place for key in mine for place in holders[key] if place in free}
            fitting = [place for place in places if sizes[place] == mine] if is_exact else places
            if fitting and number not in claimed:
                claimed[number] = min(fitting)
                free.discard(claimed[number])
    return {number: stored_trades[place] for number, place in claimed.items()}


def unite(held: dict[Key, Fill], read: dict[Key, Fill]) -> Iterator[Fill]:
    """Yield the fills of the journal and of the file: of a fill in both, the larger part."""
    for key in read | held:
        fill = held.get(key) or read[key]
        larger = max(fill, read.get(key, fill), key=lambda one: one.quantity)
        yield fill._replace(quantity=larger.quantity, fees=larger.fees)


def turn_expired(row: ResolvedRow, stored_trades: Sequence[StoredTrade]) -> ResolvedRow:
    """Return the row of an option that expires with the side that closes the stored position."""
    if row.imported.kind != "expiring":
        return row
    side: FillSide = "sell" if read_fills(row.columns)[0].side == "buy" else "buy"
    turned = [fill._replace(side=side) for fill in read_fills(row.columns)]
    needs_turn = any(
        shares_fill(stored, set(map(find_key, turned)))
        or (stored.fields["closed_at"] is None and stored.fields["direction"] == row.columns["direction"])
        for stored in stored_trades
    )
    return with_fills(row, turned) if needs_turn else row


def reopens(rows: Sequence[ResolvedRow], continued: Sequence[Continued]) -> bool:
    """Return whether closed trades would be open although no fill of the rows is within them.

    So it is if the fill that closes the position is in no file yet.
    """
    times = [fill.at for row in rows for fill in read_fills(row.columns)]
    reopened = [
        stored.fields
        for row, stored in continued
        if stored and stored.fields["closed_at"] is not None and row.columns["closed_at"] is None
    ]
    return bool(reopened) and not any(
        fields["opened_at"] <= time <= fields["closed_at"] for fields in reopened for time in times
    )


def list_unmatched(rows: Sequence[ResolvedRow], continued: Sequence[Continued]) -> list[ResolvedRow]:
    """Return the rows whose fills only close, and are as a whole in none of the positions."""
    known = {size for one in continued for size in list_exchanged(one.row)}
    return [row for row in rows if row.imported.is_unmatched and known.isdisjoint(list_exchanged(row))]


def list_exchanged(row: ResolvedRow) -> list[tuple[Key, int]]:
    """Return the fills of a row with their sizes, whatever their sides."""
    return [(key[1:], size) for key, size in list_sizes(read_fills(row.columns)).items()]


def by_line(row: ResolvedRow) -> int:
    return row.line


def shares_fill(stored: StoredTrade, keys: set[tuple[object, ...]]) -> bool:
    return any(find_key(fill) in keys for fill in read_fills(stored.fields))


def list_ids(columns: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield the external ids that new positions of the fills may get."""
    for fill in chain.from_iterable(map(read_fills, columns)):
        yield from propose_ids(fill)


def propose_ids(first: Fill) -> Iterator[str]:
    """Yield the ids of a position by its first fill: that of the fill, then made ones."""
    if first.external_id is not None:
        yield first.external_id
    for number in range(MAX_MADE_IDS):
        text = "\x1f".join(map(str, (*find_key(first), number)))
        yield f"fill-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def with_own_id(row: ResolvedRow, taken: set[str]) -> ResolvedRow:
    """Return a new position with an id that no other trade has, which is taken then."""
    first, *_ = read_fills(row.columns)
    external_id = next(proposed for proposed in propose_ids(first) if proposed not in taken)
    taken.add(external_id)
    columns = {**row.columns, "external_id": external_id}
    return replace(row, columns={**columns, "fingerprint": compute_fingerprint(columns)})
