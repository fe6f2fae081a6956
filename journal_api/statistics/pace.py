"""The pace of a goal: how it stands in its running period (docs/goals.md#pace).

A limit holds at the start of the period, and trading can break it: every goal at most, and the loss limits,
which are goals at least with a negative target. A target is to be reached. A rate or average can be met and
missed again with every trade. All amounts are integers of 10^-8 of the metric's unit.
"""

from collections.abc import Callable
from datetime import date
from fractions import Fraction
from typing import NamedTuple

from journal_api.metrics.formulas import GoalDirection, MetricValue
from journal_api.metrics.members import Statistics
from journal_api.metrics.metrics import goal_kind
from journal_api.structs.snapshots import PaceState
from journal_api.values.money import SCALE
from journal_api.values.periods import Period, count_weekdays

# Sums and counts, to which every day can add.
SUMS = frozenset({"net_pnl", "gross_pnl", "balance_target", "trade_count", "trading_days", "winning_days"})
# The highest value so far, to which a day adds nothing.
RECORDS = frozenset({"win_streak", "max_trades_per_day", "max_drawdown"})
# Limits that no further trade can keep once they are broken, by the direction of the goal.
FINAL_LIMITS = {
    "at_most": RECORDS | {"trade_count", "trading_days", "largest_risk"},
    "at_least": frozenset({"worst_day", "worst_trade"}),
}
UNKNOWN = ("mixed_currencies", "out_of_range")


class Pace(NamedTuple):
    """The state and the amount that is missing or left. Everything is None that cannot be known."""

    state: PaceState | None
    remaining: int | None
    days_left: int
    needed_per_day: int | None = None


class GoalProgress(NamedTuple):
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
        return count_weekdays(self.period, self.trading_weekdays)

    @property
    def days_left(self) -> int:
        """The trading days from today on, without today once a trade in scope has closed today."""
        left = count_weekdays(Period(self.today, self.period.end), self.trading_weekdays)
        has_today = self.today.isoweekday() in self.trading_weekdays
        return left - (has_today and self.has_traded_today)

    @property
    def known(self) -> tuple[Statistics, Statistics]:
        """The statistics of the period and of today, without which `compute_pace` ends."""
        assert self.statistics is not None, "checked by compute_pace"
        assert self.of_today is not None, "checked by compute_pace"
        return self.statistics, self.of_today

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
        return self.metric in FINAL_LIMITS[self.direction]

    @property
    def missing(self) -> int | None:
        """How far the value is on the wrong side of the target, 0 if it is met; None without a value."""
        if self.is_met:
            return 0
        return None if self.value.actual is None else abs(self.target - self.value.actual)


def compute_pace(progress: GoalProgress) -> Pace:
    """Return the pace of an active goal in a period that contains today."""
    if progress.statistics is None or progress.of_today is None or progress.value.reason in UNKNOWN:
        return Pace(None, None, progress.days_left)
    if progress.is_limit:
        return compute_limit_pace(progress)
    if progress.metric in SUMS | RECORDS:
        return compute_target_pace(progress)
    if progress.is_met is not False:
        return Pace("on_track", progress.missing, progress.days_left)
    state: PaceState = "missed" if is_lost_by_worst(progress) else "behind"
    return Pace(state, progress.missing, progress.days_left)


def is_lost_by_worst(progress: GoalProgress) -> bool:
    """Return whether the worst trade, or the worst of the days before today, stays below the target."""
    if progress.metric == "worst_trade":
        return True
    if progress.metric != "worst_day":
        return False
    statistics, of_today = progress.known
    # A worst day that equals today's may be today alone, which can still win.
    return not of_today.trades or statistics.worst_day != of_today.net_pnl


# Limits --------------------------------------------------------------------------------------------------


def compute_limit_pace(progress: GoalProgress) -> Pace:
    """Return the room that is left until the limit; from 80 % of the limit on it is near."""
    if progress.is_met is False:
        if progress.is_final or has_won_too_often(progress):
            return Pace("missed", 0, progress.days_left)
        return Pace("behind", progress.missing, progress.days_left)
    room = find_room(progress)
    is_near = room is not None and room * 5 <= abs(progress.target)
    return Pace("near_limit" if is_near else "within_limit", room, progress.days_left)


def has_won_too_often(progress: GoalProgress) -> bool:
    """Return whether the winning days before today are more than the limit. Today can still lose."""
    if progress.metric != "winning_days":
        return False
    statistics, of_today = progress.known
    return (statistics.winning_days - of_today.winning_days) * SCALE > progress.target


# What counts towards the limit now, where that is not the value of the whole period: a new day, a new trade
# and a new peak begin with nothing.
USED_NOW: dict[str, Callable[[Statistics, Statistics], int]] = {
    "worst_day": lambda statistics, of_today: of_today.net_pnl,
    "worst_trade": lambda statistics, of_today: 0,
    "largest_risk": lambda statistics, of_today: 0,
    "max_trades_per_day": lambda statistics, of_today: statistics.decisions_today * SCALE,
    "max_drawdown": lambda statistics, of_today: (statistics.peak_pnl or 0) - statistics.net_pnl,
}


def find_room(progress: GoalProgress) -> int | None:
    """Return what is left until the limit, which is not broken; None for an average without a trade."""
    used = progress.value.actual
    if progress.is_final and progress.metric in USED_NOW:
        used = USED_NOW[progress.metric](*progress.known)
    if used is None:
        return None
    room = used - progress.target if progress.direction == "at_least" else progress.target - used
    return max(0, room)


# Targets -------------------------------------------------------------------------------------------------


def compute_target_pace(progress: GoalProgress) -> Pace:
    """Return what is missing to the target, and how much each day that is left has to add."""
    missing = progress.missing
    assert missing is not None, "sums and counts always have a value"
    return Pace(
        choose_target_state(progress, missing), missing, progress.days_left, compute_needed_per_day(progress, missing)
    )


def choose_target_state(progress: GoalProgress, missing: int) -> PaceState:
    if progress.is_met:
        return "achieved"
    if progress.metric in ("trading_days", "winning_days") and missing > count_possible_days(progress) * SCALE:
        return "missed"
    assert progress.value.actual is not None, "sums and counts always have a value"
    opening = (progress.statistics and progress.statistics.opening_balance) or 0
    gone = progress.days - progress.days_left
    is_on_track = (progress.value.actual - opening) * progress.days >= (progress.target - opening) * gone
    return "on_track" if is_on_track else "behind"


def count_possible_days(progress: GoalProgress) -> int:
    """Return how many days the count of days can still grow by: a trade can close on any day.

    Today counts while it has no trade, and as a winning day also while its trades have not won.
    """
    later = (progress.period.end - progress.today).days
    if progress.metric == "winning_days":
        return later + (progress.known[1].winning_days == 0)
    return later + (not progress.has_traded_today)


def compute_needed_per_day(progress: GoalProgress, missing: int) -> int | None:
    """Return what is missing for each day that is left, rounded half to even to eight decimals."""
    if progress.metric not in SUMS or not progress.days_left:
        return None
    return round(Fraction(missing, progress.days_left))
