"""The checks of `journal-api check`: the database, its folder and SQLite. They change nothing."""

import os
import shutil
import sqlite3
import stat
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, NamedTuple, TypeVar

from journal_api.database.backup import BUSY_TIMEOUT
from journal_api.database.connections import Reader, connect
from journal_api.database.lock import is_locked, require_log_of_server
from journal_api.database.migrations import read_version
from journal_api.database.schemas import VERSION, build_objects, find_differences
from journal_api.database.stored_values import list_invalid
from journal_api.errors import DatabaseRefused

T = TypeVar("T")

MIN_SQLITE = (3, 40)
# Bytes: the write-ahead log may grow to 16 MiB, and a checkpoint needs space too.
MIN_FREE_SPACE = 32 * 1024 * 1024
MAX_LISTED = 10  # differences of a schema, rows, values
MAX_TRADES = 20_000  # whose columns are compared, the newest first; all with `full`


class Finding(NamedTuple):
    """A line of the report. A warning does not keep the journal from working."""

    verdict: Literal["ok", "warn", "wrong"]
    text: str


def examine(path: Path, row_checks: Mapping[tuple[str, str], str], *, full: bool = False) -> Iterator[Finding]:
    """Yield the findings, the slow checks last.

    A row check is a statement for `check_rows`, over the newest `:most` trades, by the names in its finding.

    Raises DatabaseRefused before the first finding when there is no journal at `path`.
    """
    if not path.is_file():
        raise DatabaseRefused(f"{path}: {'is a folder' if path.is_dir() else 'no such database'}")
    # SQLite keeps the log beside the file, not beside a symbolic link to it.
    file = path.resolve()
    server_running = check_server(file)  # before the file is opened, which may begin another log
    try:
        version, schema_differences = query(file, read_version_and_differences)
    except (sqlite3.Error, DatabaseRefused) as error:
        raise DatabaseRefused(f"{path}: {error}") from error
    size = file.stat().st_size
    yield Finding("ok", f"database {path}, {format_megabytes(size)}")
    yield check_permissions(file)
    yield check_free_space(shutil.disk_usage(file.parent).free, size)
    yield check_sqlite()
    yield check_write_ahead_log(file)
    yield server_running
    yield check_schema(version, schema_differences)
    yield check_pages(file, "integrity_check" if full else "quick_check")
    yield examine_rows(file, "foreign_key_check", find_dangling)
    if version == VERSION and not schema_differences:
        values = {"most": -1 if full else MAX_TRADES}
        yield examine_rows(file, "values", partial(find_invalid, most=values["most"]), ": as the API accepts them")
        for (name, rows), statement in row_checks.items():
            find = partial(find_disagreeing, rows=rows, statement=statement, values=values)
            yield examine_rows(file, name, find, f": in agreement with their {rows}")


def query(
    file: Path, function: Callable[[sqlite3.Connection], T], factory: type[sqlite3.Connection] = sqlite3.Connection
) -> T:
    """Return the result of a function that reads from the database, without leaving files beside it.

    A read-only connection in WAL mode creates a log that it may not checkpoint or delete. So a file without a log is
    opened as immutable; if it changed meanwhile, the function is called again with a normal connection.
    """
    if (before := read_state_without_log(file)) is not None:
        try:
            result = query_once(file, "ro&immutable=1", function, factory)
        except sqlite3.Error:
            if read_state_without_log(file) == before:
                raise
        else:
            if read_state_without_log(file) == before:
                return result
    return query_once(file, "ro", function, factory)


def read_state_without_log(file: Path) -> tuple[int, ...] | None:
    """Return inode, size and time of the last change; None if there is a log beside the file."""
    if any(file.with_name(file.name + suffix).exists() for suffix in ("-wal", "-journal")):
        return None
    status = file.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


def query_once(
    file: Path, mode: str, function: Callable[[sqlite3.Connection], T], factory: type[sqlite3.Connection]
) -> T:
    with closing(connect(file, mode, factory, timeout=BUSY_TIMEOUT)) as db:
        db.execute("PRAGMA trusted_schema = OFF")
        db.execute("BEGIN")  # all that the function reads is of one snapshot
        return function(db)


def check_permissions(file: Path) -> Finding:
    """Check that this user can write the file and no other user can read it."""
    if not os.access(file, os.R_OK | os.W_OK) or not os.access(file.parent, os.W_OK | os.X_OK):
        return Finding("wrong", "permissions: this user cannot write the file or its folder")
    if sys.platform == "win32":
        return Finding("ok", "permissions: this user can write")
    file_mode, folder_mode = (stat.S_IMODE(path.stat().st_mode) for path in (file, file.parent))
    text = f"permissions: file {file_mode:04o}, folder {folder_mode:04o}"
    if (file_mode | folder_mode) & 0o077:
        return Finding("warn", f"{text}; only the owner needs access: use 0600 and 0700")
    return Finding("ok", text)


def check_free_space(free: int, size: int) -> Finding:
    """Check that the disk has space for the log, and for a copy of a database of that size."""
    text = f"disk: {format_megabytes(free)} free"
    if free < MIN_FREE_SPACE:
        return Finding("wrong", f"{text}, less than the {format_megabytes(MIN_FREE_SPACE)} that writing may need")
    if free < size + MIN_FREE_SPACE:
        return Finding("warn", f"{text}, too little for a copy of the database")
    return Finding("ok", text)


def check_sqlite() -> Finding:
    """Check that the SQLite library is new enough and has every feature that the journal uses."""
    text = f"SQLite {sqlite3.sqlite_version}"
    if sqlite3.sqlite_version_info < MIN_SQLITE:
        return Finding("wrong", f"{text}; {'.'.join(map(str, MIN_SQLITE))} or later is required")
    try:
        build_objects(VERSION)
    except sqlite3.Error as error:
        return Finding("wrong", f"{text} lacks a feature that the journal needs: {error}")
    return Finding("ok", text)


def check_write_ahead_log(file: Path) -> Finding:
    """Check that the file system supports WAL mode, by writing a temporary database in the same folder."""
    try:
        with (
            TemporaryDirectory(prefix=f"{file.name}-check-", dir=file.parent) as folder,
            closing(sqlite3.connect(Path(folder) / "trial.db")) as db,
        ):
            (mode,) = db.execute("PRAGMA journal_mode = WAL").fetchone()
            db.execute("CREATE TABLE trial (id INTEGER PRIMARY KEY)")
    except (OSError, sqlite3.Error) as error:
        return Finding("wrong", f"write-ahead log: cannot be created beside the file: {error}")
    if mode != "wal":
        return Finding("wrong", "write-ahead log: not supported by this file system")
    return Finding("ok", "write-ahead log: supported")


def check_server(file: Path) -> Finding:
    """Report whether a server has the database open, with its log. A server holds the lock while it runs."""
    try:
        require_log_of_server(file)
        return Finding("ok", f"server: {'one is running' if is_locked(file) else 'none is running'}")
    except DatabaseRefused as error:
        return Finding("wrong", f"server: {error}")
    except OSError as error:
        return Finding("warn", f"server: unknown: {error}")


def read_version_and_differences(db: sqlite3.Connection) -> tuple[int, list[str]]:
    """Return the schema version of the file and its differences from that schema."""
    version = read_version(db)
    return version, find_differences(db, version) if version else []


def check_schema(version: int, schema_differences: list[str]) -> Finding:
    """Check that the schema is a version of this release, with nothing missing, changed or added."""
    text = f"schema {version} of {VERSION}"
    if version == 0:
        return Finding("wrong", f"{text}: the file is empty")
    if schema_differences:
        return Finding("wrong", f"{text}: {join_first(schema_differences)}")
    if version < VERSION:
        return Finding("warn", f"{text}: the next start of the service migrates it")
    return Finding("ok", text)


def check_pages(file: Path, check: Literal["quick_check", "integrity_check"]) -> Finding:
    try:
        results = [str(row[0]) for row in query(file, lambda db: db.execute(f"PRAGMA {check}").fetchall())]
    except sqlite3.Error as error:
        results = [str(error)]
    if results == ["ok"]:
        return Finding("ok", check)
    return Finding("wrong", f"{check}: {join_first([' '.join(one.split()) for one in results], maximum=1)}")


def examine_rows(file: Path, name: str, find: Callable[[sqlite3.Connection], str], praise: str = "") -> Finding:
    """Check that a function finds nothing wrong in the database, about which it returns no text then."""
    try:
        fault = query(file, find, Reader)
    except sqlite3.Error as error:
        fault = str(error)
    return Finding("wrong", f"{name}: {fault}") if fault else Finding("ok", f"{name}{praise}")


def find_dangling(db: sqlite3.Connection) -> str:
    violations = db.execute("PRAGMA foreign_key_check").fetchall()
    tables = ", ".join(sorted({row[0] for row in violations}))
    return f"rows with dangling references: {len(violations)}, in {tables}" if violations else ""


def find_disagreeing(db: sqlite3.Connection, rows: str, statement: str, values: Mapping[str, object]) -> str:
    """Name the rows whose ids a statement selects, because they are wrong."""
    wrong = [row[0] for row in db.execute(statement, values)]
    return f"not in agreement with {rows} {join_first(wrong, ', ')}" if wrong else ""


def find_invalid(db: sqlite3.Connection, most: int) -> str:
    return join_first([f"{table} {row}: {reason}" for table, row, reason in list_invalid(db, most)])


def join_first(items: Sequence[object], separator: str = "; ", maximum: int = MAX_LISTED) -> str:
    """Return the first items as a text, with the number of the others."""
    more = f" (and {len(items) - maximum} more)" if len(items) > maximum else ""
    return f"{separator.join(map(str, items[:maximum]))}{more}"


def format_megabytes(size: int) -> str:
    return f"{size / 10**6:,.1f} MB"
