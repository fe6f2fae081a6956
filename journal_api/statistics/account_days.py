"""The days of an account: its trades and its cash, and the balances that follow from them.

All amounts are integers of 10^-8, without a largest one.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from msgspec import Struct

# The sign of a kind of cash; an adjustment has its own.
SIGNS = {"deposit": 1, "adjustment": 1, "withdrawal": -1, "payout": -1, "fee": -1}


class Movement(NamedTuple):
    """A cash movement, the amount as the owner stated it."""

    day: str
    kind: str
    amount: int


class AccountDay(Struct, frozen=True):
    """A day with trades or cash. `totals` are the net P&L of the day after each of its trades.

    `lowest` is the lowest of them, 0 without a trade. `reset` is the balance that the day begins with.
    """

    day: str
    totals: Sequence[int] = ()
    net_pnl: int = 0
    lowest: int = 0
    money_in: int = 0
    money_out: int = 0
    reset: int | None = None
    has_payout: bool = False

    @property
    def cash(self) -> int:
        return self.money_in - self.money_out


class Phase(NamedTuple):
    """The days of an account from its start or a reset on. `start_day` is the day of the reset, or None."""

    start_day: str | None
    start_balance: int
    days: Sequence[AccountDay]


class Closing(NamedTuple):
    day: AccountDay
    balance: int


def build_days(results: Mapping[str, Sequence[int]], movements: Iterable[Movement]) -> list[AccountDay]:
    """Return the days in order. `results` are the net P&L of trades in the order of their closes.

    Of several resets of a day, the last of `movements` counts.
    """
    by_day: dict[str, list[Movement]] = {}
    for movement in movements:
        by_day.setdefault(movement.day, []).append(movement)
    return [
        build_day(day, results.get(day, ()), by_day.get(day, ()))
        for day in sorted({*results, *by_day} if by_day else results)
    ]


def build_day(day: str, results: Sequence[int], movements: Sequence[Movement]) -> AccountDay:
    totals = list(accumulate(results))
    net_pnl, lowest = (totals[-1], min(totals)) if totals else (0, 0)
    if not movements:
        return AccountDay(day, totals, net_pnl, lowest)
    resets = [one.amount for one in movements if one.kind == "reset"]
    cash = [SIGNS[one.kind] * one.amount for one in movements if one.kind != "reset"]
    return AccountDay(
        day,
        totals,
        net_pnl,
        lowest,
        money_in=sum(amount for amount in cash if amount > 0),
        money_out=-sum(amount for amount in cash if amount < 0),
        reset=resets[-1] if resets else None,
        has_payout=any(one.kind == "payout" for one in movements),
    )


def find_phase(starting_balance: int, days: Sequence[AccountDay]) -> Phase:
    """Return the phase of the last day: since the newest reset, without one since the start."""
    for place in reversed(range(len(days))):
        if (balance := days[place].reset) is not None:
            return Phase(days[place].day, balance, days[place:])
    return Phase(None, starting_balance, days)


def close_days(starting_balance: int, days: Iterable[AccountDay]) -> Iterator[Closing]:
    balance = starting_balance
    for day in days:
        balance = (balance if day.reset is None else day.reset) + day.cash + day.net_pnl
        yield Closing(day, balance)
