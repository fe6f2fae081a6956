"""docs/goals.md: what simulated journals show of intervals and verdicts is what the tables state.

CI simulates few journals, and allows for what chance makes of few; `make soak` all that the page speaks of.
"""

from math import sqrt

import pytest
from pages import DOCS, rows_under
from proofs import examples
from simulated_journals import SHAPES, Case, count_verdicts, cover_difference, cover_mean

PAGE = DOCS / "goals.md"
OF_INTERVALS, OF_VERDICTS = examples(full=10_000, ci=200), examples(full=1000, ci=12)
SIZES = (10, 20, 60, 200)
PARTS = {"200, 50 %": (200, 0.5), "200, 10 %": (200, 0.1), "60, 20 %": (60, 0.2), "1,000, 5 %": (1000, 0.05)}
EFFECT = "edge in standard deviations"
# The percentage of journals without any edge that may get a verdict.
MAX_FALSE = 5


def read_cell(shape: str, column: str) -> list[float]:
    (cell,) = {row[column] for row in rows_under(PAGE, "P&L") if row["P&L"] == shape and column in row}
    return [float(number) for number in cell.split(" / ")]


def allow(percent: float, journals: int) -> float:
    """Four standard deviations of a percentage of so many journals, and what rounding takes."""
    return 0.06 + 4 * sqrt(max(1, percent) * (100 - percent) / journals)


@pytest.mark.soak
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("shape", SHAPES)
def test_intervals_hold_the_truth_as_often_as_the_page_says(shape: str, size: int) -> None:
    stated = read_cell(shape, f"{size} decisions")

    found = [cover(shape, size, OF_INTERVALS) for cover in (cover_mean, cover_difference)]

    for percent, of_page in zip(found, stated, strict=True):
        assert percent == pytest.approx(of_page, abs=allow(of_page, OF_INTERVALS))


@pytest.mark.soak
@pytest.mark.parametrize("column", PARTS)
@pytest.mark.parametrize("shape", [*SHAPES, "normal, 3 x as large if present"])
def test_verdicts_are_false_as_rarely_as_the_page_says(shape: str, column: str) -> None:
    name, _, larger = shape.partition(", 3")
    case = Case(name, *PARTS[column], larger=3 if larger else 1)
    before, now = read_cell(shape, column)

    found = count_verdicts(case, OF_VERDICTS)

    assert found.before[20] == pytest.approx(before, abs=allow(before, OF_VERDICTS))
    assert found.now[20] == pytest.approx(now, abs=allow(now, OF_VERDICTS))
    assert max(found.now.values()) <= MAX_FALSE + allow(MAX_FALSE, OF_VERDICTS)


@pytest.mark.soak
@pytest.mark.parametrize("effect", [0.4, 0.67])
def test_a_real_edge_is_found_as_often_as_the_page_says(effect: float) -> None:
    (row,) = (
        row
        for row in rows_under(PAGE, "edge in standard deviations")
        if float(row["edge in standard deviations"]) == effect
    )

    found = count_verdicts(Case("normal", 200, 0.5, effect=effect), OF_VERDICTS)

    for lines in (5, 10, 20):
        stated = [float(number) for number in row[f"{lines} lines"].split(" / ")]
        for percent, of_page in zip((found.before[lines], found.now[lines]), stated, strict=True):
            assert percent == pytest.approx(of_page, abs=allow(of_page, OF_VERDICTS))
