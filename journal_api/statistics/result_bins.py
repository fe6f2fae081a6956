"""The distribution of results: the decisions in at most 24 bins of one width, by their result."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise

from journal_api.values.money import decimal_json

MAX_BINS = 24


def build_bins(runs: Sequence[Sequence[int]]) -> dict[str, object]:
    """Return the bins as a member of a response. The last has its upper end, too. Each run of values is in order."""
    if not runs:
        return {"bins": []}
    low, high = min(run[0] for run in runs), max(run[-1] for run in runs)
    total = sum(map(len, runs))
    if low == high:
        return {"bins": [build_bin(low, high, total)]}
    width = next(one for one in list_widths() if -(-high // one) - low // one <= MAX_BINS)
    first, end = low // width, -(-high // width)
    places = [*(sum(bisect_left(run, place * width) for run in runs) for place in range(first, end)), total]
    counts = [after - before for before, after in pairwise(places)]
    return {"bins": [build_bin(place * width, (place + 1) * width, count) for place, count in enumerate(counts, first)]}


def build_bin(low: int, high: int, decisions: int) -> dict[str, object]:
    return {"low": decimal_json(low), "high": decimal_json(high), "decisions": decisions}


def list_widths() -> Iterator[int]:
    """Yield 1, 2, 5, 10, 20 and so on: 0 is an end of a bin, and ends are short numbers."""
    power = 1
    while True:
        yield from (power, 2 * power, 5 * power)
        power *= 10
