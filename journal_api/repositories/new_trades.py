"""SQL that inserts trades."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple

from aiosqlite import Connection

from journal_api.database import calendars
from journal_api.database.sql import fetch, fetch_column, json_list, unique_value
from journal_api.positions.trade_draft import TradeDraft, build_columns
from journal_api.values.clock import now
from journal_api.values.periods import Calendar, trading_day

# The columns of a new trade in the order of their parameters. Parameters are positional because binding by
# name looks up each value, which matters for imports.
COLUMNS = ("id", "import_id", *TradeDraft.__struct_fields__, "contract", "root")
INSERTED = ("user_id", "created_at", "updated_at", *COLUMNS, "trading_day")
# Rows per statement: a table with triggers opens a savepoint for every statement.
ROWS_AT_ONCE = 250
read_values = itemgetter(*COLUMNS)


async def insert(db: Connection, user_id: int, trade: TradeDraft, timezone: str) -> int:
    """Return the new id. Raises Conflict when the account has a trade with that external_id."""
    with unique_value("external_id"):
        (trade_id,) = await insert_many(db, user_id, [build_columns(trade, timezone)])
    return trade_id


async def find_duplicate_external_ids(db: Connection, rows: Mapping[int, dict[str, Any]]) -> list[int]:
    """Return the keys of the rows whose external_id exists in their account or in an earlier row."""
    with_external_id = [
        {"key": key, "account_id": row["account_id"], "external_id": row["external_id"]}
        for key, row in rows.items()
        if row["external_id"] is not None
    ]
    stored = await fetch_column(
        db,
        """
        SELECT value ->> '$.key'
        FROM json_each(:rows)
        JOIN trades ON account_id = value ->> '$.account_id' AND external_id = value ->> '$.external_id'
        """,
        {"rows": json_list(with_external_id)},
    )
    duplicates = set(stored)
    first_keys: dict[tuple[int, str], int] = {}
    for row in with_external_id:
        if first_keys.setdefault((row["account_id"], row["external_id"]), row["key"]) != row["key"]:
            duplicates.add(row["key"])
    return sorted(duplicates)


async def insert_many(db: Connection, user_id: int, rows: Sequence[dict[str, Any]]) -> list[int]:
    """Return the new ids, in the order of the rows. The caller has checked that external_ids are unique."""
    if not rows:
        return []
    last_id = await read_last_id(db)
    numbered = [{**row, "id": row_id, "import_id": None} for row_id, row in enumerate(rows, last_id + 1)]
    built = build_rows(user_id, numbered, await calendars.by_account(db, user_id), now())
    await insert_rows(db, built)
    return [row["id"] for row in numbered]


class NewRows(NamedTuple):
    """Trades of one user as they are inserted: `values` are the parameters, those of `columns` for each trade."""

    user_id: int
    written_at: str
    columns: tuple[str, ...]
    values: list[Any]


def build_rows(
    user_id: int, rows: Sequence[Mapping[str, Any]], by_account: Mapping[int, Calendar], written_at: str
) -> NewRows:
    """Return at least one trade as they are inserted.

    An account that was deleted meanwhile has the owner's day: nothing is stored in it.
    """
    columns = dict(zip(COLUMNS, zip(*map(read_values, rows), strict=True), strict=True))
    owners = by_account[0]
    days = [trading_day(row["closed_at"], *by_account.get(row["account_id"], owners)) for row in rows]
    # Most trades have no notes, grade or stop: a column that is NULL in all rows is left out.
    complete = {**columns, "trading_day": days}
    filled = {name: values for name, values in complete.items() if values.count(None) < len(values)}
    values = [*chain.from_iterable(zip(*filled.values(), strict=True))]
    return NewRows(user_id, written_at, tuple(filled), values)


async def insert_rows(db: Connection, rows: NewRows) -> None:
    for statement, values in build_inserts(rows):
        await db.execute_fetchall(statement, values)


def build_inserts(rows: NewRows) -> Iterator[tuple[str, list[Any]]]:
    size = len(rows.columns) * ROWS_AT_ONCE
    for start in range(0, len(rows.values), size):
        part = rows.values[start : start + size]
        yield build_insert(rows.columns, len(part) // len(rows.columns)), [rows.user_id, rows.written_at, *part]


@lru_cache(maxsize=256)
def build_insert(columns: tuple[str, ...], rows: int) -> str:
    values = f"(?1, ?2, ?2, {', '.join('?' * len(columns))})"
    return f"""
        INSERT INTO trades (user_id, created_at, updated_at, {", ".join(columns)})
        VALUES {", ".join([values] * rows)}
        """


async def record_imported(db: Connection, user_id: int, ids: Sequence[int]) -> None:
    """Record new trades of imports and their days as changes: together, which takes less than a trigger for each."""
    if not ids:
        return
    values = {"user_id": user_id, "first": ids[0], "last": ids[-1]}
    new = "import_id IS NOT NULL AND id BETWEEN :first AND :last"
    await db.execute_fetchall(
        f"INSERT INTO record_change SELECT DISTINCT account_id, trading_day FROM trades WHERE {new}", values
    )
    await db.execute_fetchall(
        f"""
        INSERT INTO changed_objects
        SELECT :user_id, last.seq + 1 + id - :first, 'trades', id, 0, at
        FROM trades
        JOIN (
            SELECT coalesce(max(seq), 0) AS seq, strftime('%Y-%m-%dT%H:%M:%f000Z', 'now') AS at
            FROM changed_objects
            WHERE user_id = :user_id) AS last
        WHERE {new}
        ON CONFLICT (user_id, resource, id) DO UPDATE SET seq = excluded.seq, deleted = 0, at = excluded.at
        """,
        values,
    )


async def read_last_id(db: Connection, table: str = "trades") -> int:
    """Return the highest id of a table so far."""
    return await fetch(db, "SELECT seq FROM sqlite_sequence WHERE name = :table", {"table": table}) or 0
