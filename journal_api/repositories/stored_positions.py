"""SQL that finds the stored positions near those of a file: of the same contract, at about the same time."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from aiosqlite import Connection

from journal_api.repositories.sql import json_list
from journal_api.rules.import_rows import ResolvedRow, StoredTrade
from journal_api.rules.position_match import MAX_DIFFERENCE
from journal_api.rules.trade_identity import CORRECTED_FIELDS
from journal_api.values.clock import as_text

MAX_NEIGHBOURS = 8
DAY = 86_400  # seconds: more than two time zones differ by
# A merged trade is never corrected by a file, like one that was entered by hand: it has no content.
STORED_TRADE = f"""trades.id, source_trade_id, iif(merged IS NULL, content, NULL),
    (SELECT format FROM imports WHERE imports.id = import_id), external_id, {", ".join(CORRECTED_FIELDS)}"""


def build_stored(
    trade_id: int,
    source_id: int | None,
    content: bytes | None,
    file_format: str | None,
    external_id: str | None,
    *fields: Any,
) -> StoredTrade:
    """Return the trade of a row of STORED_TRADE."""
    columns = dict(zip(CORRECTED_FIELDS, fields, strict=True))
    return StoredTrade(trade_id, source_id, content, columns, file_format, external_id)


async def find_open_contracts(db: Connection, user_id: int) -> set[tuple[int, str]]:
    """Return account and contract of the open positions that imports have added."""
    rows: Iterable[Any] = await db.execute_fetchall(
        """
        SELECT account_id, contract
        FROM trades
        -- The bound of opened_at makes SQLite take the index of open trades.
        WHERE user_id = :user_id AND closed_at IS NULL AND opened_at > '' AND +content IS NOT NULL
        """,
        {"user_id": user_id},
    )
    return {(account_id, contract) for account_id, contract in rows}


async def find_continued(
    db: Connection,
    user_id: int,
    account_id: int,
    contract: str,
    since: str,
    file_format: str,
    last_trade_id: int,
) -> list[StoredTrade]:
    """Return the open position of a contract and those since a time that files of the format have added.

    `last_trade_id` is the last id before the import: no position of the file itself is among them.
    """
    rows: Iterable[Any] = await db.execute_fetchall(
        f"""
        SELECT {STORED_TRADE}
        FROM trades
        WHERE user_id = :user_id
          AND contract = :contract
          AND account_id = :account_id
          AND (closed_at IS NULL OR closed_at >= :since)
          AND id <= :last_trade_id
          AND (SELECT format FROM imports WHERE imports.id = import_id) = :format
        ORDER BY opened_at, id
        """,
        {
            "user_id": user_id,
            "contract": contract,
            "account_id": account_id,
            "since": since,
            "format": file_format,
            "last_trade_id": last_trade_id,
        },
    )
    return [build_stored(*row) for row in rows]


async def find_neighbours(
    db: Connection, user_id: int, rows: Mapping[int, ResolvedRow], last_trade_id: int
) -> dict[int, list[StoredTrade]]:
    """Return the stored trades of the same account and contract that were open at the time of each row.

    Positions of a contract follow one another, so the last few that opened before the row's end suffice.
    """
    keys = [
        {
            "index": index,
            "account_id": row.columns["account_id"],
            "contract": row.columns["contract"],
            "begin": shift(row.columns["opened_at"], -MAX_DIFFERENCE),
            "end": shift(row.columns["closed_at"], MAX_DIFFERENCE) if row.columns["closed_at"] else "9999",
        }
        for index, row in rows.items()
    ]
    trade_rows: Iterable[Any] = await db.execute_fetchall(
        f"""
        SELECT key.value ->> '$.index', {STORED_TRADE}
        FROM json_each(:keys) AS key
        JOIN trades ON trades.id IN (
            SELECT id
            FROM trades
            WHERE user_id = :user_id
              AND contract = key.value ->> '$.contract'
              AND opened_at <= key.value ->> '$.end'
              AND account_id = key.value ->> '$.account_id'
              AND id <= :last_trade_id
            ORDER BY opened_at DESC
            LIMIT {MAX_NEIGHBOURS})
        WHERE coalesce(closed_at, '9999') >= key.value ->> '$.begin'
        ORDER BY trades.opened_at, trades.id
        """,
        {"keys": json_list(keys), "user_id": user_id, "last_trade_id": last_trade_id},
    )
    neighbours: dict[int, list[StoredTrade]] = {}
    for index, *values in trade_rows:
        neighbours.setdefault(index, []).append(build_stored(*values))
    return neighbours


async def find_days_around(
    db: Connection, user_id: int, rows: Mapping[int, ResolvedRow], last_trade_id: int, file_format: str
) -> dict[int, list[StoredTrade]]:
    """Return the trades of equal size that files of other formats have added within a day of each row."""
    keys = [
        {
            "index": index,
            **{name: row.columns[name] for name in ("account_id", "contract", "direction", "quantity")},
            "begin": shift(row.columns["opened_at"], -DAY),
            "end": shift(row.columns["opened_at"], DAY),
        }
        for index, row in rows.items()
    ]
    trade_rows: Iterable[Any] = await db.execute_fetchall(
        f"""
        SELECT key.value ->> '$.index', {STORED_TRADE}
        FROM json_each(:keys) AS key
        JOIN trades ON user_id = :user_id
          AND contract = key.value ->> '$.contract'
          AND opened_at BETWEEN key.value ->> '$.begin' AND key.value ->> '$.end'
        WHERE account_id = key.value ->> '$.account_id'
          AND direction = key.value ->> '$.direction'
          AND quantity = key.value ->> '$.quantity'
          AND trades.id <= :last_trade_id
          AND (SELECT format FROM imports WHERE imports.id = import_id) <> :format
        ORDER BY trades.id
        """,
        {
            "keys": json_list(keys),
            "user_id": user_id,
            "last_trade_id": last_trade_id,
            "format": file_format,
        },
    )
    around: dict[int, list[StoredTrade]] = {}
    for index, *values in trade_rows:
        around.setdefault(index, []).append(build_stored(*values))
    return around


def shift(instant: str, seconds: int) -> str:
    """Return the stored timestamp so many seconds later."""
    return as_text(datetime.fromisoformat(instant) + timedelta(seconds=seconds))
