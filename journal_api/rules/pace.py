"""The pace of a goal: how it stands in its running period (docs/goals.md#pace).

A limit holds at the start of the period, and trading can break it: every goal at most, and the loss limits,
which are goals at least with a negative target. A target is to be reached. A rate or average can be met and
missed again with every trade. All amounts are integers of 10^-8 of the metric's unit.
"""

from collections.abc import Callable
from datetime import date
from fractions import Fraction
from typing import NamedTuple

from journal_api.structs.snapshots import PaceState
from journal_api.values.goal_kinds import goal_kind
from journal_api.values.metric_formulas import GoalDirection, MetricValue
from journal_api.values.money import SCALE
from journal_api.values.periods import Period, weekdays_in
from journal_api.values.statistics import Statistics

# Sums and counts, to which every day can add.
SUMS = frozenset({"net_pnl", "gross_pnl", "balance_target", "trade_count", "trading_days", "winning_days"})
# The highest value so far, to which a day adds nothing.
RECORDS = frozenset({"win_streak", "max_trades_per_day", "max_drawdown"})
# Limits that no further trade can keep once they are broken.
FINAL_LIMITS = frozenset(
    {
        ("max_drawdown", "at_most"),
        ("max_trades_per_day", "at_most"),
        ("trade_count", "at_most"),
        ("trading_days", "at_most"),
        ("win_streak", "at_most"),
        ("worst_day", "at_least"),
        ("worst_trade", "at_least"),
    }
)
UNKNOWN = ("mixed_currencies", "out_of_range")


class Pace(NamedTuple):
    """The state and the amount that is missing or left. Everything is None that cannot be known."""

    state: PaceState | None
    remaining: int | None
    days_left: int
    needed_per_day: int | None = None


class Standing(NamedTuple):
    """A goal and its running period so far. Statistics of None mean that a sum does not fit into 64 bits."""

    metric: str
    direction: GoalDirection
    target: int
    value: MetricValue
    statistics: Statistics | None
    of_today: Statistics | None  # of the trades of today alone
    period: Period
    today: date
    trading_weekdays: frozenset[int]

    @property
    def days(self) -> int:
        """The trading days of the period."""
        return weekdays_in(self.period, self.trading_weekdays)

    @property
    def days_left(self) -> int:
        """The trading days from today on, without today once a trade in scope has closed today."""
        left = weekdays_in(Period(self.today, self.period.end), self.trading_weekdays)
        has_today = self.today.isoweekday() in self.trading_weekdays
        return left - (has_today and self.has_traded_today)

    @property
    def has_traded_today(self) -> bool:
        return self.of_today is None or self.of_today.trades > 0

    @property
    def is_met(self) -> bool | None:
        return self.value.achieves(self.direction, self.target)

    @property
    def is_limit(self) -> bool:
        return goal_kind(self.metric, self.direction, self.target) == "limit"

    @property
    def is_final(self) -> bool:
        """Whether this is a limit that stays broken."""
        return (self.metric, self.direction) in FINAL_LIMITS

    @property
    def missing(self) -> int | None:
        """How far the value is on the wrong side of the target, 0 if it is met; None without a value."""
        if self.is_met:
            return 0
        return None if self.value.actual is None else abs(self.target - self.value.actual)


def pace_of(standing: Standing) -> Pace:
    """Return the pace of an active goal in a period that contains today."""
    if standing.statistics is None or standing.of_today is None or standing.value.reason in UNKNOWN:
        return Pace(None, None, standing.days_left)
    if standing.is_limit:
        return pace_of_limit(standing)
    if standing.metric in SUMS | RECORDS:
        return pace_of_target(standing)
    if standing.is_met is not False:
        return Pace("on_track", standing.missing, standing.days_left)
    state: PaceState = "missed" if is_lost_by_worst(standing) else "behind"
    return Pace(state, standing.missing, standing.days_left)


def is_lost_by_worst(standing: Standing) -> bool:
    """Return whether the worst trade, or the worst of the days before today, stays below the target."""
    if standing.metric == "worst_trade":
        return True
    if standing.metric != "worst_day":
        return False
    statistics, of_today = standing.statistics, standing.of_today
    assert statistics is not None, "checked by pace_of"
    assert of_today is not None, "checked by pace_of"
    # A worst day that equals today's may be today alone, which can still win.
    return not of_today.trades or statistics.worst_day != of_today.net_pnl


# Limits --------------------------------------------------------------------------------------------------


def pace_of_limit(standing: Standing) -> Pace:
    """Return the room that is left until the limit; from 80 % of the limit on it is near."""
    if standing.is_met is False:
        if standing.is_final or has_won_too_often(standing):
            return Pace("missed", 0, standing.days_left)
        return Pace("behind", standing.missing, standing.days_left)
    room = room_of(standing)
    is_near = room is not None and room * 5 <= abs(standing.target)
    return Pace("near_limit" if is_near else "within_limit", room, standing.days_left)


def has_won_too_often(standing: Standing) -> bool:
    """Return whether the winning days before today are more than the limit. Today can still lose."""
    if standing.metric != "winning_days":
        return False
    assert standing.statistics is not None, "checked by pace_of"
    assert standing.of_today is not None, "checked by pace_of"
    before_today = standing.statistics.winning_days - standing.of_today.winning_days
    return before_today * SCALE > standing.target


# What counts towards the limit now, where that is not the value of the whole period: a new day, a new trade
# and a new peak begin with nothing.
USED_NOW: dict[str, Callable[[Statistics, Statistics], int]] = {
    "worst_day": lambda statistics, of_today: of_today.net_pnl,
    "worst_trade": lambda statistics, of_today: 0,
    "max_trades_per_day": lambda statistics, of_today: statistics.decisions_today * SCALE,
    "max_drawdown": lambda statistics, of_today: (statistics.peak_pnl or 0) - statistics.net_pnl,
}


def room_of(standing: Standing) -> int | None:
    """Return what is left until the limit, which is not broken; None for an average without a trade."""
    assert standing.statistics is not None, "checked by pace_of"
    assert standing.of_today is not None, "checked by pace_of"
    used = standing.value.actual
    if standing.is_final and standing.metric in USED_NOW:
        used = USED_NOW[standing.metric](standing.statistics, standing.of_today)
    if used is None:
        return None
    room = used - standing.target if standing.direction == "at_least" else standing.target - used
    return max(0, room)


# Targets -------------------------------------------------------------------------------------------------


def pace_of_target(standing: Standing) -> Pace:
    """Return what is missing to the target, and how much each day that is left has to add."""
    missing = standing.missing
    assert missing is not None, "sums and counts always have a value"
    return Pace(
        state_of_target(standing, missing), missing, standing.days_left, needed_per_day(standing, missing)
    )


def state_of_target(standing: Standing, missing: int) -> PaceState:
    if standing.is_met:
        return "achieved"
    if (
        standing.metric in ("trading_days", "winning_days")
        and missing > days_that_can_count(standing) * SCALE
    ):
        return "missed"
    assert standing.value.actual is not None, "sums and counts always have a value"
    opening = (standing.statistics and standing.statistics.opening_balance) or 0
    gone = standing.days - standing.days_left
    is_on_track = (standing.value.actual - opening) * standing.days >= (standing.target - opening) * gone
    return "on_track" if is_on_track else "behind"


def days_that_can_count(standing: Standing) -> int:
    """Return how many days the count of days can still grow by: a trade can close on any day.

    Today counts while it has no trade, and as a winning day also while its trades have not won.
    """
    later = (standing.period.end - standing.today).days
    assert standing.of_today is not None, "checked by pace_of"
    if standing.metric == "winning_days":
        return later + (standing.of_today.winning_days == 0)
    return later + (not standing.has_traded_today)


def needed_per_day(standing: Standing, missing: int) -> int | None:
    """Return what is missing for each day that is left, rounded half to even to eight decimals."""
    if standing.metric not in SUMS or not standing.days_left:
        return None
    return round(Fraction(missing, standing.days_left))
