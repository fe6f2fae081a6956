"""The part of the database that handlers use, as a protocol."""

from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, TypeVar

from aiosqlite import Connection

T = TypeVar("T")
# What a transaction does with its connection.
Work = Callable[[Connection], Coroutine[Any, Any, T]]


class Transactions(Protocol):
    """Read connections and transactions.

    `Database` is one. A request may carry another one that adds to its transactions: JoinedTransaction
    (Idempotency-Key), CheckedTransactions (If-Match) and OpenTransaction.
    """

    @property
    def reader(self) -> Connection:
        """A read connection for short queries."""
        ...

    @property
    def slow_reader(self) -> Connection:
        """A read connection for queries that take long in a large journal."""
        ...

    async def write(self, work: Work[T], *, commit: bool = True) -> T:
        """Run `work` as a write transaction. With `commit=False`, roll it back even on success (dry run).

        It runs in the writer's thread: it may await its connection, and nothing that needs the event loop.
        """
        ...

    def transaction(self, *, commit: bool = True) -> AbstractAsyncContextManager[Connection]:
        """A write transaction whose block may await anything; each statement is a call of the thread."""
        ...

    def read_transaction(self) -> AbstractAsyncContextManager[Connection]:
        """A read connection of its own, whose statements all see the same state of the database."""
        ...
