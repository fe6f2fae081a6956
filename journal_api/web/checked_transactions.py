"""What every write transaction of a request does besides the handler's block."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from aiosqlite import Connection
from starlette.requests import Request

from journal_api.database.transactions import T, Transactions, Work
from journal_api.errors import NotFound
from journal_api.structs.dry_run import DryRunQuery
from journal_api.web.auth import require_still_valid
from journal_api.web.context import query_of
from journal_api.web.etags import check_conditions, is_conditional
from journal_api.web.responses import Envelope, Response
from journal_api.web.sent_back import check_sent_back, has_sent_back


class CheckedTransactions:
    """The database of a write request: each write transaction first looks at the key and the stored object.

    It checks that the key is still valid, If-Match, If-None-Match and the read-only members of a PATCH.
    `current` returns the GET response for the object, as the transaction sees it, or raises NotFound. A dry
    run rolls back.
    """

    def __init__(
        self,
        database: Transactions,
        request: Request,
        current: Callable[[Connection], Awaitable[Response]],
    ) -> None:
        self._database, self._request, self._current = database, request, current
        self._is_kept = not query_of(request, DryRunQuery).dry_run
        self.reader, self.slow_reader = database.reader, database.slow_reader
        self.read_transaction = database.read_transaction

    async def write(self, work: Work[T], *, commit: bool = True) -> T:
        """Run a transaction.

        Raises Unauthorized, NotFound, PreconditionFailed or ValidationFailed before `work` runs. An object
        that does not exist meets If-None-Match: `work` may create it.
        """

        async def checked(db: Connection) -> T:
            await self._check(db)
            return await work(db)

        return await self._database.write(checked, commit=commit and self._is_kept)

    @asynccontextmanager
    async def transaction(self, *, commit: bool = True) -> AsyncIterator[Connection]:
        """Begin a transaction, after the same check as `write`."""
        async with self._database.transaction(commit=commit and self._is_kept) as db:
            await self._check(db)
            yield db

    async def _check(self, db: Connection) -> None:
        await require_still_valid(db, self._request.user)
        if not (is_conditional(self._request) or has_sent_back(self._request)):
            return
        try:
            current = await self._current(db)
        except NotFound:
            if "if-match" in self._request.headers or has_sent_back(self._request):
                raise
            return
        assert isinstance(current, Envelope), "what can be changed is read as JSON"
        check_conditions(self._request, current.etag)
        check_sent_back(self._request, current)


class OpenTransaction:
    """The database of a GET that runs inside an open transaction and reads what the transaction sees."""

    def __init__(self, db: Connection) -> None:
        self.reader = self.slow_reader = db

    async def write(self, work: Work[T], *, commit: bool = True) -> T:
        """Run `work` in the open transaction, whose owner commits it."""
        async with self.transaction(commit=commit) as db:
            return await work(db)

    @asynccontextmanager
    async def transaction(self, *, commit: bool = True) -> AsyncIterator[Connection]:
        """Join the open transaction, whose owner commits it."""
        assert commit, "a part of a transaction cannot be rolled back by itself"
        yield self.reader

    @asynccontextmanager
    async def read_transaction(self) -> AsyncIterator[Connection]:
        yield self.reader
