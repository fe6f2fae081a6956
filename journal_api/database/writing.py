"""The connection that writes: a transaction begins with its first statement and ends in its thread."""

import asyncio
import sqlite3
from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import aiosqlite


class WritingConnection(aiosqlite.Connection):
    """A connection that sends BEGIN together with the first statement of the transaction (DECISIONS 97).

    Its thread runs everything in the order in which it was sent. So the next transaction may be sent before
    the end of this one has returned. Relies on aiosqlite's private `_execute`, `_tx` and `_conn`.
    """

    def __init__(self, connector: Callable[[], sqlite3.Connection]) -> None:
        super().__init__(connector, iter_chunk_size=64)
        self._begins = False  # whether the next statement begins a transaction

    def begin(self) -> None:
        """Begin a transaction with the next statement, which raises the errors of BEGIN too."""
        self._begins = True

    async def _execute(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a function in the thread. All methods of aiosqlite's Connection use this method."""
        if self._begins:
            self._begins = False
            fn, args, kwargs = self._begin_and_call, (partial(fn, *args, **kwargs),), {}
        return await super()._execute(fn, *args, **kwargs)  # type: ignore[no-untyped-call]

    def _begin_and_call(self, function: Callable[[], Any]) -> Any:
        self._conn.execute("BEGIN IMMEDIATE")
        return function()

    def end(self, statement: Literal["COMMIT", "ROLLBACK"]) -> asyncio.Future[None]:
        """Send the end of the transaction. Returns its result, which is there when the commit is durable.

        A commit that fails is rolled back in the thread, before the next transaction begins.
        """
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self._begins:  # no statement was sent
            self._begins = False
            future.set_result(None)
        else:
            self._tx.put_nowait((future, partial(self._end, statement)))
        return future

    def _end(self, statement: str) -> None:
        try:
            self._conn.execute(statement)
        except BaseException:
            self._conn.rollback()
            raise

    async def abandon(self) -> None:
        """Roll back. It runs after a statement that a cancelled request has left in the thread."""
        self._begins = False
        await self.rollback()
