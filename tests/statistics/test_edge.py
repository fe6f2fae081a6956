"""The edge of a confirmation: its interval, its p, and the verdicts of a table."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import build_sample

from journal_api.metrics.distributions import t_quantile
from journal_api.metrics.inference import (
    EdgeVerdict,
    Sample,
    benjamini_hochberg,
    permutation_p_value,
    welch,
    welch_error,
)
from journal_api.statistics.edge import Edge, compute_edge, judge

AMOUNTS = st.lists(st.integers(-(10**18), 10**18), min_size=10, max_size=40)
UNIT = 10**8


def scale(*amounts: int) -> Sample:
    return build_sample([UNIT * amount for amount in amounts])


def test_an_edge_is_what_a_person_computes() -> None:
    """The example of docs/goals.md#the-edge-of-a-confirmation."""
    edge = compute_edge(scale(*[190, 10] * 5), scale(*[110, -130] * 5))

    assert edge._replace(p=None) == Edge(110_00000000, 4_36045063, 215_63954937, present=10, absent=10)
    assert edge.p == pytest.approx(0.0448, abs=0.00005)


def test_without_any_deviation_the_interval_is_the_difference_itself() -> None:
    edge = compute_edge(build_sample([5] * 10), build_sample([2] * 12))

    assert (edge.expectancy, edge.low, edge.high, edge.more_needed) == (3, 3, 3, None)
    assert edge.p == pytest.approx(4.6e-06, rel=0.01)


def test_equal_decisions_differ_in_nothing() -> None:
    assert compute_edge(build_sample([5] * 10), build_sample([5] * 12)) == Edge(
        0, 0, 0, p=1.0, present=10, absent=12
    )


@pytest.mark.parametrize("sizes", [(9, 10), (10, 9), (0, 100), (0, 0)])
def test_fewer_than_ten_decisions_on_either_side_prove_nothing(sizes: tuple[int, int]) -> None:
    present, absent = sizes

    edge = compute_edge(build_sample([1] * present), build_sample([1] * absent))

    assert edge == Edge(verdict="too_few", present=present, absent=absent, reason="too_few")


@given(AMOUNTS, AMOUNTS)
def test_the_p_of_an_edge_is_the_larger_of_welchs_and_the_permutations(
    present: list[int], absent: list[int]
) -> None:
    samples = build_sample(present), build_sample(absent)

    assert compute_edge(*samples).p == max(welch(*samples).p, permutation_p_value(*samples))


@given(AMOUNTS, AMOUNTS)
def test_the_opposite_edge_has_the_opposite_interval(present: list[int], absent: list[int]) -> None:
    one, other = build_sample(present), build_sample(absent)
    edge, opposite = compute_edge(one, other), compute_edge(other, one)

    assert edge.low is not None
    assert (opposite.expectancy, opposite.high) == (-(edge.expectancy or 0), -edge.low)
    assert opposite.p == pytest.approx(edge.p, rel=1e-6)


# More decisions ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("present", "absent", "more"),
    [
        ([110, -90] * 5, [90, -110] * 5, 410),
        ([111, -89] * 10, [89, -111] * 50, 488),
        ([100, 100], [0, 0], None),  # too few
        ([190, 10] * 5, [110, -130] * 5, None),  # off zero already
        ([110, -90] * 5, [110, -90] * 5, None),  # no difference
        ([198, -2] * 5, [100, -100] * 5, 1),
        ([104_128_340, -95_871_660] * 5, [100_000_000, -100_000_000] * 5, 10_000),
        ([104_128_339, -95_871_661] * 5, [100_000_000, -100_000_000] * 5, None),  # more than 10,000
    ],
)
def test_the_number_of_further_decisions(present: list[int], absent: list[int], more: int | None) -> None:
    assert compute_edge(scale(*present), scale(*absent)).more_needed == more


def margin_after(more: int, present: Sample, absent: Sample) -> float:
    """Half of Welch's interval if so many decisions are added in proportion, with the same variances."""
    growth = 1 + more / (present.size + absent.size)
    variances = float(present.variance), float(absent.variance)
    error, freedom = welch_error(variances, (present.size * growth, absent.size * growth))
    return t_quantile(0.975, freedom) * error


@pytest.mark.parametrize("seed", range(30))
def test_one_decision_fewer_leaves_the_interval_on_zero(seed: int) -> None:
    source = random.Random(seed)
    present, absent = (
        build_sample([round(UNIT * source.gauss(mean, 100)) for _ in range(source.randint(10, 60))])
        for mean in (30, 0)
    )
    edge = compute_edge(present, absent)

    difference = abs(present.mean - absent.mean)
    if edge.more_needed is None:
        assert difference > margin_after(0, present, absent) or difference < margin_after(
            10_000, present, absent
        )
    else:
        before, after = (margin_after(edge.more_needed - less, present, absent) for less in (1, 0))
        assert after < difference <= before


# A table of edges ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "verdicts"),
    [
        ([(3, 0.04)], ["more"]),
        ([(-3, 0.04)], ["less"]),
        ([(0, 0.04)], ["not_shown"]),
        ([(3, 0.04), (3, 0.9)], ["not_shown", "not_shown"]),  # one of two looks
        ([(3, 0.02), (-3, 0.04), (3, 1.0)], ["not_shown", "not_shown", "not_shown"]),
        ([(3, 0.02), (-3, 0.04)], ["more", "less"]),
        ([(3, 0.025), (3, None), (3, 0.5)], ["more", None, "not_shown"]),  # lines without a p do not count
        ([], []),
    ],
)
def test_a_verdict_takes_all_lines_of_the_table_into_account(
    lines: list[tuple[int, float | None]], verdicts: list[EdgeVerdict | None]
) -> None:
    edges = [Edge(expectancy, p=p) for expectancy, p in lines]

    judged = judge(edges)

    assert [edge.verdict for edge in judged] == verdicts
    assert [edge._replace(q=None, verdict=None) for edge in judged] == edges
    rates = benjamini_hochberg([p for _, p in lines if p is not None])
    assert [edge.q for edge in judged if edge.p is not None] == rates


def test_lines_with_too_few_decisions_and_other_reasons_stay_as_they_are() -> None:
    edges = [compute_edge(build_sample([1] * 9), build_sample([1] * 9)), Edge(reason="mixed_currencies")]

    assert judge(edges) == edges
