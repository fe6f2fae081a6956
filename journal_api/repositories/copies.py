"""SQL that links copies to their originals in a copy group, and undoes the links of an import."""

from collections.abc import Iterable, Sequence
from typing import Any

from aiosqlite import Connection

from journal_api.database.sql import json_list
from journal_api.positions.copy_match import CopyPosition, CopyRules
from journal_api.repositories.trades import LATER

POSITION = """
    SELECT id, account_id, symbol, contract, root, direction, quantity, multiplier, opened_at, closed_at,
        source_trade_id,
        NOT unlinked AND NOT EXISTS (SELECT 1 FROM trades AS copy WHERE copy.source_trade_id = trades.id)
    FROM trades"""
# The updated_at of a trade as it was before an import linked it, unless it was edited since.
BEFORE_LINK = """coalesce(
    (SELECT updated_at
     FROM import_links
     WHERE trade_id = trades.id AND written_at = trades.updated_at),
    trades.updated_at)"""


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
    """Return the positions of the accounts that opened in that time."""
    return build_positions(
        await db.execute_fetchall(
            f"""
            {POSITION}
            WHERE account_id IN (SELECT value FROM json_each(:account_ids))
              AND opened_at BETWEEN :since AND :until
            """,
            {"account_ids": json_list(list(account_ids)), "since": since, "until": until},
        )
    )


async def list_of_ids(db: Connection, trade_ids: Iterable[int]) -> list[CopyPosition]:
    return build_positions(
        await db.execute_fetchall(
            f"{POSITION} WHERE id IN (SELECT value FROM json_each(:ids))", {"ids": json_list(list(trade_ids))}
        )
    )


def build_positions(rows: Iterable[Any]) -> list[CopyPosition]:
    return [CopyPosition._make(row) for row in rows]


def encode_links(links: Sequence[tuple[int, int]]) -> str:
    return json_list([{"trade_id": trade_id, "original_id": original_id} for trade_id, original_id in links])


async def link(db: Connection, links: Sequence[tuple[int, int]], now: str) -> None:
    """Link copies to their originals."""
    await db.execute_fetchall(
        f"""
        UPDATE trades
        SET source_trade_id = value ->> '$.original_id', updated_at = {LATER}
        FROM json_each(:links)
        WHERE trades.id = value ->> '$.trade_id'
        """,
        {"links": encode_links(links), "now": now},
    )


async def link_by_import(db: Connection, import_id: int, links: Sequence[tuple[int, int]], now: str) -> None:
    """Link copies to their originals so that the import can be undone.

    A trade that the same import has added or corrected keeps its updated_at.
    """
    await db.execute_fetchall(
        f"""
        INSERT INTO import_links (import_id, trade_id, source_trade_id, updated_at, written_at)
        SELECT :import_id, trades.id, value ->> '$.original_id', updated_at,
            iif(import_id IS :import_id
                OR EXISTS (SELECT 1
                           FROM import_updates
                           WHERE import_id = :import_id AND trade_id = trades.id),
                updated_at, {LATER})
        FROM json_each(:links)
        JOIN trades ON trades.id = value ->> '$.trade_id'
        """,
        {"import_id": import_id, "links": encode_links(links), "now": now},
    )
    await db.execute_fetchall(
        """
        UPDATE trades
        SET source_trade_id = link.source_trade_id, updated_at = link.written_at
        FROM import_links AS link
        WHERE link.import_id = :import_id AND trades.id = link.trade_id
        """,
        {"import_id": import_id},
    )


async def undo(db: Connection, import_id: int, *, force: bool) -> None:
    """Unlink what the import linked, except for trades that were edited since.

    Copies that any import linked to trades which this undo deletes are unlinked too.
    """
    values = {"id": import_id, "force": force}
    unlinked = await db.execute_fetchall(
        f"""
        UPDATE trades
        SET source_trade_id = NULL,
            updated_at = iif(trades.updated_at = link.written_at, link.updated_at, trades.updated_at)
        FROM import_links AS link
        WHERE trades.id = link.trade_id
          AND trades.source_trade_id = link.source_trade_id
          AND trades.id IN (
            SELECT trade_id
            FROM import_links AS own
            JOIN trades AS copy ON copy.id = trade_id
            WHERE own.import_id = :id AND (:force OR copy.updated_at = own.written_at)
            UNION ALL
            SELECT copy.id
            FROM trades
            JOIN trades AS copy ON copy.source_trade_id = trades.id
            WHERE trades.import_id = :id AND (:force OR {BEFORE_LINK} = trades.created_at))
        RETURNING id
        """,
        values,
    )
    await db.execute_fetchall(
        """
        DELETE FROM import_links
        WHERE trade_id IN (SELECT value FROM json_each(:unlinked))
           OR (import_id = :id
               AND source_trade_id IS NOT (SELECT source_trade_id FROM trades WHERE trades.id = trade_id))
        """,
        {**values, "unlinked": json_list([row[0] for row in unlinked])},
    )


async def rebase(db: Connection, import_id: int) -> None:
    """Let links of later imports restore what undoing the corrections of the import has left."""
    await db.execute_fetchall(
        """
        UPDATE import_links
        SET updated_at = before.updated_at
        FROM import_updates AS before
        WHERE before.import_id = :id
          AND import_links.trade_id = before.trade_id
          AND import_links.updated_at = before.written_at
        """,
        {"id": import_id},
    )
