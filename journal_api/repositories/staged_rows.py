"""The new rows of an import as a database in memory: under the write lock SQLite copies them without Python."""

import sqlite3
from collections.abc import Collection, Iterable
from itertools import count
from typing import Any, NamedTuple

from aiosqlite import Connection

from journal_api.database.sql import fetch
from journal_api.repositories.new_trades import INSERTED, NewRows, build_inserts

STATEMENTS = ("account_id", "contract", "import_id", "key", "trade_id", "stated")
READ = {
    "import_id": "iif(import_id = :new, :import_id, import_id)",
    "id": "id + :further",
    "trade_id": "trade_id + iif(trade_id > :last, :further, 0)",
}
NUMBERS = count(1)
ROWS_AT_ONCE = 10_000  # in a tenth of a second, because a statement is not cancelled


class Memory(sqlite3.Connection):
    """A connection that closes with its last reference."""

    def __del__(self) -> None:
        self.close()


class StagedRows(NamedTuple):
    """A database in memory with the tables `trades` and `statements`, and where to attach it."""

    uri: str
    memory: Memory  # without which the database is gone
    columns: dict[str, Collection[str]]  # of each table those that have values


def stage(trades: Iterable[NewRows], statements: Iterable[tuple[Any, ...]]) -> StagedRows:
    """Return the rows in memory; those of statements have the columns STATEMENTS. Needs no lock of the journal."""
    filled = {"user_id", "created_at", "updated_at"}
    uri = f"file:/staged-{next(NUMBERS)}?vfs=memdb"
    db = sqlite3.connect(uri, uri=True, check_same_thread=False, factory=Memory)
    db.execute(f"CREATE TABLE trades ({', '.join(INSERTED)})")
    db.execute(f"CREATE TABLE statements ({', '.join(STATEMENTS)})")
    for rows in trades:
        filled.update(rows.columns)
        for sql, values in build_inserts(rows):
            db.execute(sql, values)
    db.executemany("INSERT INTO statements VALUES (?, ?, ?, ?, ?, ?)", statements)
    db.commit()
    return StagedRows(uri, db, {"trades": filled, "statements": STATEMENTS})


async def insert(db: Connection, rows: StagedRows, table: str, values: dict[str, int]) -> None:
    """Insert the rows of a table, which are attached, with the id of the new import and later ids of new trades."""
    columns = rows.columns[table]
    read = ", ".join(READ.get(column, column) for column in columns)
    for start in range(0, await fetch(db, f"SELECT max(rowid) FROM staged.{table}", {}) or 0, ROWS_AT_ONCE):
        await db.execute_fetchall(
            f"""
            INSERT INTO {table} ({", ".join(columns)})
            SELECT {read}
            FROM staged.{table}
            WHERE rowid > :start AND rowid <= :start + {ROWS_AT_ONCE}
            ORDER BY rowid
            """,
            {**values, "start": start},
        )
