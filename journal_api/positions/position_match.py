"""Relates a position of a file to the stored positions of its account and contract.

The same fills or rows in a later file of the format are the same position, also if one of the files cuts it.
A file of another format has other fills of the same position, and so has a trade that was entered by hand: it
is recognised by direction, size, times and prices.
"""

from collections.abc import Container, Iterable
from typing import Any

from msgspec.structs import replace

from journal_api.positions.fills import Fill
from journal_api.positions.import_rows import Relation, ResolvedRow, StoredTrade
from journal_api.positions.pair_match import FILL_BY_HAND, relate_pairs
from journal_api.positions.position_fills import (
    has_ids,
    has_same_fills,
    list_sizes,
    read_fills,
    read_stored_fills,
)
from journal_api.positions.position_times import (
    MAX_ROUNDING,
    is_near,
    is_near_price,
    is_same_position,
    is_shifted,
    is_within,
    meets,
    overlaps,
)
from journal_api.positions.trade_identity import EXCURSIONS
from journal_api.values.instruments import canonical_symbol
from journal_api.values.money import json_text

OTHER_FILE = "is at the time of a position that another file has added"
BY_HAND = "is at the time of a trade that was entered by hand"


def relate(
    row: ResolvedRow,
    matched: StoredTrade | None,
    neighbours: Iterable[StoredTrade],
    file_format: str,
    related: Container[int],
) -> Relation | None:
    """Return the relation of a position to stored trades, None if it is new.

    `matched` is the trade with the same id or content, `neighbours` are those of the contract at the time.
    `related` are the trades that earlier positions of the file are.
    """
    if matched is not None and not matched.fields:
        return None  # entered by hand with the content of the row
    others = [stored for stored in neighbours if matched is None or stored.trade_id != matched.trade_id]
    stored_trades = [*([matched] if matched else []), *others]
    if row.imported.is_unmatched:
        return relate_close(row, stored_trades)
    foreign = [stored for stored in stored_trades if stored.format != file_format]
    if row.imported.kind == "row":
        free = [stored for stored in foreign if stored.trade_id not in related]
        return None if matched else relate_row(row, free)
    relation = (
        relate_pairs(row, matched, stored_trades, file_format, related)
        if row.imported.kind == "pairs"
        else relate_fills(row, matched, stored_trades, file_format)
    )
    return relation or relate_other(row, foreign, related)


def relate_close(row: ResolvedRow, stored_trades: Iterable[StoredTrade]) -> Relation | None:
    """Return the stored trade that has the fill of a row which only closes, None without one."""
    sides = slice(1 if row.imported.kind == "expiring" else 0, None)
    mine, *_ = ((key[sides], size) for key, size in list_sizes(read_fills(row.columns)).items())
    for stored in stored_trades:
        if mine in ((key[sides], size) for key, size in list_sizes(read_fills(stored.fields)).items()):
            return Relation(stored)
    return None


def relate_row(row: ResolvedRow, stored_trades: Iterable[StoredTrade]) -> Relation | None:
    """Return the relation of a row that is kept apart to trades of another format, or entered by hand."""
    suspicion: Relation | None = None
    for stored in stored_trades:
        if is_of_contract(row, stored) and is_same_position(row.columns, stored.fields):
            return Relation(stored)
        if is_within(row.columns, stored.fields) or may_double(row.columns, stored, ()):
            suspicion = suspect(stored)
    return suspicion


def relate_fills(
    row: ResolvedRow, matched: StoredTrade | None, stored_trades: Iterable[StoredTrade], file_format: str
) -> Relation | None:
    """Return the position of the same fills, or one with which the fills must go through one book."""
    fills = read_fills(row.columns)
    if matched is not None and matched.fields["fills"] is None and has_ids(fills):
        return Relation(matched, row)  # earlier releases stored no fills
    mine, near = list_sizes(fills), list[StoredTrade]()
    for stored in stored_trades:
        if stored.format != file_format:
            continue
        theirs = list_sizes(read_fills(stored.fields))
        if mine == theirs:
            return Relation(stored, row)
        if stored.content is None and mine.items() <= theirs.items():
            return Relation(stored)  # a part of a merged trade
        shares = not mine.keys().isdisjoint(theirs)
        # The first fill of a trade, which has given it its id, may belong to another trade by now.
        if shares or stored is matched or meets(row.columns, stored.fields):
            near.append(stored)
    if near == [matched] and is_shifted(row.columns, near[0].fields):
        return Relation(near[0], row)
    corrected = [stored for stored in near if is_corrected(row.columns, stored.fields)]
    if corrected == [matched] and (near == [matched] or not has_ids(fills)):
        return Relation(corrected[0], row)
    if corrected and not has_ids(fills):  # or another position of the same second
        return Relation(corrected[0], suspicion=FILL_BY_HAND)
    return Relation(near[0], is_continued=True) if near else None


def is_corrected(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Return whether two trades have the same fills, but for corrected prices."""
    fills, others = (
        [(fill.side, fill.at, fill.quantity) for fill in read_fills(columns)] for columns in (one, other)
    )
    return fills == others


def relate_other(
    row: ResolvedRow, stored_trades: Iterable[StoredTrade], related: Container[int]
) -> Relation | None:
    """Return the relation of a position to trades that another format or the trader has added."""
    mine, suspicion = read_fills(row.columns), None
    for stored in stored_trades:
        theirs = read_stored_fills(stored)
        is_same = list_sizes(mine) == list_sizes(theirs) or (
            stored.trade_id not in related and is_same_position(row.columns, stored.fields)
        )
        if is_same and is_of_contract(row, stored):
            return Relation(stored, fill_in(row, mine, stored, theirs), is_filled_in=True)
        if may_double(row.columns, stored, related):
            suspicion = suspect(stored)
    return suspicion


def find_grown(relation: Relation | None) -> ResolvedRow | None:
    """Return a stored position with the other fills that the file makes of it, None if it makes no others."""
    if relation is None or relation.row is None or relation.is_filled_in:
        return None
    return None if has_same_fills(relation.row, relation.stored) else relation.row


def suspect_double(
    row: ResolvedRow, stored_trades: Iterable[StoredTrade], related: Container[int]
) -> Relation | None:
    """Return the suspicion that a stored position, grown to the row, is a trade of another format as well."""
    other = relate_other(row, stored_trades, related)
    return other and suspect(other.stored)


def suspect(stored: StoredTrade) -> Relation:
    return Relation(stored, suspicion=OTHER_FILE if stored.format else BY_HAND)


def may_double(columns: dict[str, Any], stored: StoredTrade, related: Container[int]) -> bool:
    """Return whether a position may have a part of a trade that another format or the trader has added.

    The fill that ends a position may begin the next one, if the file has both.
    """
    return (
        overlaps(columns, stored.fields)
        or is_typed(columns, stored)
        or (stored.trade_id not in related and shares_fill(columns, stored))
    )


def shares_fill(columns: dict[str, Any], stored: StoredTrade) -> bool:
    """Return whether two positions that follow one another have a fill in common, of whatever ids."""
    ends = stored.fields["opened_at"], stored.fields["closed_at"]
    fills = [fill for fill in read_fills(columns) if any(is_near(fill.at, end) for end in ends)]
    return any(
        one.side == other.side and is_near(one.at, other.at) and is_near_price(one.price, other.price)
        for one in fills
        for other in read_stored_fills(stored)
    )


def is_of_contract(row: ResolvedRow, stored: StoredTrade) -> bool:
    """Return whether a stored trade is of the row's contract, not entered by hand as a root alone."""
    fields = stored.fields
    return canonical_symbol(fields["symbol"], fields["opened_at"]) == str(row.columns["contract"])


def is_typed(columns: dict[str, Any], stored: StoredTrade) -> bool:
    """Return whether a trade may be the same one, entered by hand with times without seconds."""
    return stored.format is None and is_same_position(columns, stored.fields, MAX_ROUNDING)


def describe_position(columns: dict[str, Any]) -> str:
    """Return a position in words, for a person to compare."""
    until = columns["closed_at"] or "now"
    gross = "" if columns["gross_pnl"] is None else f", gross {json_text(columns['gross_pnl'])}"
    return (
        f"{columns['direction']} {json_text(columns['quantity'])} {columns['symbol']} from"
        f" {columns['opened_at']} at {json_text(columns['entry_price'])} to {until}{gross}"
    )


def knows_excursions(row: ResolvedRow, stored: StoredTrade) -> bool:
    """Return whether the row states an excursion that the trade has not, or that it had while it was open."""
    return any(
        row.columns[name] not in (None, stored.fields[name])
        for name in EXCURSIONS
        if stored.fields[name] is None or stored.fields["closed_at"] is None
    )


def fill_in(
    row: ResolvedRow, mine: list[Fill], stored: StoredTrade, theirs: list[Fill]
) -> ResolvedRow | None:
    """Return the stored position with what only the row knows: costs, fills, excursions. None without any."""
    knows_costs = row.imported.states("fees") and stored.fields["fees_source"] in ("none", "account")
    knows_fills = len(mine) > len(theirs)
    if stored.content is None or not (knows_costs or knows_fills or knows_excursions(row, stored)):
        return None
    columns = {**row.columns, **stored.fields}
    if knows_costs:
        columns["fees"], columns["fees_source"] = row.columns["fees"], "file"
    if knows_fills:
        columns["fills"] = row.columns["fills"]
    for name in EXCURSIONS:
        columns[name] = row.columns[name] if columns[name] is None else columns[name]
    return replace(row, columns={**columns, "content": stored.content})
