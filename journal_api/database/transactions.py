"""The part of the database that handlers use, as a protocol."""

from contextlib import AbstractAsyncContextManager
from typing import Protocol

from aiosqlite import Connection


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

    def transaction(self, *, commit: bool = True) -> AbstractAsyncContextManager[Connection]:
        """A write transaction. With `commit=False`, it is rolled back even on success (dry run)."""
        ...

    def read_transaction(self) -> AbstractAsyncContextManager[Connection]:
        """A read connection of its own, whose statements all see the same state of the database."""
        ...
