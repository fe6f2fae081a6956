"""Timestamps of bodies and files, and how they are stored."""

import re
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, ClassVar, Self
from zoneinfo import ZoneInfo

from journal_api.values.clock import as_text


class Timestamp(datetime):
    """An RFC 3339 timestamp, perhaps without seconds; without an offset in a zone that the caller knows."""

    json_schema: ClassVar[dict[str, Any]] = {"type": "string", "format": "date-time"}
    _FORM = re.compile(
        r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?"
        r"([Zz]|[+-][0-9]{2}:?[0-9]{2})?"
    )

    @classmethod
    def decode(cls, value: object) -> Self:
        if not isinstance(value, str) or not cls._FORM.fullmatch(value):
            raise ValueError("must be a time such as 2026-04-09T15:38:40Z")
        return cls.in_form(value.upper())

    @classmethod
    def in_form(cls, text: str) -> Self:
        """Return the timestamp of a text that has the form. Raises ValueError if there is no such time."""
        try:
            instant = cls.fromisoformat(text)
        except ValueError:
            raise ValueError("is not a valid date and time") from None
        return instant.within_years()

    def within_years(self) -> Self:
        """Return this timestamp. Raises ValueError outside of the years that a journal stores."""
        if not 1970 <= self.year <= 2200:
            raise ValueError("must be in the years 1970 to 2200")
        return self

    @property
    def is_local(self) -> bool:
        return self.tzinfo is None

    def stored(self, timezone: str) -> str:
        """Return the timestamp as UTC text of fixed width, so that text order is time order.

        A local time that a clock change skips or repeats is interpreted with the offset before the change.
        """
        if self.tzinfo is None and (offset := _offset_of_day(self.toordinal(), timezone)) is not None:
            return f"{(self - offset).isoformat('T', 'microseconds')}Z"
        return as_text(self if self.tzinfo else self.replace(tzinfo=ZoneInfo(timezone)))


@lru_cache(maxsize=4096)
def _offset_of_day(day: int, timezone: str) -> timedelta | None:
    """Return the offset of a local day, by its ordinal; None if the clock changes: no zone does it twice a day."""
    first, zone = datetime.fromordinal(day), ZoneInfo(timezone)
    offset = zone.utcoffset(first)
    return offset if zone.utcoffset(first.replace(hour=23, minute=59, second=59)) == offset else None
