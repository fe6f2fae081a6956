"""The fills of positions in files and in the journal: what identifies them, and what they make."""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from journal_api.positions.fills import Fill, charge_fills, decode_fills, encode_fills, state_fills, summarize
from journal_api.positions.import_rows import ResolvedRow, StoredTrade
from journal_api.positions.trade_identity import compute_checksums, read_fill_ids

# What identifies a fill in files of one format: its id, else its time and price; and its side.
Key = tuple[Any, ...]


def read_fills(columns: dict[str, Any]) -> list[Fill]:
    """Return the fills of a trade by its columns."""
    return decode_fills(columns["fills"]) if columns["fills"] else state_fills(columns)


def read_stored_fills(stored: StoredTrade) -> list[Fill]:
    """Return the fills of a stored trade; the row of a pair has the ids of its external id."""
    fills = read_fills(stored.fields)
    ids = {} if stored.fields["fills"] else read_fill_ids(stored.external_id)
    return [fill._replace(external_id=ids.get(fill.side, fill.external_id)) for fill in fills]


def find_key(fill: Fill) -> Key:
    if fill.external_id is not None:
        return fill.side, fill.external_id
    return fill.side, fill.at, fill.price


def has_ids(fills: Iterable[Fill]) -> bool:
    return all(fill.external_id is not None for fill in fills)


def find_place(fill: Fill) -> tuple[str, int]:
    """Return the place of a fill in the order of time, those of one time by their ids."""
    fill_id = fill.external_id or ""
    return fill.at, int(fill_id) if fill_id.isdecimal() else 0


def add_parts(fills: Iterable[Fill]) -> dict[Key, Fill]:
    """Return the fills by key. The parts of a fill, in one position or in two, are one again."""
    whole: dict[Key, Fill] = {}
    for fill in fills:
        key = find_key(fill)
        whole[key] = add_part(whole[key], fill) if key in whole else fill
    return whole


def add_part(fill: Fill, part: Fill) -> Fill:
    return fill._replace(quantity=fill.quantity + part.quantity, fees=fill.fees + part.fees)


def list_sizes(fills: Iterable[Fill]) -> dict[Key, int]:
    """Return how much of each fill belongs to a position."""
    return {key: fill.quantity for key, fill in add_parts(fills).items()}


def has_same_fills(row: ResolvedRow, stored: StoredTrade) -> bool:
    return list_sizes(read_fills(row.columns)) == list_sizes(read_stored_fills(stored))


def with_fills(row: ResolvedRow, fills: Sequence[Fill]) -> ResolvedRow:
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
