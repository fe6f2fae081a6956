"""The pace of goals: a pure rule that answers whatever the journal holds (docs/goals.md#pace)."""

from datetime import date, timedelta
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from proofs import max_examples
from saved_journals import for_rows

from journal_api.metrics.members import NO_TRADES, Statistics
from journal_api.metrics.metrics import METRICS
from journal_api.statistics.pace import GoalProgress, Pace, compute_pace
from journal_api.values.money import SCALE
from journal_api.values.periods import Period, count_weekdays

WON_TODAY = {"today_trades": 1, "today_winning_days": 1}
MONDAY = date(2026, 3, 2)
WEEK = Period(MONDAY, MONDAY + timedelta(days=6))
WORKDAYS = frozenset({1, 2, 3, 4, 5})
AMOUNTS = {"gross_pnl", "net_pnl", "winning_pnl", "losing_pnl", "worst_trade", "worst_day", "r_total"}
AMOUNTS |= {"opening_balance", "cash", "fees"}

days = st.dates(date(1990, 1, 1), date(2110, 12, 31))


def progress(metric: str, target: float, direction: str = "at_least", **fields: Any) -> GoalProgress:
    """A goal for this week, on Wednesday, with statistics in whole units and no trade today unless given."""
    in_units = AMOUNTS | {"max_drawdown", "peak_pnl"}
    scaled = {
        name: value * SCALE if name.removeprefix("today_") in in_units else value for name, value in fields.items()
    }
    of_today = {name.removeprefix("today_"): value for name, value in scaled.items() if name.startswith("today_")}
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


@for_rows(
    "metric, direction, target, broken_by",
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


@for_rows(
    "metric, target, direction, members, state",
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
        ("balance_target", 1500, "at_least", {"cash": 200, "opening_balance": 1000}, "on_track"),
        ("expectancy", 5, "at_least", {}, "on_track"),
        ("win_rate", 50, "at_least", {"decisions": 1, "losses": 1}, "behind"),
        ("profit_factor", 5, "at_most", {"decisions": 1, "wins": 1}, "behind"),
        # An average is a limit too; without a trade it has no room to tell.
        ("expectancy", -5, "at_least", {}, "within_limit"),
    ],
)
def test_a_goal_stands_on_wednesday(
    metric: str, target: float, direction: str, members: dict[str, Any], state: str
) -> None:
    assert compute_pace(progress(metric, target, direction, **members)).state == state


@for_rows(
    "metric, target, direction, members, remaining",
    [
        ("worst_day", -500, "at_least", {"worst_day": -450, "today_net_pnl": -380}, 120),
        ("worst_trade", -500, "at_least", {"worst_trade": -450}, 500),
        ("max_trades_per_day", 5, "at_most", {"max_trades_per_day": 4, "decisions_today": 1}, 4),
        ("max_drawdown", 300, "at_most", {"max_drawdown": 200, "peak_pnl": 500, "net_pnl": 450}, 250),
        ("trade_count", 5, "at_most", {"decisions": 4}, 1),
        ("trade_count", 4, "at_most", {"decisions": 4}, 0),
        ("worst_day", -500, "at_least", {"worst_day": -500, "today_net_pnl": -500}, 0),
        ("worst_day", -500, "at_most", {"worst_day": -100}, 400),
        ("expectancy", -5, "at_least", {}, None),
    ],
)
def test_the_room_or_what_is_missing(
    metric: str, target: float, direction: str, members: dict[str, Any], remaining: float | None
) -> None:
    pace = compute_pace(progress(metric, target, direction, **members))

    assert pace.remaining == (None if remaining is None else remaining * SCALE)
