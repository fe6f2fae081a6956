"""A transaction that several parts of a request share (Idempotency-Key)."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager

from aiosqlite import Connection

from journal_api.database.database import Database
from journal_api.database.transactions import T, Work


class JoinedTransaction:
    """A database whose first transaction stays open after its block, and later ones join it.

    The transaction ends when `stack` is closed. `begun` is its connection, None before it begins. `on_begin`
    is called first inside it.
    """

    def __init__(
        self,
        database: Database,
        stack: AsyncExitStack,
        on_begin: Callable[[Connection], Awaitable[None]],
    ) -> None:
        self._database, self._stack, self._on_begin = database, stack, on_begin
        self.reader, self.slow_reader = database.reader, database.slow_reader
        self.read_transaction = database.read_transaction
        self.begun: Connection | None = None

    async def write(self, work: Work[T], *, commit: bool = True) -> T:
        """Run `work` in the shared transaction, on the event loop; a dry run has one of its own."""
        async with self.transaction(commit=commit) as db:
            return await work(db)

    @asynccontextmanager
    async def transaction(self, *, commit: bool = True) -> AsyncIterator[Connection]:
        if not commit:  # a dry run gets a transaction of its own
            async with self._database.transaction(commit=False) as db:
                yield db
            return
        if self.begun is None:
            self.begun = await self._stack.enter_async_context(self._database.transaction())
            await self._on_begin(self.begun)
        try:
            yield self.begun
        except BaseException as error:
            # Roll back now: the caller may handle the exception and go on without the write lock.
            self.begun = None
            await self._stack.__aexit__(type(error), error, error.__traceback__)
            raise
