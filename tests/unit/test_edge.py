"""The edge of a confirmation: the difference of two means and its interval."""

from decimal import Context, Decimal
from fractions import Fraction
from statistics import NormalDist, mean, variance

import pytest
from hypothesis import given
from hypothesis import strategies as st

from journal_api.rules.edge import QUANTILE, Edge, Sample, compute_edge

AMOUNTS = st.lists(st.integers(-(10**18), 10**18), min_size=10, max_size=40)


def sample(amounts: list[int]) -> Sample:
    return Sample(len(amounts), sum(amounts), sum(amount * amount for amount in amounts))


def test_an_edge_is_what_a_person_computes() -> None:
    """The example of docs/goals.md#the-edge-of-a-confirmation."""
    present, absent = [190, 10] * 5, [110, -130] * 5

    edge = compute_edge(sample([10**8 * one for one in present]), sample([10**8 * one for one in absent]))

    assert edge == Edge(110_00000000, 12_00180000, 207_99820000)


def test_without_any_deviation_the_interval_is_the_difference_itself() -> None:
    assert compute_edge(sample([5] * 10), sample([2] * 12)) == Edge(3, 3, 3)


@pytest.mark.parametrize("sizes", [(9, 10), (10, 9), (0, 100), (0, 0)])
def test_fewer_than_ten_decisions_on_either_side_prove_nothing(sizes: tuple[int, int]) -> None:
    present, absent = (sample([1] * size) for size in sizes)

    assert compute_edge(present, absent) == Edge(None, None, None, "too_few")


@given(AMOUNTS, AMOUNTS)
def test_an_edge_equals_welchs_formula_with_exact_variances(present: list[int], absent: list[int]) -> None:
    sides = [[Fraction(amount) for amount in side] for side in (present, absent)]
    error_squared = sum(variance(side) / len(side) for side in sides)
    context = Context(prec=80)
    error = context.sqrt(context.divide(error_squared.numerator, error_squared.denominator))
    difference = mean(sides[0]) - mean(sides[1])
    margin = Fraction(error) * Fraction("1.959964")

    edge = compute_edge(sample(present), sample(absent))

    assert edge == Edge(round(difference), round(difference - margin), round(difference + margin))


def test_the_quantile_is_that_of_the_normal_distribution() -> None:
    assert float(QUANTILE) == pytest.approx(NormalDist().inv_cdf(0.975), abs=1e-6)
    assert Decimal(QUANTILE.numerator) / QUANTILE.denominator == Decimal("1.959964")
