"""Conditional requests: ETag, If-Match and If-None-Match (RFC 9110 §13, DECISIONS 39)."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from aiosqlite import Connection
from starlette.requests import Request

from journal_api.database.transactions import Transactions
from journal_api.errors import NotFound, PreconditionFailed
from journal_api.web.responses import Envelope, NotModified, Response

# The list of entity tags in both headers: RFC 9110 §8.8.3 and §5.6.1.
ENTITY_TAG = r'(?:W/)?"[!#-~\x80-\xff]*"'
ENTITY_TAGS = re.compile(rf"[ \t,]*(?:{ENTITY_TAG}[ \t]*(?:,[ \t,]*|\Z))+")
TAG = re.compile(ENTITY_TAG)


def with_etag(request: Request, response: Response) -> Response:
    """The response with an ETag header, or a 304 if If-None-Match lists that ETag."""
    if not isinstance(response, Envelope):
        return response
    etag = response.etag
    if request.method in ("GET", "HEAD") and matches(etag, header_of(request, "if-none-match"), weak=True):
        return NotModified({"ETag": etag})
    return response.with_headers({"ETag": etag})


class ConditionalTransactions:
    """The database of a request with If-Match or If-None-Match: each write transaction checks them first.

    `current` returns the GET response for the object, as the transaction sees it, or raises NotFound.
    """

    def __init__(
        self,
        database: Transactions,
        request: Request,
        current: Callable[[Connection], Awaitable[Response]],
    ) -> None:
        self._database, self._request, self._current = database, request, current
        self.reader, self.slow_reader = database.reader, database.slow_reader
        self.read_transaction = database.read_transaction

    @asynccontextmanager
    async def transaction(self, *, commit: bool = True) -> AsyncIterator[Connection]:
        """Begin a transaction. Raises NotFound or PreconditionFailed before the block runs.

        An object that does not exist meets If-None-Match: the block may create it.
        """
        async with self._database.transaction(commit=commit) as db:
            await self._check(db)
            yield db

    async def _check(self, db: Connection) -> None:
        try:
            current = await self._current(db)
        except NotFound:
            if "if-match" in self._request.headers:
                raise
            return
        assert isinstance(current, Envelope), "what can be changed is read as JSON"
        check_conditions(self._request, current.etag)


class OpenTransaction:
    """The database of a GET that runs inside an open transaction and reads what the transaction sees."""

    def __init__(self, db: Connection) -> None:
        self.reader = self.slow_reader = db

    @asynccontextmanager
    async def transaction(self, *, commit: bool = True) -> AsyncIterator[Connection]:
        """Join the open transaction, whose owner commits it."""
        assert commit, "a part of a transaction cannot be rolled back by itself"
        yield self.reader

    @asynccontextmanager
    async def read_transaction(self) -> AsyncIterator[Connection]:
        yield self.reader


def is_conditional(request: Request) -> bool:
    return "if-match" in request.headers or "if-none-match" in request.headers


def check_conditions(request: Request, etag: str) -> None:
    """Compare the current ETag with If-Match and If-None-Match. Raises PreconditionFailed."""
    if_match, if_none_match = header_of(request, "if-match"), header_of(request, "if-none-match")
    if if_match is not None and not matches(etag, if_match, weak=False):
        raise PreconditionFailed
    if matches(etag, if_none_match, weak=True):
        raise PreconditionFailed


def header_of(request: Request, name: str) -> str | None:
    """The value of a list header, its lines joined; None if the request does not have it."""
    lines = request.headers.getlist(name)
    return ", ".join(lines) if lines else None


def matches(etag: str, header: str | None, *, weak: bool) -> bool:
    """Whether the header lists the ETag; `*` matches any. Weak tags match only if `weak` is set.

    A header that is not a list of entity tags matches nothing.
    """
    if header is None:
        return False
    if header.strip(" \t") == "*":
        return True
    if not ENTITY_TAGS.fullmatch(header):
        return False
    return any(etag == (tag.removeprefix("W/") if weak else tag) for tag in TAG.findall(header))
