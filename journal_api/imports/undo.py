"""Undoing an import: what its file states is gone, and the trades are what follows from the rest."""

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from aiosqlite import Connection

from journal_api.errors import Conflict, TradesKept, ValidationFailed
from journal_api.imports import stored_trades
from journal_api.imports.contract_writes import read_typed, refold
from journal_api.positions.trade_merge import require_one_position, sort_parts
from journal_api.repositories import copies, imports, statements, trade_merges, trade_splits, trades
from journal_api.repositories.statements import Contract
from journal_api.values.clock import now

# Trades that only the file of the import states.
ONLY_OF_IMPORT = """
    SELECT DISTINCT trade_id
    FROM statements
    WHERE import_id = :id
      AND NOT EXISTS (
        SELECT 1
        FROM statements AS other
        LEFT JOIN restatements ON statement_id = other.id
        WHERE other.trade_id = statements.trade_id
          AND (other.import_id <> :id OR restatements.import_id IS NOT NULL))"""
ANNOTATED = """coalesce(notes, grade, strategy_id) IS NOT NULL
    OR EXISTS (SELECT 1 FROM trade_tags WHERE trade_id = trades.id)
    OR EXISTS (SELECT 1 FROM pictures WHERE trade_id = trades.id)
    OR EXISTS (SELECT 1 FROM confirmation_answers WHERE trade_id = trades.id)"""


class Undone(NamedTuple):
    """The number of deleted trades, how many of them were annotated, and the ids of the trades that stay.

    `unlinked` is the number of copies that stay without the original that they were linked to.
    """

    deleted: int
    annotated: int
    unlinked: int
    kept: list[int]


async def undo(db: Connection, user_id: int, import_id: int, *, force: bool, keep: bool) -> Undone:
    """Undo an import. A trade on which a person wrote is asked about, unless another file states it.

    With `keep` such trades stay as they are, and the import with them; with `force` they go too. What the owner
    had typed before the file stated it is as it was, and so are the other parts of a merged trade, which stay
    merged. Raises NotFound or TradesKept.
    """
    await imports.get(db, user_id, import_id)
    split = [await split_whole(db, user_id, one) for one in await trade_splits.list_merged(db, import_id)]
    rows: Iterable[Any] = await db.execute_fetchall(
        f"""
        SELECT id, typed IS NULL AND {stored_trades.WRITTEN_BY_HAND}, {ANNOTATED}
        FROM trades
        WHERE id IN ({ONLY_OF_IMPORT})
        ORDER BY id
        """,
        {"id": import_id},
    )
    lost = {trade_id: (is_written, is_annotated) for trade_id, is_written, is_annotated in rows}
    written = [trade_id for trade_id, (is_written, _) in lost.items() if is_written]
    if written and not (force or keep):
        raise TradesKept(trades=len(written), others=len(lost) - len(written))
    kept = written if not force else []
    contracts = await statements.list_of_import(db, import_id)
    gone = await stored_trades.read_trades(db, lost.keys() - set(kept))
    await db.execute_fetchall("SAVEPOINT undone")
    deleted, others = await withdraw(db, user_id, import_id, contracts, kept, gone)
    others -= gone.keys()
    if others and not force:
        # Other files state them, but not enough: what is left of them closes nothing.
        if not keep:
            raise TradesKept(trades=len(written) + len(others), others=len(lost) - len(written))
        await db.execute_fetchall("ROLLBACK TO undone")
        kept += sorted(others)
        deleted, _ = await withdraw(db, user_id, import_id, contracts, kept, gone)
    await db.execute_fetchall("RELEASE undone")
    deleted += [trade.trade_id for trade in gone.values() if trade.typed is None]
    deleted = list(dict.fromkeys(deleted))
    unlinked = await copies.unlink(db, None if kept else import_id, deleted)
    await trades.delete_many(db, deleted)
    restored = [(one.trade_id, read_typed(one), None, None) for one in gone.values() if one.typed is not None]
    await stored_trades.update_trades(db, user_id, restored, now())
    if kept:
        await db.execute_fetchall(
            "UPDATE imports SET updated_at = :now WHERE id = :id", {"id": import_id, "now": now()}
        )
    else:
        await db.execute_fetchall("DELETE FROM imports WHERE id = :id", {"id": import_id})
    for parts in split:
        await merge_again(db, user_id, parts)
    annotated = sum(all(lost[trade_id]) for trade_id in deleted if trade_id in lost)
    return Undone(len(deleted), annotated, unlinked, kept)


async def split_whole(db: Connection, user_id: int, trade_id: int) -> list[int]:
    """Return the ids of the parts of a merged trade; it is whole if its owner has changed its fills since."""
    try:
        parts = await trade_splits.split(db, user_id, trade_id)
    except Conflict:
        return [trade_id]
    return [one for part in parts for one in await split_whole(db, user_id, part)]


async def merge_again(db: Connection, user_id: int, trade_ids: Sequence[int]) -> None:
    """Merge the parts that are left of a trade, if they are one position without the others."""
    parts = sort_parts(await trade_merges.find_many(db, user_id, trade_ids))
    if len(parts) < 2:
        return
    with suppress(ValidationFailed):
        require_one_position(parts)
        await trade_merges.merge(db, user_id, parts)


async def withdraw(
    db: Connection,
    user_id: int,
    import_id: int,
    contracts: Iterable[Contract],
    kept: Sequence[int],
    leaving: Collection[int],
) -> tuple[list[int], set[int]]:
    """Withdraw what the import states. Return the trades that go, and those that a person wrote on."""
    await statements.withdraw(db, import_id, kept)
    gone = [one for plan in await refold(db, user_id, contracts, leaving) for one in plan.gone]
    written = {trade.trade_id for trade, taker in gone if trade.is_touched and taker is None}
    return [trade.trade_id for trade, _ in gone], written
