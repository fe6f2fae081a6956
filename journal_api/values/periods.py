"""Trading days and the periods of goals. Bounds are dates, both ends included (DECISIONS 10)."""

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from typing import Literal, NamedTuple, overload
from zoneinfo import ZoneInfo

Timeframe = Literal["daily", "weekly", "monthly", "quarterly", "custom"]
ONE_DAY = timedelta(days=1)


class Period(NamedTuple):
    """From `start` to `end`, both included."""

    start: date
    end: date


@lru_cache(maxsize=64)
def _clock(timezone: str, day_rollover: str) -> tuple[ZoneInfo, time]:
    return ZoneInfo(timezone), time.fromisoformat(day_rollover)


@overload
def trading_day(closed_at: str, timezone: str, day_rollover: str) -> str: ...
@overload
def trading_day(closed_at: None, timezone: str, day_rollover: str) -> None: ...
def trading_day(closed_at: str | None, timezone: str, day_rollover: str) -> str | None:
    """The day that an instant belongs to, in the owner's zone.

    At or after the rollover it is the next day; a rollover of 00:00 is the calendar day. None for None.
    """
    if closed_at is None:
        return None
    zone, rollover = _clock(timezone, day_rollover)
    local = datetime.fromisoformat(closed_at).astimezone(zone)
    day = local.date()
    if rollover != time.min and local.time() >= rollover:
        day += ONE_DAY
    return day.isoformat()


def period_of(day: date, timeframe: Timeframe) -> Period:
    """The period of a day; weeks begin on Monday, quarters in January, April, July and October."""
    match timeframe:
        case "weekly":
            monday = day - timedelta(days=day.weekday())
            return Period(monday, monday + timedelta(days=6))
        case "monthly":
            return Period(day.replace(day=1), _month_after(day, 1) - ONE_DAY)
        case "quarterly":
            first = day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1)
            return Period(first, _month_after(first, 3) - ONE_DAY)
        case _:
            return Period(day, day)


def periods_between(first: date, last: date, timeframe: Timeframe) -> Iterator[Period]:
    """Every period from that of `first` to that of `last`."""
    while first <= last:
        period = period_of(first, timeframe)
        yield period
        first = period.end + ONE_DAY


def _month_after(day: date, months: int) -> date:
    """The first of the month that many months later."""
    month = day.month - 1 + months
    return date(day.year + month // 12, month % 12 + 1, 1)
