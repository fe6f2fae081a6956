"""Intervals and p values, compared with scipy and with what a person computes."""

import itertools
import math
import random
from collections.abc import Sequence
from fractions import Fraction
from statistics import fmean, pvariance
from typing import Any

import inference
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st
from proofs import examples, max_examples
from samples import Numbers, a_day_each, build_sample, edge_between, edge_of, share_days, sum_days, welch_p_value
from saved_journals import for_rows

from journal_api.metrics.distributions import pearson_tails, t_p_value, t_quantile
from journal_api.metrics.inference import (
    EdgeVerdict,
    Interval,
    Sample,
    benjamini_hochberg,
    find_unseen,
    mean_interval,
    permutation_p_value,
    share_interval,
)
from journal_api.statistics.edge import Edge, judge
from journal_api.statistics.joint_lines import Cells, within_p_value

INPUTS = examples(full=10_000, ci=100)
NUMBERS = st.lists(st.tuples(st.integers(1, 12), st.integers(-(10**18), 10**18)), min_size=10, max_size=40)


def draw_freedom(source: random.Random) -> float:
    """Degrees of freedom from 1 to 10,000, of which half are not whole, and as many small as large."""
    freedom = math.exp(source.uniform(0, math.log(10_000)))
    return freedom if source.random() < 0.5 else round(freedom)


def draw_numbers(source: random.Random) -> list[int]:
    """Numbers of about normal or of skewed distribution, of any scale, around any mean."""
    scale, mean = 10 ** source.uniform(1.0, 11.0), source.uniform(-2, 2)
    draw = source.choice([random.Random.gauss, random.Random.lognormvariate])
    return [round(scale * draw(source, mean, 1)) for _ in range(source.randint(10, 200))]


@pytest.mark.soak
def test_p_values_of_t_differ_from_scipys_by_less_than_a_billionth() -> None:
    source = random.Random(1)
    for _ in range(INPUTS):
        t, freedom = math.exp(source.uniform(-9, 4)), draw_freedom(source)

        assert t_p_value(t, freedom) == pytest.approx(2 * scipy.stats.t.sf(t, freedom), rel=1e-9, abs=1e-290)


@pytest.mark.soak
def test_quantiles_of_t_differ_from_scipys_by_less_than_a_billionth() -> None:
    source = random.Random(2)
    for _ in range(INPUTS):
        probability = source.choice([0.975, 0.995, source.random(), 1 - 10 ** source.uniform(-9, -1)])
        freedom = draw_freedom(source)

        assert t_quantile(probability, freedom) == pytest.approx(scipy.stats.t.ppf(probability, freedom), rel=1e-9)


def draw_sides(source: random.Random) -> tuple[Numbers, Numbers]:
    """Numbers with and without something, on few days or many, some of which have both."""
    days = source.choice([8, 20, 100])
    sides = [[(source.randrange(days), number) for number in draw_numbers(source)] for _ in range(2)]
    return sides[0], sides[1]


@pytest.mark.soak
def test_intervals_are_those_of_a_plain_computation() -> None:
    source = random.Random(3)
    for _ in range(INPUTS):
        numbers, _ = draw_sides(source)
        shares = [(day, number > source.choice([-(10**12), 0, 1000])) for day, number in numbers]
        for values, find, plain in (
            (numbers, mean_interval, inference.compute_mean_interval),
            (shares, share_interval, inference.compute_share_interval),
        ):
            found, expected = find(build_sample(values)), plain([(day, Fraction(one)) for day, one in values])

            assert isinstance(expected, dict)
            assert isinstance(found, Interval)
            unit = 10**8 if find is share_interval else 1
            near = [pytest.approx(expected[end].value, rel=1e-7, abs=0.6 / unit) for end in ("low", "high")]
            assert [end / unit for end in found] == near


@pytest.mark.soak
def test_edges_are_those_of_a_plain_computation() -> None:
    source = random.Random(4)
    for _ in range(INPUTS):
        sides = draw_sides(source)
        expected = inference.compute_edge(*([(day, Fraction(one)) for day, one in side] for side in sides))

        edge = edge_between(*sides)

        assert edge.reason == expected["reason"]
        if edge.reason is None:
            assert edge.p == pytest.approx(expected["p"].value, rel=1e-5, abs=1e-6)
            for name in ("expectancy", "low", "high"):
                assert getattr(edge, name) == pytest.approx(expected[name].value, rel=1e-7, abs=0.6)
            assert edge.more_needed == expected["more_needed"]


@pytest.mark.soak
def test_false_discovery_rates_are_scipys() -> None:
    source = random.Random(6)
    for _ in range(INPUTS):
        p_values = [source.choice([0.0, 0.01, 1.0, source.random()]) for _ in range(source.randint(1, 60))]

        assert benjamini_hochberg(p_values) == pytest.approx(list(scipy.stats.false_discovery_control(p_values)))


@pytest.mark.soak
def test_tails_of_pearsons_type_three_differ_from_scipys_by_less_than_a_millionth() -> None:
    """Below a skewness of 0.001 from the normal distribution's: scipy itself loses digits there."""
    source = random.Random(7)
    for _ in range(INPUTS):
        z, skewness = source.uniform(0, 8), 10 ** source.uniform(-6, 2)
        pearson = scipy.stats.pearson3(skewness) if skewness >= 0.001 else scipy.stats.norm

        assert pearson_tails(z, skewness) == pytest.approx(pearson.sf(z) + pearson.cdf(-z), abs=1e-6)


@pytest.mark.parametrize("z", [0.5, 1, 1.5, 2.25, 3, 4])
@pytest.mark.parametrize("skewness", [0.005, 0.00999])
def test_the_tails_of_a_small_skewness_need_no_gamma_function(z: float, skewness: float) -> None:
    pearson = scipy.stats.pearson3(skewness)

    assert pearson_tails(z, skewness) == pytest.approx(pearson.sf(z) + pearson.cdf(-z), abs=2e-9)


@for_rows("seed", range(20))
def test_the_moments_of_all_permutations_are_those_of_every_division(seed: int) -> None:
    source = random.Random(seed)
    numbers = [round(source.expovariate(1) ** 2 * 1000) for _ in range(12)]
    part = source.choice([3, 4, 5, 7, 9])
    sums = [sum(chosen) for chosen in itertools.combinations(numbers, part)]
    spread = math.sqrt(pvariance(sums))
    skewness = abs(scipy.stats.skew(sums))
    z = abs(sum(numbers[:part]) - fmean(sums)) / spread

    p = permutation_p_value(*(build_sample(a_day_each(one)) for one in (numbers[:part], numbers[part:])))

    assert p == pytest.approx(pearson_tails(z, skewness), rel=1e-9)


@max_examples(full=2000, ci=100)
@given(NUMBERS, NUMBERS)
def test_a_sample_without_a_part_is_the_sample_of_the_rest(part: Numbers, rest: Numbers) -> None:
    shared = share_days(part, rest)
    assert build_sample([*part, *rest]).without(build_sample(part), shared) == build_sample(rest)


@max_examples(full=2000, ci=100)
@given(NUMBERS, NUMBERS)
def test_whatever_the_numbers_an_edge_has_a_wide_interval_and_is_that_of_the_other_side_reversed(
    present: Numbers, absent: Numbers
) -> None:
    edge, opposite = (edge_between(one, other) for one, other in ((present, absent), (absent, present)))

    if edge.reason is None:
        assert (edge.low or 0) < (edge.high or 0)
        assert 0 <= (edge.p or 0) <= 1
        assert (opposite.expectancy, opposite.high) == (-(edge.expectancy or 0), -(edge.low or 0))
        assert opposite.p == pytest.approx(edge.p, rel=1e-6)
    else:
        assert (edge.low, edge.high, edge.p, edge.more_needed) == (None,) * 4


@for_rows(
    "numbers, interval",
    [
        # 100 less and more 30 times 2.262157, the quantile at 9 degrees of freedom
        (a_day_each([190_00000000, 10_00000000] * 5), (32_13528512, 167_86471488)),
        # Two days of which one won all and one lost all: 12.706205 times the root of 2 times 200².
        ([(0, 200_00000000)] * 5 + [(1, -200_00000000)] * 5, (-2541_24094724, 2541_24094724)),
        # A large win among losses: 2.093 errors of 5 below, by Hall's transformation 6.5769 above.
        (a_day_each([-10_000] * 19 + [90_000]), (-15465, 27884)),
        (a_day_each([7] * 10), "no_spread"),
        ([(1, 5), (1, 7)] * 9, "too_few_days"),
        (a_day_each([1] * 9), "too_few"),
        ([], "too_few"),
        (a_day_each([10**18, -(10**18)] * 500), (-62085736274383520, 62085736274383520)),
    ],
)
def test_the_interval_of_a_mean(numbers: Numbers, interval: Any) -> None:
    assert mean_interval(build_sample(numbers)) == (
        interval if isinstance(interval, str) else pytest.approx(interval, rel=1e-7)
    )


@for_rows(
    "numbers, interval",
    [
        (a_day_each([1, 0] * 4), Interval(16_68081973, 83_31918027)),
        (a_day_each([0] * 8), Interval(0, 41_13945705)),
        (a_day_each([1] * 8), Interval(58_86054295, 100_00000000)),
        # As sure as two decisions are: one day won all, the other none.
        ([(0, 1)] * 5 + [(1, 0)] * 5, Interval(15413331, 99_84586669)),
        ([(1, 1)], "too_few_days"),
        ([], "too_few"),
    ],
)
def test_the_interval_of_a_share(numbers: Numbers, interval: Any) -> None:
    assert share_interval(build_sample(numbers)) == interval


def test_what_has_not_shown_in_few_decisions_may_be_one_in_so_many() -> None:
    assert [find_unseen(size) for size in (0, 1, 10, 20, 59, 60)] == [None, 1, 4, 7, 20, None]


ONE_LARGE = [0] * 99_999 + [10**18]


@for_rows(
    "present, absent, by_welch, by_permutation",
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
    samples = build_sample(a_day_each(present)), build_sample(a_day_each(absent))

    assert welch_p_value(*samples) == pytest.approx(by_welch, rel=1e-5)
    assert permutation_p_value(*samples) == pytest.approx(by_permutation, rel=1e-5)


@for_rows("t, freedom, p", [(0, 5, 1), (math.inf, 9, 0), (1e200, 5, 0), (1e-200, 9, 1), (-1, 1, 0.5)])
def test_extreme_values_of_t_have_p_values(t: float, freedom: float, p: float) -> None:
    assert t_p_value(t, freedom) == pytest.approx(p)


def test_false_discovery_rates_by_hand() -> None:
    assert benjamini_hochberg([0.04, 0.01, 0.03, 0.9]) == pytest.approx([0.16 / 3, 0.04, 0.16 / 3, 0.9])
    assert benjamini_hochberg([]) == []


UNIT = 10**8


def scaled(numbers: Sequence[int]) -> list[int]:
    return [UNIT * number for number in numbers]


@for_rows(
    "present, absent, reason",
    [
        ([(1, 5)] * 9, a_day_each([1, 2] * 10), "too_few"),
        (a_day_each([1, 2] * 10), [], "too_few"),
        ([(day, day) for day in (1, 2, 3, 4)] * 5, a_day_each([1, 2] * 10), "too_few_days"),
        (a_day_each([5] * 10), a_day_each([2] * 12), "no_spread"),
        (a_day_each([5] * 10), a_day_each([5] * 12), "no_spread"),
    ],
)
def test_what_is_too_few_or_all_alike_proves_nothing(present: Numbers, absent: Numbers, reason: str) -> None:
    edge = edge_between(present, absent)

    sizes = {"present": len(present), "absent": len(absent)}
    verdict = None if reason == "no_spread" else "too_few"
    assert edge._asdict() == {**Edge()._asdict(), **sizes, "verdict": verdict, "reason": reason}


def test_a_tag_of_days_is_as_sure_as_its_days() -> None:
    """Ten days with it of which six won, ten without of which four won, each with twenty trades alike."""
    present, absent = (
        [(day, 100 if day % 10 < won else -100) for day in range(first, first + 10) for _ in range(20)]
        for first, won in ((0, 6), (10, 4))
    )

    by_trade, by_day = (
        edge_of(*([one for _, one in side] for side in (present, absent))),
        edge_between(present, absent),
    )

    assert (by_trade.p or 1) < 0.0001
    assert by_day.p == pytest.approx(scipy.stats.ttest_ind([1] * 6 + [-1] * 4, [1] * 4 + [-1] * 6).pvalue, rel=0.06)


@for_rows(
    "present, absent, more",
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
    assert edge_of(scaled(present), scaled(absent)).more_needed == more


@for_rows(
    "lines, verdicts",
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
    edges = [edge_of([1] * 9, [1] * 9), Edge(reason="mixed_currencies")]

    assert judge(edges) == edges


@pytest.mark.soak
def test_the_p_within_the_groups_of_another_line_is_that_of_the_page() -> None:
    source = random.Random(9)
    states = [(True, True), (True, False), (False, True), (False, False)]
    for _ in range(examples(full=2000, ci=100)):
        (one, _), (other, _) = draw_sides(source), draw_sides(source)
        of_day = {day: source.choice(states) for day in range(100)}
        decisions = [
            (of_day[day] if source.random() < 0.8 else source.choice(states), day, number)
            for day, number in [*one, *other]
        ]
        cells: Cells = {}
        for state in states:
            numbers = [(day, number) for found, day, number in decisions if found == state]
            days = {str(day): (size, total) for day, (total, size) in sum_days(numbers).items()}
            sample = build_sample(numbers) if numbers else Sample()
            cells[state] = sample, [days]

        expected = inference.find_p_within(
            list(range(len(decisions))),
            [state for state, *_ in decisions],
            {place: (day, number) for place, (_, day, number) in enumerate(decisions)},
        )

        assert within_p_value(cells) == pytest.approx(expected, rel=1e-6, abs=1e-12)
