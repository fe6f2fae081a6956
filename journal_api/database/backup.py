"""Copies of the journal, made beside whoever is at work on it, checked before they get their name."""

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

from journal_api.errors import DatabaseRefused
from journal_api.settings import Settings

log = logging.getLogger("journal_api")

STAMP = "%Y%m%dT%H%M%S.%fZ"
OURS = re.compile(r"journal-[0-9]{8}T[0-9]{6}\.[0-9]{6}Z\.db")
PATIENCE = 10.0  # seconds to wait for one who writes
LOOK = 60.0  # seconds; a longer wait would not notice that the machine was asleep
RETRY = 900.0  # seconds after a failure
PAGES = 256  # between two looks at whether to stop
CHUNK = 4 * 1024 * 1024  # likewise
GLANCE = 0.02  # seconds between two looks while SQLite is busy by itself
# Beside each backup, for `sha256sum -c` and for a restore.
CHECKSUM = ".sha256"
# A copy is called so until it has its name.
PREFIX, SUFFIX = ".journal-copy-", ".part"
STALE = 3600.0  # seconds; a copy that is at work writes far more often


def never() -> bool:
    return False


def back_up(db: Path, target: Path, *, keep: int = 0, is_stopped: Callable[[], bool] = never) -> Path:
    """Copy the journal to a new file, or under the time into an existing folder, where `keep` remain.

    Its checksum is beside it. Raises DatabaseRefused, OSError or sqlite3.Error, and leaves nothing behind.
    """
    path = target / name_at(datetime.now(UTC)) if target.is_dir() else target
    with copied(db, path, is_stopped) as copy:
        checksum = checksum_beside(copy)
        checksum.touch(mode=0o600)
        checksum.write_bytes(checksum_line(sha256_of(copy, is_stopped), path.name))
        sync(checksum)
        # In this order no backup ever has the checksum of another one, whenever this is killed.
        checksum_beside(path).unlink(missing_ok=True)
        give_name(copy, path)
        checksum.replace(checksum_beside(path))
    sync(path.parent)
    if keep and target.is_dir():
        forget_oldest(target, keep, path)
    return path


def forget_oldest(folder: Path, keep: int, newest: Path) -> None:
    """Remove all but the newest and the `keep` - 1 before it.

    Those that are named by a time to come were made while the clock was wrong, and nobody knows when: they
    count for nothing and stay.
    """
    now = name_at(datetime.now(UTC))
    others = [file for file in backups_in(folder) if file.name <= now and file != newest]
    for old in others[: max(0, len(others) - keep + 1)]:
        checksum_beside(old).unlink(missing_ok=True)
        old.unlink(missing_ok=True)


def checksum_beside(file: Path) -> Path:
    return file.with_name(file.name + CHECKSUM)


def checksum_line(sha256: str, name: str) -> bytes:
    """As sha256sum writes it."""
    plain = os.fsencode(name)
    escaped = plain.replace(b"\\", b"\\\\").replace(b"\n", b"\\n").replace(b"\r", b"\\r")
    return b"%b%b  %b\n" % (b"\\" if escaped != plain else b"", sha256.encode(), escaped)


def sha256_of(file: Path, is_stopped: Callable[[], bool] = never) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as opened:
        while part := opened.read(CHUNK):
            digest.update(part)
            require_going(is_stopped)
    return digest.hexdigest()


def name_at(time: datetime) -> str:
    """A later one sorts behind."""
    return f"journal-{time.strftime(STAMP)}.db"


def name_before(db: Path, what: str) -> Path:
    """Where the journal is kept as it was before something that is done to it now."""
    return db.with_name(f"{db.name}.before-{what}-{datetime.now(UTC).strftime(STAMP)}")


@contextmanager
def copied(db: Path, path: Path, is_stopped: Callable[[], bool] = never) -> Iterator[Path]:
    """A sound copy beside `path` on the disk, which is gone after the block unless it was renamed."""
    if path.exists():
        raise DatabaseRefused(f"{path}: is there already; a backup never overwrites")
    if not path.parent.is_dir():
        raise DatabaseRefused(f"{path.parent}: there is no such folder")
    for folder in {path.parent, db.resolve().parent}:
        clear_leftovers(folder)
    descriptor, name = tempfile.mkstemp(prefix=PREFIX, suffix=SUFFIX, dir=path.parent)  # 0600
    copy = Path(name)
    try:
        os.close(descriptor)
        with closing(connect(db)) as source, closing(connect(copy)) as made:
            copy_pages(source, made, is_stopped)
            with stopping(made, is_stopped):
                require_sound(made)
        sync(copy)
        yield copy
    finally:
        for suffix in ("", "-journal", "-wal", "-shm", CHECKSUM):
            Path(f"{name}{suffix}").unlink(missing_ok=True)


def clear_leftovers(folder: Path) -> None:
    """Remove the copies that were killed before they had a name; one may still be at work on a newer one."""
    for file in folder.glob(f"{PREFIX}*{SUFFIX}*"):
        with suppress(OSError):  # it is not ours to remove, or another backup was faster
            if time.time() - file.stat().st_mtime > STALE:
                file.unlink()


def connect(file: Path) -> sqlite3.Connection:
    """As one that may write, though it only reads: the last to close has to be able to fold the log."""
    uri = f"{file.absolute().as_uri()}?mode=rw"
    return sqlite3.connect(uri, uri=True, timeout=PATIENCE, isolation_level=None)


def copy_pages(source: sqlite3.Connection, made: sqlite3.Connection, is_stopped: Callable[[], bool]) -> None:
    """The journal as it is now, whatever is written meanwhile; raises InterruptedError when stopped.

    Page by page, because VACUUM INTO can fail on a table with generated columns in SQLite before 3.46.
    """

    # One read transaction around all steps: else each write of another process begins the copy anew.
    source.execute("BEGIN")
    source.execute("SELECT 1 FROM sqlite_schema").fetchall()
    source.backup(made, pages=PAGES, progress=lambda *_: require_going(is_stopped))
    source.execute("ROLLBACK")
    made.execute("PRAGMA journal_mode = DELETE").fetchall()  # a single file, wherever it goes


def require_going(is_stopped: Callable[[], bool]) -> None:
    if is_stopped():
        raise InterruptedError("the backup was stopped")


@contextmanager
def stopping(db: sqlite3.Connection, is_stopped: Callable[[], bool]) -> Iterator[None]:
    """Whatever statement of the block is at work when it is time to stop ends; raises InterruptedError.

    From another thread, because SQLite asks nobody while it looks through the pages of a tree.
    """
    is_over = threading.Event()

    def watch() -> None:
        while not is_over.wait(GLANCE):
            if is_stopped():
                db.interrupt()  # which is forgotten when no statement was at work just then

    watching = threading.Thread(target=watch, name="backup-stop", daemon=True)
    watching.start()
    try:
        yield
    except (sqlite3.Error, DatabaseRefused):
        require_going(is_stopped)
        raise
    finally:
        is_over.set()
        watching.join()
    require_going(is_stopped)


def require_sound(db: sqlite3.Connection) -> None:
    """Raises DatabaseRefused when a page is damaged or a row points nowhere."""
    ((found, *_), *_) = db.execute("PRAGMA integrity_check").fetchall()
    if found != "ok":
        raise DatabaseRefused(f"the journal is damaged: {found}")
    if db.execute("PRAGMA foreign_key_check").fetchone():
        raise DatabaseRefused("the journal holds rows that point nowhere")


def give_name(file: Path, name: Path) -> None:
    """A second name, because that never takes the place of another file; raises FileExistsError."""
    try:
        os.link(file, name)
    except FileExistsError:
        raise
    except OSError:  # a file system without such names
        file.rename(name)


def sync(path: Path) -> None:
    """Have the disk hold what the file, or the folder, holds."""
    if sys.platform == "win32" and path.is_dir():
        return  # it cannot be opened there
    descriptor = os.open(path, os.O_RDWR if path.is_file() else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def backups_in(folder: Path) -> list[Path]:
    """Those named by their time, the oldest first; whatever has another name is not ours."""
    return sorted(file for file in folder.iterdir() if OURS.fullmatch(file.name))


@asynccontextmanager
async def on_schedule(settings: Settings) -> AsyncIterator[None]:
    """While the block runs, backups are made as the settings say."""
    if settings.backup_dir is None:
        yield
        return
    stop = threading.Event()
    work = asyncio.create_task(asyncio.to_thread(keep_backed_up, settings, settings.backup_dir, stop))
    try:
        yield
    finally:
        stop.set()
        await work


def keep_backed_up(settings: Settings, folder: Path, stop: threading.Event) -> None:
    """Make a backup whenever the newest is too old; a failure is logged and tried again later."""
    every = settings.backup_every
    wait = 0.0
    while not stop.wait(wait):
        wait = min(every.total_seconds(), LOOK)
        try:
            if is_due(folder, every):
                back_up(settings.db, folder, keep=settings.backup_keep, is_stopped=stop.is_set)
        except Exception as error:  # whatever it is, the server goes on
            wait = min(every.total_seconds(), RETRY)
            if not stop.is_set():
                log.error("no backup in %s: %s", folder, " ".join(str(error).split()))


def is_due(folder: Path, every: timedelta) -> bool:
    """Whether none was made in that time. One from the future, of a clock that was wrong, does not count."""
    now = datetime.now(UTC)
    return not any(name_at(now - every) < file.name <= name_at(now) for file in backups_in(folder))
