"""SQL helpers that every repository uses."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec
from aiosqlite import Connection

from journal_api.errors import Conflict, DuplicateName, NotFound


async def fetch(db: Connection, sql: str, values: Mapping[str, Any]) -> Any:
    """The first column of the first row, None without a row."""
    for row in await db.execute_fetchall(sql, values):
        return row[0]
    return None


async def fetch_json(db: Connection, sql: str, values: Mapping[str, Any]) -> str:
    """The one JSON text that the statement makes; raises NotFound when it makes none."""
    text = await fetch(db, sql, values)
    if text is None:
        raise NotFound
    return str(text)


def json_list(values: Sequence[object]) -> str:
    """A list as one parameter, for `json_each(:values)`."""
    return msgspec.json.encode(values, enc_hook=str).decode()


@contextmanager
def unique_name() -> Iterator[None]:
    """Raises DuplicateName when a statement of the block meets a name that is taken."""
    try:
        yield
    except sqlite3.IntegrityError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_CONSTRAINT_UNIQUE:
            raise DuplicateName from None
        raise


@contextmanager
def unique_value(field: str) -> Iterator[None]:
    """Raises Conflict for `field` when a statement of the block meets a value that is taken."""
    try:
        with unique_name():
            yield
    except DuplicateName:
        raise Conflict(f"That {field} is taken.", fields={field: "is taken"}) from None


def assignments(changed: dict[str, Any]) -> str:
    """The SET clause of those columns, with named parameters."""
    return ", ".join(f"{column} = :{column}" for column in changed)
