"""Links copies that an import has added or corrected, and copies of such positions."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from aiosqlite import Connection

from journal_api.imports.contracts import Settled
from journal_api.positions.copy_match import COMPARED, CopyMatches, CopyPosition, CopyRules, match_copies
from journal_api.repositories import copies
from journal_api.values.clock import as_text


async def find_copies(
    db: Connection, groups: Sequence[CopyRules], settled: Iterable[Settled], originals: Mapping[int, int | None]
) -> CopyMatches:
    """Return the copies among the trades that an import changes, and the copies of such trades.

    `originals` are those that the file itself names. New trades are kept in memory, because a dry run does not store
    them.
    """
    account_ids = {account_id for group in groups for account_id in group.multipliers}
    added: list[CopyPosition] = []
    corrected: dict[int, dict[str, Any]] = {}
    for one in settled:
        for trade_id, change in zip(one.trade_ids, one.plan.changes, strict=True):
            if one.contract.account_id not in account_ids or not change.is_written:
                continue
            if change.stored is not None:
                corrected[trade_id] = change.columns
                continue
            known = {"account_id": one.contract.account_id, "source_trade_id": originals.get(trade_id), "id": trade_id}
            added.append(build_position({**change.columns, **known}))
    copied = {position.source_trade_id for position in added}
    changed = {position.trade_id: position._replace(is_free=position.trade_id not in copied) for position in added}
    stored = await copies.list_of_ids(db, corrected) if corrected else []
    changed |= {position.trade_id: position.with_columns(corrected[position.trade_id]) for position in stored}
    found = CopyMatches([], [])
    for group in groups:
        own = [position for position in changed.values() if position.account_id in group.multipliers]
        if own:
            matches = match_copies(group, await with_neighbours(db, group, own), changed)
            found.links.extend(matches.links)
            found.ambiguous.extend(matches.ambiguous)
    return found


async def with_neighbours(db: Connection, group: CopyRules, changed: list[CopyPosition]) -> list[CopyPosition]:
    """Return the positions with all that decide about them: neighbours of neighbours."""
    seconds = 4 * COMPARED * group.copy_seconds
    stored = await copies.list_positions(
        db,
        group.multipliers,
        shift(min(position.opened_at for position in changed), -seconds),
        shift(max(position.opened_at for position in changed), seconds),
    )
    ids = {position.trade_id for position in changed}
    return changed + [one for one in stored if one.trade_id not in ids]


def build_position(columns: Mapping[str, Any]) -> CopyPosition:
    """Return a new trade as a position."""
    values = {name: columns[name] for name in CopyPosition._fields if name in columns}
    return CopyPosition(**values, trade_id=columns["id"], is_free=True)


def shift(instant: str, seconds: int) -> str:
    """Return the stored timestamp so many seconds later."""
    return as_text(datetime.fromisoformat(instant) + timedelta(seconds=seconds))
