"""What the journal has before an import."""

from collections.abc import Mapping
from typing import NamedTuple

from aiosqlite import Connection

from journal_api.imports.lookups import find_accounts_with_trades, read_names
from journal_api.positions.commissions import Commissions
from journal_api.positions.copy_match import CopyRules
from journal_api.positions.import_rows import Names
from journal_api.repositories.accounts import read_commissions
from journal_api.repositories.copies import read_rules
from journal_api.repositories.new_trades import read_last_id


class KnownJournal(NamedTuple):
    """What the journal has before an import. A row matches no trade that the same file has added."""

    last_trade_id: int
    names: Names
    commissions: Mapping[int, Commissions]
    accounts_with_trades: set[int]
    copy_rules: list[CopyRules]


async def read_known(db: Connection, user_id: int) -> KnownJournal:
    """Return what the journal has."""
    return KnownJournal(
        await read_last_id(db),
        await read_names(db, user_id),
        await read_commissions(db, user_id),
        await find_accounts_with_trades(db, user_id),
        await read_rules(db, user_id),
    )
