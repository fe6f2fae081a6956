"""Positions that a file of fills continues: they were open when an earlier file ended, or a later one began.

A file that begins inside a position takes its exits for entries. So the fills of the file and of the journal
go through one book, contract by contract.
"""

import hashlib
from collections.abc import Container, Sequence
from itertools import chain
from typing import NamedTuple

from msgspec.structs import replace

from journal_api.rules.fills import Fill, fold_fills
from journal_api.rules.import_rows import ResolvedRow, StoredTrade
from journal_api.rules.position_fills import find_key, find_place, read_fills, with_fills
from journal_api.rules.trade_identity import compute_fingerprint
from journal_api.structs.trades import FillSide


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
    rows: Sequence[ResolvedRow], stored_trades: Sequence[StoredTrade]
) -> list[Continued] | None:
    """Return the positions of the fills of both, None if a stored trade would be no position any more.

    All rows and trades are of one contract.
    """
    rows = [turn_expired(row, stored_trades) for row in rows]
    unmatched = [row for row in rows if row.imported.is_unmatched]
    closing = {find_key(fill) for row in unmatched for fill in read_fills(row.columns)}
    held = {find_key(fill): fill for stored in stored_trades for fill in read_fills(stored.fields)}
    mine = {find_key(fill): row for row in rows for fill in read_fills(row.columns)}
    fills = sorted(chain(merge_parts(stored_trades), merge_new(rows, held)), key=find_place)
    remaining, taken = list(stored_trades), {stored.external_id for stored in stored_trades}
    continued: list[Continued] = []
    for position in fold_fills(fills, lambda fill: find_key(fill) in closing - held.keys()):
        keys = {find_key(fill) for fill in position}
        stored = next((one for one in remaining if shares_fill(one, keys)), None)
        if stored is not None:
            remaining.remove(stored)
            if mine.keys().isdisjoint(keys) and list_sizes(position) == list_sizes(read_fills(stored.fields)):
                continue
        template = min((mine[key] for key in keys if key in mine), key=by_line, default=rows[0])
        row = with_fills(template, position)
        continued.append(Continued(row if stored else with_own_id(row, position[0], taken), stored))
    return None if remaining else continued


def turn_expired(row: ResolvedRow, stored_trades: Sequence[StoredTrade]) -> ResolvedRow:
    """Return the row of an option that expires with the side that closes the stored position."""
    if not row.imported.has_no_side:
        return row
    side: FillSide = "sell" if read_fills(row.columns)[0].side == "buy" else "buy"
    turned = [fill._replace(side=side) for fill in read_fills(row.columns)]
    needs_turn = any(
        shares_fill(stored, set(map(find_key, turned)))
        or (stored.fields["closed_at"] is None and stored.fields["direction"] == row.columns["direction"])
        for stored in stored_trades
    )
    return with_fills(row, turned) if needs_turn else row


def reopens(continued: Sequence[Continued]) -> bool:
    """Return whether closed trades would be open: the fill that closes the position is in no file yet."""
    stored = [one.stored for one in continued if one.stored]
    return all(trade.fields["closed_at"] is not None for trade in stored) and any(
        one.stored and one.row.columns["closed_at"] is None for one in continued
    )


def list_unmatched(rows: Sequence[ResolvedRow], continued: Sequence[Continued]) -> list[ResolvedRow]:
    """Return the rows whose fills only close, and are in none of the positions."""
    known = {find_key(fill)[1:] for one in continued for fill in read_fills(one.row.columns)}
    return [
        row
        for row in rows
        if row.imported.is_unmatched
        and known.isdisjoint(find_key(fill)[1:] for fill in read_fills(row.columns))
    ]


def list_sizes(fills: Sequence[Fill]) -> set[tuple[tuple[object, ...], int]]:
    """Return the fills of a position with the part of each that belongs to it."""
    return {(find_key(fill), fill.quantity) for fill in fills}


def by_line(row: ResolvedRow) -> int:
    return row.line


def shares_fill(stored: StoredTrade, keys: set[tuple[object, ...]]) -> bool:
    return any(find_key(fill) in keys for fill in read_fills(stored.fields))


def merge_parts(stored_trades: Sequence[StoredTrade]) -> list[Fill]:
    """Return the fills of the trades; the two parts of a fill that turned a position over are one again."""
    whole: dict[tuple[object, ...], Fill] = {}
    for stored in stored_trades:
        for fill in read_fills(stored.fields):
            key = find_key(fill)
            whole[key] = add_part(whole[key], fill) if key in whole else fill
    return list(whole.values())


def merge_new(rows: Sequence[ResolvedRow], held: dict[tuple[object, ...], Fill]) -> list[Fill]:
    """Return the fills of the rows that the stored trades do not have, each whole."""
    whole: dict[tuple[object, ...], Fill] = {}
    for row in rows:
        for fill in read_fills(row.columns):
            key = find_key(fill)
            if key not in held:
                whole[key] = add_part(whole[key], fill) if key in whole else fill
    return list(whole.values())


def add_part(fill: Fill, part: Fill) -> Fill:
    return fill._replace(quantity=fill.quantity + part.quantity, fees=fill.fees + part.fees)


def with_own_id(row: ResolvedRow, first: Fill, taken: Container[str | None]) -> ResolvedRow:
    """Return a new position with the id of its first fill, or one made from it."""
    text = "\x1f".join(map(str, (row.columns["contract"], first.at, first.side, first.quantity, first.price)))
    made = f"fill-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    known = first.external_id
    external_id = made if known is None or known in taken else known
    columns = {**row.columns, "external_id": external_id}
    return replace(row, columns={**columns, "fingerprint": compute_fingerprint(columns)})
