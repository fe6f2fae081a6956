"""Backups of the journal: consistent copies, made while it is in use and checked before they are named."""

import asyncio
import hashlib
import logging
import os
import re
import sqlite3
import sys
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from journal_api.database.connections import connect
from journal_api.database.lock import require_log_of_server
from journal_api.database.sqlite_errors import primary_code
from journal_api.errors import DatabaseRefused, NoJournal
from journal_api.settings import Settings

log = logging.getLogger("journal_api")

STAMP = "%Y%m%dT%H%M%S.%fZ"
BACKUP_NAME = re.compile(r"journal-[0-9]{8}T[0-9]{6}\.[0-9]{6}Z\.db")
BUSY_TIMEOUT = 10.0  # seconds to wait for a writer
PAGES = 256  # copied between two checks for a stop
STOP_INTERVAL = 0.02  # seconds between two checks for a stop during one long statement
INTERVAL = 60.0  # seconds between two looks for an old backup; a longer wait would not notice a suspended machine
RETRY = 900.0  # seconds after a scheduled backup failed
# The suffix of the checksum file beside each backup, for `sha256sum -c` and for a restore.
CHECKSUM = ".sha256"
# The name of a copy until it gets its final name.
PREFIX, SUFFIX = ".journal-copy-", ".part"
STALE = 3600.0  # seconds; a copy in progress is written far more often


Report = Callable[[float], None]  # gets the share of the pages that are copied, 0 to 1


def to_nobody(_: float) -> None:
    pass


def back_up(
    db: Path, target: Path, *, keep: int = 0, is_stopped: Callable[[], bool] = lambda: False, report: Report = to_nobody
) -> Path:
    """Copy the journal to a new file and return its path, with its checksum in a file beside it.

    If `target` is a folder, the file is named by the time, and all but the newest `keep` backups are deleted
    (0: none are). Raises DatabaseRefused, OSError or sqlite3.Error and leaves no file then.
    """
    require_log_of_server(db)
    path = target / backup_name(datetime.now(UTC)) if target.is_dir() else target
    with copy_checked(db, path, is_stopped, report) as copy:
        checksum = checksum_path(copy)
        checksum.touch(mode=0o600)
        checksum.write_bytes(os.fsencode(f"{hash_file(copy)}  {path.name}\n"))  # as sha256sum writes it
        sync(checksum)
        # In this order no backup ever has the checksum of another file, even if the process is killed here.
        checksum_path(path).unlink(missing_ok=True)
        give_name(copy, path)
        checksum.replace(checksum_path(path))
    sync(path.parent)
    if keep and target.is_dir():
        delete_oldest(target, keep, path)
    return path


def delete_oldest(folder: Path, keep: int, newest: Path) -> None:
    """Delete all backups but the newest `keep`. Those dated in the future, by a wrong clock, do not count and stay."""
    now = backup_name(datetime.now(UTC))
    others = [file for file in list_backups(folder) if file.name <= now and file != newest]
    for old in others[: max(0, len(others) - keep + 1)]:
        checksum_path(old).unlink(missing_ok=True)
        old.unlink(missing_ok=True)


def checksum_path(file: Path) -> Path:
    return file.with_name(file.name + CHECKSUM)


def hash_file(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def backup_name(time: datetime) -> str:
    """Return the name of a backup made at that time. Names sort by time."""
    return f"journal-{time.strftime(STAMP)}.db"


def kept_path(db: Path, what: str) -> Path:
    """Return where the current journal is kept before an operation that replaces it."""
    return db.with_name(f"{db.name}.before-{what}-{datetime.now(UTC).strftime(STAMP)}")


@contextmanager
def copy_checked(
    db: Path, path: Path, is_stopped: Callable[[], bool] = lambda: False, report: Report = to_nobody
) -> Iterator[Path]:
    """Yield a checked copy in the folder of `path`. It is deleted after the block unless it was renamed."""
    if path.exists():
        raise DatabaseRefused(f"{path}: already exists; a backup never overwrites a file")
    if not path.parent.is_dir():
        raise DatabaseRefused(f"{path.parent}: no such folder")
    for folder in {path.parent, db.resolve().parent}:
        clear_leftovers(folder)
    descriptor, name = tempfile.mkstemp(prefix=PREFIX, suffix=SUFFIX, dir=path.parent)  # 0600
    copy = Path(name)
    try:
        os.close(descriptor)
        try:
            # For writing even to read it: the last connection to close has to checkpoint the log.
            with closing(connect(db, "rw", timeout=BUSY_TIMEOUT)) as source, closing(connect(copy, "rw")) as target:
                copy_pages(source, target, is_stopped, report)
                with interrupt_when_stopped(target, is_stopped):
                    require_sound(target)
        except (sqlite3.Error, DatabaseRefused) as error:
            is_full = isinstance(error, sqlite3.Error) and primary_code(error) == sqlite3.SQLITE_FULL
            raise DatabaseRefused(f"{path if is_full else db}: {error}") from error
        sync(copy)
        yield copy
    finally:
        for suffix in ("", "-journal", "-wal", "-shm", CHECKSUM):
            Path(f"{name}{suffix}").unlink(missing_ok=True)


def clear_leftovers(folder: Path) -> None:
    """Delete the copies of killed processes. Newer copies may still be in progress and stay."""
    for file in folder.glob(f"{PREFIX}*{SUFFIX}*"):
        with suppress(OSError):  # no permission, or another backup deleted it first
            if time.time() - file.stat().st_mtime > STALE:
                file.unlink()


def copy_pages(
    source: sqlite3.Connection, target: sqlite3.Connection, is_stopped: Callable[[], bool], report: Report
) -> None:
    """Copy one snapshot of the journal, whatever is written meanwhile. Raises InterruptedError when stopped.

    Uses the backup API, because VACUUM INTO can fail on tables with generated columns in SQLite before 3.46.
    """
    # One read transaction around all steps: otherwise each write of another process restarts the copy.

    def on_pages(_: int, remaining: int, total: int) -> None:
        require_not_stopped(is_stopped)
        report(1 - remaining / total if total else 0)  # 0 when the first page found no room

    source.execute("BEGIN")
    source.execute("SELECT 1 FROM sqlite_schema").fetchall()
    source.backup(target, pages=PAGES, progress=on_pages)
    source.execute("ROLLBACK")
    target.execute("PRAGMA journal_mode = DELETE").fetchall()  # a single file without a log


def require_not_stopped(is_stopped: Callable[[], bool]) -> None:
    if is_stopped():
        raise InterruptedError("the backup was stopped")


@contextmanager
def interrupt_when_stopped(db: sqlite3.Connection, is_stopped: Callable[[], bool]) -> Iterator[None]:
    """Interrupt the statements of the block when the backup is stopped. Raises InterruptedError then.

    Checked in another thread, because SQLite has no callback while it checks the pages of a b-tree.
    """
    is_over = threading.Event()

    def watch() -> None:
        while not is_over.wait(STOP_INTERVAL):
            if is_stopped():
                db.interrupt()  # without effect between two statements, so it is repeated

    thread = threading.Thread(target=watch, name="backup-stop", daemon=True)
    thread.start()
    try:
        yield
    except (sqlite3.Error, DatabaseRefused):
        require_not_stopped(is_stopped)
        raise
    finally:
        is_over.set()
        thread.join()
    require_not_stopped(is_stopped)


def require_sound(db: sqlite3.Connection) -> None:
    """Raise DatabaseRefused when a page is damaged or a foreign key is violated."""
    ((result, *_), *_) = db.execute("PRAGMA integrity_check").fetchall()
    if result != "ok":
        raise NoJournal(f"the journal is damaged: {result}")
    if db.execute("PRAGMA foreign_key_check").fetchone():
        raise NoJournal("the journal has rows with dangling references")


def give_name(file: Path, name: Path) -> None:
    """Link the file under its final name. Raises FileExistsError, where a rename would overwrite."""
    try:
        os.link(file, name)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        file.rename(name)


def sync(path: Path) -> None:
    """Flush a file or a folder to the disk."""
    if sys.platform == "win32" and path.is_dir():
        return  # Windows cannot open folders
    descriptor = os.open(path, os.O_RDWR if path.is_file() else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def list_backups(folder: Path) -> list[Path]:
    """Return the backups in a folder, oldest first. Files with other names are ignored."""
    return sorted(file for file in folder.iterdir() if BACKUP_NAME.fullmatch(file.name))


@asynccontextmanager
async def back_up_on_schedule(settings: Settings) -> AsyncIterator[None]:
    """Make backups in a thread during the block, if the settings name a folder."""
    if settings.backup_dir is None:
        yield
        return
    stop = threading.Event()
    task = asyncio.create_task(asyncio.to_thread(run_schedule, settings, settings.backup_dir, stop))
    try:
        yield
    finally:
        stop.set()
        await task


def run_schedule(settings: Settings, folder: Path, stop: threading.Event) -> None:
    """Make a backup whenever the newest is too old. A failure is logged and retried later."""
    every = settings.backup_every
    wait = 0.0
    while not stop.wait(wait):
        wait = min(every.total_seconds(), INTERVAL)
        try:
            if is_due(folder, every):
                path = back_up(settings.db, folder, keep=settings.backup_keep, is_stopped=stop.is_set)
                log.info("backup %s finished", path)
        except Exception as error:  # no failure of a backup may stop the server
            wait = min(every.total_seconds(), RETRY)
            if not stop.is_set():
                log.error("backup to %s failed: %s", folder, " ".join(str(error).split()))


def is_due(folder: Path, every: timedelta) -> bool:
    """Return whether no backup was made in that time. Backups dated in the future do not count."""
    now = datetime.now(UTC)
    return not any(backup_name(now - every) < file.name <= backup_name(now) for file in list_backups(folder))
