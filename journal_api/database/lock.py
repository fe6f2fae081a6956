"""The lock file that a server holds while it runs, so that a database has one server only."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from journal_api.errors import DatabaseRefused

# Seconds to wait for the lock: `journal-api check` holds it for a moment.
LOCK_TIMEOUT = 0.2


def process_lock(db: Path) -> FileLock:
    """Return the lock of a database, by its resolved name, so that symbolic links lead to the same lock."""
    return FileLock(f"{db.resolve()}.lock", mode=0o600)


@contextmanager
def without_server(db: Path) -> Iterator[None]:
    """Hold the server lock during the block. Raises DatabaseRefused when a server runs."""
    lock = process_lock(db)
    try:
        lock.acquire(timeout=LOCK_TIMEOUT)
    except Timeout:
        raise DatabaseRefused(f"a server has {db} open; stop it first") from None
    try:
        yield
    finally:
        lock.release()
