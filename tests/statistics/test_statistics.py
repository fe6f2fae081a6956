"""Curves and runs against their definitions, and sums beyond 64 bits."""

from datetime import date
from itertools import accumulate, groupby

from hypothesis import given
from hypothesis import strategies as st
from saved_journals import for_rows

from journal_api.metrics.members import SUMMED
from journal_api.statistics.fold import Collected, Curve, Run
from journal_api.values.money import MAX_STORED, OUT_OF_RANGE
from journal_api.values.periods import ONE_DAY, Period, merge_periods, split_period

RESULTS = st.lists(st.integers(-5, 5), max_size=30)
DAYS = st.dates().flatmap(lambda day: st.integers(0, 20).map(lambda more: (day, more)))


def sums(**members: int) -> list[int]:
    return [members.get(name, 0) for name in SUMMED]


@given(RESULTS)
def test_a_drawdown_is_the_deepest_fall_below_an_earlier_peak(results: list[int]) -> None:
    curve = Curve()
    for result in results:
        curve.add(result)

    equity = list(accumulate(results, initial=0))
    falls = [max(equity[: number + 1]) - one for number, one in enumerate(equity)]
    assert (curve.equity, curve.low, curve.peak) == (equity[-1], min(equity), max(equity))
    assert curve.drawdown == max(falls)


@given(RESULTS)
def test_a_streak_is_the_longest_run_of_wins_without_a_loss(results: list[int]) -> None:
    run = Run()
    for result in results:
        run.add(result)

    decided = [result > 0 for result in results if result]
    assert run.longest == max((len(list(wins)) for is_win, wins in groupby(decided) if is_win), default=0)


@for_rows(
    "parts",
    [
        [sums(net_pnl=MAX_STORED), sums(net_pnl=1)],
        [sums(losing_pnl=-MAX_STORED), sums(losing_pnl=-1)],
        [sums(mfe_total=MAX_STORED), sums(mfe_total=1)],
        [sums(net_pnl=MAX_STORED, fees=1)],
        [[*sums()[:-1], OUT_OF_RANGE]],
    ],
)
def test_without_a_sum_that_fits_into_64_bits_there_are_no_statistics(parts: list[list[int | str]]) -> None:
    collected = Collected()
    for one in parts:
        collected.add(one, None)

    assert collected.compute() is None
    assert Collected().compute() is not None


def test_risks_that_do_not_fit_into_64_bits_leave_the_other_sums_as_they_are() -> None:
    collected = Collected()
    collected.add(sums(net_pnl=1, risk_high=MAX_STORED >> 32, risk_low=2**40), None)

    found = collected.compute()

    assert found is not None
    assert (found.net_pnl, found.risk_total) == (1, None)


@given(st.lists(DAYS, max_size=6))
def test_merged_periods_are_disjoint_and_have_the_same_days(spans: list[tuple[date, int]]) -> None:
    periods = [Period(day, day + ONE_DAY * more) for day, more in spans if day.year < 9999]

    merged = merge_periods(periods)

    assert sorted({day for one in periods for day in one.days()}) == [day for one in merged for day in one.days()]


def test_a_period_is_split_into_days_and_spans_within_it() -> None:
    days = [date(2026, 1, day) for day in range(1, 10)]
    ends = dict.fromkeys(days[2:5], days[4]) | {days[7]: days[8], days[8]: days[8]}

    assert list(split_period(Period(days[0], days[7]), ends)) == [
        *(Period(days[0], days[0]), Period(days[1], days[1]), Period(days[2], days[4])),
        *(Period(days[5], days[5]), Period(days[6], days[6]), Period(days[7], days[7])),
    ]
    assert list(split_period(Period(days[3], days[3]), ends)) == [Period(days[3], days[3])]
