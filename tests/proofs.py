"""The promises of docs/reliability.md: how many examples a proof tries, and what it records.

A proof is a test marked `promise(number)`. CI tries a few examples; `make soak` tries the full numbers and
prints every observation at its end.
"""

import os
from collections.abc import Callable
from typing import Any, NamedTuple

import hypothesis
import pytest

SOAK = os.environ.get("JOURNAL_SOAK") == "1"


def tries(full: int, short: int) -> int:
    """The full number in a soak, the short number in CI."""
    return full if SOAK else short


def tried(full: int, short: int) -> Callable[[Any], Any]:
    """Decorate a test of Hypothesis with its number of examples, the full number in `make soak`."""

    def decorate(test: Any) -> Any:
        return pytest.mark.soak(hypothesis.settings(max_examples=tries(full, short))(test))

    return decorate


class Seen(NamedTuple):
    """An observation of a proof, in one line."""

    promise: int
    test: str
    text: str


def seen_in(report: pytest.TestReport) -> list[Seen]:
    return [
        Seen(int(name.removeprefix("promise ")), report.nodeid, str(text))
        for name, text in report.user_properties
        if name.startswith("promise ")
    ]
