"""SQL that matches the rows of a file with stored trades and writes new and corrected trades.

Parameters are JSON arrays with positions instead of names here: imports pass hundreds of thousands of rows.
"""

from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from aiosqlite import Connection

from journal_api.database.sql import json_list
from journal_api.imports.merged_parts import MergedParts
from journal_api.imports.stored_positions import STORED_TRADE, build_stored
from journal_api.imports.tradovate_trades import find_stored_under_pair_id
from journal_api.positions.import_rows import Correction, Rejected, ResolvedRow, StoredTrade
from journal_api.positions.trade_identity import CORRECTED_FIELDS, compute_content_fingerprint
from journal_api.repositories import new_trades, trade_annotations
from journal_api.repositories.new_trades import Kind
from journal_api.repositories.trades import LATER

# By kind, the last occurrence that earlier rows of the file were compared with.
LastMatched = dict[Kind, int]
# For each kind as many trades as `wanted`, each one index step from the one before it. If a kind has fewer,
# its last row has no id and the last occurrence of the kind.
NEXT_OF_EACH_KIND = """
    WITH RECURSIVE
    -- The trades that the user entered by hand: without an external id and not imported.
    entered (kind, account_id, fingerprint, occurrence, wanted, id, source_trade_id) AS (
        SELECT key, value ->> 0, from_hex(value ->> 1), value ->> 2, value ->> 3, NULL, NULL
        FROM json_each(:kinds)
        UNION ALL
        SELECT kind, entered.account_id, entered.fingerprint,
            coalesce(trades.occurrence, (
                SELECT max(occurrence)
                FROM trades
                WHERE account_id = entered.account_id AND fingerprint = entered.fingerprint)),
            iif(trades.id IS NULL, 0, wanted - 1), trades.id, trades.source_trade_id
        FROM entered
        LEFT JOIN trades ON trades.id = (
            SELECT id
            FROM trades
            WHERE account_id = entered.account_id
              AND fingerprint = entered.fingerprint
              AND occurrence > entered.occurrence
              -- The + keeps SQLite from scanning all trades of the account without an external id.
              AND +external_id IS NULL
              AND content IS NULL
            ORDER BY occurrence
            LIMIT 1)
        WHERE wanted > 0)
    SELECT kind, occurrence, id, source_trade_id
    FROM entered
    WHERE (id IS NOT NULL OR wanted = 0) AND occurrence IS NOT NULL"""


class Matches(NamedTuple):
    """The stored trades that match rows of a batch, by the index of the row.

    `last_matched` has the kinds that the batch changes in the state of the file.
    """

    stored: dict[int, StoredTrade]
    last_matched: LastMatched


async def find_matches(
    db: Connection,
    rows: Sequence[ResolvedRow | Rejected],
    last_matched: LastMatched,
    merged_parts: MergedParts,
) -> Matches:
    """Return the matches of a batch. A trade that was entered by hand matches one row of the file only.

    `last_matched` is the merged state after the earlier batches of the file. A part of a merged trade
    matches the trade.
    """
    matches = await _by_id_or_content(db, rows)
    last = _last_by_content(rows, matches, last_matched)
    with_pair_id, last_of_pairs = await find_stored_under_pair_id(
        db, rows, matches, ChainMap(last, last_matched)
    )
    matches |= with_pair_id
    last |= last_of_pairs
    entered, last_entered = await _entered_by_hand(db, rows, matches, ChainMap(last, last_matched))
    matches |= entered
    return Matches(matches | await find_merged(db, rows, matches, merged_parts), last | last_entered)


async def find_merged(
    db: Connection,
    rows: Sequence[ResolvedRow | Rejected],
    matches: Mapping[int, StoredTrade],
    merged_parts: MergedParts,
) -> dict[int, StoredTrade]:
    """Return the merged trades of which rows without a match are parts."""
    found = {
        index: trade_id
        for index, row in enumerate(rows)
        if isinstance(row, ResolvedRow)
        and index not in matches
        and (trade_id := merged_parts.find(row.columns)) is not None
    }
    if not found:
        return {}
    trade_rows: Iterable[Any] = await db.execute_fetchall(
        f"SELECT {STORED_TRADE} FROM trades WHERE id IN (SELECT value FROM json_each(:ids))",
        {"ids": json_list(sorted(set(found.values())))},
    )
    stored = {row[0]: build_stored(*row) for row in trade_rows}
    return {index: stored[trade_id] for index, trade_id in found.items()}


def _last_by_content(
    rows: Sequence[ResolvedRow | Rejected],
    matches: Mapping[int, StoredTrade],
    last_matched: Mapping[Kind, int],
) -> LastMatched:
    """Return the last occurrence of each kind whose trades entered by hand match rows by their content."""
    last: LastMatched = {}
    for index, stored in matches.items():
        row = rows[index]
        if isinstance(row, ResolvedRow) and row.columns["external_id"] is None and stored.content is None:
            kind = Kind(row.columns["account_id"], row.columns["fingerprint"])
            last[kind] = max(last.get(kind, last_matched.get(kind, 0)), row.columns["occurrence"])
    return last


async def _by_id_or_content(db: Connection, rows: Sequence[ResolvedRow | Rejected]) -> dict[int, StoredTrade]:
    """Return the trades with the external id of a row, or with its content and occurrence."""
    keys = [
        (
            index,
            row.columns["account_id"],
            row.columns["external_id"],
            row.columns["fingerprint"].hex(),
            row.columns["occurrence"],
        )
        for index, row in enumerate(rows)
        if isinstance(row, ResolvedRow)
    ]
    trade_rows: Iterable[Any] = await db.execute_fetchall(
        f"""
        SELECT key.value ->> 0, {STORED_TRADE}
        FROM json_each(:keys) AS key
        JOIN trades ON trades.id = coalesce(
            (SELECT id
             FROM trades
             WHERE account_id = key.value ->> 1 AND external_id = key.value ->> 2),
            (SELECT id
             FROM trades
             WHERE account_id = key.value ->> 1
               AND fingerprint = from_hex(key.value ->> 3)
               AND occurrence = key.value ->> 4))
        """,
        {"keys": json_list(keys)},
    )
    return {index: build_stored(*values) for index, *values in trade_rows}


async def _entered_by_hand(
    db: Connection,
    rows: Sequence[ResolvedRow | Rejected],
    matches: Mapping[int, StoredTrade],
    last_matched: Mapping[Kind, int],
) -> tuple[dict[int, StoredTrade], LastMatched]:
    """Return trades with the content of a row with an external id, which the trader entered without one.

    Reads from the last matched trade of each kind on, as many trades as rows, so that an import reads no
    trade twice. Returns the last of each kind too.
    """
    indexes_by_kind: dict[Kind, list[int]] = {}
    for index, row in enumerate(rows):
        if isinstance(row, ResolvedRow) and row.columns["external_id"] is not None and index not in matches:
            kind = Kind(row.columns["account_id"], compute_content_fingerprint(row.columns))
            indexes_by_kind.setdefault(kind, []).append(index)
    wanted = [
        (kind.account_id, kind.fingerprint.hex(), last_matched.get(kind, 0), len(indexes))
        for kind, indexes in indexes_by_kind.items()
    ]
    if not wanted:
        return {}, {}
    trade_rows: Iterable[Any] = await db.execute_fetchall(NEXT_OF_EACH_KIND, {"kinds": json_list(wanted)})
    stored: dict[int, StoredTrade] = {}
    last: LastMatched = {}
    kinds = [(kind, iter(indexes)) for kind, indexes in indexes_by_kind.items()]
    for kind_number, occurrence, trade_id, source_id in trade_rows:
        kind, remaining = kinds[kind_number]
        last[kind] = occurrence
        if trade_id is not None:
            stored[next(remaining)] = StoredTrade(trade_id, source_id, None, {})
    return stored, last


async def insert_all(
    db: Connection, user_id: int, rows: list[ResolvedRow], import_id: int, written_at: str
) -> None:
    """Insert new trades with their tags and confirmation answers."""
    await new_trades.insert_all(db, user_id, [row.columns for row in rows], import_id, written_at)
    tags = [(row.columns["id"], tag_id) for row in rows for tag_id in row.tag_ids]
    answers = [(row.columns["id"], *answer) for row in rows for answer in row.answers]
    await trade_annotations.insert_missing(db, tags, answers)


async def correct(db: Connection, import_id: int, corrections: list[Correction], written_at: str) -> None:
    """Update trades and store their previous columns, so that the import can be undone."""
    await db.executemany(
        "UPDATE trades SET content = ? WHERE id = ?",
        [(correction.content, correction.trade_id) for correction in corrections if not correction.changed],
    )
    changing = [correction for correction in corrections if correction.changed]
    columns = ", ".join((*CORRECTED_FIELDS, "content", "updated_at"))
    await db.execute_fetchall(
        f"""
        INSERT INTO import_updates (import_id, trade_id, written_at, {columns})
        SELECT :import_id, id, {LATER}, {columns}
        FROM trades
        WHERE id IN (SELECT value FROM json_each(:ids))
        """,
        {
            "import_id": import_id,
            "ids": json_list([correction.trade_id for correction in changing]),
            "now": written_at,
        },
    )
    await db.executemany(
        f"""
        UPDATE trades
        SET {", ".join(f"{field} = :{field}" for field in CORRECTED_FIELDS)},
            contract = canonical_symbol(:symbol, :opened_at),
            root = contract_root(:symbol),
            trading_day = (SELECT trading_day(:closed_at, timezone, day_rollover)
                           FROM calendars
                           WHERE calendars.account_id = trades.account_id),
            content = :content,
            updated_at = {LATER}
        WHERE id = :id
        """,
        [
            {
                **correction.fields,
                "content": correction.content,
                "id": correction.trade_id,
                "now": written_at,
            }
            for correction in changing
        ],
    )
