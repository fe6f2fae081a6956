"""SQL helpers that all repositories use."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec
from aiosqlite import Connection

from journal_api.errors import Conflict, DuplicateName, NotFound


async def fetch(db: Connection, sql: str, values: Mapping[str, Any]) -> Any:
    """Return the first column of the first row, None without a row."""
    for row in await db.execute_fetchall(sql, values):
        return row[0]
    return None


async def fetch_json(db: Connection, sql: str, values: Mapping[str, Any]) -> str:
    """Return the JSON text that the statement selects. Raises NotFound without a row."""
    text = await fetch(db, sql, values)
    if text is None:
        raise NotFound
    return str(text)


def json_array_of(column: str, select: str) -> str:
    """Return a SELECT of one JSON array: the JSON texts in `column` of the rows of `select`, in their order.

    group_concat copies the texts, where json_group_array would parse and write each of them again: twice as
    fast for a list of 200 tags. Inside another JSON function the array needs `json((...))` around it, because
    SQLite 3.54 treats JSON from a subquery as text.
    """
    return f"SELECT '[' || coalesce(group_concat({column}), '') || ']' FROM ({select})"


def json_list(values: Sequence[object]) -> str:
    """Return a list as one parameter for `json_each(:values)`."""
    return msgspec.json.encode(values, enc_hook=str).decode()


@contextmanager
def unique_name() -> Iterator[None]:
    """Raise DuplicateName when a statement of the block violates a UNIQUE constraint."""
    try:
        yield
    except sqlite3.IntegrityError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_CONSTRAINT_UNIQUE:
            raise DuplicateName from None
        raise


@contextmanager
def unique_value(field: str) -> Iterator[None]:
    """Raise Conflict for `field` when a statement of the block violates a UNIQUE constraint."""
    try:
        with unique_name():
            yield
    except DuplicateName:
        raise Conflict(f"That {field} is taken.", fields={field: "is taken"}) from None


def assignments(changed: dict[str, Any]) -> str:
    """Return the assignments of a SET clause, with named parameters."""
    return ", ".join(f"{column} = :{column}" for column in changed)


async def name_is_taken(db: Connection, table: str, user_id: int, name: str) -> bool:
    """Return whether a row of the user in that table has the name."""
    values = {"user_id": user_id, "name": name}
    return bool(await fetch(db, f"SELECT 1 FROM {table} WHERE user_id = :user_id AND name = :name", values))
