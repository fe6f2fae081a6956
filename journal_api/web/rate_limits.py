"""Rate limits: requests per minute and key, and wrong keys per minute and address (DECISIONS 6)."""

import math
import time
from collections.abc import Hashable
from typing import NamedTuple

from journal_api.errors import RateLimited

BAD_KEYS_PER_MINUTE = 20
WINDOW = 60.0  # seconds
# With more windows than this the oldest is dropped, which bounds the memory however many addresses call.
MAX_WINDOWS = 10_000


class Window(NamedTuple):
    """The number of requests in a window, and its end in seconds of the monotonic clock."""

    number: int
    ends: float


class FixedWindowLimiter:
    """Counts per subject in fixed windows of a minute; a subject's first request begins its window."""

    def __init__(self, per_minute: int) -> None:
        self.per_minute = per_minute
        # All windows have the same length, so insertion order is the order in which they end.
        self._windows: dict[Hashable, Window] = {}

    def count(self, subject: Hashable) -> dict[str, str]:
        """Count a request and return the X-RateLimit headers. Raises RateLimited with Retry-After."""
        now = time.monotonic()
        self._drop_ended(now)
        window = self._windows.get(subject) or Window(0, now + WINDOW)
        headers = {
            "X-RateLimit-Limit": str(self.per_minute),
            "X-RateLimit-Remaining": str(max(0, self.per_minute - window.number - 1)),
            "X-RateLimit-Reset": str(max(1, math.ceil(window.ends - now))),
        }
        if window.number >= self.per_minute:
            raise RateLimited({**headers, "Retry-After": headers["X-RateLimit-Reset"]})
        self._windows[subject] = window._replace(number=window.number + 1)
        return headers

    def _drop_ended(self, now: float) -> None:
        """Drop windows that have ended, and the oldest if there are MAX_WINDOWS."""
        while self._windows:
            oldest = next(iter(self._windows))
            if self._windows[oldest].ends > now and len(self._windows) < MAX_WINDOWS:
                return
            del self._windows[oldest]


class RateLimits:
    """The counters of the running minute, in memory: requests by key, wrong keys by address."""

    def __init__(self, per_minute: int) -> None:
        self.requests = FixedWindowLimiter(per_minute)
        self.bad_keys = FixedWindowLimiter(BAD_KEYS_PER_MINUTE)
