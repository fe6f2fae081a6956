"""What the journal has before an import."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from aiosqlite import Connection

from journal_api.database.sql import fetch_column
from journal_api.positions.commissions import Commissions
from journal_api.positions.copy_match import CopyRules
from journal_api.positions.import_rows import Names
from journal_api.repositories.accounts import list_ids_by_name, read_commissions
from journal_api.repositories.copies import read_rules
from journal_api.repositories.new_trades import read_last_id

# The rows of what the names in files refer to.
NAMED = {
    "strategies": "SELECT name, id FROM strategies WHERE user_id = :user_id",
    "setups": """
        SELECT strategy_id, setups.name, setups.id
        FROM setups
        JOIN strategies ON strategies.id = strategy_id
        WHERE user_id = :user_id
        ORDER BY setups.id
        """,
    "confirmations": """
        SELECT setup_id, confirmations.name, confirmations.id
        FROM confirmations
        JOIN setups ON setups.id = setup_id
        JOIN strategies ON strategies.id = strategy_id
        WHERE user_id = :user_id
        ORDER BY confirmations.sort_order, confirmations.id
        """,
    "tags": "SELECT name, id FROM tags WHERE user_id = :user_id",
    "single": """
        SELECT tags.id, tag_categories.name
        FROM tag_categories
        JOIN tags ON category_id = tag_categories.id
        WHERE tag_categories.user_id = :user_id AND single
        """,
    # A group without members has a row with NULL, which is no account.
    "allowed_accounts": """
        SELECT strategies.id, coalesce(strategies.account_id, member.account_id)
        FROM strategies
        LEFT JOIN copy_group_members AS member ON member.copy_group_id = strategies.copy_group_id
        WHERE user_id = :user_id
          AND (strategies.account_id IS NOT NULL OR strategies.copy_group_id IS NOT NULL)
        """,
}


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


async def read_names(db: Connection, user_id: int) -> Names:
    """Return the ids of all named objects of the user."""
    values = {"user_id": user_id}
    found: dict[str, list[Any]] = {name: [*await db.execute_fetchall(sql, values)] for name, sql in NAMED.items()}
    return Names(
        await list_ids_by_name(db, user_id),
        dict(found["strategies"]),
        group_ids(found["setups"]),
        group_ids(found["confirmations"]),
        dict(found["tags"]),
        dict(found["single"]),
        {key: set(ids) for (key,), ids in group_ids(found["allowed_accounts"]).items()},
    )


async def find_accounts_with_trades(db: Connection, user_id: int) -> set[int]:
    """Return the ids of the accounts that have a trade, or of which a file has stated something."""
    select = """
        SELECT id
        FROM accounts
        WHERE user_id = :user_id AND (
            EXISTS (SELECT 1 FROM trades WHERE account_id = accounts.id)
            OR EXISTS (SELECT 1 FROM statements WHERE account_id = accounts.id))
        """
    return {*await fetch_column(db, select, {"user_id": user_id})}


def group_ids(rows: list[Any]) -> dict[Any, list[int]]:
    """Return the ids, the last column, by the other columns, in the order of the rows."""
    ids: dict[Any, list[int]] = {}
    for *key, row_id in rows:
        ids.setdefault(tuple(key), []).append(row_id)
    return ids
