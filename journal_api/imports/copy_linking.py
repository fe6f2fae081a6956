"""Links copies that an import has added or corrected, and copies of such positions."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from aiosqlite import Connection

from journal_api.positions.copy_match import COMPARED, CopyMatches, CopyPosition, CopyRules, match_copies
from journal_api.positions.plans import Change
from journal_api.repositories import copies
from journal_api.values.clock import as_text


class CopyLinker:
    """The new and the corrected trades of one import, in the accounts of groups with a master.

    They are kept in memory, because a dry run does not store them.
    """

    def __init__(self, groups: list[CopyRules]) -> None:
        self.groups = groups
        self.account_ids = {account_id for group in groups for account_id in group.multipliers}
        self.added: dict[int, CopyPosition] = {}
        self.corrected: dict[int, dict[str, Any]] = {}

    def add(self, account_id: int, changes: Iterable[tuple[int, Change]], originals: Mapping[int, int | None]) -> None:
        """Add what an import writes in an account; `originals` are those that the file itself names."""
        for trade_id, change in changes:
            if account_id not in self.account_ids or not change.is_written:
                continue
            columns = {**change.columns, "account_id": account_id, "source_trade_id": originals.get(trade_id)}
            if change.stored is None:
                self.added[trade_id] = build_position({**columns, "id": trade_id})
            else:
                self.corrected[trade_id] = change.columns

    async def find_copies(self, db: Connection) -> CopyMatches:
        """Return the copies among the changed trades, and the copies of changed trades."""
        found = CopyMatches([], [])
        changed = await self.read_changed(db)
        for group in self.groups:
            own = [position for position in changed.values() if position.account_id in group.multipliers]
            if own:
                matches = match_copies(group, await self.with_neighbours(db, group, own), changed)
                found.links.extend(matches.links)
                found.ambiguous.extend(matches.ambiguous)
        return found

    async def read_changed(self, db: Connection) -> dict[int, CopyPosition]:
        """Return the new and the corrected trades as they are after the import, by id."""
        copied = {position.source_trade_id for position in self.added.values()}
        added = {
            trade_id: position._replace(is_free=trade_id not in copied) for trade_id, position in self.added.items()
        }
        stored = await copies.list_of_ids(db, self.corrected) if self.corrected else []
        return added | {one.trade_id: one.with_columns(self.corrected[one.trade_id]) for one in stored}

    async def with_neighbours(
        self, db: Connection, group: CopyRules, changed: list[CopyPosition]
    ) -> list[CopyPosition]:
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
