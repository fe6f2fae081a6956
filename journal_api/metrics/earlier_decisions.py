"""The groups of decisions by what happened earlier on their trading day (docs/statistics.md#before-and-after).

Earlier are the decisions that stand before a decision in the order of closes (`closed_at`, then id) and were
closed at or before the time at which it was opened.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from operator import attrgetter
from typing import NamedTuple

# The groups of each kind in their order, with their names.
AFTER = {
    "first": "First of the day",
    "win": "After a win",
    "loss": "After a loss",
    "losses": "After two losses or more",
    "breakeven": "After a break-even",
}
OUTCOMES = {1: "win", 0: "breakeven", -1: "loss"}  # by the sign of the last decision
NTH = {1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 5: "5th", 6: "6th and later"}
# The upper bounds of pauses, which are exclusive.
PAUSES = {
    "under_1m": (timedelta(minutes=1), "under 1 min"),
    "1m_5m": (timedelta(minutes=5), "1 to 5 min"),
    "5m_15m": (timedelta(minutes=15), "5 to 15 min"),
    "15m_1h": (timedelta(hours=1), "15 min to 1 h"),
    "over_1h": (timedelta.max, "1 h and more"),
}
PAUSE_KEYS, PAUSE_BOUNDS = list(PAUSES), [bound for bound, _ in PAUSES.values()]


class Decision(NamedTuple):
    """A decision, from its first open to its first close. Its sign is 1 for a win, -1 for a loss, 0 for neither."""

    id: int
    opened_at: str
    closed_at: str
    sign: int


# Yields the id and the group of each decision of a day, which are given in the order of their closes.
PlaceDay = Callable[[Sequence[Decision]], Iterator[tuple[int, str | int]]]


def group_nth(day: Sequence[Decision]) -> Iterator[tuple[int, str | int]]:
    in_order = sorted(day, key=attrgetter("opened_at", "id"))
    yield from ((one.id, min(number, len(NTH))) for number, one in enumerate(in_order, 1))


def group_after(day: Sequence[Decision]) -> Iterator[tuple[int, str | int]]:
    for one, earlier in count_earlier(day):
        if not earlier:
            yield one.id, "first"
        elif earlier > 1 and day[earlier - 1].sign == day[earlier - 2].sign == -1:
            yield one.id, "losses"
        else:
            yield one.id, OUTCOMES[day[earlier - 1].sign]


def group_pause(day: Sequence[Decision]) -> Iterator[tuple[int, str | int]]:
    for one, earlier in count_earlier(day):
        if not earlier:
            yield one.id, "first"
            continue
        pause = datetime.fromisoformat(one.opened_at) - datetime.fromisoformat(day[earlier - 1].closed_at)
        yield one.id, PAUSE_KEYS[bisect_right(PAUSE_BOUNDS, pause)]


def count_earlier(day: Sequence[Decision]) -> Iterator[tuple[Decision, int]]:
    """Yield each decision with the number of those, the first of the day, that were closed before it was opened."""
    closes = [one.closed_at for one in day]
    for place, one in enumerate(day):
        yield one, bisect_right(closes, one.opened_at, hi=place)
