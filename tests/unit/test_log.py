"""Times in the server's log."""

import pytest

from journal_api.server.log import format_time


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (1767225600, "2026-01-01T00:00:00.000Z"),
        (1767225600.0078125, "2026-01-01T00:00:00.007Z"),
        (1767225600.25, "2026-01-01T00:00:00.250Z"),
        (1767225600.9999, "2026-01-01T00:00:00.999Z"),
        (1767225601, "2026-01-01T00:00:01.000Z"),
    ],
)
def test_the_time_of_a_line_has_three_digits_of_a_second(seconds: float, text: str) -> None:
    assert format_time(seconds) == text
