"""SQL that splits a merged trade into its parts again, with all their rows (repositories/trade_merges.py)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from aiosqlite import Connection
from msgspec import json

from journal_api.database import calendars, sql
from journal_api.errors import Conflict
from journal_api.positions.fills import decode_fills
from journal_api.repositories import new_trades, pictures, trades
from journal_api.repositories.trade_merges import ANNOTATIONS, CHECKLIST, OWN_ROWS, Part, read_parts
from journal_api.values.clock import now_after
from journal_api.values.periods import Calendar, trading_day

# References of a part to rows that may be deleted while it is merged.
REFERENCES = {"strategy_id": "strategies", "setup_id": "setups", "source_trade_id": "trades", "import_id": "imports"}


async def split(db: Connection, user_id: int, trade_id: int) -> list[int]:
    """Restore the parts and return their ids, the first first. Raises NotFound, or Conflict if it cannot be split."""
    await trades.get(db, user_id, trade_id)
    (current,) = await read_parts(db, [trade_id])
    if current["merged"] is None:
        raise Conflict("This trade was not merged, so there is nothing to split.")
    first, *others = current["merged"]
    made = first.pop("made")
    is_stated = current["statement_ids"] and "fills" not in (current["edited"] or "")
    if not is_stated and list_exchanges(current["fills"]) != list_exchanges(made["fills"]):
        raise Conflict("The fills of this trade were changed since the merge: change them back, then split it again.")
    await drop_deleted_references(db, [first, *others])
    for part in others:
        part["account_id"] = current["account_id"]
    calendar = (await calendars.by_account(db, user_id))[current["account_id"]]
    await db.execute_fetchall("PRAGMA defer_foreign_keys = ON")  # until the commit: a part may be a copy of a later one
    await restore_first(db, first, made, current, calendar)
    await restore_others(db, user_id, others, calendar)
    await restore_copies(db, [first, *others], current)
    for part in others:
        await restore_statements(db, trade_id, part)
        await pictures.move_to_part(db, trade_id, part["id"], part["picture_ids"])
    ids = [part["id"] for part in (first, *others)]
    await restore_imports(db, ids)
    return ids


async def list_merged(db: Connection, import_id: int) -> list[int]:
    """Return the merged trades with a part that only the file of an import states."""
    return await sql.fetch_column(
        db,
        """
        SELECT id
        FROM trades
        WHERE merged IS NOT NULL AND id IN (
            SELECT trade_id
            FROM statements
            LEFT JOIN restatements ON statement_id = statements.id
            WHERE statements.import_id = :import_id AND statement_id IS NULL)
        """,
        {"import_id": import_id},
    )


def list_exchanges(fills: str) -> list[tuple[Any, ...]]:
    """Return what was bought and sold; fees may have been charged or corrected since."""
    return [(fill.side, fill.quantity, fill.price, fill.at) for fill in decode_fills(fills)]


async def drop_deleted_references(db: Connection, parts: Sequence[Part]) -> None:
    """Clear what the parts refer to and what was deleted since, as a foreign key would have."""
    for name, table in REFERENCES.items():
        ids = {part[name] for part in parts} - {None}
        kept = await find_existing(db, table, ids) | {part["id"] for part in parts if table == "trades"}
        for part in parts:
            part[name] = part[name] if part[name] in kept else None
    for part in parts:
        part["setup_id"] = part["setup_id"] if part["strategy_id"] else None
    own = (("trade_tags", "tag_id", "tags"), ("confirmation_answers", "confirmation_id", "confirmations"))
    for rows, name, table in (*own, ("import_links", "import_id", "imports")):
        kept = await find_existing(db, table, {row[name] for part in parts for row in part[rows]})
        for part in parts:
            part[rows] = [row for row in part[rows] if row[name] in kept]
    for part in parts:
        if part["setup_id"] is None:
            part["confirmation_answers"] = []


async def find_existing(db: Connection, table: str, ids: Iterable[int]) -> set[int]:
    select = f"SELECT id FROM {table} WHERE id IN (SELECT value FROM json_each(:ids))"
    return {*await sql.fetch_column(db, select, {"ids": sql.json_list(sorted(ids))})}


async def restore_first(db: Connection, first: Part, made: Part, current: Part, calendar: Calendar) -> None:
    """Make the merged trade what its first part was, with what was annotated since the merge."""
    restored = {**first, "account_id": current["account_id"]}
    for name in ANNOTATIONS:
        if current[name] != made[name]:
            restored[name] = current[name]
    if first["notes"] and made["notes"] and (current["notes"] or "").startswith(made["notes"]):
        restored["notes"] = first["notes"] + current["notes"].removeprefix(made["notes"])
    checklist = (*CHECKLIST, "confirmation_answers")
    if any(current[name] != made[name] for name in checklist):
        restored |= {name: current[name] for name in checklist}
    now_has, had = ({row["tag_id"] for row in part["trade_tags"]} for part in (current, made))
    tag_ids = ({row["tag_id"] for row in first["trade_tags"]} | (now_has - had)) - (had - now_has)
    restored["trade_tags"] = [{"trade_id": first["id"], "tag_id": tag_id} for tag_id in sorted(tag_ids)]
    if current["updated_at"] != made["updated_at"]:
        restored["updated_at"] = now_after(current["updated_at"])
    columns = stored_columns(restored, calendar)
    with sql.unique_value("external_id"):
        await db.execute_fetchall(
            f"UPDATE trades SET {sql.assignments(columns)} WHERE id = :id", {**columns, "id": first["id"]}
        )
    for table in OWN_ROWS:
        await db.execute_fetchall(f"DELETE FROM {table} WHERE trade_id = :id", {"id": first["id"]})
        await insert_rows(db, table, restored[table])


async def restore_others(db: Connection, user_id: int, parts: Sequence[Part], calendar: Calendar) -> None:
    """Insert deleted parts again, under their ids, with their rows in other tables."""
    rows = [{"id": part["id"], **stored_columns(part, calendar)} for part in parts]
    with sql.unique_value("external_id"):
        await insert_rows(db, "trades", rows)
    for part in parts:
        await new_trades.record_imported(db, user_id, [part["id"]])
    for table in OWN_ROWS:
        await insert_rows(db, table, [row for part in parts for row in part[table]])


async def insert_rows(db: Connection, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
    if rows:
        await db.executemany(sql.build_insert(table, rows[0]), rows)


async def restore_statements(db: Connection, whole_id: int, part: Part) -> None:
    """Give a part what files state of it; an import that was undone since states nothing any more."""
    await db.execute_fetchall(
        """
        UPDATE statements
        SET trade_id = :id
        WHERE trade_id = :whole_id AND id IN (SELECT value FROM json_each(:ids))
        """,
        {"id": part["id"], "whole_id": whole_id, "ids": sql.json_list(part["statement_ids"])},
    )


async def restore_imports(db: Connection, trade_ids: Sequence[int]) -> None:
    """Give a part the first import that states it, if the import that had added it was undone since."""
    await db.execute_fetchall(
        """
        UPDATE trades
        SET import_id = (SELECT min(import_id) FROM statements WHERE trade_id = trades.id)
        WHERE id IN (SELECT value FROM json_each(:ids)) AND import_id IS NULL
        """,
        {"ids": sql.json_list(trade_ids)},
    )


def stored_columns(part: Part, calendar: Calendar) -> dict[str, Any]:
    """Return the columns of a part but its id, with its day in the calendar of now."""
    not_columns = {"id", "made", "copy_ids", "picture_ids", "statement_ids", *OWN_ROWS}
    columns = {name: value for name, value in part.items() if name not in not_columns}
    columns["merged"] = part["merged"] and json.encode(part["merged"]).decode()
    columns["trading_day"] = trading_day(part["closed_at"], *calendar)
    return columns


async def restore_copies(db: Connection, parts: Sequence[Part], current: Part) -> None:
    """Link the copies of each part to it again, unless the trader has linked them to another trade."""
    linked_to = current["id"], current["source_trade_id"]
    await db.executemany(
        "UPDATE trades SET source_trade_id = ? WHERE id = ? AND source_trade_id IN (?, ?)",
        [(part["id"], copy_id, *linked_to) for part in parts for copy_id in part["copy_ids"]],
    )
