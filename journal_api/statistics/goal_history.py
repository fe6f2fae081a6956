"""The history of a goal: its periods, the stale ones, the content of a snapshot (DECISIONS 17)."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from itertools import chain
from typing import NamedTuple

from msgspec import Struct, json
from msgspec.structs import replace

from journal_api.metrics.formulas import GoalDirection, MetricValue
from journal_api.metrics.members import ExtraStatistic, Statistics, show_statistics
from journal_api.metrics.metrics import METRICS
from journal_api.statistics.pace import GoalProgress, Pace, compute_pace
from journal_api.values.money import MAX_STORED, decimal_json
from journal_api.values.periods import ONE_DAY, Period, Timeframe, find_period, periods_between


class GoalState(Struct):
    """Everything about a goal that refreshing its snapshots needs."""

    goal_id: int
    user_id: int
    metric: str
    direction: GoalDirection
    timeframe: Timeframe
    # The dates of timeframe custom, otherwise two nulls.
    custom_window: list[date | None]
    timezone: str
    day_rollover: str
    breakeven_within: int
    trading_weekdays: frozenset[int]  # ISO numbers
    is_stopped: bool  # paused or archived
    created_on: date
    today: date
    current_days: str  # in all calendars of the owner
    account_ids: list[int]
    starting_balances: list[int]
    currencies: list[str]  # of the accounts in scope, each once
    # (since, target), oldest first; the first applies to all earlier periods too.
    targets: list[tuple[date, int]]
    change_cursor: int | None
    evaluated_on: str | None  # as current_days
    latest_change: int
    first_trade: date | None
    newest_day: date | None  # the last day of a trade that has begun in the calendar of its account
    oldest: date | None
    newest: date | None

    @property
    def first_day(self) -> date:
        """The start of the history: the first trade or the creation of the goal, whichever is earlier."""
        return min(self.first_trade or self.created_on, self.created_on)

    @property
    def last_day(self) -> date:
        """The end of the history: today, or a later day of a trade that has begun in its account."""
        return self.today if self.is_stopped else max(self.newest_day or self.today, self.today)

    @property
    def is_of_today(self) -> bool:
        """Whether the snapshots have been evaluated on these days."""
        return self.change_cursor is not None and self.evaluated_on == self.current_days

    @property
    def mixes_currencies(self) -> bool:
        return len(self.currencies) > 1

    @property
    def currency(self) -> str | None:
        """The currency of all accounts in scope, None without an account and for different currencies."""
        return self.currencies[0] if len(self.currencies) == 1 else None

    @property
    def extra(self) -> ExtraStatistic | None:
        return METRICS[self.metric].extra

    @property
    def carries_balance(self) -> bool:
        """Whether the value of a period depends on the periods before it."""
        return METRICS[self.metric].carries_balance


def is_unchanged(state: GoalState | None, earlier: GoalState) -> bool:
    """Return whether snapshots computed from the earlier state may be stored for this one.

    New trades do not matter: their changes are newer than the cursor of the earlier state.
    """
    ignored = {name: getattr(earlier, name) for name in ("latest_change", "first_trade", "newest_day")}
    return state is not None and replace(state, **ignored) == earlier


class Snapshot(NamedTuple):
    """A row of the table `snapshots`."""

    period_start: str
    period_end: str
    target: int
    actual: int | None
    achieved: bool | None
    closed: bool
    snapshot_data: str
    # Null unless the metric carries a balance, and for a balance that does not fit into 64 bits.
    opening_balance: int | None
    closing_balance: int | None


def find_stale_periods(state: GoalState, changed: Sequence[date]) -> Iterator[Period]:
    """Return the periods of the history to compute, given the days whose trades changed, oldest first."""
    if state.timeframe == "custom":
        start, end = state.custom_window
        assert start is not None, "a CHECK in schema.sql requires the dates of a custom goal"
        assert end is not None
        return iter([Period(start, end)])
    first, last, timeframe = state.first_day, state.last_day, state.timeframe
    if state.change_cursor is None or state.oldest is None or state.newest is None:
        return periods_between(first, last, timeframe)
    newest = min(state.newest, last)  # later than today once the clock was set back
    if state.carries_balance and changed:
        return periods_between(min(max(first, *changed[:1]), newest), last, timeframe)
    # An earlier first trade adds the empty periods after it, but days without a trade have no snapshot.
    earlier = periods_between(first, state.oldest - ONE_DAY, timeframe) if timeframe != "daily" else ()
    begin, end = find_period(first, timeframe).start, find_period(last, timeframe).end
    of_changed_days = (find_period(day, timeframe) for day in changed if begin <= day <= end)
    return chain(earlier, of_changed_days, periods_between(newest, last, timeframe))


def add_balances(
    by_period: dict[Period, Statistics | None],
    opening_balance: int | None,
    cash: Mapping[date, int],
    currency: str | None,
) -> dict[Period, Statistics | None]:
    """Return the statistics of consecutive periods with the opening balance and the cash of each.

    `cash` is what deposits, resets and the like add to the balance, by day.

    A balance that does not fit into 64 bits is None, and so is every balance after it.
    """
    cash_in = sum_by_period(list(by_period), cash)
    with_balance: dict[Period, Statistics | None] = {}
    for period, statistics in by_period.items():
        if statistics is not None:
            statistics = replace(
                statistics, opening_balance=storable(opening_balance), cash=cash_in[period], currency=currency
            )
        with_balance[period] = statistics
        opening_balance = storable(statistics.closing_balance) if statistics else None
    return with_balance


def sum_by_period(periods: Sequence[Period], cash: Mapping[date, int]) -> Counter[Period]:
    """Return the cash of each of the consecutive periods, given the cash of their days."""
    starts = [period.start for period in periods]
    sums = Counter[Period]()
    for day, amount in cash.items():
        sums[periods[bisect_right(starts, day) - 1]] += amount
    return sums


def mark_mixed_currencies(by_period: dict[Period, Statistics | None]) -> dict[Period, Statistics | None]:
    """Return the statistics of accounts in different currencies, whose balances cannot be added."""
    return {
        period: statistics and replace(statistics, currency=None, mixes_currencies=True)
        for period, statistics in by_period.items()
    }


def has_snapshot(state: GoalState, period: Period, statistics: Statistics | None) -> bool:
    """Return whether the period has a snapshot: every period has one, except past days of which none counts.

    A day counts with a trade, and with cash that changes the balance.
    """
    counts = statistics is None or statistics.trades > 0 or statistics.cash != 0
    return state.timeframe != "daily" or period.start == state.today or counts


def build_snapshot(
    state: GoalState, period: Period, statistics: Statistics | None, of_today: Statistics | None
) -> Snapshot:
    """Return the row to store. Statistics of None mean that a sum does not fit into 64 bits."""
    value = METRICS[state.metric].evaluate(statistics)
    target = find_target(state, period)
    pace = None
    if not state.is_stopped and period.start <= state.today <= period.end:
        goal = state.metric, state.direction, target
        progress = GoalProgress(*goal, value, statistics, of_today, period, state.today, state.trading_weekdays)
        pace = compute_pace(progress)
    return Snapshot(
        period_start=period.start.isoformat(),
        period_end=period.end.isoformat(),
        target=target,
        actual=value.actual,
        achieved=value.achieves(state.direction, target),
        closed=period.end < state.today,
        snapshot_data=snapshot_data(state, value, statistics, pace),
        opening_balance=statistics.opening_balance if statistics else None,
        closing_balance=storable(statistics.closing_balance) if statistics else None,
    )


def storable(amount: int | None) -> int | None:
    return amount if amount is not None and abs(amount) <= MAX_STORED else None


def find_target(state: GoalState, period: Period) -> int:
    """Return the target at the end of a closed period, otherwise the current target."""
    day = period.end if period.end < state.today else date.max
    return next(target for since, target in reversed(state.targets) if since <= day)


def snapshot_data(state: GoalState, value: MetricValue, statistics: Statistics | None, pace: Pace | None) -> str:
    """Return the JSON of `snapshot_data`: everything a reader needs to recompute the value, and the pace."""
    data: dict[str, object] = {
        "unit": METRICS[state.metric].unit,
        "timezone": state.timezone,
        "day_rollover": state.day_rollover,
        "breakeven_within": decimal_json(state.breakeven_within),
        "reason": value.reason,
    }
    data |= show_statistics(statistics, {state.extra, "days"})
    if pace is not None:
        amounts = {name: decimal_json(getattr(pace, name)) for name in ("remaining", "needed_per_day")}
        data["pace"] = {**pace._asdict(), **amounts}
    return json.encode(data).decode()
