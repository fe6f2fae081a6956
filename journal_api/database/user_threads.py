"""Threads that read files: a few per user, which stop when their task is cancelled."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from threading import Event

import anyio.to_thread
from anyio import CapacityLimiter
from anyio.lowlevel import RunVar

from journal_api.database.thread_connection import T, cancelled_by, raise_if_cancelled

# Further files of the same user wait; files of other users do not.
THREADS_OF_A_USER = 2
Limiters = defaultdict[int, CapacityLimiter]
_limiters: RunVar[Limiters] = RunVar("journal_api.database.user_threads")


async def in_thread(user_id: int, function: Callable[[], T]) -> T:
    """Call a function in a thread and return its result.

    When this is cancelled, the next `raise_if_cancelled` in the thread raises CancelledError.
    """
    cancelled = Event()

    def run() -> T:
        with cancelled_by(cancelled):
            return function()

    try:
        return await anyio.to_thread.run_sync(run, abandon_on_cancel=True, limiter=find_limiter(user_id))
    finally:
        cancelled.set()


async def at_once(function: Callable[[], T]) -> T:
    """Call a function in the writer's thread, which the transaction has."""
    return function()


def find_limiter(user_id: int) -> CapacityLimiter:
    """Return the limiter of the user's threads in this event loop."""
    try:
        limiters = _limiters.get()
    except LookupError:
        limiters = defaultdict(lambda: CapacityLimiter(THREADS_OF_A_USER))
        _limiters.set(limiters)
    return limiters[user_id]


def with_cancel_checks(items: Iterable[T]) -> Iterator[T]:
    """Yield the items and call `raise_if_cancelled` before every thousandth."""
    for number, item in enumerate(items):
        if not number % 1000:
            raise_if_cancelled()
        yield item
