"""A reader connection that sends all statements of one event loop iteration to its thread together."""

import asyncio
import sqlite3
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import aiosqlite

# Seconds after which the results of a batch are delivered without waiting for its remaining calls.
MAX_DELAY = 0.001

Call = tuple[asyncio.Future[Any], Callable[[], Any]]
Outcome = tuple[asyncio.Future[Any], Any, BaseException | None]


class BatchingConnection(aiosqlite.Connection):
    """A connection shared by many requests that sends their calls to its thread in batches.

    All calls of one event loop iteration form a batch, and their results return together: waking the thread
    costs more than most statements (DECISIONS 53). Relies on aiosqlite's private `_execute`, `_tx`,
    `_running` and `_connection`.
    """

    def __init__(self, connector: Callable[[], sqlite3.Connection]) -> None:
        super().__init__(connector, iter_chunk_size=64)
        self._calls: list[Call] = []
        self._has_batch_in_thread = False

    async def _execute(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a function in the thread. All methods of aiosqlite's Connection use this method."""
        if not self._running or not self._connection:
            raise ValueError("Connection closed")
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        self._calls.append((future, partial(fn, *args, **kwargs)))
        if not self._has_batch_in_thread:
            self._has_batch_in_thread = True
            loop.call_soon(self._send_batch, loop)
        return await future

    def _send_batch(self, loop: asyncio.AbstractEventLoop) -> None:
        calls, self._calls = self._calls, []
        self._tx.put_nowait((None, partial(self._run_batch, loop, calls)))

    def _run_batch(self, loop: asyncio.AbstractEventLoop, calls: list[Call]) -> None:
        """Run the calls. This method runs in the thread."""
        outcomes: list[Outcome] = []
        started = time.monotonic()
        for future, function in calls:
            try:
                outcomes.append((future, function(), None))
            except BaseException as error:
                outcomes.append((future, None, error))
            if time.monotonic() - started > MAX_DELAY:
                loop.call_soon_threadsafe(deliver, outcomes)
                outcomes, started = [], time.monotonic()
        loop.call_soon_threadsafe(self._finish_batch, loop, outcomes)

    def _finish_batch(self, loop: asyncio.AbstractEventLoop, outcomes: list[Outcome]) -> None:
        deliver(outcomes)
        if self._calls:
            self._send_batch(loop)
        else:
            self._has_batch_in_thread = False


def deliver(outcomes: list[Outcome]) -> None:
    """Resolve the futures of finished calls."""
    for future, result, error in outcomes:
        if future.done():
            continue  # its task was cancelled
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)
