"""Runs whole functions in the thread of a connection, and cancels them between two of their steps."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from typing import Any, Generic, TypeVar

import aiosqlite
from msgspec import Struct
from msgspec.json import Decoder

T = TypeVar("T")
# What runs in the thread of a connection: it may await this connection only.
Work = Callable[[aiosqlite.Connection], Coroutine[Any, Any, T]]

_cancelled: ContextVar[threading.Event | None] = ContextVar("cancelled", default=None)


def resolve_structs(base: type[Struct] = Struct) -> None:
    """Let msgspec resolve what the structs of this package have, before threads decode them.

    If two threads decode a struct for the first time at once, one reads what the other has not written yet, and the
    process crashes (msgspec 0.22).
    """
    for struct in base.__subclasses__():
        if struct.__module__.startswith("journal_api."):
            with suppress(TypeError):  # one that is never decoded
                Decoder(struct)
        resolve_structs(struct)


class ThreadConnection(aiosqlite.Connection):
    """A connection whose thread can run a whole function, each statement of it a plain call (DECISIONS 27).

    Waking two threads for each statement costs more than the statements. Relies on aiosqlite's private
    `_execute`, through which all its methods reach the thread, and on `_thread`: a connection that was not
    closed must not keep the process alive. tests/database/test_writes.py notices when they change.
    """

    def __init__(self, connector: Callable[[], sqlite3.Connection]) -> None:
        super().__init__(connector, iter_chunk_size=64)
        self._thread.daemon = True
        self._running_in: int | None = None  # the id of the thread while it runs a function
        self._is_attached = False  # whether the function has a second database

    async def _execute(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a function in the thread, at once if this is the thread."""
        if threading.get_ident() != self._running_in:
            return await super()._execute(fn, *args, **kwargs)  # type: ignore[no-untyped-call]
        raise_if_cancelled()
        return fn(*args, **kwargs)

    async def run(self, work: Work[T]) -> T:
        """Run `work` in the thread. If this is cancelled, the thread goes on."""
        result: T = await self._execute(self._call, work)
        return result

    def _call(self, work: Work[T]) -> T:
        self._running_in = threading.get_ident()
        try:
            return run_without_loop(work(self))
        finally:
            self._running_in = None
            if self._is_attached:
                self._is_attached = False
                self._conn.execute("DETACH staged")

    async def attach(self, uri: str) -> None:
        """Attach a second database as `staged`, until the function that runs in the thread ends."""
        await self.execute_fetchall("ATTACH ? AS staged", [uri])
        self._is_attached = True

    async def transact(self, work: Work[T], *, commit: bool) -> T:
        """Run `work` in the thread as one transaction, which is rolled back after any exception.

        If this is cancelled, the transaction stops before its next statement, and this waits for its end.
        If COMMIT has begun by then, the cancellation is ignored: the response must not deny the write.
        """
        cancelled = threading.Event()
        outcome: Outcome[T] = Outcome()
        call = partial(self._call, partial(_transaction, work, commit))
        try:
            await self._execute(outcome.note, cancelled, call)
        except asyncio.CancelledError:
            cancelled.set()
            # The thread reaches this call after the transaction.
            await finish(asyncio.ensure_future(self._execute(lambda: None)))
        return outcome.take()


async def _transaction(work: Work[T], commit: bool, db: aiosqlite.Connection) -> T:
    try:
        await db.execute_fetchall("BEGIN IMMEDIATE")
        result = await work(db)
        await db.execute_fetchall("COMMIT" if commit else "ROLLBACK")
    except BaseException:
        _cancelled.set(None)  # nothing stops the rollback
        await db.rollback()
        raise
    return result


class Outcome(Generic[T]):
    """What a call returned or raised, without the reference cycle that would keep the request's body in memory."""

    result: T
    error: BaseException | None = None

    def note(self, cancelled: threading.Event, call: Callable[[], T]) -> None:
        try:
            with cancelled_by(cancelled):
                self.result = call()
        except BaseException as error:
            self.error = error

    def take(self) -> T:
        """Return the result or raise the exception, and forget the exception."""
        error, self.error = self.error, None
        try:
            if error is not None:
                raise error
            return self.result
        finally:
            del error


@contextmanager
def cancelled_by(event: threading.Event) -> Iterator[None]:
    """Let `raise_if_cancelled` raise in this thread during the block once the event is set."""
    token = _cancelled.set(event)
    try:
        yield
    finally:
        _cancelled.reset(token)


def raise_if_cancelled() -> None:
    """Raise CancelledError in a thread for which nobody waits any more. Loops over a whole file call it regularly."""
    cancelled = _cancelled.get()
    if cancelled is not None and cancelled.is_set():
        raise asyncio.CancelledError


def run_without_loop(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that awaits only what never waits, without an event loop."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        result: T = stop.value
        return result
    coroutine.close()
    raise RuntimeError("the work of a transaction may await its connection only")


async def finish(future: asyncio.Future[T]) -> T:
    """Return the result of a future; a cancellation meanwhile is ignored."""
    while not future.done():
        with suppress(asyncio.CancelledError):
            await asyncio.shield(future)
    return future.result()
