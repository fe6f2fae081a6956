"""The threads in which files are read: a few for each user, and each ends soon once nobody waits for it.

A thread cannot be cancelled. So whatever goes through a whole file calls `look` every now and then.
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
# Who has more files read at once waits for the own ones, and nobody else does.
THREADS_OF_A_USER = 2
Limiters = defaultdict[int, CapacityLimiter]
_limiters: RunVar[Limiters] = RunVar("journal_api.trade_files.threads")
_given_up: ContextVar[Event | None] = ContextVar("given_up", default=None)


class GivenUp(Exception):
    """Nobody waits for what this thread does: the client has gone, or the server stops."""


async def in_thread(user_id: int, work: Callable[[], T]) -> T:
    """What `work` returns. When this is cancelled, the next `look` of the thread raises GivenUp."""
    given_up = Event()

    def watched() -> T:
        _given_up.set(given_up)  # in the thread's own copy of the context
        return work()

    try:
        return await anyio.to_thread.run_sync(watched, abandon_on_cancel=True, limiter=limiter_of(user_id))
    finally:
        given_up.set()


def limiter_of(user_id: int) -> CapacityLimiter:
    try:
        limiters = _limiters.get()
    except LookupError:
        limiters = defaultdict(lambda: CapacityLimiter(THREADS_OF_A_USER))
        _limiters.set(limiters)
    return limiters[user_id]


def look() -> None:
    """Raises GivenUp when nobody waits any more for what this thread does."""
    given_up = _given_up.get()
    if given_up is not None and given_up.is_set():
        raise GivenUp


def looking_around(items: Iterable[T]) -> Iterator[T]:
    """The items, with a `look` before every thousandth. Raises GivenUp."""
    for number, item in enumerate(items):
        if not number % 1000:
            look()
        yield item
