"""Rate limits: so many requests a minute a key, and few wrong keys a minute an address (DECISIONS 21)."""

import math
import time
from collections.abc import Hashable
from typing import NamedTuple

from journal_api.errors import RateLimited

BAD_KEYS_PER_MINUTE = 20
WINDOW = 60.0  # seconds
# Beyond them the oldest window is forgotten, so that many addresses do not fill the memory.
MOST_WINDOWS = 10_000


class Window(NamedTuple):
    """How many were counted since the first of them, and when that is over."""

    number: int
    ends: float


class FixedWindowLimiter:
    """Counts by fixed windows, each a minute from the first that it counts, by a clock that nobody sets."""

    def __init__(self, per_minute: int) -> None:
        self.per_minute = per_minute
        # All windows have one length, so the order in which they begin is that in which they end.
        self._windows: dict[Hashable, Window] = {}

    def count(self, counted: Hashable) -> dict[str, str]:
        """Count one more; the headers that tell how many are left. Raises RateLimited with Retry-After."""
        now = time.monotonic()
        self._forget(now)
        window = self._windows.get(counted) or Window(0, now + WINDOW)
        headers = {
            "X-RateLimit-Limit": str(self.per_minute),
            "X-RateLimit-Remaining": str(max(0, self.per_minute - window.number - 1)),
            "X-RateLimit-Reset": str(max(1, math.ceil(window.ends - now))),
        }
        if window.number >= self.per_minute:
            raise RateLimited({**headers, "Retry-After": headers["X-RateLimit-Reset"]})
        self._windows[counted] = window._replace(number=window.number + 1)
        return headers

    def _forget(self, now: float) -> None:
        """Forget windows that are over, and the oldest where there are too many."""
        while self._windows:
            oldest = next(iter(self._windows))
            if self._windows[oldest].ends > now and len(self._windows) < MOST_WINDOWS:
                return
            del self._windows[oldest]


class RateLimits:
    """The counts of this minute, in memory; each raises RateLimited."""

    def __init__(self, per_minute: int) -> None:
        self._requests = FixedWindowLimiter(per_minute)
        self._bad_keys = FixedWindowLimiter(BAD_KEYS_PER_MINUTE)

    def count_bad_key(self, address: str) -> None:
        self._bad_keys.count(address)

    def count_request(self, key_id: int) -> dict[str, str]:
        """The headers that tell how many requests the key has left."""
        return self._requests.count(key_id)
