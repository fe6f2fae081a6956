"""What the journal has before an import."""

from collections.abc import Mapping
from typing import NamedTuple

from aiosqlite import Connection

from journal_api.database.sql import fetch
from journal_api.imports.lookups import find_accounts_with_trades, read_names
from journal_api.imports.merged_parts import MergedParts, read_merged_parts
from journal_api.imports.stored_positions import find_open_contracts
from journal_api.positions.commissions import Commissions
from journal_api.positions.copy_match import CopyRules
from journal_api.positions.import_rows import Names
from journal_api.repositories.accounts import read_commissions
from journal_api.repositories.copies import read_rules


class KnownJournal(NamedTuple):
    """What the journal has before an import. A row matches no trade that the same file has added."""

    last_trade_id: int
    names: Names
    commissions: Mapping[int, Commissions]
    accounts_with_trades: set[int]
    open_contracts: set[tuple[int, str]]  # those with an open position
    merged_parts: MergedParts
    copy_rules: list[CopyRules]


async def read_known(db: Connection, user_id: int) -> KnownJournal:
    """Return what the journal has. New ids are assigned from it, under the write lock (DECISIONS 28)."""
    last = await fetch(db, "SELECT seq FROM sqlite_sequence WHERE name = 'trades'", {})
    return KnownJournal(
        last or 0,
        await read_names(db, user_id),
        await read_commissions(db, user_id),
        await find_accounts_with_trades(db, user_id),
        await find_open_contracts(db, user_id),
        await read_merged_parts(db, user_id),
        await read_rules(db, user_id),
    )
