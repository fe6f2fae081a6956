"""SQL that finds the stored positions near those of a file: of the same contract, at about the same time."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from aiosqlite import Connection

from journal_api.database.sql import json_list
from journal_api.imports.merged_parts import list_row_keys
from journal_api.positions.import_rows import ResolvedRow, StoredTrade
from journal_api.positions.position_times import MAX_ROUNDING
from journal_api.positions.trade_identity import CORRECTED_FIELDS, read_row_keys
from journal_api.values.clock import as_text
from journal_api.values.instruments import list_bare_names

MAX_NEIGHBOURS = 12
DAY = 86_400  # seconds: more than two time zones differ by
FORMAT = "(SELECT format FROM imports WHERE imports.id = import_id)"
STORED_TRADE = f"""trades.id, source_trade_id, content, merged, fingerprint, occurrence, {FORMAT},
    external_id, {", ".join(CORRECTED_FIELDS)}"""
# Trades of the account and contract of a key that were there before the import.
OF_CONTRACT = """user_id = :user_id
    AND contract = key.value ->> '$.contract'
    AND account_id = key.value ->> '$.account_id'
    AND trades.id <= :last_trade_id"""


def build_stored(
    trade_id: int,
    source_id: int | None,
    content: bytes | None,
    merged: str | None,
    fingerprint: bytes | None,
    occurrence: int,
    file_format: str | None,
    external_id: str | None,
    *fields: Any,
) -> StoredTrade:
    """Return the trade of a row of STORED_TRADE. A merged trade has no content: no file corrects it."""
    columns = dict(zip(CORRECTED_FIELDS, fields, strict=True))
    keys = list_row_keys(merged) if merged else read_row_keys(content, fingerprint or b"", occurrence)
    known_content = None if merged else content
    return StoredTrade(trade_id, source_id, known_content, columns, file_format, external_id, frozenset(keys))


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


async def find_taken(db: Connection, account_id: int, external_ids: Iterable[str]) -> set[str]:
    """Return those of some external ids that trades of an account have."""
    rows: Iterable[Any] = await db.execute_fetchall(
        """
        SELECT external_id
        FROM trades
        WHERE account_id = :account_id AND external_id IN (SELECT value FROM json_each(:external_ids))
        """,
        {"account_id": account_id, "external_ids": json_list(list(external_ids))},
    )
    return {external_id for (external_id,) in rows}


class StoredPositions(NamedTuple):
    """The trades that a user had before an import of a file of some format."""

    user_id: int
    last_trade_id: int
    format: str

    async def find_continued(
        self, db: Connection, account_id: int, contract: str, since: str
    ) -> list[StoredTrade]:
        """Return the positions of the format in a contract since a time, or since an open one."""
        key = {"index": 0, "account_id": account_id, "contract": contract, "since": since}
        found = await self._fetch(
            db,
            f"""
            {OF_CONTRACT}
            AND {FORMAT} = :format
            AND (closed_at IS NULL OR closed_at >= min(key.value ->> '$.since', coalesce((
                SELECT min(opened_at)
                FROM trades
                WHERE {OF_CONTRACT} AND closed_at IS NULL AND {FORMAT} = :format), '9999')))
            """,
            [key],
        )
        return found.get(0, [])

    async def find_neighbours(
        self, db: Connection, rows: Mapping[int, ResolvedRow]
    ) -> dict[int, list[StoredTrade]]:
        """Return the trades of the same contract that were open at the time of each row, by index.

        Positions of a contract follow one another, so the last few that opened before the row's end suffice.
        By hand a trader may enter a future without its month.
        """
        keys = [
            {
                "index": index,
                "account_id": row.columns["account_id"],
                "contract": name,
                "is_bare": name != row.columns["contract"],
                "begin": shift(row.columns["opened_at"], -MAX_ROUNDING),
                "end": shift(row.columns["closed_at"], MAX_ROUNDING) if row.columns["closed_at"] else "9999",
            }
            for index, row in rows.items()
            for name in (
                row.columns["contract"],
                *list_bare_names(row.columns["contract"], row.columns["root"]),
            )
        ]
        return await self._fetch(
            db,
            f"""
            trades.id IN (
                SELECT trades.id
                FROM trades
                WHERE {OF_CONTRACT}
                  AND opened_at <= key.value ->> '$.end'
                  AND (import_id IS NULL OR NOT key.value ->> '$.is_bare')
                ORDER BY opened_at DESC
                LIMIT {MAX_NEIGHBOURS})
            AND coalesce(closed_at, '9999') >= key.value ->> '$.begin'
            """,
            keys,
        )

    async def find_days_around(
        self, db: Connection, rows: Mapping[int, ResolvedRow]
    ) -> dict[int, list[StoredTrade]]:
        """Return the trades of equal size within a day of each row that other formats have added."""
        keys = [
            {
                "index": index,
                **{name: row.columns[name] for name in ("account_id", "contract", "direction", "quantity")},
                "begin": shift(row.columns["opened_at"], -DAY),
                "end": shift(row.columns["opened_at"], DAY),
            }
            for index, row in rows.items()
        ]
        return await self._fetch(
            db,
            f"""
            {OF_CONTRACT}
            AND opened_at BETWEEN key.value ->> '$.begin' AND key.value ->> '$.end'
            AND direction = key.value ->> '$.direction'
            AND quantity = key.value ->> '$.quantity'
            AND {FORMAT} <> :format
            """,
            keys,
        )

    async def _fetch(
        self, db: Connection, condition: str, keys: list[dict[str, Any]]
    ) -> dict[int, list[StoredTrade]]:
        """Return the trades that fit a key by some condition, by the index of the key."""
        rows: Iterable[Any] = await db.execute_fetchall(
            f"""
            SELECT key.value ->> '$.index', {STORED_TRADE}
            FROM json_each(:keys) AS key
            -- CROSS keeps SQLite from looking through all trades in the order of the result.
            CROSS JOIN trades
            WHERE {condition}
            ORDER BY trades.opened_at, trades.id
            """,
            {**self._asdict(), "keys": json_list(keys)},
        )
        found: dict[int, list[StoredTrade]] = {}
        for index, *values in rows:
            found.setdefault(index, []).append(build_stored(*values))
        return found


def shift(instant: str, seconds: int) -> str:
    """Return the stored timestamp so many seconds later."""
    return as_text(datetime.fromisoformat(instant) + timedelta(seconds=seconds))
