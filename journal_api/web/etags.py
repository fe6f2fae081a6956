"""Conditional requests: ETag, If-Match and If-None-Match (RFC 9110 §13, DECISIONS 39)."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from aiosqlite import Connection
from starlette.requests import Request

from journal_api.database.database import Database
from journal_api.errors import PreconditionFailed
from journal_api.web.responses import Envelope, NotModified, Response

# The list of entity tags that both headers hold: RFC 9110 §8.8.3 and §5.6.1.
ENTITY_TAG = r'(?:W/)?"[!#-~\x80-\xff]*"'
ENTITY_TAGS = re.compile(rf"[ \t,]*(?:{ENTITY_TAG}[ \t]*(?:,[ \t,]*|\Z))+")
TAG = re.compile(ENTITY_TAG)


def with_etag(request: Request, response: Response) -> Response:
    """The answer with its ETag, or 304 if the client has it."""
    if not isinstance(response, Envelope):
        return response
    tag = response.etag
    if request.method in ("GET", "HEAD") and is_one_of(tag, sent_as(request, "if-none-match"), weak=True):
        return NotModified({"ETag": tag})
    response.headers = {**response.headers, "ETag": tag}
    return response


class Conditional:
    """The database to an operation that came with a condition, which every transaction of it checks first.

    `current` answers what the client may have read, out of the transaction; it raises NotFound.
    """

    def __init__(
        self, database: Database, request: Request, current: Callable[[Connection], Awaitable[Response]]
    ) -> None:
        self._database, self._request, self._current = database, request, current
        self.reader, self.slow_reader = database.reader, database.slow_reader
        self.read_transaction = database.read_transaction

    @asynccontextmanager
    async def transaction(self, *, commit: bool = True) -> AsyncIterator[Connection]:
        """Raises NotFound or PreconditionFailed before anything of the block is done."""
        async with self._database.transaction(commit=commit) as db:
            current = await self._current(db)
            assert isinstance(current, Envelope), "what can be changed is read as JSON"
            check(self._request, current.etag)
            yield db


class Within:
    """The database to a GET that is asked inside a transaction: it reads what the transaction sees."""

    def __init__(self, db: Connection) -> None:
        self.reader = self.slow_reader = db


def is_conditional(request: Request) -> bool:
    return "if-match" in request.headers or "if-none-match" in request.headers


def check(request: Request, tag: str) -> None:
    """Hold the request to what is there now. Raises PreconditionFailed."""
    wanted, unwanted = sent_as(request, "if-match"), sent_as(request, "if-none-match")
    if wanted is not None and not is_one_of(tag, wanted, weak=False):
        raise PreconditionFailed
    if is_one_of(tag, unwanted, weak=True):
        raise PreconditionFailed


def sent_as(request: Request, name: str) -> str | None:
    """The header, whose lines are one list; None without it."""
    lines = request.headers.getlist(name)
    return ", ".join(lines) if lines else None


def is_one_of(tag: str, sent: str | None, *, weak: bool) -> bool:
    """Whether the tag is one of those sent; `*` is any. Weak ones count only where `weak`.

    What is no list of entity tags names none.
    """
    if sent is None:
        return False
    if sent.strip(" \t") == "*":
        return True
    if not ENTITY_TAGS.fullmatch(sent):
        return False
    return any(tag == (one.removeprefix("W/") if weak else one) for one in TAG.findall(sent))
