"""A backup in the place of the journal. What was there is kept under another name."""

import os
import re
import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

from journal_api.database.backup import (
    CHECKSUM,
    PREFIX,
    SUFFIX,
    checksum_beside,
    connect,
    copied,
    name_before,
    require_sound,
    sha256_of,
    sync,
)
from journal_api.database.check import ask
from journal_api.database.lock import without_server
from journal_api.database.migrations import known_version
from journal_api.errors import DatabaseRefused

IN_USE = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})


class Restored(NamedTuple):
    """Where what was there is kept, if anything was, and whether the backup had its checksum beside it."""

    kept: Path | None
    is_verified: bool


def restore(db: Path, source: Path) -> Restored:
    """Put a copy of `source` at `db`.

    Raises DatabaseRefused, OSError or sqlite3.Error, the journal as it was.
    """
    file = db.resolve()
    is_verified = is_as_backed_up(source)
    require_journal(source, is_to_be_sound=True)
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with without_server(db):
        kept = name_before(file, "restore")
        with copied(source, kept) as copy:
            was_there = file.exists()
            if was_there:
                fold_log(file)
                keep(file, kept)
            move_logs(file, kept)
            sync(file.parent)
            copy.replace(file)
        sync(file.parent)
    return Restored(kept if was_there else None, is_verified)


def is_as_backed_up(source: Path) -> bool:
    """Whether it has the checksum beside it; False without one, DatabaseRefused when that is another."""
    beside = checksum_beside(source)
    try:
        found = re.match(rb"\\?([0-9a-f]{64}) ", beside.read_bytes())
    except FileNotFoundError:
        return False
    if not source.is_file():
        return False  # which is told by the next question
    if found is None or found[1].decode() != sha256_of(source):
        raise DatabaseRefused(
            f"{source}: the file has changed since it was backed up, its SHA-256 is not in {beside.name}; "
            f"take another backup, or remove the {CHECKSUM} file to restore this one as it is"
        )
    return True


def require_journal(file: Path, *, is_to_be_sound: bool = False) -> None:
    """Raises DatabaseRefused unless it is a journal that this release can open."""
    if not file.is_file():
        raise DatabaseRefused(f"{file}: there is no such file")
    try:
        if ask(file.resolve(), version_at_once) == 0:
            raise DatabaseRefused("the file is empty")
        if is_to_be_sound:
            ask(file.resolve(), require_sound)
    except (sqlite3.Error, DatabaseRefused) as error:
        raise DatabaseRefused(f"{file}: {error}") from error


def version_at_once(db: sqlite3.Connection) -> int:
    db.execute("BEGIN")
    return known_version(db)


def fold_log(file: Path) -> None:
    """Have all of it in the one file; what is too damaged for that is left as it is."""
    try:
        with closing(connect(file)) as opened:
            opened.execute("PRAGMA journal_mode = DELETE").fetchone()
            opened.execute("BEGIN EXCLUSIVE")  # without a log the mode changes under others, too
            opened.execute("ROLLBACK")
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in IN_USE:
            raise DatabaseRefused(f"{file}: another command is at work on it; try again") from None


def keep(file: Path, kept: Path) -> None:
    """A second name for the file, so that at every moment there is one under the first."""
    try:
        os.link(file, kept)
    except OSError:  # a file system without such names
        part = kept.with_name(f"{PREFIX}{kept.name}{SUFFIX}")
        shutil.copyfile(file, part)
        shutil.copymode(file, part)
        sync(part)
        part.rename(kept)


def move_logs(file: Path, kept: Path) -> None:
    """SQLite would apply a log that stayed to the file that comes into the place."""
    for suffix in ("-wal", "-journal"):
        with suppress(FileNotFoundError):
            file.with_name(file.name + suffix).replace(kept.with_name(kept.name + suffix))
    file.with_name(f"{file.name}-shm").unlink(missing_ok=True)
