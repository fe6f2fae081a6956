"""The lock file that a server holds while it runs, so that a database has one server only."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from journal_api.database.journal_file import file_at, require_one_name
from journal_api.errors import DatabaseRefused

log = logging.getLogger("journal_api")

# Seconds to wait for the lock: `journal-api check` holds it for a moment.
LOCK_TIMEOUT = 0.2
GUARD_INTERVAL = 0.5  # seconds between two checks that the lock file still exists


def process_lock(db: Path) -> FileLock:
    """Return the lock of a database, by its resolved name, so that symbolic links lead to the same lock."""
    return FileLock(f"{db.resolve()}.lock", mode=0o600)


@contextmanager
def without_server(db: Path) -> Iterator[None]:
    """Hold the server lock during the block. Raises DatabaseRefused when a server runs.

    A file with several hard links is refused too: a server could run under another name.
    """
    lock = process_lock(db)
    try:
        lock.acquire(timeout=LOCK_TIMEOUT)
    except Timeout:
        raise DatabaseRefused(f"a server has {db} open; stop it first") from None
    try:
        require_one_name(db.resolve())
        yield
    finally:
        lock.release()


@contextmanager
def guarding_lock(db: Path, lost: Callable[[], object]) -> Iterator[None]:
    """Recreate and lock the lock file during the block when it is deleted. Use it inside `without_server`.

    `lost` is called in another thread when another server locks the file first.
    """
    is_over = threading.Event()
    thread = threading.Thread(target=guard, args=(db, is_over, lost), name="lock", daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def guard(db: Path, is_over: threading.Event, lost: Callable[[], object]) -> None:
    """Check the lock file until `is_over`. Runs in a thread."""
    path = Path(process_lock(db).lock_file)
    locked_file = file_at(path)
    with ExitStack() as stack:
        while not is_over.wait(GUARD_INTERVAL):
            if file_at(path) == locked_file:
                continue
            lock = process_lock(db)
            try:
                lock.acquire(timeout=0)
            except Timeout:
                lost()
                return
            except OSError as error:
                log.warning("%s was deleted and cannot be created again: %s", path.name, error)
                continue
            stack.callback(lock.release)
            locked_file = file_at(path)
            log.warning("%s was deleted while the service runs: created again", path.name)
