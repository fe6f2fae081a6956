"""The promises of docs/reliability.md: how much is tried, and where what was seen is told.

A proof is a test marked `promise(number)`. CI tries a little; `make soak` tries the full numbers and ends
with a table of what was seen.
"""

import os
from typing import NamedTuple

import pytest

SOAK = os.environ.get("JOURNAL_SOAK") == "1"


def tries(full: int, short: int) -> int:
    """The full number in a soak, the short one in CI."""
    return full if SOAK else short


class Seen(NamedTuple):
    """What a proof saw, in one line for people."""

    promise: int
    test: str
    text: str


def seen_in(report: pytest.TestReport) -> list[Seen]:
    return [
        Seen(int(name.removeprefix("promise ")), report.nodeid, str(text))
        for name, text in report.user_properties
        if name.startswith("promise ")
    ]
