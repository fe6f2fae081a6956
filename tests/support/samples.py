"""Samples of numbers, for the tests of intervals and edges."""

from collections.abc import Sequence

from journal_api.metrics.inference import Sample


def build_sample(numbers: Sequence[int]) -> Sample:
    return Sample(len(numbers), sum(numbers), sum(one**2 for one in numbers), sum(one**3 for one in numbers))
