"""The groups of decisions by what happened earlier on their trading day (docs/goals.md#before-and-after).

Earlier are the decisions that stand before a decision in the order of closes (`closed_at`, then id) and were
closed at or before the time at which it was opened.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from journal_api.structs.reports import GroupBy

# The groups of each kind in their order, with their names.
AFTER = {
    "first": "First of the day",
    "win": "After a win",
    "loss": "After a loss",
    "losses": "After two losses or more",
    "breakeven": "After a break-even",
}
NTH = {1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 5: "5th", 6: "6th and later"}
# The upper bounds of pauses, which are exclusive.
PAUSES = {
    "under_1m": (timedelta(minutes=1), "under 1 min"),
    "1m_5m": (timedelta(minutes=5), "1 to 5 min"),
    "5m_15m": (timedelta(minutes=15), "5 to 15 min"),
    "15m_1h": (timedelta(hours=1), "15 min to 1 h"),
    "over_1h": (timedelta.max, "1 h and more"),
}
NAMES: dict[GroupBy, Mapping[Any, str]] = {
    "after": AFTER,
    "nth": NTH,
    "pause": {"first": "First of the day", **{key: name for key, (_, name) in PAUSES.items()}},
}


class Decision(NamedTuple):
    """A decision of a day. The sign is 1 for a win, -1 for a loss, 0 for a break-even decision.

    It was opened with the first of its trades, and closed with the first that was closed.
    """

    id: int
    opened_at: str
    closed_at: str
    sign: int


def group_day(day: Sequence[Decision], group_by: GroupBy) -> Iterator[tuple[int, str | int]]:
    """Yield the id and the group of each decision of a day, which are given in the order of their closes."""
    if group_by == "nth":
        in_order = sorted(day, key=lambda one: (one.opened_at, one.id))
        yield from ((one.id, min(number, len(NTH))) for number, one in enumerate(in_order, 1))
        return
    closes = [one.closed_at for one in day]
    for place, one in enumerate(day):
        earlier = min(bisect_right(closes, one.opened_at), place)
        if not earlier:
            yield one.id, "first"
        elif group_by == "after":
            yield one.id, name_outcome(day[max(0, earlier - 2) : earlier])
        else:
            yield one.id, name_pause(one.opened_at, closes[earlier - 1])


def name_outcome(earlier: Sequence[Decision]) -> str:
    """Return the group of a decision after the last one or two decisions of the day."""
    signs = [one.sign for one in earlier]
    if signs == [-1, -1]:
        return "losses"
    return {1: "win", 0: "breakeven", -1: "loss"}[signs[-1]]


def name_pause(opened_at: str, closed_at: str) -> str:
    """Return the group of the time between the last close and the opening."""
    pause = datetime.fromisoformat(opened_at) - datetime.fromisoformat(closed_at)
    return next(key for key, (bound, _) in PAUSES.items() if pause < bound)
