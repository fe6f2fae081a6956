"""The value of a metric, and the formulas of the metrics that are more than one statistic."""

from fractions import Fraction
from typing import Literal, NamedTuple

from journal_api.values.money import SCALE, ratio
from journal_api.values.statistics import Statistics

GoalDirection = Literal["at_least", "at_most"]
Reason = Literal[
    "no_trades",
    "no_wins",
    "no_losses",
    "no_wins_or_losses",
    "no_risk",
    "no_excursions",
    "no_grades",
    "no_checklists",
    "mixed_currencies",
    "out_of_range",
]


class MetricValue(NamedTuple):
    """The value of a metric in units of 10^-8, or None and the reason why there is none.

    `infinite` means a profit factor or payoff ratio without losses.
    """

    actual: int | None
    reason: Reason | None = None
    infinite: bool = False

    def achieves(self, direction: GoalDirection, target: int) -> bool | None:
        """Return whether the target is met, None without a value."""
        if self.infinite:
            return direction == "at_least"
        if self.actual is None:
            return None
        return self.actual >= target if direction == "at_least" else self.actual <= target


def amount(value: int | None, reason: Reason = "out_of_range") -> MetricValue:
    return MetricValue(None, reason) if value is None else MetricValue(value)


def count(number: int) -> MetricValue:
    return MetricValue(number * SCALE)


def mean(total: int | None, number: int, reason: Reason) -> MetricValue:
    if not number:
        return MetricValue(None, reason)
    return amount(None) if total is None else MetricValue(round(Fraction(total, number)))


def percent(part: int, whole: int, reason: Reason) -> MetricValue:
    return MetricValue(ratio(part * 100, whole)) if whole else MetricValue(None, reason)


def profit_factor(statistics: Statistics) -> MetricValue:
    if not statistics.decisions:
        return MetricValue(None, "no_trades")
    if not statistics.losses:
        is_infinite = statistics.wins > 0
        return MetricValue(None, "no_losses" if is_infinite else "no_wins_or_losses", infinite=is_infinite)
    return MetricValue(ratio(statistics.winning_pnl, -statistics.losing_pnl))


def payoff_ratio(statistics: Statistics) -> MetricValue:
    if not statistics.wins:
        return MetricValue(None, "no_wins")
    if not statistics.losses:
        return MetricValue(None, "no_losses")
    return MetricValue(
        ratio(statistics.winning_pnl * statistics.losses, -statistics.losing_pnl * statistics.wins)
    )


def balance(statistics: Statistics) -> MetricValue:
    return amount(statistics.closing_balance)
