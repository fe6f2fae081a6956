"""Threads that read files: a few per user, which stop when their task is cancelled.

A thread cannot be cancelled, so loops over a whole file call `raise_if_cancelled` regularly.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from threading import Event
from typing import TypeVar

import anyio.to_thread
from anyio import CapacityLimiter
from anyio.lowlevel import RunVar

T = TypeVar("T")
# Further files of the same user wait; files of other users do not.
THREADS_OF_A_USER = 2
# In place of a user's id, for the one import that holds the write lock: it must not wait for other files.
WRITER = 0
Limiters = defaultdict[int, CapacityLimiter]
_limiters: RunVar[Limiters] = RunVar("journal_api.trade_files.threads")
_cancelled: ContextVar[Event | None] = ContextVar("cancelled", default=None)


class ThreadCancelled(Exception):
    """The task that waits for this thread was cancelled: the client disconnected, or the server stops."""


async def in_thread(user_id: int, function: Callable[[], T]) -> T:
    """Call a function in a thread and return its result.

    When this is cancelled, the next `raise_if_cancelled` in the thread raises ThreadCancelled.
    """
    cancelled = Event()

    def run() -> T:
        _cancelled.set(cancelled)  # in the thread's own copy of the context
        return function()

    try:
        return await anyio.to_thread.run_sync(run, abandon_on_cancel=True, limiter=find_limiter(user_id))
    finally:
        cancelled.set()


def find_limiter(user_id: int) -> CapacityLimiter:
    """Return the limiter of the user's threads in this event loop."""
    try:
        limiters = _limiters.get()
    except LookupError:
        limiters = defaultdict(lambda: CapacityLimiter(THREADS_OF_A_USER))
        _limiters.set(limiters)
    return limiters[user_id]


def raise_if_cancelled() -> None:
    """Raise ThreadCancelled when the task that waits for this thread was cancelled."""
    cancelled = _cancelled.get()
    if cancelled is not None and cancelled.is_set():
        raise ThreadCancelled


def with_cancel_checks(items: Iterable[T]) -> Iterator[T]:
    """Yield the items and call `raise_if_cancelled` before every thousandth."""
    for number, item in enumerate(items):
        if not number % 1000:
            raise_if_cancelled()
        yield item
