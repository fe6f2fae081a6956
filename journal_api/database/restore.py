"""Restores a backup in place of the journal, which is kept under another name."""

import os
import re
import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

from journal_api.database import backup
from journal_api.database.check import query
from journal_api.database.connections import connect
from journal_api.database.lock import without_server
from journal_api.database.migrations import read_known_version
from journal_api.database.sqlite_errors import primary_code
from journal_api.errors import DatabaseRefused

# A client that followed the journal may have read changes that the copy does not have. So changes go on at
# a distance that no other copy has, and every earlier cursor has expired (docs/api.md#changes).
JUMP = """
    INSERT INTO {log}
    SELECT id, coalesce((SELECT max(seq) FROM {log} WHERE user_id = users.id), 0)
      + 2 + abs(random() % 1099511627776), 'me', id, 0, strftime('%Y-%m-%dT%H:%M:%f000Z', 'now')
    FROM users
    WHERE true
    ON CONFLICT (user_id, resource, id) DO UPDATE SET seq = excluded.seq, at = excluded.at"""
EXPIRE = """
    UPDATE users
    SET expired_cursor = (SELECT max(seq) - 1 FROM {log} WHERE user_id = users.id)"""
# Its name until schema 10 was another, and until schema 9 there was none.
FIND_LOG = """
    SELECT name
    FROM sqlite_schema
    WHERE type = 'table' AND name IN ('changed_objects', 'object_changes')"""


class Restored(NamedTuple):
    """The path of the previous journal, if any, and whether the checksum of the backup was verified."""

    kept: Path | None
    is_verified: bool


def restore(db: Path, source: Path) -> Restored:
    """Put a copy of `source` at `db`, or raise DatabaseRefused, OSError or sqlite3.Error and change nothing."""
    file = db.resolve()
    is_verified = verify_checksum(source)
    require_journal(source)
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with without_server(db):
        kept = backup.kept_path(file, "restore")
        with backup.copy_checked(source, kept) as copy:
            expire_cursors(copy)
            was_there = file.exists()
            if was_there:
                checkpoint(file)
                keep(file, kept)
            move_logs(file, kept)
            backup.sync(file.parent)
            copy.replace(file)
        backup.sync(file.parent)
    return Restored(kept if was_there else None, is_verified)


def verify_checksum(source: Path) -> bool:
    """Return whether there is a checksum file. Raises DatabaseRefused when the checksum differs."""
    beside = backup.checksum_path(source)
    try:
        # sha256sum writes a backslash before the checksum of a name that it escapes.
        match = re.match(rb"\\?([0-9a-f]{64}) ", beside.read_bytes())
    except FileNotFoundError:
        return False
    if match is None or match[1].decode() != backup.hash_file(source):
        raise DatabaseRefused(
            f"{source}: the file has changed since it was backed up, its SHA-256 is not in {beside.name}; "
            f"use another backup, or remove the {backup.CHECKSUM} file to restore this file anyway"
        )
    return True


def require_journal(file: Path) -> None:
    """Raise DatabaseRefused unless the file is a journal that this release can open."""
    if not file.is_file():
        raise DatabaseRefused(f"{file}: {'is a folder' if file.is_dir() else 'no such file'}")
    try:
        if query(file.resolve(), read_known_version) == 0:
            raise DatabaseRefused("the file is empty")
    except (sqlite3.Error, DatabaseRefused) as error:
        raise DatabaseRefused(f"{file}: {error}") from error


def expire_cursors(copy: Path) -> None:
    with closing(connect(copy, "rw")) as db:
        for (log,) in db.execute(FIND_LOG).fetchall():
            for statement in ("BEGIN", JUMP, EXPIRE, "COMMIT"):
                db.execute(statement.format(log=log))
    backup.sync(copy)


def checkpoint(file: Path) -> None:
    """Move the log into the file, unless it is too damaged. Raises DatabaseRefused while another process uses it."""
    try:
        with closing(connect(file, "rw", timeout=backup.BUSY_TIMEOUT)) as db:
            db.execute("PRAGMA journal_mode = DELETE").fetchone()
            db.execute("BEGIN EXCLUSIVE")  # without a log, the mode can be changed while others use the file
            db.execute("ROLLBACK")
    except sqlite3.Error as error:
        if primary_code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise DatabaseRefused(f"{file}: another command uses it; try again") from None


def keep(file: Path, kept: Path) -> None:
    """Link the file under a second name, so that there is a journal under its own name at all times."""
    try:
        os.link(file, kept)
    except OSError:  # a file system without hard links
        part = kept.with_name(f"{backup.PREFIX}{kept.name}{backup.SUFFIX}")
        shutil.copyfile(file, part)
        shutil.copymode(file, part)
        backup.sync(part)
        part.rename(kept)


def move_logs(file: Path, kept: Path) -> None:
    """Move the logs with the old file: SQLite would apply them to the restored file."""
    for suffix in ("-wal", "-journal"):
        with suppress(FileNotFoundError):
            file.with_name(file.name + suffix).replace(kept.with_name(kept.name + suffix))
    file.with_name(f"{file.name}-shm").unlink(missing_ok=True)
