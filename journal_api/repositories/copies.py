"""SQL that links copies to their originals in a copy group, and undoes the links of an import."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from aiosqlite import Connection

from journal_api.database.sql import json_list
from journal_api.positions.copy_match import CopyPosition, CopyRules
from journal_api.repositories.trades import CHANGED, LATER
from journal_api.values.clock import now as now_text

POSITION = """
    SELECT id, account_id, symbol, contract, root, direction, quantity, multiplier, opened_at, closed_at,
        source_trade_id,
        NOT unlinked AND NOT EXISTS (SELECT 1 FROM trades AS copy WHERE copy.source_trade_id = trades.id)
    FROM trades"""


async def read_rules(db: Connection, user_id: int, copy_group_id: int | None = None) -> list[CopyRules]:
    """Return the rules of the user's groups that have a master, or of one of them."""
    rows: Iterable[Any] = await db.execute_fetchall(
        """
        SELECT copy_groups.id, master_account_id, copy_seconds, any_quantity, account_id, quantity_multiplier
        FROM copy_groups
        JOIN copy_group_members ON copy_group_id = copy_groups.id
        WHERE user_id = :user_id
          AND master_account_id IS NOT NULL
          AND (:id IS NULL OR copy_groups.id = :id)
        """,
        {"user_id": user_id, "id": copy_group_id},
    )
    rules: dict[int, CopyRules] = {}
    for group_id, master_id, seconds, any_quantity, account_id, multiplier in rows:
        group = rules.setdefault(group_id, CopyRules(master_id, seconds, bool(any_quantity), {}))
        group.multipliers[account_id] = multiplier
    return list(rules.values())


async def list_positions(
    db: Connection, account_ids: Iterable[int], since: str = "", until: str = "9999"
) -> list[CopyPosition]:
    rows = await db.execute_fetchall(
        f"""
        {POSITION}
        WHERE account_id IN (SELECT value FROM json_each(:account_ids))
          AND opened_at BETWEEN :since AND :until
        """,
        {"account_ids": json_list(list(account_ids)), "since": since, "until": until},
    )
    return list(map(CopyPosition._make, rows))


async def list_of_ids(db: Connection, trade_ids: Iterable[int]) -> list[CopyPosition]:
    rows = await db.execute_fetchall(
        f"{POSITION} WHERE id IN (SELECT value FROM json_each(:ids))", {"ids": json_list(list(trade_ids))}
    )
    return list(map(CopyPosition._make, rows))


async def link(db: Connection, links: Sequence[tuple[int, int]], now: str) -> None:
    await db.execute_fetchall(
        f"""
        UPDATE trades
        SET source_trade_id = value ->> 1, updated_at = {LATER}
        FROM json_each(:links)
        WHERE trades.id = value ->> 0
        """,
        {"links": json_list(links), "now": now},
    )


async def set_originals(db: Connection, originals: Mapping[int, int | None]) -> None:
    """Write the originals of new copies, by the id of the copy, once all trades are there."""
    await db.executemany(
        "UPDATE trades SET source_trade_id = ? WHERE id = ?",
        [(original_id, trade_id) for trade_id, original_id in originals.items()],
    )


async def link_by_import(db: Connection, import_id: int, links: Sequence[tuple[int, int]], now: str) -> None:
    """Link copies to their originals, so that undoing the import unlinks them. That is no edit of the trader."""
    values = {"import_id": import_id, "links": json_list(links), "now": now}
    await db.executemany(
        "INSERT INTO import_links (import_id, trade_id, source_trade_id) VALUES (?, ?, ?)",
        [(import_id, *one) for one in links],
    )
    await db.execute_fetchall(
        f"""
        UPDATE trades
        SET source_trade_id = value ->> 1,
            changed_at = iif(import_id IS :import_id AND created_at = :now, changed_at, {CHANGED})
        FROM json_each(:links)
        WHERE trades.id = value ->> 0
        """,
        values,
    )


async def unlink(db: Connection, import_id: int | None, deleted: Sequence[int]) -> int:
    """Undo the links of an import that goes, and links to trades that go. Return how many copies lose an original."""
    unlinked = await db.execute_fetchall(
        f"""
        UPDATE trades
        SET source_trade_id = NULL, changed_at = {CHANGED}
        FROM import_links AS link
        WHERE trades.id = link.trade_id
          AND trades.source_trade_id = link.source_trade_id
          AND (link.import_id = :id OR trades.source_trade_id IN (SELECT value FROM json_each(:deleted)))
        RETURNING id, source_trade_id
        """,
        {"id": import_id, "deleted": json_list(deleted), "now": now_text()},
    )
    await db.execute_fetchall(
        """
        DELETE FROM import_links
        WHERE import_id = :id OR trade_id IN (SELECT value FROM json_each(:unlinked))
        """,
        {"id": import_id, "unlinked": json_list([row[0] for row in unlinked])},
    )
    gone = set(deleted)
    return sum(row[0] not in gone for row in unlinked)
