"""Trading days and the periods of goals. The bounds of a period are dates, both inclusive (DECISIONS 10)."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from typing import Literal, NamedTuple, overload
from zoneinfo import ZoneInfo

Timeframe = Literal["daily", "weekly", "monthly", "quarterly", "custom"]
ONE_DAY = timedelta(days=1)


class Period(NamedTuple):
    """A range of days from `start` to `end`, both inclusive."""

    start: date
    end: date

    def days(self) -> Iterator[date]:
        return (self.start + ONE_DAY * number for number in range((self.end - self.start).days + 1))


class Calendar(NamedTuple):
    """By which instants are counted to trading days."""

    timezone: str
    day_rollover: str


@lru_cache(maxsize=64)
def _clock(timezone: str, day_rollover: str) -> tuple[ZoneInfo, time]:
    return ZoneInfo(timezone), time.fromisoformat(day_rollover)


@overload
def trading_day(closed_at: str, timezone: str, day_rollover: str) -> str: ...
@overload
def trading_day(closed_at: None, timezone: str, day_rollover: str) -> None: ...
def trading_day(closed_at: str | None, timezone: str, day_rollover: str) -> str | None:
    """Return the trading day of a timestamp in a calendar: from the rollover on the next day. None for None."""
    if closed_at is None:
        return None
    change = _change_of_day(closed_at[:10], timezone, day_rollover)
    if change is None:
        return _trading_day(*_local(closed_at, timezone, day_rollover))
    at, before, after = change
    return before if closed_at[10:] < at else after


@lru_cache(maxsize=4096)
def _change_of_day(day: str, timezone: str, day_rollover: str) -> tuple[str, str, str] | None:
    """Return when the trading day changes in a day of UTC, and those before and after; None if the clock does too."""
    first, rollover = _local(f"{day}T00:00:00.000000Z", timezone, day_rollover)
    last, _ = _local(f"{day}T23:59:59.999999Z", timezone, day_rollover)
    if first.utcoffset() != last.utcoffset():
        return None
    change = datetime.min + (datetime.combine(datetime.min, rollover) - first.replace(tzinfo=None)) % ONE_DAY
    at = change.isoformat(timespec="microseconds").removeprefix("0001-01-01")
    return at, _trading_day(first, rollover), _trading_day(last, rollover)


def local_hour(instant: str, timezone: str) -> int:
    """Return the hour, 0 to 23, of a timestamp in a time zone."""
    return _local(instant, timezone, "00:00")[0].hour


def _local(instant: str, timezone: str, day_rollover: str) -> tuple[datetime, time]:
    zone, rollover = _clock(timezone, day_rollover)
    return datetime.fromisoformat(instant).astimezone(zone), rollover


def _trading_day(local: datetime, rollover: time) -> str:
    day = local.date()
    if rollover != time.min and local.time() >= rollover:
        day += ONE_DAY
    return day.isoformat()


def find_period(day: date, timeframe: Timeframe) -> Period:
    """Return the period that contains a day. Weeks start on Monday, quarters in January, April, July, October."""
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
    """Yield every period that contains a day from `first` to `last`, oldest first."""
    while first <= last:
        period = find_period(first, timeframe)
        yield period
        first = period.end + ONE_DAY


def merge_periods(periods: Iterable[Period]) -> list[Period]:
    """Return the days of the periods as disjoint periods, oldest first."""
    merged: list[Period] = []
    for period in sorted(periods):
        if merged and period.start <= merged[-1].end:
            merged[-1] = Period(merged[-1].start, max(merged[-1].end, period.end))
        else:
            merged.append(period)
    return merged


def split_period(period: Period, ends: Mapping[date, date]) -> Iterator[Period]:
    """Yield the days of a period as periods: from each day to its end, without one the day alone."""
    start = period.start
    while start <= period.end:
        end = min(ends.get(start, start), period.end)
        yield Period(start, end)
        if end == period.end:
            return  # there may be no later day
        start = end + ONE_DAY


def count_weekdays(period: Period, weekdays: Collection[int]) -> int:
    """Return how many days of the period are on one of the weekdays (ISO numbers); 0 for an empty period."""
    days = max((period.end - period.start).days + 1, 0)
    weeks, rest = divmod(days, 7)
    first = period.start.weekday()
    return weeks * len(weekdays) + sum((first + day) % 7 + 1 in weekdays for day in range(rest))


def _month_after(day: date, months: int) -> date:
    """Return the first day of the month that many months later."""
    month = day.month - 1 + months
    return date(day.year + month // 12, month % 12 + 1, 1)
