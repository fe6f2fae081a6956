"""Relates a position of a file to the stored positions of its account and contract.

The same fills in a later file are the same position, also if one of the files cuts it. A file of another
format has other fills of the same position: it is recognised by direction, size, times and prices.
"""

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from msgspec.structs import replace

from journal_api.errors import ValidationFailed
from journal_api.rules.fills import Fill
from journal_api.rules.import_rows import ResolvedRow, StoredTrade
from journal_api.rules.position_fills import (
    Key,
    find_key,
    has_ids,
    is_whole,
    read_fills,
    read_stored_fills,
    unite_fills,
    with_fills,
)
from journal_api.values.money import json_text

# Seconds between the times of one fill in two formats: some have no fractions, some the time of the order.
MAX_DIFFERENCE = 2
# Prices of two formats agree if they differ by less than this part of the price: averages are rounded.
PRICE_PARTS = 10_000

# Seconds by which time zones differ, or a multiple of them.
QUARTER = 900


class Relation(NamedTuple):
    """What a stored trade is to a position of a file.

    `row` is the position with the fills of both, None if the file adds nothing. `is_filled_in` means that it
    is the stored position with what only this file knows, `is_suspect` that another one was open then.
    """

    stored: StoredTrade
    row: ResolvedRow | None
    is_filled_in: bool = False
    is_suspect: bool = False


def relate(
    row: ResolvedRow,
    matched: StoredTrade | None,
    neighbours: Iterable[StoredTrade],
    file_format: str,
    changed: Container[int],
) -> Relation | None:
    """Return the relation of a position to stored trades, None if it is new.

    `matched` is the trade with the same id or content, `neighbours` are those of the contract at the time.
    `changed` are the trades that an earlier position of the file changes: none of them is another position.
    """
    if row.imported.is_unmatched:
        return relate_close(row, [*([matched] if matched else []), *neighbours])
    others = [stored for stored in neighbours if matched is None or stored.trade_id != matched.trade_id]
    if row.imported.is_row:
        free = [stored for stored in others if stored.trade_id not in changed]
        return None if matched else relate_row(row, free, file_format)
    if known := find_holder(row, [*([matched] if matched else []), *others]):
        return Relation(known, None)
    suspect: StoredTrade | None = None
    joined: Relation | None = None
    for stored in ([matched] if matched else []) + others:
        mine, theirs = read_fills(row.columns), read_stored_fills(stored)
        shares = not set(map(find_key, mine)).isdisjoint(map(find_key, theirs))
        if stored is matched and not (shares and has_ids(mine) and has_ids(theirs)):
            return Relation(stored, row)
        is_cut = stored.format == file_format and overlaps(row.columns, stored.fields)
        is_other_format = stored.format not in (None, file_format)
        if is_other_format and set(map(find_key, mine)) == set(map(find_key, theirs)):
            return Relation(stored, fill_in(row, mine, stored, theirs), is_filled_in=True)
        if shares or (is_cut and row.columns["direction"] == stored.fields["direction"]):
            relation = join_with(row, mine, stored, theirs)
            if relation is None:
                if shares and not row.imported.fill_ids:
                    suspect = stored  # it uses a fill of another position
                continue
            if joined is not None or (relation.row is not None and stored.trade_id in changed):
                return Relation(stored, None, is_suspect=True)  # it is stored in parts
            joined = relation
        elif stored.trade_id not in changed and is_same_position(row.columns, stored.fields):
            return Relation(stored, fill_in(row, mine, stored, theirs), is_filled_in=True)
        elif is_other_format and overlaps(row.columns, stored.fields):
            suspect = stored
    return joined or (Relation(suspect, None, is_suspect=True) if suspect else None)


def relate_close(row: ResolvedRow, stored_trades: Iterable[StoredTrade]) -> Relation | None:
    """Return the stored trade that has the fill of a row which only closes, None without one."""
    sides = slice(1 if row.imported.has_no_side else 0, None)
    keys = {find_key(fill)[sides] for fill in read_fills(row.columns)}
    for stored in stored_trades:
        if not keys.isdisjoint(find_key(fill)[sides] for fill in read_fills(stored.fields)):
            return Relation(stored, None)
    return None


def relate_row(row: ResolvedRow, neighbours: Sequence[StoredTrade], file_format: str) -> Relation | None:
    """Return the relation of a row that is kept apart to the positions that other formats have added."""
    for stored in neighbours:
        if stored.format in (None, file_format):
            continue
        if is_same_position(row.columns, stored.fields):
            return Relation(stored, None)
        if overlaps(row.columns, stored.fields) or touches(row.columns, stored.fields):
            return Relation(stored, None, is_suspect=True)
    return None


def find_holder(row: ResolvedRow, stored_trades: Sequence[StoredTrade]) -> StoredTrade | None:
    """Return a stored trade with fills of the row if several trades together hold all of them.

    That is so for a file that a later one continued. One trade with all fills may be corrected by the row.
    """
    left = Counter[Key]()
    for fill in read_fills(row.columns):
        left[find_key(fill)] += fill.quantity
    holders: list[StoredTrade] = []
    for stored in stored_trades:
        fills = {find_key(fill): fill.quantity for fill in read_stored_fills(stored)}
        if not left.keys().isdisjoint(fills):
            holders.append(stored)
            left.subtract({key: quantity for key, quantity in fills.items() if key in left})
    return holders[0] if len(holders) > 1 and all(missing <= 0 for missing in left.values()) else None


def describe_position(columns: dict[str, Any]) -> str:
    """Return a position in words, for a person to compare."""
    until = columns["closed_at"] or "now"
    gross = "" if columns["gross_pnl"] is None else f", gross {json_text(columns['gross_pnl'])}"
    return (
        f"{columns['direction']} {json_text(columns['quantity'])} {columns['symbol']} from"
        f" {columns['opened_at']} at {json_text(columns['entry_price'])} to {until}{gross}"
    )


def overlaps(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Return whether two trades were open at the same time."""
    return (other["closed_at"] is None or one["opened_at"] < other["closed_at"]) and (
        one["closed_at"] is None or other["opened_at"] < one["closed_at"]
    )


def touches(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Return whether one trade is within the other: also one that closed in the second in which it opened."""
    times = one["opened_at"], one["closed_at"]
    return all(
        time is not None and other["opened_at"] <= time <= (other["closed_at"] or time) for time in times
    )


def is_same_position(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Return whether two formats tell of one position."""
    if any(one[name] != other[name] for name in ("direction", "quantity")):
        return False
    if (one["closed_at"] is None) != (other["closed_at"] is None):
        return False
    return all(is_near(one[name], other[name]) for name in ("opened_at", "closed_at")) and all(
        is_near_price(one[name], other[name]) for name in ("entry_price", "exit_price")
    )


def is_shifted(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Return whether two closed positions differ by quarters of an hour alone, as time zones do."""
    times = [one["opened_at"], other["opened_at"], one["closed_at"], other["closed_at"]]
    if None in times or any(one[name] != other[name] for name in ("direction", "quantity")):
        return False
    begin, other_begin, end, other_end = map(datetime.fromisoformat, times)
    opened, closed = ((a - b).total_seconds() for a, b in ((begin, other_begin), (end, other_end)))
    quarters = round(opened / QUARTER)
    return (
        quarters != 0
        and abs(opened - quarters * QUARTER) <= MAX_DIFFERENCE
        and abs(opened - closed) <= MAX_DIFFERENCE
        and all(is_near_price(one[name], other[name]) for name in ("entry_price", "exit_price"))
    )


def is_near(one: str | None, other: str | None) -> bool:
    if one is None or other is None:
        return one == other
    difference = datetime.fromisoformat(one) - datetime.fromisoformat(other)
    return abs(difference.total_seconds()) <= MAX_DIFFERENCE


def is_near_price(one: int | None, other: int | None) -> bool:
    if one is None or other is None:
        return True  # a result without a price
    return abs(one - other) * PRICE_PARTS <= max(abs(one), abs(other))


def join_with(row: ResolvedRow, mine: list[Fill], stored: StoredTrade, theirs: list[Fill]) -> Relation | None:
    """Return the stored trade with the fills of the row too, None if together they are no one position."""
    mine_by_key, theirs_by_key = Counter(map(find_key, mine)), Counter(map(find_key, theirs))
    if mine_by_key >= theirs_by_key and is_whole(mine, theirs):
        return Relation(stored, row)
    if theirs_by_key >= mine_by_key and is_whole(theirs, mine):
        return Relation(stored, None)
    try:
        return Relation(stored, with_fills(row, unite_fills(theirs, mine)))
    except ValidationFailed:
        return None


def fill_in(
    row: ResolvedRow, mine: list[Fill], stored: StoredTrade, theirs: list[Fill]
) -> ResolvedRow | None:
    """Return the stored position with the costs or the fills that only the row knows, None without any."""
    knows_costs = row.imported.states("fees") and stored.fields["fees_source"] in ("none", "account")
    knows_fills = len(mine) > len(theirs)
    if stored.content is None or not (knows_costs or knows_fills):
        return None
    columns = {**row.columns, **stored.fields}
    if knows_costs:
        columns["fees"], columns["fees_source"] = row.columns["fees"], "file"
    if knows_fills:
        columns["fills"] = row.columns["fills"]
    return replace(row, columns={**columns, "content": stored.content})
