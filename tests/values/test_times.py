"""Time zones of the list and of this machine; timestamps of bodies and files, and their formats."""

from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from proofs import max_examples
from saved_journals import for_rows

from journal_api.values.clock import as_text
from journal_api.values.time_formats import TimeFormat
from journal_api.values.time_zones import machine_time_zone, time_zones
from journal_api.values.timestamps import Timestamp

ZONES = sorted(time_zones())


@given(st.sampled_from(ZONES), st.sampled_from(["", ":"]))
def test_the_machine_is_in_the_zone_that_tz_names(name: str, prefix: str) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("TZ", prefix + name)

        assert machine_time_zone() == name


@pytest.mark.parametrize("text", ["", "Factory", "localtime", "<+03>-3", "Mars/Olympus", ":", "/etc/hosts"])
def test_the_machine_is_in_a_zone_of_the_list_whatever_tz_holds(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", text)

    assert machine_time_zone() in time_zones()


SOME_ZONES = (
    *("UTC", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kolkata"),
    *("Pacific/Apia", "America/St_Johns", "Africa/Casablanca", "Asia/Kathmandu"),
)
local_times = st.datetimes(datetime(1970, 1, 2), datetime(2200, 12, 30))
offsets = st.one_of(
    st.none(), st.builds(lambda minutes: timezone(timedelta(minutes=minutes)), st.integers(-1439, 1439))
)


@given(local_times, offsets, st.sampled_from(SOME_ZONES))
@max_examples(full=500, ci=100)
@example(datetime(2026, 3, 29, 2, 30), None, "Europe/Berlin")
@example(datetime(2026, 3, 29, 12), None, "Europe/Berlin")
@example(datetime(2026, 10, 25, 2, 30), None, "Europe/Berlin")
@example(datetime(2006, 10, 29, 0, 0, 30), None, "America/St_Johns")
@example(datetime(2006, 10, 28, 23, 30), None, "America/St_Johns")
@example(datetime(2026, 4, 5, 1, 45), None, "Australia/Lord_Howe")
def test_a_time_is_stored_as_the_instant_that_its_zone_says(
    local: datetime, offset: timezone | None, zone: str
) -> None:
    time = Timestamp.decode(local.replace(tzinfo=offset).isoformat())

    assert time.stored(zone) == as_text(local.replace(tzinfo=offset or ZoneInfo(zone)))


def test_an_hour_of_twelve_needs_its_half_of_the_day() -> None:
    with pytest.raises(ValueError, match="must have %p with %I"):
        TimeFormat.decode("%m/%d/%Y %I:%M:%S")

    read = TimeFormat.decode("%m/%d/%Y %I:%M:%S %p").reader()
    afternoon = read("04/09/2026 03:00:00 PM")
    assert afternoon is not None
    assert afternoon.hour == 15


@for_rows("offset", ["+10:99", "+99:00", "-24:00", "+2400"])
def test_an_offset_that_does_not_exist_is_of_no_format(offset: str) -> None:
    read = TimeFormat.decode("%Y-%m-%d %H:%M %z").reader()

    assert read(f"2026-04-09 15:00 {offset}") is None


@for_rows("offset, hour", [("-0500", 20), ("+05:30", 9), ("Z", 15), ("+23:59", 15)])
def test_an_offset_is_read_with_and_without_a_colon(offset: str, hour: int) -> None:
    read = TimeFormat.decode("%Y-%m-%d %H:%M %z").reader()

    time = read(f"2026-04-09 15:00 {offset}")
    assert time is not None
    assert time.stored("UTC")[11:13] == f"{hour:02}"


@for_rows("year", [1969, 2201, 9999])
def test_a_year_that_no_journal_stores_is_refused(year: int) -> None:
    read = TimeFormat.decode("%m/%d/%Y %H:%M:%S").reader()

    with pytest.raises(ValueError, match="years 1970 to 2200"):
        read(f"12/31/{year} 23:51:09")
