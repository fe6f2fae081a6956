"""The distribution of results: the decisions in at most 24 bins of one width, by their result."""

from collections import Counter
from collections.abc import Iterator, Sequence

from journal_api.values.money import decimal_json

MAX_BINS = 24


def build_bins(values: Sequence[int]) -> dict[str, object]:
    """Return the bins as a member of a response. The last has its upper end, too."""
    if not values:
        return {"bins": []}
    low, high = min(values), max(values)
    if low == high:
        return {"bins": [build_bin(low, high, len(values))]}
    width = next(one for one in list_widths() if -(-high // one) - low // one <= MAX_BINS)
    first, last = low // width, -(-high // width) - 1
    counts = Counter(min(value // width, last) for value in values)
    return {"bins": [build_bin(place * width, (place + 1) * width, counts[place]) for place in range(first, last + 1)]}


def build_bin(low: int, high: int, decisions: int) -> dict[str, object]:
    return {"low": decimal_json(low), "high": decimal_json(high), "decisions": decisions}


def list_widths() -> Iterator[int]:
    """Yield 1, 2, 5, 10, 20 and so on: 0 is an end of a bin, and ends are short numbers."""
    power = 1
    while True:
        yield from (power, 2 * power, 5 * power)
        power *= 10
