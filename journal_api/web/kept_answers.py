"""Answers of GET operations that are kept until anybody writes to the journal (DECISIONS 30)."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Literal

from starlette.requests import Request

from journal_api.database.database import Database
from journal_api.values.clock import now
from journal_api.values.periods import trading_day
from journal_api.web.responses import Envelope, Response

# How long an answer stays valid: until the next write, or until the next write or trading day.
KeptUntil = Literal["write", "day"]
MAX_SUM = 8 * 2**20  # bytes
OVERHEAD = 1000  # bytes of an entry besides its texts

Key = tuple[int, str, bytes, str]  # user, path, query, trading day


class KeptAnswers:
    """A cache of answers, least recently used first. Any write to the file, by any process, empties it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._version: int | None = None
        self._answers: OrderedDict[Key, Envelope] = OrderedDict()
        self.size = 0  # bytes

    async def find_or_make(
        self, request: Request, until: KeptUntil, make: Callable[[], Awaitable[Response]]
    ) -> Response:
        """Return the kept answer to the request, or the answer of `make`, which is kept if it succeeds."""
        # The version is read before the answer is made, so that a write in between empties the cache next
        # time.
        version = self._database.version()
        if version is None or version != self._version:
            self._version = version
            self._answers.clear()
            self.size = 0
        key = key_of(request, until)
        if key in self._answers:
            self._answers.move_to_end(key)
            kept = self._answers[key]
            # A client in this process that polls must not keep the event loop from its other tasks, and its
            # next request must look for writes again.
            await asyncio.sleep(0)
            return kept
        answer = await make()
        if isinstance(answer, Envelope) and version is not None and version == self._version:
            self._keep(key, answer)
        return answer

    def _keep(self, key: Key, answer: Envelope) -> None:
        """Add an answer, and drop the least recently used ones beyond MAX_SUM."""
        size = size_of(key, answer)
        if key in self._answers or size > MAX_SUM:
            return  # another request made it meanwhile, or it would replace all others
        self._answers[key] = answer.with_headers({"ETag": answer.etag})
        self.size += size
        while self.size > MAX_SUM:
            self.size -= size_of(*self._answers.popitem(last=False))


def key_of(request: Request, until: KeptUntil) -> Key:
    caller = request.user
    today = trading_day(now(), caller.timezone, caller.day_rollover) if until == "day" else ""
    return caller.id, request.scope["path"], request.scope["query_string"], today


def size_of(key: Key, answer: Envelope) -> int:
    """Return about how many bytes of memory an entry takes."""
    _, path, query, _ = key
    return len(path) + len(query) + len(answer.content) + len(answer.pagination) + OVERHEAD
