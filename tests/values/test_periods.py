"""Trading days and periods: the pure rules of docs/goals.md#periods, against plain definitions."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

from hypothesis import example, given
from hypothesis import strategies as st
from proofs import max_examples

from journal_api.values.periods import Timeframe, find_period, local_hour, periods_between, trading_day

DAY = timedelta(days=1)
quick = max_examples(full=200, ci=60)
days = st.dates(date(1970, 1, 1), date(2200, 12, 31))
instants = st.datetimes(datetime(1971, 1, 1), datetime(2199, 12, 31), timezones=st.just(UTC))
SOME_ZONES = (
    *("UTC", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kolkata"),
    *("Pacific/Apia", "Pacific/Kiritimati", "America/St_Johns", "Africa/Casablanca"),
)
zones = st.sampled_from(SOME_ZONES)
FUTURES = ("America/New_York", "17:00")
rollovers = st.builds("{:02}:{:02}".format, st.integers(0, 23), st.integers(0, 59))


def text(instant: datetime) -> str:
    return instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


@given(instants, zones)
@quick
def test_the_hour_is_that_of_the_wall_clock_also_in_zones_of_half_hours(instant: datetime, zone: str) -> None:
    assert local_hour(text(instant), zone) == instant.astimezone(ZoneInfo(zone)).hour


# What all days of a period share, and no day of a neighbouring period.
NAMES: dict[Timeframe, Callable[[date], object]] = {
    "daily": lambda day: day,
    "weekly": lambda day: day.isocalendar()[:2],
    "monthly": lambda day: (day.year, day.month),
    "quarterly": lambda day: (day.year, (day.month + 2) // 3),
}


@given(days, st.sampled_from(sorted(NAMES)))
@quick
def test_a_period_is_all_days_of_one_name_and_no_other(day: date, timeframe: Timeframe) -> None:
    period, name = find_period(day, timeframe), NAMES[timeframe]

    assert period.start <= day <= period.end
    assert name(period.start) == name(day) == name(period.end)
    assert name(period.start - DAY) != name(day) != name(period.end + DAY)


@given(days, st.integers(0, 1200), st.sampled_from(["daily", "weekly", "monthly", "quarterly"]))
@quick
def test_periods_follow_each_other_without_gap_or_overlap(first: date, length: int, timeframe: Timeframe) -> None:
    last = min(first + length * DAY, date(2200, 12, 31))

    periods = list(periods_between(first, last, timeframe))

    assert periods[0] == find_period(first, timeframe)
    assert periods[-1] == find_period(last, timeframe)
    for one, following in pairwise(periods):
        assert following.start == one.end + DAY
    assert all(find_period(period.end, timeframe) == period for period in periods)


@given(instants, zones, rollovers | st.just("00:00"))
@quick
@example(datetime(2011, 12, 30, 9, 59, tzinfo=UTC), "Pacific/Apia", "00:00")
@example(datetime(2011, 12, 30, 10, 0, tzinfo=UTC), "Pacific/Apia", "00:00")
# The days of futures around both changes of the clocks, and at the end of a year.
@example(datetime(2026, 3, 7, 22, 0, tzinfo=UTC), *FUTURES)
@example(datetime(2026, 3, 8, 20, 59, 59, 999999, tzinfo=UTC), *FUTURES)
@example(datetime(2026, 3, 8, 21, 0, tzinfo=UTC), *FUTURES)
@example(datetime(2026, 11, 1, 21, 59, 59, 999999, tzinfo=UTC), *FUTURES)
@example(datetime(2026, 12, 31, 22, 0, tzinfo=UTC), *FUTURES)
@example(datetime(2026, 3, 9, 21, 45, tzinfo=UTC), "America/New_York", "17:30")
# In St. John's the clocks went back at 00:01 on 29 October 2006, to 23:01 of the day before.
@example(datetime(2006, 10, 29, 2, 30, 30, tzinfo=UTC), "America/St_Johns", "00:00")
@example(datetime(2006, 10, 29, 2, 31, tzinfo=UTC), "America/St_Johns", "00:00")
def test_from_the_rollover_on_it_is_the_next_day(instant: datetime, zone: str, rollover: str) -> None:
    wall_clock = instant.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
    hour, minute = int(rollover[:2]), int(rollover[3:])
    rest_of_day = DAY - timedelta(hours=hour, minutes=minute) if rollover != "00:00" else timedelta()

    day = trading_day(text(instant), zone, rollover)

    assert day == (wall_clock + rest_of_day).date().isoformat()


def test_an_open_trade_has_no_day() -> None:
    assert trading_day(None, "America/New_York", "17:00") is None
