"""Formats of times in import profiles: docs/imports.md#profiles."""

import pytest

from journal_api.values.time_formats import TimeFormat


def test_an_hour_of_twelve_needs_its_half_of_the_day() -> None:
    with pytest.raises(ValueError, match="must have %p with %I"):
        TimeFormat.decode("%m/%d/%Y %I:%M:%S")

    read = TimeFormat.decode("%m/%d/%Y %I:%M:%S %p").reader()
    afternoon = read("04/09/2026 03:00:00 PM")
    assert afternoon is not None
    assert afternoon.hour == 15


@pytest.mark.parametrize("offset", ["+10:99", "+99:00", "-24:00", "+2400"])
def test_an_offset_that_does_not_exist_is_of_no_format(offset: str) -> None:
    read = TimeFormat.decode("%Y-%m-%d %H:%M %z").reader()

    assert read(f"2026-04-09 15:00 {offset}") is None


@pytest.mark.parametrize(("offset", "hour"), [("-0500", 20), ("+05:30", 9), ("Z", 15), ("+23:59", 15)])
def test_an_offset_is_read_with_and_without_a_colon(offset: str, hour: int) -> None:
    read = TimeFormat.decode("%Y-%m-%d %H:%M %z").reader()

    time = read(f"2026-04-09 15:00 {offset}")
    assert time is not None
    assert time.stored("UTC")[11:13] == f"{hour:02}"


@pytest.mark.parametrize("year", [1969, 2201, 9999])
def test_a_year_that_no_journal_stores_is_refused(year: int) -> None:
    read = TimeFormat.decode("%m/%d/%Y %H:%M:%S").reader()

    with pytest.raises(ValueError, match="years 1970 to 2200"):
        read(f"12/31/{year} 23:51:09")
