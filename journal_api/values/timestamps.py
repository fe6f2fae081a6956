"""Timestamps of bodies and files, and how they are stored."""

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, ClassVar, Self
from zoneinfo import ZoneInfo

from journal_api.values.clock import as_text

ONE_HOUR = timedelta(hours=1)


class Timestamp(datetime):
    """An RFC 3339 timestamp; seconds may be left out, and the offset may be `-0600`.

    Without an offset it is local time in a time zone that the caller supplies.
    """

    json_schema: ClassVar[dict[str, Any]] = {"type": "string", "format": "date-time"}
    _FORM = re.compile(
        r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?"
        r"([Zz]|[+-][0-9]{2}:?[0-9]{2})?"
    )

    @classmethod
    def decode(cls, value: object) -> Self:
        if not isinstance(value, str) or not cls._FORM.fullmatch(value):
            raise ValueError("must be a time such as 2026-04-09T15:38:40Z")
        try:
            instant = cls.fromisoformat(value.upper())
        except ValueError:
            raise ValueError("is not a valid date and time") from None
        if not 1970 <= instant.year <= 2200:
            raise ValueError("must be in the years 1970 to 2200")
        return instant

    def stored(self, timezone: str) -> str:
        """Return the timestamp as UTC text of fixed width, so that text order is time order.

        A local time that a clock change skips or repeats is interpreted with the offset before the change.
        """
        if self.tzinfo is None:
            hour = _utc_hour(self.year, self.month, self.day, self.hour, timezone)
            if hour is not None:
                return f"{hour}{self.isoformat(timespec='microseconds')[13:]}Z"
        elif self.tzinfo is UTC:
            return f"{self.isoformat(timespec='microseconds')[:26]}Z"
        return as_text(self if self.tzinfo else self.replace(tzinfo=ZoneInfo(timezone)))


@lru_cache(maxsize=4096)
def _utc_hour(year: int, month: int, day: int, hour: int, timezone: str) -> str | None:
    """Return the hour of UTC that is this hour of local time, such as 2026-04-09T19.

    None if it is not one whole hour: where clocks change in it, and where they differ by part of an hour.
    """
    first = datetime(year, month, day, hour, tzinfo=ZoneInfo(timezone))
    offset = first.utcoffset()
    if offset is None or offset % ONE_HOUR or first.replace(minute=59, second=59).utcoffset() != offset:
        return None
    try:
        return (first.replace(tzinfo=None) - offset).isoformat()[:13]
    except OverflowError:  # beyond the years of a date
        return None
