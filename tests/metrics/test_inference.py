"""Intervals and p values, compared with scipy and with what a person computes."""

import itertools
import math
import random
from fractions import Fraction
from statistics import fmean, pvariance

import pytest
from hypothesis import given
from hypothesis import strategies as st
from proofs import examples, max_examples
from samples import build_sample
from scipy import stats

from journal_api.metrics.distributions import pearson_tails, t_p_value, t_quantile
from journal_api.metrics.inference import (
    Interval,
    Sample,
    benjamini_hochberg,
    mean_interval,
    permutation_p_value,
    welch,
    wilson_interval,
)

INPUTS = examples(full=10_000, ci=300)
NUMBERS = st.lists(st.integers(-(10**18), 10**18), min_size=10, max_size=40)


def draw_freedom(source: random.Random) -> float:
    """Degrees of freedom from 1 to 10,000, of which half are not whole, and as many small as large."""
    freedom = math.exp(source.uniform(0, math.log(10_000)))
    return freedom if source.random() < 0.5 else round(freedom)


def draw_numbers(source: random.Random) -> list[int]:
    """Numbers of about normal or of skewed distribution, of any scale, around any mean."""
    scale, mean = 10 ** source.uniform(1.0, 11.0), source.uniform(-2, 2)
    draw = source.choice([random.Random.gauss, random.Random.lognormvariate])
    return [round(scale * draw(source, mean, 1)) for _ in range(source.randint(10, 200))]


# Compared with scipy -------------------------------------------------------------------------------------


@pytest.mark.soak
def test_p_values_of_t_differ_from_scipys_by_less_than_a_billionth() -> None:
    source = random.Random(1)
    for _ in range(INPUTS):
        t, freedom = math.exp(source.uniform(-9, 4)), draw_freedom(source)

        assert t_p_value(t, freedom) == pytest.approx(2 * stats.t.sf(t, freedom), rel=1e-9, abs=1e-290)


@pytest.mark.soak
def test_quantiles_of_t_differ_from_scipys_by_less_than_a_billionth() -> None:
    source = random.Random(2)
    for _ in range(INPUTS):
        probability = source.choice([0.975, 0.995, source.random(), 1 - 10 ** source.uniform(-9, -1)])
        freedom = draw_freedom(source)

        assert t_quantile(probability, freedom) == pytest.approx(stats.t.ppf(probability, freedom), rel=1e-9)


@pytest.mark.soak
def test_intervals_of_means_are_scipys_rounded() -> None:
    source = random.Random(3)
    for _ in range(INPUTS):
        numbers = draw_numbers(source)
        error = math.sqrt(build_sample(numbers).variance / len(numbers))
        expected = stats.t.interval(0.95, len(numbers) - 1, fmean(numbers), error)

        interval = mean_interval(build_sample(numbers))

        assert interval is not None
        assert list(interval) == pytest.approx(list(expected), rel=1e-9, abs=0.51)


@pytest.mark.soak
def test_welchs_intervals_and_p_values_are_scipys() -> None:
    source = random.Random(4)
    for _ in range(INPUTS):
        present, absent = draw_numbers(source), draw_numbers(source)
        expected = stats.ttest_ind(present, absent, equal_var=False)
        ends = expected.confidence_interval(0.95)

        difference = welch(build_sample(present), build_sample(absent))

        assert difference.p == pytest.approx(expected.pvalue, rel=1e-9, abs=1e-290)
        assert list(difference.interval) == pytest.approx([ends.low, ends.high], rel=1e-9, abs=0.51)


@pytest.mark.soak
def test_shares_differ_from_scipys_by_less_than_a_millionth_of_a_percent() -> None:
    """The quantile has seven digits here, sixteen there."""
    source = random.Random(5)
    for _ in range(INPUTS):
        whole = round(10 ** source.uniform(0, 5))
        part = source.choice([0, whole, source.randint(0, whole)])
        expected = stats.binomtest(part, whole).proportion_ci(0.95, "wilson")

        interval = wilson_interval(part, whole)

        assert interval is not None
        assert [end / 10**8 for end in interval] == pytest.approx(
            [100 * expected.low, 100 * expected.high], abs=1e-6
        )


@pytest.mark.soak
def test_false_discovery_rates_are_scipys() -> None:
    source = random.Random(6)
    for _ in range(INPUTS):
        p_values = [source.choice([0.0, 0.01, 1.0, source.random()]) for _ in range(source.randint(1, 60))]

        assert benjamini_hochberg(p_values) == pytest.approx(list(stats.false_discovery_control(p_values)))


@pytest.mark.soak
def test_tails_of_pearsons_type_three_differ_from_scipys_by_less_than_a_millionth() -> None:
    """Below a skewness of 0.001 from the normal distribution's: scipy itself loses digits there."""
    source = random.Random(7)
    for _ in range(INPUTS):
        z, skewness = source.uniform(0, 8), 10 ** source.uniform(-6, 2)
        pearson = stats.pearson3(skewness) if skewness >= 0.001 else stats.norm

        assert pearson_tails(z, skewness) == pytest.approx(pearson.sf(z) + pearson.cdf(-z), abs=1e-6)


@pytest.mark.parametrize("z", [0.5, 1, 1.5, 2.25, 3, 4])
@pytest.mark.parametrize("skewness", [0.005, 0.00999])
def test_the_tails_of_a_small_skewness_need_no_gamma_function(z: float, skewness: float) -> None:
    pearson = stats.pearson3(skewness)

    assert pearson_tails(z, skewness) == pytest.approx(pearson.sf(z) + pearson.cdf(-z), abs=2e-9)


# Computed otherwise --------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_the_moments_of_all_permutations_are_those_of_every_division(seed: int) -> None:
    source = random.Random(seed)
    numbers = [round(source.expovariate(1) ** 2 * 1000) for _ in range(12)]
    part = source.choice([3, 4, 5, 7, 9])
    sums = [sum(chosen) for chosen in itertools.combinations(numbers, part)]
    spread = math.sqrt(pvariance(sums))
    skewness = abs(stats.skew(sums))
    z = abs(sum(numbers[:part]) - fmean(sums)) / spread

    p = permutation_p_value(build_sample(numbers[:part]), build_sample(numbers[part:]))

    assert p == pytest.approx(pearson_tails(z, skewness), rel=1e-9)


@max_examples(full=2000, ci=100)
@given(NUMBERS, NUMBERS)
def test_a_sample_without_a_part_is_the_sample_of_the_rest(part: list[int], rest: list[int]) -> None:
    assert build_sample(part + rest).without(build_sample(part)) == build_sample(rest)


@max_examples(full=2000, ci=100)
@given(NUMBERS, NUMBERS)
def test_whatever_the_numbers_a_difference_has_an_interval_and_probabilities(
    present: list[int], absent: list[int]
) -> None:
    samples = build_sample(present), build_sample(absent)

    difference, p, interval = welch(*samples)

    assert 0 <= p <= 1
    assert 0 <= permutation_p_value(*samples) <= 1
    assert interval.low <= difference + Fraction(1, 2)
    assert difference - Fraction(1, 2) <= interval.high


# Computed by hand ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sample", "interval"),
    [
        # 100 less and more 30 times 2.262157, the quantile at 9 degrees of freedom
        (build_sample([190_00000000, 10_00000000] * 5), (32_13528512, 167_86471488)),
        (build_sample([7] * 10), (7, 7)),
        (build_sample([1] * 9), None),
        (build_sample([]), None),
        (Sample(100_000, 0, 100_000 * 10**36, 0), (-6198056332920164, 6198056332920164)),
    ],
)
def test_the_interval_of_a_mean(sample: Sample, interval: tuple[int, int] | None) -> None:
    assert mean_interval(sample) == (interval and pytest.approx(interval, rel=1e-8))


@pytest.mark.parametrize(
    ("part", "whole", "interval"),
    [
        (4, 8, Interval(21_52160607, 78_47839393)),
        (0, 8, Interval(0, 32_44075683)),
        (8, 8, Interval(67_55924317, 100_00000000)),
        (0, 1, Interval(0, 79_34506882)),
        (0, 0, None),
    ],
)
def test_the_interval_of_a_share(part: int, whole: int, interval: Interval | None) -> None:
    assert wilson_interval(part, whole) == interval


ONE_LARGE = [0] * 99_999 + [10**18]


@pytest.mark.parametrize(
    ("present", "absent", "by_welch", "by_permutation"),
    [
        ([5] * 10, [5] * 12, 1, 1),  # nothing differs
        ([5] * 10, [2] * 10, 0, 1.30718e-05),  # each side constant: permutations decide
        ([5] * 10, [2, 8] * 5, 1, 1),  # one side constant, means alike
        ([5] * 10, [2, 4] * 5, 0.000202499, 0.000372233),
        (ONE_LARGE[-10:], ONE_LARGE[:-10], 0.343436, 1.95621e-05),
        ([10**18] * 10 + [0] * 10, [-(10**18)] * 100_000, 5.99044e-11, 1.22763e-18),
    ],
)
def test_degenerate_samples_have_p_values(
    present: list[int], absent: list[int], by_welch: float, by_permutation: float
) -> None:
    samples = build_sample(present), build_sample(absent)

    assert welch(*samples).p == pytest.approx(by_welch, rel=1e-5)
    assert permutation_p_value(*samples) == pytest.approx(by_permutation, rel=1e-5)


@pytest.mark.parametrize(
    ("t", "freedom", "p"), [(0, 5, 1), (math.inf, 9, 0), (1e200, 5, 0), (1e-200, 9, 1), (-1, 1, 0.5)]
)
def test_extreme_values_of_t_have_p_values(t: float, freedom: float, p: float) -> None:
    assert t_p_value(t, freedom) == pytest.approx(p)


def test_false_discovery_rates_by_hand() -> None:
    assert benjamini_hochberg([0.04, 0.01, 0.03, 0.9]) == pytest.approx([0.16 / 3, 0.04, 0.16 / 3, 0.9])
    assert benjamini_hochberg([]) == []
