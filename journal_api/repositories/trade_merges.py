"""SQL that merges trades into one and splits it again. `merged` keeps every part with all its rows.

A part is a JSON object: the columns of the trade, blobs as hex digits, the rows of the tables that its
deletion deletes, and the ids of its pictures, which the whole takes over. The part that stays has `made` too:
what the merge made of its annotations and its fills.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from aiosqlite import Connection
from msgspec import json

from journal_api.database import sql
from journal_api.errors import ValidationFailed
from journal_api.positions.position_columns import FILE_COLUMNS
from journal_api.positions.trade_merge import build_whole, join_tags
from journal_api.repositories import imports, pictures, trade_annotations, trades, users
from journal_api.structs.trades import Trade

Part = dict[str, Any]
# The rows of other tables that are deleted with a trade.
OWN_ROWS = ("trade_tags", "confirmation_answers", "import_links")
# What a trader writes on a trade. What was written after the merge stays on the first part.
ANNOTATIONS = ("stop_loss", "initial_risk", "grade", "notes", "source_trade_id", "unlinked")
CHECKLIST = ("strategy_id", "setup_id")

# Bytes of notes, of trades and of answers, that one request reads or writes: memory has them four times.
MAX_TEXTS = 16 * 1024 * 1024


async def find_many(db: Connection, user_id: int, trade_ids: Sequence[int]) -> list[Trade]:
    """Return the user's trades with those ids, each once."""
    text = await trades.list_of_ids(db, user_id, [*dict.fromkeys(trade_ids)], trades.TABLE.object)
    return json.decode(text, type=list[Trade])


async def require_short_texts(db: Connection, user_id: int, trade_ids: Sequence[int]) -> None:
    """Raise ValidationFailed if the notes of the trades and of their answers are too much to read at once."""
    length = await sql.fetch(
        db,
        """
        WITH trade AS (
            SELECT id, notes
            FROM trades
            WHERE +user_id = :user_id AND id IN (SELECT value FROM json_each(:ids))
        )
        SELECT total(length(CAST(notes AS BLOB)))
        FROM (
            SELECT notes FROM trade
            UNION ALL
            SELECT answer.notes FROM trade JOIN confirmation_answers AS answer ON trade_id = trade.id)
        """,
        {"user_id": user_id, "ids": sql.json_list(trade_ids)},
    )
    require_length(int(length), "ids")


def require_length(length: int, name: str) -> None:
    """Raise ValidationFailed for the member if so many bytes of texts are too many for one request."""
    if length > MAX_TEXTS:
        reason = f"would be {length} bytes of notes, at most {MAX_TEXTS}: send fewer trades at once"
        raise ValidationFailed(fields={name: reason})


async def list_of_format(db: Connection, user_id: int, import_id: int) -> list[int]:
    """Return the closed trades of an import's format in its accounts. Raises NotFound without the import."""
    await imports.get(db, user_id, import_id)
    return await sql.fetch_column(
        db,
        """
        SELECT trades.id
        FROM trades
        JOIN imports ON imports.id = import_id
        WHERE imports.user_id = :user_id
          AND format = (SELECT format FROM imports WHERE id = :import_id)
          AND trades.account_id IN (
            SELECT account_id FROM trades WHERE import_id = :import_id
            UNION ALL
            SELECT account_id FROM imports WHERE id = :import_id)
          AND closed_at IS NOT NULL
        ORDER BY trades.id
        """,
        {"user_id": user_id, "import_id": import_id},
    )


async def merge(db: Connection, user_id: int, parts: Sequence[Trade]) -> None:
    """Make the first part the whole and the original of all copies, delete the others. Raises ValidationFailed."""
    first, whole = parts[0], build_whole(parts)
    owner = await users.find(db, user_id)
    ids = [trade.id for trade in parts]
    before = await read_parts(db, ids)
    values = {"id": first.id, "ids": sql.json_list(ids), "original_id": whole.source_trade_id or first.id}
    await db.execute_fetchall(
        """
        UPDATE trades
        SET source_trade_id = :original_id
        WHERE source_trade_id IN (SELECT value FROM json_each(:ids)) AND source_trade_id <> :original_id
          AND id NOT IN (SELECT value FROM json_each(:ids))
        """,
        values,
    )
    await pictures.move_to_whole(db, ids)
    stated = {part["id"] for part in before if part["statement_ids"]}
    await db.execute_fetchall(
        "UPDATE statements SET trade_id = :id WHERE trade_id IN (SELECT value FROM json_each(:ids))", values
    )
    await db.execute_fetchall(
        "DELETE FROM trades WHERE id IN (SELECT value FROM json_each(:ids)) AND id <> :id", values
    )
    await trades.update(db, first, whole, owner.timezone)
    # Files state the whole as they state its parts; a part that was typed makes it the owner's.
    edited = (*FILE_COLUMNS, "contract", "root") if len(stated) < len(parts) else find_edited(before)
    await db.execute_fetchall(
        "UPDATE trades SET edited = :edited WHERE id = :id",
        {"id": first.id, "edited": ",".join(edited) if stated and edited else None},
    )
    answers = next((trade.confirmations for trade in parts if trade.setup_id == whole.setup_id), [])
    await trade_annotations.insert_missing(
        db,
        [(first.id, tag_id) for tag_id in join_tags(parts)],
        [(first.id, *trade_annotations.answer_row(answer)) for answer in answers],
    )
    (made,) = await read_parts(db, [first.id])
    by_id = {part["id"]: part for part in before}
    by_id[first.id]["made"] = {
        name: made[name] for name in ("fills", *ANNOTATIONS, *CHECKLIST, *OWN_ROWS[:2], "updated_at")
    }
    await db.execute_fetchall(
        "UPDATE trades SET merged = :merged WHERE id = :id",
        {"id": first.id, "merged": json.encode([by_id[trade_id] for trade_id in ids]).decode()},
    )


async def read_parts(db: Connection, trade_ids: Sequence[int]) -> list[Part]:
    """Return trades with all columns and all that would be deleted with them, by id."""
    own = []
    for table in OWN_ROWS:
        select = f"SELECT json_object({await build_members(db, table)}) AS item FROM {table}"
        rows = sql.build_json_array("item", f"{select} WHERE trade_id = trades.id ORDER BY 1")
        own.append(f"'{table}', json(({rows}))")
    copies = sql.build_json_array(
        "id", "SELECT id FROM trades AS copy WHERE copy.source_trade_id = trades.id ORDER BY id"
    )
    shown = sql.build_json_array("id", "SELECT id FROM pictures WHERE trade_id = trades.id ORDER BY sort_order, id")
    stated = sql.build_json_array("id", "SELECT id FROM statements WHERE trade_id = trades.id ORDER BY id")
    others = f"'copy_ids', json(({copies})), 'picture_ids', json(({shown})), 'statement_ids', json(({stated}))"
    members = ", ".join([await build_members(db, "trades"), *own, others])
    text = await sql.fetch_json_array(
        db,
        f"""
        SELECT json_object({members}) AS item
        FROM trades
        WHERE id IN (SELECT value FROM json_each(:ids))
        ORDER BY id
        """,
        {"ids": sql.json_list(trade_ids)},
    )
    return json.decode(text, type=list[Part])


async def build_members(db: Connection, table: str) -> str:
    """Return the arguments of json_object for all stored columns of a table."""
    names = await sql.fetch_column(db, "SELECT name FROM pragma_table_info(:table) ORDER BY cid", {"table": table})
    return ", ".join(
        "'merged', iif(merged IS NULL, NULL, json(merged))" if name == "merged" else f"'{name}', {name}"
        for name in names
    )


def find_edited(parts: Iterable[Part]) -> list[str]:
    return sorted({name for part in parts if part["edited"] for name in part["edited"].split(",")})
