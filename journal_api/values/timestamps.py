"""Timestamps of bodies and files, and how they are stored."""

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, ClassVar, Self
from zoneinfo import ZoneInfo

from msgspec import Struct

from journal_api.values.clock import as_text

ONE_HOUR = timedelta(hours=1)
HOURS = frozenset(f"{hour:02}" for hour in range(24))
# Minutes and seconds of all times of an hour: :00:00 to :59:59.
CLOCKS = frozenset(f":{minute:02}:{second:02}" for minute in range(60) for second in range(60))


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

    @property
    def is_local(self) -> bool:
        """Whether the timestamp has no offset."""
        return self.tzinfo is None

    def stored(self, timezone: str) -> str:
        """Return the timestamp as UTC text of fixed width, so that text order is time order.

        A local time that a clock change skips or repeats is interpreted with the offset before the change.
        """
        if self.tzinfo is None or self.tzinfo is UTC:
            text = self.isoformat(timespec="microseconds")
            hour = text[:13] if self.tzinfo is UTC else _utc_hour(text[:13], timezone)
            if hour is not None:
                return f"{hour}{text[13:26]}Z"
        return as_text(self if self.tzinfo else self.replace(tzinfo=ZoneInfo(timezone)))


class WrittenTime(Struct, frozen=True, gc=False):
    """A timestamp to the second as files write it, for which no datetime is made: its hour is parsed once.

    It is stored as the Timestamp of the same text.
    """

    hour: str  # 2026-04-09T15
    clock: str  # :38:40
    is_local: bool

    def stored(self, timezone: str) -> str:
        hour = _utc_hour(self.hour, timezone) if self.is_local else self.hour
        if hour is None:
            return Timestamp.decode(f"{self.hour}{self.clock}").stored(timezone)
        return f"{hour}{self.clock}.000000Z"


FileTime = Timestamp | WrittenTime


def written_time(text: str) -> FileTime:
    """Return the time in a cell. Accepts and refuses what `Timestamp.decode` does."""
    clock, zone = text[13:19], text[19:]
    if clock in CLOCKS and zone in ("", "Z") and (hour := _hour_in(text[:13])) is not None:
        return WrittenTime(hour, clock, not zone)
    return Timestamp.decode(text)


def _hour_in(text: str) -> str | None:
    """Return the hour such as 2026-04-09T15, None if the text is not one."""
    if text[10:11] == "T" and text[11:] in HOURS and _is_day(text[:10]):
        return text
    try:
        return Timestamp.decode(f"{text}:00").isoformat()[:13]
    except ValueError:
        return None


@lru_cache(maxsize=4096)
def _is_day(text: str) -> bool:
    """Return whether the text is a day such as 2026-04-09."""
    try:
        return bool(Timestamp.decode(f"{text}T00:00"))
    except ValueError:
        return False


@lru_cache(maxsize=4096)
def _utc_hour(hour: str, timezone: str) -> str | None:
    """Return the hour of UTC that is this hour of local time, such as 2026-04-09T19.

    None if it is not one whole hour: where clocks change in it, and where they differ by part of an hour.
    """
    hours = _hours_of_day(hour[:10], timezone)
    if hours is not None and 0 <= (utc := int(hour[11:]) - hours) < 24:
        return f"{hour[:11]}{utc:02}"
    first, zone = datetime.fromisoformat(f"{hour}:00"), ZoneInfo(timezone)
    offset = zone.utcoffset(first)
    if offset is None or offset % ONE_HOUR or zone.utcoffset(first.replace(minute=59, second=59)) != offset:
        return None
    try:
        return (first - offset).isoformat()[:13]
    except OverflowError:  # beyond the years of a date
        return None


@lru_cache(maxsize=4096)
def _hours_of_day(day: str, timezone: str) -> int | None:
    """Return the offset of a whole local day in hours, None if it changes, or is part of an hour.

    No time zone changes its clock twice within a day, so that the ends of the day suffice.
    """
    first, zone = datetime.fromisoformat(day), ZoneInfo(timezone)
    offset = zone.utcoffset(first)
    if offset is None or zone.utcoffset(first.replace(hour=23, minute=59, second=59)) != offset:
        return None
    hours, rest = divmod(offset, ONE_HOUR)
    return None if rest else hours
