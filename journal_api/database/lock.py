"""The lock that the one server of a database holds, for as long as it runs."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from journal_api.database.journal_file import file_at, leave_one_name
from journal_api.errors import DatabaseRefused

log = logging.getLogger("journal_api")

# A check of the database holds the lock for a moment.
MOMENT = 0.2  # seconds
LOOK = 0.5  # seconds between two looks at whether the lock is there


def process_lock(db: Path) -> FileLock:
    """By the real name, so that a link leads to the same lock."""
    return FileLock(f"{db.resolve()}.lock", mode=0o600)


@contextmanager
def without_server(db: Path) -> Iterator[None]:
    """No other server runs on that journal during the block; raises DatabaseRefused when one does.

    A journal with a second name is refused: a server could run under that one.
    """
    lock = process_lock(db)
    try:
        lock.acquire(timeout=MOMENT)
    except Timeout:
        raise DatabaseRefused(f"a server has {db} open; stop it first") from None
    try:
        leave_one_name(db.resolve())
        yield
    finally:
        lock.release()


@contextmanager
def guarding_lock(db: Path, lost: Callable[[], object]) -> Iterator[None]:
    """Inside `without_server`: whoever deletes the file of the lock lets no second server in.

    It is made and taken again; `lost` is called, in another thread, when another server was faster.
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
    place = Path(process_lock(db).lock_file)
    ours = file_at(place)
    with ExitStack() as held:
        while not is_over.wait(LOOK):
            if file_at(place) == ours:
                continue
            lock = process_lock(db)
            try:
                lock.acquire(timeout=0)
            except Timeout:
                lost()
                return
            except OSError as error:
                log.warning("%s was deleted and cannot be made again: %s", place.name, error)
                continue
            held.callback(lock.release)
            ours = file_at(place)
            log.warning("%s was deleted while the service runs: made again", place.name)
