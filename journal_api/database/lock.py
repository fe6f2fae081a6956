"""The lock file that a server holds while it runs, so that a database has one server only."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from journal_api.errors import DatabaseRefused, ServerRuns

# Seconds to wait for the lock: `journal-api check` holds it for a moment.
LOCK_TIMEOUT = 0.2
# A server that starts or stops has no log for a moment.
LOG_TRIES, LOG_PAUSE = 40, 0.05  # seconds
LOG_DELETED = (
    "the server that has this journal open has lost its log (-wal, -shm), which was deleted or moved: stop "
    "the server, which saves what is in the log; do not kill it"
)


def process_lock(db: Path) -> FileLock:
    """Return the lock of a database, by its resolved name, so that symbolic links lead to the same lock."""
    return FileLock(f"{db.resolve()}.lock", mode=0o600)


@contextmanager
def without_server(db: Path) -> Iterator[None]:
    """Hold the server lock during the block. Raises ServerRuns."""
    try:
        lock = process_lock(db).acquire(timeout=LOCK_TIMEOUT)
    except Timeout:
        raise ServerRuns(f"a server has {db} open; stop it first") from None
    with lock:
        yield


def is_locked(db: Path) -> bool:
    lock = process_lock(db)
    if not Path(lock.lock_file).exists():
        return False
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return True
    lock.release()
    return False


def require_log_of_server(db: Path) -> None:
    """Raise DatabaseRefused if a running server lost its log: with another one, writes of either would be lost."""
    log = [Path(f"{db.resolve()}{suffix}") for suffix in ("-wal", "-shm")]
    for _ in range(LOG_TRIES):
        if all(path.exists() for path in log) or not is_locked(db):
            return
        time.sleep(LOG_PAUSE)
    raise DatabaseRefused(LOG_DELETED)
