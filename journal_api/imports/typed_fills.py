"""Fills that were added by hand to a trade of a file, when a later file of the format has them too."""

from collections.abc import Collection, Iterable, Sequence

from journal_api.positions.fills import Fill, encode_fills, number_fills
from journal_api.positions.import_rows import ResolvedRow, StoredTrade
from journal_api.positions.position_fills import add_parts, find_key, has_ids, read_fills
from journal_api.positions.position_times import MAX_ROUNDING, is_near, is_near_price


def adopt_typed(rows: Sequence[ResolvedRow], stored_trades: Sequence[StoredTrade]) -> list[StoredTrade]:
    """Return the stored trades; a fill that was entered by hand has the id of the same fill of the file."""
    read = add_parts(fill for row in rows for fill in read_fills(row.columns))
    with_ids = [fill for fill in read.values() if fill.external_id is not None]
    adopted: list[StoredTrade] = []
    for stored in stored_trades if with_ids else ():
        fills = [find_same(fill, with_ids) or fill for fill in read_fills(stored.fields)]
        fields = {**stored.fields, "fills": encode_fills(number_fills(fills))}
        adopted.append(stored._replace(fields=fields) if fills != read_fills(stored.fields) else stored)
    return adopted or list(stored_trades)


def find_same(fill: Fill, others: Iterable[Fill]) -> Fill | None:
    """Return the fill with an id that is a fill without one."""
    if fill.external_id is not None:
        return None
    same = (
        other
        for other in others
        if (other.side, other.quantity) == (fill.side, fill.quantity)
        and is_near(other.at, fill.at)
        and is_near_price(other.price, fill.price)
    )
    return next((fill._replace(external_id=other.external_id) for other in same), None)


def find_edited(rows: Sequence[ResolvedRow], stored_trades: Sequence[StoredTrade]) -> StoredTrade | None:
    """Return a stored trade with a fill that the file has otherwise, entered by hand or corrected."""
    read = add_parts(fill for row in rows for fill in read_fills(row.columns))
    held = {find_key(fill) for stored in stored_trades for fill in read_fills(stored.fields)}
    first, last = (choose(fill.at for fill in read.values()) for choose in (min, max))
    for stored in stored_trades:
        fills = read_fills(stored.fields)
        shares = any(find_key(fill) in read for fill in fills)
        for fill in fills:
            is_left_out = shares and first < fill.at < last
            if find_key(fill) not in read and (
                is_left_out
                or may_be_typed(fill, read.values(), shares=shares)
                or is_corrected(fill, (other for key, other in read.items() if key not in held))
            ):
                return stored
    return None


def is_corrected(fill: Fill, others: Iterable[Fill]) -> bool:
    """Return whether a fill without an id may be one of others, with another price."""
    return fill.external_id is None and any(
        (other.side, other.quantity, other.at) == (fill.side, fill.quantity, fill.at) for other in others
    )


def may_be_typed(fill: Fill, others: Collection[Fill], *, shares: bool) -> bool:
    """Return whether a fill may be one of others that a trader has entered, with another time.

    Where fills have ids, one without an id was entered. Elsewhere one may have been that has no seconds.
    """
    if fill.external_id is not None:
        return False
    if has_ids(others):
        return any(
            other.side == fill.side and (shares or is_near(other.at, fill.at, MAX_ROUNDING))
            for other in others
        )
    return fill.at.endswith(":00.000000Z") and any(
        (other.side, other.quantity) == (fill.side, fill.quantity)
        and is_near(other.at, fill.at, MAX_ROUNDING)
        and is_near_price(other.price, fill.price)
        for other in others
    )
