"""What `journal-api check` finds out about a database and what is around it. Nothing is changed."""

import os
import shutil
import sqlite3
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, NamedTuple, TypeVar

from filelock import Timeout

from journal_api.database.lock import process_lock
from journal_api.database.migrations import VERSION, version_of
from journal_api.database.schemas import differences, run, schema
from journal_api.errors import DatabaseRefused

T = TypeVar("T")

OLDEST_SQLITE = (3, 40)
PATIENCE = 10.0  # seconds to wait for one who writes
# A write-ahead log is let grow to 16 MiB, and some is needed to fold it back.
LEAST_ROOM = 32 * 1024 * 1024
MOST_TOLD = 10  # differences of a schema


class Finding(NamedTuple):
    """One line of the report; what is a warning works, but could be better."""

    verdict: Literal["ok", "warn", "wrong"]
    text: str


def examine(path: Path, *, full: bool = False) -> Iterator[Finding]:
    """The findings, one after the other, the slow ones last.

    Raises DatabaseRefused when there is no journal at `path`, before the first finding.
    """
    if not path.exists():
        raise DatabaseRefused(f"{path}: there is no database")
    # SQLite keeps the log beside the file itself, not beside a link to it.
    file = path.resolve()
    try:
        version, found = ask(file, version_and_differences)
    except (sqlite3.Error, DatabaseRefused) as error:
        raise DatabaseRefused(f"{path}: {error}") from error
    size = file.stat().st_size
    yield Finding("ok", f"database {path}, {megabytes(size)}")
    yield permissions(file)
    yield room(shutil.disk_usage(file.parent).free, size)
    yield sqlite()
    yield write_ahead_log(file)
    yield server(file)
    yield schema_of(version, found)
    yield pages(file, "integrity_check" if full else "quick_check")
    yield references(file)


def ask(file: Path, question: Callable[[sqlite3.Connection], T]) -> T:
    """The answer of a connection that leaves nothing behind.

    Even one that only reads would make a log and leave it, because it may not fold it into the file. Without
    a log the file is at rest and is read as one that cannot change; if it did meanwhile, once more.
    """
    if (before := at_rest(file)) is not None:
        try:
            answer = asked(file, "mode=ro&immutable=1", question)
        except sqlite3.Error:
            if at_rest(file) == before:
                raise
        else:
            if at_rest(file) == before:
                return answer
    return asked(file, "mode=ro", question)


def at_rest(file: Path) -> tuple[int, ...] | None:
    """What changes when the file does; None when a log is beside it."""
    if any(file.with_name(file.name + suffix).exists() for suffix in ("-wal", "-journal")):
        return None
    now = file.stat()
    return now.st_ino, now.st_size, now.st_mtime_ns


def asked(file: Path, mode: str, question: Callable[[sqlite3.Connection], T]) -> T:
    with closing(sqlite3.connect(f"{file.as_uri()}?{mode}", uri=True, timeout=PATIENCE)) as db:
        db.execute("PRAGMA trusted_schema = OFF")
        return question(db)


def permissions(file: Path) -> Finding:
    """Whether this user may write, and nobody else read."""
    if not os.access(file, os.R_OK | os.W_OK) or not os.access(file.parent, os.W_OK | os.X_OK):
        return Finding("wrong", "permissions: this user may not write the file, or not in its folder")
    if sys.platform == "win32":
        return Finding("ok", "permissions: this user may write")
    of_file, of_folder = (stat.S_IMODE(place.stat().st_mode) for place in (file, file.parent))
    told = f"permissions: file {of_file:04o}, folder {of_folder:04o}"
    if (of_file | of_folder) & 0o077:
        return Finding("warn", f"{told}; only the owner needs any: 0600 and 0700")
    return Finding("ok", told)


def room(free: int, size: int) -> Finding:
    """Whether the disk has room for the log, and for a copy of a database of that size."""
    told = f"disk: {megabytes(free)} free"
    if free < LEAST_ROOM:
        return Finding("wrong", f"{told}, less than the {megabytes(LEAST_ROOM)} that writing may need")
    if free < size + LEAST_ROOM:
        return Finding("warn", f"{told}, too little for a copy of the database")
    return Finding("ok", told)


def sqlite() -> Finding:
    """Whether the SQLite of this Python is new enough and has every part that the journal uses."""
    told = f"SQLite {sqlite3.sqlite_version}"
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        return Finding("wrong", f"{told}; needed is {'.'.join(map(str, OLDEST_SQLITE))} or later")
    try:
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
            missing = missing_parts(db)
    except sqlite3.Error as error:
        return Finding("wrong", f"{told} lacks what the journal needs: {error}")
    if missing:
        return Finding("wrong", f"{told} was built without {', '.join(missing)}")
    return Finding("ok", told)


def missing_parts(db: sqlite3.Connection) -> list[str]:
    """The parts that a build may leave out without an error; raises sqlite3.Error for those with one."""
    options = {option for (option,) in db.execute("PRAGMA compile_options")}
    db.execute("PRAGMA foreign_keys = ON")
    has = {
        "threads": "THREADSAFE=0" not in options,
        "write-ahead log": "OMIT_WAL" not in options,
        "foreign keys": db.execute("PRAGMA foreign_keys").fetchone() == (1,),
    }
    run(db, schema())
    db.execute("SELECT json_object('all', json_group_array(value)) FROM json_each('[1]')").fetchall()
    return [part for part, is_there in has.items() if not is_there]


def write_ahead_log(file: Path) -> Finding:
    """Tried on a database of its own in the same folder, because only a log that is written shows it."""
    try:
        with (
            TemporaryDirectory(prefix=f"{file.name}-check-", dir=file.parent) as folder,
            closing(sqlite3.connect(Path(folder) / "trial.db")) as db,
        ):
            (mode,) = db.execute("PRAGMA journal_mode = WAL").fetchone()
            db.execute("CREATE TABLE trial (id INTEGER PRIMARY KEY)")
    except (OSError, sqlite3.Error) as error:
        return Finding("wrong", f"write-ahead log: cannot be kept beside the file: {error}")
    if mode != "wal":
        return Finding("wrong", "write-ahead log: this file system cannot hold one")
    return Finding("ok", "write-ahead log: possible")


def server(file: Path) -> Finding:
    """Whether a server has the database open: it holds the lock for as long as it runs."""
    lock = process_lock(file)
    if not Path(lock.lock_file).exists():
        return Finding("ok", "server: none is running")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return Finding("ok", "server: one is running")
    except OSError as error:
        return Finding("warn", f"server: cannot be told: {error}")
    lock.release()
    return Finding("ok", "server: none is running")


def version_and_differences(db: sqlite3.Connection) -> tuple[int, list[str]]:
    """Which schema the file says it has, and what in it is otherwise, both of one moment."""
    db.execute("BEGIN")
    version = version_of(db)
    return version, differences(db, version) if version else []


def schema_of(version: int, found: list[str]) -> Finding:
    """Whether the schema is one that this release knows, with nothing missing, changed or added."""
    told = f"schema {version} of {VERSION}"
    if version == 0:
        return Finding("wrong", f"{told}: the file is empty")
    if found:
        more = f" (and {len(found) - MOST_TOLD} more)" if len(found) > MOST_TOLD else ""
        return Finding("wrong", f"{told}: {'; '.join(found[:MOST_TOLD])}{more}")
    if version < VERSION:
        return Finding("warn", f"{told}: the next start brings it up to date")
    return Finding("ok", told)


def pages(file: Path, check: Literal["quick_check", "integrity_check"]) -> Finding:
    """What SQLite's own check says of every page."""
    sql = {"quick_check": "PRAGMA quick_check", "integrity_check": "PRAGMA integrity_check"}[check]
    try:
        found = [str(row[0]) for row in ask(file, lambda db: db.execute(sql).fetchall())]
    except sqlite3.Error as error:
        found = [str(error)]
    if found == ["ok"]:
        return Finding("ok", check)
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return Finding("wrong", f"{check}: {' '.join(found[0].split())}{more}")


def references(file: Path) -> Finding:
    """Whether every row points to one that is there."""
    try:
        found = ask(file, lambda db: db.execute("PRAGMA foreign_key_check").fetchall())
    except sqlite3.Error as error:
        return Finding("wrong", f"foreign_key_check: {error}")
    if not found:
        return Finding("ok", "foreign_key_check")
    tables = ", ".join(sorted({row[0] for row in found}))
    return Finding("wrong", f"foreign_key_check: rows that point nowhere: {len(found)}, in {tables}")


def megabytes(size: int) -> str:
    return f"{size / 10**6:,.1f} MB"
