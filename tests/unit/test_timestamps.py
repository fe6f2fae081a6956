"""Timestamps of bodies and files, and how they are stored."""

from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from hypothesis import example, given
from hypothesis import strategies as st
from proofs import max_examples

from journal_api.values.clock import as_text
from journal_api.values.timestamps import Timestamp

ZONES = (
    *("UTC", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kolkata"),
    *("Pacific/Apia", "America/St_Johns", "Africa/Casablanca", "Asia/Kathmandu"),
)
local_times = st.datetimes(datetime(1970, 1, 2), datetime(2200, 12, 30))
offsets = st.one_of(
    st.none(),
    st.builds(lambda minutes: timezone(timedelta(minutes=minutes)), st.integers(-1439, 1439)),
)


@given(local_times, offsets, st.sampled_from(ZONES))
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
