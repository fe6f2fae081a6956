"""The connection that writes: a transaction runs in its thread as one call, or as a call a statement."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import Any, Literal

import aiosqlite

from journal_api.database.transactions import T, Work
from journal_api.errors import Busy

End = Literal["COMMIT", "ROLLBACK"]


class Turn:
    """A transaction that waits for the thread: either the thread begins it, or its request gives it up.

    `has_ended_well` is set after COMMIT or ROLLBACK has succeeded, together with the result.
    """

    def __init__(self) -> None:
        self._claim = threading.Lock()  # acquired by the first of the two, and never released
        self._is_given_up = False
        self.is_cancelled = False
        self.has_ended_well = False
        self.result: Any = None

    def begin(self) -> bool:
        """Return whether the thread may begin the transaction."""
        return self._claim.acquire(blocking=False)

    def give_up(self) -> bool:
        """Return whether the thread will never begin the transaction."""
        self._is_given_up = self._is_given_up or self._claim.acquire(blocking=False)
        return self._is_given_up

    def time_out(self, future: asyncio.Future[Any]) -> None:
        """Refuse the request as busy, unless the thread has begun its transaction."""
        if not future.done() and self.give_up():
            future.set_exception(Busy())


class WritingConnection(aiosqlite.Connection):
    """A connection whose thread runs whole transactions (DECISIONS 28).

    The thread runs everything in the order in which it was sent. So the next transaction may be sent before
    the end of this one has returned. Relies on aiosqlite's private `_execute`, `_tx`, `_conn` and `_thread`.
    """

    def __init__(self, connector: Callable[[], sqlite3.Connection]) -> None:
        super().__init__(connector, iter_chunk_size=64)
        self.before_begin: Callable[[], None] = lambda: None  # called in the thread before each transaction
        self._turn: Turn | None = None  # the transaction that the thread runs as one call
        self._begins_until: float | None = None  # set if the next statement begins a transaction

    async def _execute(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a function in the thread. All methods of aiosqlite's Connection use this method."""
        if threading.get_ident() == self._thread.ident:
            self._require_not_cancelled()
            return fn(*args, **kwargs)
        if self._begins_until is not None:
            until, self._begins_until = self._begins_until, None
            return await self._begin_with(partial(fn, *args, **kwargs), until)
        return await super()._execute(fn, *args, **kwargs)  # type: ignore[no-untyped-call]

    async def _sent(self, turn: Turn, function: Callable[[], T], until: float) -> T:
        """Send the function to the thread, where it waits for its turn until that time of the event loop."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._tx.put_nowait((future, lambda: function() if turn.begin() else None))
        timer = loop.call_at(until, turn.time_out, future)
        try:
            return await future
        finally:
            timer.cancel()
            # An exception's traceback refers to this frame, and the future to the exception: the request's
            # body would live until the next garbage collection.
            del future

    # A transaction as one call ----------------------------------------------------------------------------

    async def run(self, work: Work[T], end: End, until: float) -> T:
        """Run a transaction as one call. Raises Busy if the thread does not begin it until that time.

        A cancelled transaction is rolled back before its next statement; this is awaited, behind what was
        sent to the thread meanwhile. If it has ended well by then, the cancellation is ignored: the response
        must not deny a write that was committed.
        """
        turn = Turn()
        try:
            return await self._sent(turn, partial(self._run, turn, work, end), until)
        except asyncio.CancelledError:
            if turn.give_up():
                raise
            turn.is_cancelled = True
            await uncancelled(self._put(lambda: None))  # which the thread reaches after the transaction
            if not turn.has_ended_well:
                raise
            result: T = turn.result
            return result

    def _run(self, turn: Turn, work: Work[T], end: End) -> T:
        self._turn = turn
        try:
            return self._or_roll_back(partial(self._transact, turn, work, end))
        finally:
            self._turn = None

    def _transact(self, turn: Turn, work: Work[T], end: End) -> T:
        turn.result = result = self._begin_and_call(lambda: finished(work(self)))
        self._require_not_cancelled()
        self._conn.execute(end)
        turn.has_ended_well = True
        return result

    def _require_not_cancelled(self) -> None:
        if self._turn is not None and self._turn.is_cancelled:
            raise asyncio.CancelledError

    # A transaction as a call a statement ------------------------------------------------------------------

    def begin(self, until: float) -> None:
        """Begin a transaction with the next statement, which raises Busy and the errors of BEGIN too."""
        self._begins_until = until

    async def _begin_with(self, function: Callable[[], Any], until: float) -> Any:
        turn = Turn()
        try:
            return await self._sent(turn, partial(self._begin_and_call, function), until)
        except BaseException:
            if turn.give_up():
                self._begins_until = until  # nothing has begun
            raise

    def _begin_and_call(self, function: Callable[[], T]) -> T:
        self.before_begin()
        self._conn.execute("BEGIN IMMEDIATE")
        return function()

    def end(self, statement: End) -> asyncio.Future[Any]:
        """Send the end of the transaction. Returns its result, which is there when the commit is durable.

        A commit that fails is rolled back in the thread, before the next transaction begins.
        """
        if self._begins_until is None:
            return self._put(partial(self._or_roll_back, partial(self._conn.execute, statement)))
        self._begins_until = None  # no statement was sent
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        future.set_result(None)
        return future

    def _or_roll_back(self, function: Callable[[], T]) -> T:
        try:
            return function()
        except BaseException:
            self._conn.rollback()
            raise

    async def abandon(self) -> None:
        """Roll back, after a statement that a cancelled request has left in the thread."""
        if self._begins_until is None:
            await self.rollback()
        self._begins_until = None

    def _put(self, function: Callable[[], Any]) -> asyncio.Future[Any]:
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._tx.put_nowait((future, function))
        return future


def finished(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end without an event loop. It may await only what never waits."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        result: T = stop.value
        return result
    coroutine.close()
    raise RuntimeError("the work of a transaction may await its connection only")


async def uncancelled(future: asyncio.Future[Any]) -> None:
    """Await a future to its end and ignore cancellations meanwhile."""
    while not future.done():
        with suppress(asyncio.CancelledError):
            await asyncio.shield(future)
    future.result()
