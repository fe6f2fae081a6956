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


def only_in_soak(test: Any) -> Any:
    """Decorate a test that CI leaves out: what it protects is elsewhere in CI too, or costs little when it breaks."""
    return pytest.mark.soak(pytest.mark.skipif(not SOAK, reason="make soak")(test))


def examples(full: int, ci: int) -> int:
    """The full number in a soak, the smaller one in CI."""
    return full if SOAK else ci


def max_examples(full: int, ci: int) -> Callable[[Any], Any]:
    """Decorate a test of Hypothesis: so many examples, all of them in `make soak`."""

    def decorate(test: Any) -> Any:
        return pytest.mark.soak(hypothesis.settings(max_examples=examples(full=full, ci=ci))(test))

    return decorate


class Observation(NamedTuple):
    """An observation of a proof, in one line."""

    promise: int
    test: str
    text: str


def observations_in(report: pytest.TestReport) -> list[Observation]:
    return [
        Observation(int(name.removeprefix("promise ")), report.nodeid, str(text))
        for name, text in report.user_properties
        if name.startswith("promise ")
    ]
