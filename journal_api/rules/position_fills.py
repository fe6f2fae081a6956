"""The fills of positions in files and in the journal: what identifies them, and what they make."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from journal_api.rules.fills import (
    Fill,
    charge_fills,
    decode_fills,
    encode_fills,
    number_fills,
    state_fills,
    summarize,
)
from journal_api.rules.import_rows import ResolvedRow, StoredTrade
from journal_api.rules.trade_identity import compute_checksums, has_fill_ids

Key = tuple[Any, ...]


def read_fills(columns: dict[str, Any]) -> list[Fill]:
    """Return the fills of a trade by its columns."""
    return decode_fills(columns["fills"]) if columns["fills"] else state_fills(columns)


def read_stored_fills(stored: StoredTrade) -> list[Fill]:
    """Return the fills of a stored trade; the row of a pair has the ids of its external id."""
    fills = read_fills(stored.fields)
    if stored.fields["fills"] or not has_fill_ids({"external_id": stored.external_id}):
        return fills
    ids = dict(zip(("buy", "sell"), (stored.external_id or "").split("-"), strict=True))
    return [fill._replace(external_id=ids[fill.side]) for fill in fills]


def find_key(fill: Fill) -> Key:
    """Return what identifies a fill in files of one format: its id, else its side, time, price and size."""
    if fill.external_id is not None:
        return (fill.side, fill.external_id)
    return fill.side, fill.at, fill.price, fill.quantity


def has_ids(fills: Sequence[Fill]) -> bool:
    return all(fill.external_id is not None for fill in fills)


def find_place(fill: Fill) -> tuple[str, int]:
    """Return the place of a fill in the order of time, those of one time by their ids."""
    fill_id = fill.external_id or ""
    return fill.at, int(fill_id) if fill_id.isdecimal() else 0


def is_whole(fills: Sequence[Fill], part: Sequence[Fill]) -> bool:
    """Return whether no fill of a part is larger than the same fill of the whole."""
    sizes = {find_key(fill): fill.quantity for fill in fills}
    return all(fill.quantity <= sizes[find_key(fill)] for fill in part)


def unite_fills(theirs: Sequence[Fill], mine: Sequence[Fill]) -> list[Fill]:
    """Return the fills of both, in the order of time and of ids.

    A fill that is in both has the larger size; if entries and exits do not balance, each has a part of it.
    """
    united: dict[Key, Fill] = {}
    for fills in (theirs, mine):
        occurrences: Counter[Key] = Counter()
        for fill in fills:
            key = find_key(fill)
            occurrences[key] += 1
            before = united.get((key, occurrences[key]), fill)
            united[key, occurrences[key]] = fill._replace(quantity=max(fill.quantity, before.quantity))
    shared = {find_key(fill) for fill in theirs} & {find_key(fill) for fill in mine}
    missing = sum(fill.signed for fill in united.values())
    for (key, number), fill in united.items():
        if missing and key in shared and (fill.signed < 0) == (missing > 0):
            united[key, number] = fill._replace(quantity=fill.quantity + abs(missing))
            break
    return number_fills(sorted(united.values(), key=find_place))


def with_fills(row: ResolvedRow, fills: list[Fill]) -> ResolvedRow:
    """Return the row as these fills make it. Raises ValidationFailed if they are no position."""
    position = summarize(fills)
    columns = {
        **row.columns,
        "direction": position.direction,
        "quantity": position.quantity,
        "entry_price": position.entry_price,
        "exit_price": position.exit_price,
        "opened_at": position.opened_at,
        "closed_at": position.closed_at,
        "gross_pnl": position.gross(row.columns["multiplier"]),
        "fees": position.fees,
    }
    columns["fills"] = None if fills == state_fills(columns) else encode_fills(fills)
    as_read, stated = row.imported.as_read, columns
    if as_read is not None:  # a new point value changes no known trade
        multiplier = as_read.multiplier.units
        stated = {**columns, "multiplier": multiplier, "gross_pnl": position.gross(multiplier)}
    if columns["fills"] and not row.imported.states("fees"):  # the file states no commissions of stored fills
        stated = {**stated, "fills": charge_fills(columns["fills"], 0)}
    columns["content"] = compute_checksums(stated, row.imported.unstated)
    return replace(row, columns=columns)
