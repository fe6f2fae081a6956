"""Rate limits: so many requests a minute a key, and few wrong keys a minute an address (DECISIONS 21)."""

import math
import time

from limits import RateLimitItem, RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import FixedWindowRateLimiter

from journal_api.errors import RateLimited

BAD_KEYS_PER_MINUTE = 20


class Rates:
    """The counts of this minute, in memory; raises RateLimited with Retry-After."""

    def __init__(self, per_minute: int) -> None:
        self._requests = RateLimitItemPerMinute(per_minute)
        self._bad_keys = RateLimitItemPerMinute(BAD_KEYS_PER_MINUTE)
        self._limiter = FixedWindowRateLimiter(MemoryStorage())

    def admit_address(self, address: str) -> None:
        """Turn away an address that has tried too many wrong keys, whatever key it has now."""
        if not self._limiter.test(self._bad_keys, "address", address):
            raise self._refusal(self._bad_keys, "address", address)

    def count_bad_key(self, address: str) -> None:
        self._limiter.hit(self._bad_keys, "address", address)

    def admit_key(self, key_id: int) -> dict[str, str]:
        """Count one request of the key; the headers that tell how many are left."""
        if not self._limiter.hit(self._requests, "key", str(key_id)):
            raise self._refusal(self._requests, "key", str(key_id))
        return self._headers(self._requests, "key", str(key_id))

    def _refusal(self, item: RateLimitItem, *counted: str) -> RateLimited:
        headers = self._headers(item, *counted)
        return RateLimited({**headers, "Retry-After": headers["X-RateLimit-Reset"]})

    def _headers(self, item: RateLimitItem, *counted: str) -> dict[str, str]:
        window = self._limiter.get_window_stats(item, *counted)
        return {
            "X-RateLimit-Limit": str(item.amount),
            "X-RateLimit-Remaining": str(window.remaining),
            "X-RateLimit-Reset": str(max(1, math.ceil(window.reset_time - time.time()))),
        }
