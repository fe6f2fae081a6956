"""The present instant, and instants as text in the one form that is stored and answered."""

from datetime import UTC, datetime, timedelta


def as_text(instant: datetime) -> str:
    return instant.astimezone(UTC).isoformat(timespec="microseconds")[:26] + "Z"


def now() -> str:
    """This instant, in the form in which every timestamp is stored and answered."""
    return as_text(datetime.now(UTC))


def instant_after(instant: str) -> str:
    """The next instant, so that a change is later than the last one whatever the clock says."""
    return as_text(datetime.fromisoformat(instant) + timedelta(microseconds=1))


def now_after(instant: str) -> str:
    """This instant; if the clock was set back, or stands still, the next one after `instant`."""
    return max(now(), instant_after(instant))
