"""The floor of an account: the balance that ends it (docs/accounts.md#the-floor)."""

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import NamedTuple

from journal_api.statistics.account_days import AccountDay, Phase
from journal_api.structs.account_rules import Floor
from journal_api.values.money import units


class Peak(NamedTuple):
    """The balance from which the floor hangs. `place` is the number of the trade in its day, from 0.

    Without a day it is the balance of the start or reset.
    """

    balance: int
    day: str | None = None
    place: int | None = None


class Level(NamedTuple):
    """The balance at the end of a day, and the floor that held on it."""

    day: str
    balance: int
    floor: int


class FloorTrace(NamedTuple):
    """Where the floor and the balance are at the end, and the day on which they first met."""

    floor: int
    balance: int
    peak: Peak
    is_locked: bool
    broken_on: str | None
    levels: Sequence[Level]


def trace_floor(phase: Phase, floor: Floor, at: str) -> FloorTrace:
    """Follow the balance and the floor to the end of the day `at`.

    Money comes in before the trades of its day and goes out after them, so that the order, which is unknown,
    breaks no account.
    """
    distance = units(floor.distance)
    locks_at = None if floor.locks_at is None else units(floor.locks_at)
    balance, peak, broken_on = phase.start_balance, Peak(phase.start_balance), None
    levels = list[Level]()

    def floor_under(peak: int) -> int:
        return peak - distance if locks_at is None else min(locks_at, peak - distance)

    for day in phase.days:
        morning = balance + day.money_in
        balance = morning + day.net_pnl - day.money_out
        before = peak
        if floor.kind == "trade":
            peak = raise_peak(peak, morning, day)
        if broken_on is None and (
            balance <= floor_under(peak.balance) or meets_floor(before, peak, morning, day, floor_under)
        ):
            broken_on = day.day
        levels.append(Level(day.day, balance, floor_under(peak.balance)))
        if floor.kind == "end_of_day" and day.day < at and balance > peak.balance:
            peak = Peak(balance, day.day)
    level = floor_under(peak.balance)
    return FloorTrace(level, balance, peak, level == locks_at, broken_on, levels)


def raise_peak(peak: Peak, morning: int, day: AccountDay) -> Peak:
    """Return the highest balance so far after a trade of the day, or the peak before it."""
    gain = max(day.totals, default=0)
    if not day.totals or morning + gain <= peak.balance:
        return peak
    return Peak(morning + gain, day.day, day.totals.index(gain))


def meets_floor(
    before: Peak, after: Peak, morning: int, day: AccountDay, floor_under: Callable[[int], int]
) -> bool:
    """Return whether a trade of the day met the floor, while the peak rose from `before` to `after`."""
    if morning + day.lowest > floor_under(after.balance):
        return False
    if after == before:
        return True
    balances = [morning + total for total in day.totals]
    peaks = list(accumulate(balances, max, initial=before.balance))[1:]
    return any(balance <= floor_under(peak) for balance, peak in zip(balances, peaks, strict=True))
