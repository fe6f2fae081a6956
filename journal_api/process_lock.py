"""The lock that the one server of a database holds, for as long as it runs."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from journal_api.errors import DatabaseRefused

# A check of the database holds the lock for a moment.
MOMENT = 0.2  # seconds


def process_lock(db: Path) -> FileLock:
    """By the real name, so that a link leads to the same lock."""
    return FileLock(f"{db.resolve()}.lock", mode=0o600)


@contextmanager
def without_server(db: Path) -> Iterator[None]:
    """No other server runs on that journal during the block; raises DatabaseRefused when one does."""
    lock = process_lock(db)
    try:
        lock.acquire(timeout=MOMENT)
    except Timeout:
        raise DatabaseRefused(f"a server has {db} open; stop it first") from None
    try:
        yield
    finally:
        lock.release()
