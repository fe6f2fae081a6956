"""Responses of GET operations, kept in memory until anybody writes to the journal (DECISIONS 29)."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Literal

from starlette.requests import Request

from journal_api.database import calendars
from journal_api.database.database import Database
from journal_api.values.clock import now
from journal_api.values.periods import Calendar, trading_day
from journal_api.web.responses import Envelope, Response

# How long a response stays valid: until the next write, or until the next write or trading day.
CacheUntil = Literal["write", "day"]
MAX_SUM = 8 * 2**20  # bytes
OVERHEAD = 1000  # bytes of an entry besides its texts

Key = tuple[int, str, bytes, str]  # user, path, query, trading days


class ResponseCache:
    """A cache of responses, least recently used first. Any write to the file, by any process, empties it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._version: int | None = None
        self._responses: OrderedDict[Key, Envelope] = OrderedDict()
        self._calendars: dict[int, list[Calendar]] = {}  # by user
        self.size = 0  # bytes

    async def find_or_make(
        self, request: Request, until: CacheUntil, make: Callable[[], Awaitable[Response]]
    ) -> Response:
        """Return the cached response to the request, or the response of `make`, which is then cached."""
        # The version is read before the response is made, so that a write in between empties the cache next time.
        version = self._database.version()
        if version is None or version != self._version:
            self._version = version
            self._responses.clear()
            self._calendars.clear()
            self.size = 0
        key = self._build_key(request, until)
        if key in self._responses:
            self._responses.move_to_end(key)
            cached = self._responses[key]
            # A client in this process that polls must not keep the event loop from its other tasks, and its
            # next request must look for writes again.
            await asyncio.sleep(0)
            return cached
        response = await make()
        if isinstance(response, Envelope) and version is not None and version == self._version:
            self._add(key, response)
        return response

    def _build_key(self, request: Request, until: CacheUntil) -> Key:
        user_id, days = request.user.id, ""
        if until == "day":
            if user_id not in self._calendars:
                self._calendars[user_id] = calendars.list_of_user(self._database.probe, user_id)
            days = " ".join(trading_day(now(), *calendar) for calendar in self._calendars[user_id])
        return user_id, request.scope["path"], request.scope["query_string"], days

    def _add(self, key: Key, response: Envelope) -> None:
        """Add a response, and drop the least recently used ones beyond MAX_SUM."""
        size = count_entry_bytes(key, response)
        if key in self._responses or size > MAX_SUM:
            return  # another request added it meanwhile, or it would replace all others
        self._responses[key] = response.with_headers({"ETag": response.etag})
        self.size += size
        while self.size > MAX_SUM:
            self.size -= count_entry_bytes(*self._responses.popitem(last=False))


def count_entry_bytes(key: Key, response: Envelope) -> int:
    """Return about how many bytes of memory an entry takes."""
    _, path, query, _ = key
    return len(path) + len(query) + len(response.content) + len(response.pagination) + OVERHEAD
