"""The list of time zones, and the zone of this machine."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from journal_api.values.time_zones import machine_time_zone, time_zones
from journal_api.values.types import TimeZone

ZONES = sorted(time_zones())


@pytest.mark.parametrize("name", ["localtime", "posixrules", "Factory", "posix/UTC", "right/UTC"])
def test_names_that_are_no_iana_zones_are_not_in_the_list(name: str) -> None:
    assert name not in time_zones()
    with pytest.raises(ValueError, match="must be an IANA time zone"):
        TimeZone.decode(name)


@given(st.sampled_from(ZONES), st.sampled_from(["", ":"]))
def test_the_machine_is_in_the_zone_that_tz_names(name: str, prefix: str) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("TZ", prefix + name)

        assert machine_time_zone() == name


@pytest.mark.parametrize("text", ["", "Factory", "localtime", "<+03>-3", "Mars/Olympus", ":", "/etc/hosts"])
def test_the_machine_is_in_a_zone_of_the_list_whatever_tz_holds(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", text)

    assert machine_time_zone() in time_zones()
