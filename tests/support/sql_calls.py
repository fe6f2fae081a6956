"""The SQL calls of the service in this process, for tests that note them, refuse them or let them wait."""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from starlette.applications import Starlette

from journal_api.database.connections import Reader

STEPS = 100

# Gets the SQL, the values of each run of it, and the call to make.
Around = Callable[[str, list[Any], Callable[[], Any]], Any]


@contextmanager
def every_sql_call(around: Around) -> Iterator[None]:
    """During the block each SQL call of any connection goes through `around`, in the connection's thread."""

    def execute(connection: Reader, sql: str, values: Any = ()) -> Any:
        return around(sql, [values], lambda: sqlite3.Connection.execute(connection, sql, values))

    def executemany(connection: Reader, sql: str, values: Any) -> Any:
        runs = list(values)
        return around(sql, runs, lambda: sqlite3.Connection.executemany(connection, sql, runs))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Reader, "execute", execute)
        patch.setattr(Reader, "executemany", executemany)
        yield


@contextmanager
def stopped_at(sql: str) -> Iterator[threading.Event]:
    """The first thread that comes to this statement waits there until the block ends; the event says so."""
    reached, goes_on = threading.Event(), threading.Event()

    def stop(statement: str, values: list[Any], call: Callable[[], Any]) -> Any:
        if statement == sql and not reached.is_set():
            reached.set()
            goes_on.wait(10)
        return call()

    with every_sql_call(stop):
        try:
            yield reached
        finally:
            goes_on.set()


@contextmanager
def noted_statements() -> Iterator[list[tuple[str, Any]]]:
    """Each run of a statement during the block with its values, without the look-up of the API key.

    The trace of Python 3.11 would repeat a statement for every row for which it has a trigger run.
    """
    noted: list[tuple[str, Any]] = []

    def note(sql: str, runs: list[Any], call: Callable[[], Any]) -> Any:
        if "FROM api_keys" not in sql:
            noted.extend((sql, values) for values in runs)
        return call()

    with every_sql_call(note):
        yield noted


async def count_steps(app: Starlette) -> Callable[[], int]:
    """Return what SQLite did since the last call, in units of STEPS instructions of its virtual machine."""
    done: list[None] = []

    def since_last() -> int:
        number = len(done)
        done.clear()
        return number

    for connection in app.state.database._open:
        await connection.set_progress_handler(lambda: done.append(None), STEPS)
    return since_last
