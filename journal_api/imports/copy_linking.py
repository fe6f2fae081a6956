"""Links copies that an import has added or corrected, and copies of such positions."""

from collections.abc import Iterable, Mapping
from typing import Any

from aiosqlite import Connection

from journal_api.imports.stored_positions import shift
from journal_api.positions.copy_match import COMPARED, CopyMatches, CopyPosition, CopyRules, match_copies
from journal_api.positions.import_rows import Correction, ResolvedRow
from journal_api.repositories import copies
from journal_api.values.instruments import canonical_symbol, contract_root


class CopyLinker:
    """The new and the corrected trades of one import, in the accounts of groups with a master.

    They are kept in memory, because a dry run does not store them.
    """

    def __init__(self, groups: list[CopyRules]) -> None:
        self.groups = groups
        self.account_ids = {account_id for group in groups for account_id in group.multipliers}
        self.added: dict[int, CopyPosition] = {}
        self.corrected: dict[int, dict[str, Any]] = {}

    def add(self, rows: Iterable[ResolvedRow], corrections: Iterable[Correction]) -> None:
        for row in rows:
            if row.columns["account_id"] in self.account_ids:
                self.added[row.columns["id"]] = build_position(row.columns)
        if self.groups:
            self.corrected |= {one.trade_id: one.fields for one in corrections if one.changed}

    def set_originals(self, originals: Mapping[int, int]) -> None:
        """Set the originals that the file itself names, by the id of the copy."""
        for trade_id in originals.keys() & self.added.keys():
            position = self.added[trade_id]
            self.added[trade_id] = position._replace(source_trade_id=originals[trade_id])

    async def find_copies(self, db: Connection) -> CopyMatches:
        """Return the copies among the changed trades, and those of changed trades."""
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
            trade_id: position._replace(is_free=trade_id not in copied)
            for trade_id, position in self.added.items()
        }
        stored = await copies.list_of_ids(db, self.corrected) if self.corrected else []
        return added | {one.trade_id: with_fields(one, self.corrected[one.trade_id]) for one in stored}

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


def with_fields(position: CopyPosition, fields: Mapping[str, Any]) -> CopyPosition:
    """Return a stored position as a correction makes it."""
    symbol = {
        "contract": canonical_symbol(fields["symbol"], fields["opened_at"]),
        "root": contract_root(fields["symbol"]),
    }
    return position.updated({**fields, **symbol})
