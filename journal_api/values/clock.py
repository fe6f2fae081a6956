"""The current time, and timestamps as text in the format that is stored and returned (RFC 3339, UTC)."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache

EPOCH = datetime.fromisoformat("1970-01-01T00:00:00Z")
MICROSECOND = timedelta(microseconds=1)
SECOND = timedelta(seconds=1) // MICROSECOND


def as_text(instant: datetime) -> str:
    """Return the timestamp as UTC text with microseconds and `Z`, always of the same width."""
    return instant.astimezone(UTC).isoformat(timespec="microseconds")[:26] + "Z"


@lru_cache(maxsize=2**16)
def read_instant(text: str) -> int:
    """Return a stored timestamp in microseconds."""
    return (datetime.fromisoformat(text) - EPOCH) // MICROSECOND


def now() -> str:
    return as_text(datetime.now(UTC))


def instant_after(instant: str) -> str:
    return as_text(datetime.fromisoformat(instant) + MICROSECOND)


def now_after(instant: str) -> str:
    """Return the current time, but later than `instant`: `updated_at` increases even after the clock was set back."""
    return max(now(), instant_after(instant))
