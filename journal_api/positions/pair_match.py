"""Relates a position of a file of pairs to stored positions, by the rows that they were joined from.

Fills do not tell which rows are known: a position can have both fills of a row that is not one of its rows.
"""

from collections import Counter
from collections.abc import Collection, Container, Iterable, Sequence

from msgspec.structs import replace

from journal_api.errors import ValidationFailed
from journal_api.positions.fills import Fill, number_fills
from journal_api.positions.import_rows import Relation, ResolvedRow, StoredTrade
from journal_api.positions.position_fills import (
    add_parts,
    find_place,
    has_ids,
    read_fills,
    read_stored_fills,
    with_fills,
)
from journal_api.positions.position_times import overlaps
from journal_api.positions.trade_identity import EXCURSIONS

SEVERAL_POSITIONS = (
    "joins positions of files that were imported without what is between them: undo those imports, then"
    " import the files in the order of time"
)
FILL_BY_HAND = (
    "continues a trade with a fill that the file does not have, entered by hand or corrected: delete that"
    " fill, or undo the import that added it, then import this file"
)
MERGED_POSITION = "may continue a position that was merged: split that, then import this file"


def relate_pairs(
    row: ResolvedRow,
    matched: StoredTrade | None,
    stored_trades: Iterable[StoredTrade],
    file_format: str,
    related: Container[int],
) -> Relation | None:
    """Return the relation of the position to those that have its rows, or touch it; None without any."""
    mine = set(row.row_keys)
    holders = [
        stored for stored in stored_trades if stored is matched or not mine.isdisjoint(stored.row_keys)
    ]
    new = mine.difference(*(stored.row_keys for stored in holders))
    # Stored under an id of an earlier release, which kept no keys.
    is_only_row = matched is not None and len(mine) == 1 and not matched.row_keys
    if holders and (not new or is_only_row):
        stored = holders[0]
        is_whole = len(holders) == 1 and (is_only_row or mine >= stored.row_keys)
        if is_whole and stored.format not in (None, file_format):
            return None  # with what only this format knows
        return Relation(stored, row if is_whole else None)
    near = holders + [
        stored
        for stored in stored_trades
        if stored not in holders and stored.format == file_format and touches(row, stored)
    ]
    if not near:
        return None
    stored = near[0]
    if stored.content is None:
        return Relation(stored, suspicion=MERGED_POSITION)
    if len(near) > 1 or stored.format != file_format or stored.trade_id in related:
        return Relation(stored, suspicion=SEVERAL_POSITIONS)
    united = row if mine >= stored.row_keys else extend(row, stored, new)
    return Relation(stored, united, suspicion=None if united else FILL_BY_HAND)


def touches(row: ResolvedRow, stored: StoredTrade) -> bool:
    """Return whether a file with the rows of both would join them."""
    if row.columns["direction"] != stored.fields["direction"]:
        return False
    mine, theirs = read_fills(row.columns), read_stored_fills(stored)
    if not (has_ids(mine) and has_ids(theirs)):
        return overlaps(row.columns, stored.fields)
    places, other_places = ([find_place(fill) for fill in fills] for fills in (mine, theirs))
    return min(places) <= max(other_places) and min(other_places) <= max(places)


def extend(row: ResolvedRow, stored: StoredTrade, new: Collection[bytes]) -> ResolvedRow | None:
    """Return the stored position with the new rows of a position; None if that is no position."""
    mine, theirs = list_new_fills(row, new), read_stored_fills(stored)
    if has_ids(mine) != has_ids(theirs):
        return None
    fills = [*theirs, *mine]
    if has_ids(fills):
        fills = list(add_parts(fills).values())
    try:
        extended = with_fills(row, number_fills(sorted(fills, key=lambda fill: find_order(fill, theirs[0]))))
    except ValidationFailed:
        return None
    columns = {**extended.columns, **dict.fromkeys(EXCURSIONS)}
    columns["content"] += b"".join(sorted({*stored.row_keys, *new}))  # the same in every process
    if stored.fields["gross_pnl"] is not None:
        columns["gross_pnl"] = stored.fields["gross_pnl"] + add_results(row, new)
    return replace(extended, columns=columns)


def find_order(fill: Fill, entry: Fill) -> tuple[str, int, bool]:
    """Return the place of a fill; without ids, entries are before the exits of their second."""
    return *find_place(fill), fill.side != entry.side


def list_new_fills(row: ResolvedRow, new: Collection[bytes]) -> Sequence[Fill]:
    """Return the fills of the new rows of a position, as far as they belong to these."""
    fills = read_fills(row.columns)
    if not row.imported.pairs:
        return fills
    sizes, fees = Counter[int](), Counter[int]()
    for key, pair in zip(row.row_keys, row.imported.pairs, strict=True):
        if key in new:
            sizes.update({pair.entry: pair.quantity, pair.exit: pair.quantity})
            fees[pair.entry] += pair.fees
    return [fills[index]._replace(quantity=sizes[index], fees=fees[index]) for index in sorted(sizes)]


def add_results(row: ResolvedRow, new: Collection[bytes]) -> int:
    """Return the results of the new rows of a position."""
    if not row.imported.pairs:
        return int(row.columns["gross_pnl"])
    return sum(
        pair.gross_pnl for key, pair in zip(row.row_keys, row.imported.pairs, strict=True) if key in new
    )
