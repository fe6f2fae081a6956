"""The floor of an account: the balance that ends it (docs/accounts.md#the-floor)."""

from collections.abc import Sequence
from typing import NamedTuple

from journal_api.statistics.account_days import Phase
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
        for place, total in enumerate(day.totals):
            if floor.kind == "trade" and morning + total > peak.balance:
                peak = Peak(morning + total, day.day, place)
            if broken_on is None and morning + total <= floor_under(peak.balance):
                broken_on = day.day
        if broken_on is None and balance <= floor_under(peak.balance):
            broken_on = day.day
        levels.append(Level(day.day, balance, floor_under(peak.balance)))
        if floor.kind == "end_of_day" and day.day < at and balance > peak.balance:
            peak = Peak(balance, day.day)
    level = floor_under(peak.balance)
    return FloorTrace(level, balance, peak, level == locks_at, broken_on, levels)
