"""The pace of goals: a pure rule that answers whatever the journal holds (docs/goals.md#pace)."""

from datetime import date, timedelta
from fractions import Fraction
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from proofs import max_examples

from journal_api.rules.pace import RECORDS, SUMS, UNKNOWN, GoalProgress, Pace, compute_pace
from journal_api.structs.snapshots import PaceState
from journal_api.values.metric_formulas import MetricValue, Reason
from journal_api.values.metrics import METRICS
from journal_api.values.money import SCALE
from journal_api.values.periods import Period, count_weekdays
from journal_api.values.statistics import NO_TRADES, Statistics

LARGEST = 2**63 - 1
WON_TODAY = {"today_trades": 1, "today_winning_days": 1}
MONDAY = date(2026, 3, 2)
WEEK = Period(MONDAY, MONDAY + timedelta(days=6))
WORKDAYS = frozenset({1, 2, 3, 4, 5})
OPTIONAL = {
    "worst_trade",
    "worst_day",
    "r_total",
    "max_drawdown",
    "peak_pnl",
    "win_streak",
    "opening_balance",
}
AMOUNTS = {"gross_pnl", "net_pnl", "winning_pnl", "losing_pnl", "worst_trade", "worst_day", "r_total"}
AMOUNTS |= {"opening_balance", "fees"}

amounts = st.integers(-LARGEST, LARGEST) | st.integers(-(10**11), 10**11) | st.just(0)
days = st.dates(date(1990, 1, 1), date(2110, 12, 31))


def member(name: str) -> st.SearchStrategy[Any]:
    """Any value that the statistic can have."""
    if name == "currency":
        return st.none()
    if name == "mixes_currencies":
        return st.booleans()
    members = amounts if name in AMOUNTS else st.integers(0, LARGEST) | st.integers(0, 5)
    return st.none() | members if name in OPTIONAL else members


statistics = st.builds(Statistics, **{name: member(name) for name in Statistics.__struct_fields__})


values_of_sums = st.builds(MetricValue, amounts) | st.builds(MetricValue, st.none(), st.sampled_from(UNKNOWN))
values = (
    values_of_sums
    | st.builds(MetricValue, st.none(), st.sampled_from(get_args(Reason)))
    | st.just(MetricValue(None, "no_losses", infinite=True))
)


@st.composite
def progresses(draw: st.DrawFn) -> GoalProgress:
    """Any goal in a period that contains today, with statistics that need not agree with each other."""
    metric = draw(st.sampled_from(sorted(METRICS)))
    start, length, gone = draw(days), draw(st.integers(0, 400)), draw(st.integers(0, 400))
    period = Period(start, start + timedelta(days=length))
    known = draw(st.none() | st.just(NO_TRADES) | statistics)
    return GoalProgress(
        metric=metric,
        direction=draw(st.sampled_from(["at_least", "at_most"])),
        target=draw(amounts),
        value=draw(values_of_sums if metric in SUMS | RECORDS else values),
        statistics=known,
        of_today=draw(st.none() | st.just(NO_TRADES) | statistics),
        period=period,
        today=min(start + timedelta(days=gone), period.end),
        trading_weekdays=draw(st.frozensets(st.integers(1, 7), min_size=1)),
    )


def progress(metric: str, target: float, direction: str = "at_least", **fields: Any) -> GoalProgress:
    """A goal for this week, on Wednesday, with statistics in whole units and no trade today unless given."""
    in_units = AMOUNTS | {"max_drawdown", "peak_pnl"}
    scaled = {
        name: value * SCALE if name.removeprefix("today_") in in_units else value
        for name, value in fields.items()
    }
    of_today = {
        name.removeprefix("today_"): value for name, value in scaled.items() if name.startswith("today_")
    }
    known = with_members({name: value for name, value in scaled.items() if not name.startswith("today_")})
    return GoalProgress(
        metric=metric,
        direction=direction,  # type: ignore[arg-type]
        target=round(target * SCALE),
        value=METRICS[metric].evaluate(known),
        statistics=known,
        of_today=with_members(of_today),
        period=WEEK,
        today=MONDAY + timedelta(days=2),
        trading_weekdays=WORKDAYS,
    )


def with_members(members: dict[str, Any]) -> Statistics:
    return msgspec.structs.replace(NO_TRADES, **members)


@given(progresses())
@max_examples(full=20_000, ci=150)
def test_every_goal_has_a_pace_that_makes_sense(progress: GoalProgress) -> None:
    pace = compute_pace(progress)

    assert pace.state is None or pace.state in get_args(PaceState)
    assert pace.remaining is None or pace.remaining >= 0
    assert 0 <= pace.days_left <= (progress.period.end - progress.today).days + 1
    if pace.state in ("missed", "behind"):
        assert progress.is_met is False
    if pace.state == "achieved":
        assert (progress.is_met, pace.remaining) == (True, 0)
    if pace.state == "near_limit":
        assert pace.remaining is not None
        assert pace.remaining * 5 <= abs(progress.target)
    if pace.state is None:
        assert (pace.remaining, pace.needed_per_day) == (None, None)
    if pace.needed_per_day is not None:
        assert pace.remaining is not None
        assert pace.needed_per_day == round(Fraction(pace.remaining, pace.days_left))


@given(days, st.integers(-3, 800), st.sets(st.integers(1, 7)))
@max_examples(full=2_000, ci=100)
def test_trading_days_are_those_that_a_walk_through_the_period_counts(
    start: date, length: int, weekdays: set[int]
) -> None:
    period = Period(start, start + timedelta(days=length))
    walked = [start + timedelta(days=number) for number in range(length + 1)]

    assert count_weekdays(period, weekdays) == sum(day.isoweekday() in weekdays for day in walked)


def test_needed_per_day_is_rounded_half_to_even() -> None:
    """Of 0.00000015 two days need 0.000000075 each, of 0.00000005 they need 0.000000025."""
    two_days = progress("net_pnl", 0)._replace(today=MONDAY + timedelta(days=3))

    assert [compute_pace(two_days._replace(target=target)).needed_per_day for target in (15, 5)] == [8, 2]


@pytest.mark.parametrize(
    ("metric", "direction", "target", "broken_by"),
    [
        ("worst_day", "at_least", -500, {"worst_day": -501, "trades": 1}),
        ("worst_trade", "at_least", -500, {"worst_trade": -501, "trades": 1}),
        ("max_drawdown", "at_most", 500, {"max_drawdown": 501}),
        ("max_trades_per_day", "at_most", 3, {"max_trades_per_day": 4}),
        ("trade_count", "at_most", 3, {"decisions": 4}),
        ("trading_days", "at_most", 1, {"trading_days": 2}),
        ("win_streak", "at_most", 1, {"win_streak": 2}),
    ],
)
def test_a_limit_that_no_trade_can_repair_is_missed(
    metric: str, direction: str, target: int, broken_by: dict[str, Any]
) -> None:
    assert compute_pace(progress(metric, target, direction, **broken_by)) == Pace("missed", 0, 3)


@pytest.mark.parametrize(
    ("metric", "target", "direction", "members", "state"),
    [
        # A limit is near from four fifths of it on.
        *(
            ("net_pnl", target, "at_least", {"net_pnl": -400}, state)
            for target, state in [
                (-500.01, "within_limit"),
                (-500, "near_limit"),
                (-400, "near_limit"),
                (-399, "behind"),
            ]
        ),
        # A later trade can still meet these, which are probably mistakes.
        ("worst_day", -500, "at_most", {"worst_day": -100}, "behind"),
        ("max_drawdown", 500, "at_least", {"max_drawdown": 100}, "behind"),
        # A positive target is missed, unless the day below it is today.
        ("worst_trade", 500, "at_least", {"worst_trade": 100}, "missed"),
        ("worst_day", 500, "at_least", {"worst_day": 100}, "missed"),
        ("worst_day", 500, "at_least", {"worst_day": 100, "today_trades": 1, "today_net_pnl": 200}, "missed"),
        ("worst_day", 500, "at_least", {"worst_day": 100, "today_trades": 1, "today_net_pnl": 100}, "behind"),
        # Too many winning days are missed, unless today can still lose.
        ("winning_days", 1, "at_most", {"winning_days": 2}, "missed"),
        ("winning_days", 1, "at_most", {"winning_days": 2, **WON_TODAY}, "behind"),
        # One day was won. Four days are left after today, two of them workdays; today can still be won.
        ("winning_days", 7, "at_least", {"winning_days": 1}, "missed"),
        ("winning_days", 6, "at_least", {"winning_days": 1}, "behind"),
        ("winning_days", 6, "at_least", {"winning_days": 1, "today_trades": 1}, "behind"),
        ("winning_days", 6, "at_least", {"winning_days": 1, **WON_TODAY}, "missed"),
        ("trading_days", 6, "at_least", {"trading_days": 1}, "behind"),
        ("trading_days", 6, "at_least", {"trading_days": 1, "today_trades": 1}, "missed"),
        # Two of five days are gone: 200 of 500 are due.
        ("net_pnl", 500, "at_least", {"net_pnl": 200}, "on_track"),
        ("net_pnl", 500, "at_least", {"net_pnl": 199}, "behind"),
        ("net_pnl", 500, "at_least", {"net_pnl": 500}, "achieved"),
        ("balance_target", 1500, "at_least", {"net_pnl": 200, "opening_balance": 1000}, "on_track"),
        ("balance_target", 1500, "at_least", {"net_pnl": 199, "opening_balance": 1000}, "behind"),
        ("expectancy", 5, "at_least", {}, "on_track"),
        ("profit_factor", 5, "at_most", {"decisions": 1, "wins": 1}, "behind"),
        # An average is a limit too; without a trade it has no room to tell.
        ("expectancy", -5, "at_least", {}, "within_limit"),
    ],
)
def test_a_goal_stands_on_wednesday(
    metric: str, target: float, direction: str, members: dict[str, Any], state: str
) -> None:
    assert compute_pace(progress(metric, target, direction, **members)).state == state


@pytest.mark.parametrize(
    ("metric", "target", "direction", "members", "remaining"),
    [
        ("worst_day", -500, "at_least", {"worst_day": -450, "today_net_pnl": -380}, 120),
        ("worst_trade", -500, "at_least", {"worst_trade": -450}, 500),
        ("max_trades_per_day", 5, "at_most", {"max_trades_per_day": 4, "decisions_today": 1}, 4),
        ("max_drawdown", 300, "at_most", {"max_drawdown": 200, "peak_pnl": 500, "net_pnl": 450}, 250),
        ("trade_count", 5, "at_most", {"decisions": 4}, 1),
        ("worst_day", -500, "at_most", {"worst_day": -100}, 400),
        ("expectancy", -5, "at_least", {}, None),
    ],
)
def test_the_room_or_what_is_missing(
    metric: str, target: float, direction: str, members: dict[str, Any], remaining: float | None
) -> None:
    pace = compute_pace(progress(metric, target, direction, **members))

    assert pace.remaining == (None if remaining is None else remaining * SCALE)
