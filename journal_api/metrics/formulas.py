"""Formulas of metrics: a text that people read, the members it needs, and what computes it."""

from collections.abc import Callable
from fractions import Fraction
from typing import Literal, NamedTuple

from journal_api.metrics.members import Statistics
from journal_api.metrics.outcomes import is_win
from journal_api.values.money import SCALE
from journal_api.values.money import ratio as quotient

GoalDirection = Literal["at_least", "at_most"]
Unit = Literal["currency", "percent", "ratio", "count"]
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


class Measure(NamedTuple):
    """What is measured of a decision, as SQL: an amount, else 0 or 1 for a share; null where it has none."""

    sql: str
    is_amount: bool = False


PNL, R = Measure("pnl", is_amount=True), Measure("r", is_amount=True)
WINNING_PNL = Measure(f"iif({is_win()}, pnl, NULL)", is_amount=True)


class MetricValue(NamedTuple):
    """A value in units of 10^-8, or None with the reason; `infinite` is a profit factor or payoff without losses."""

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


class Formula(NamedTuple):
    """How a metric is computed. The mean of a measure of decisions, which may be a share, has an interval."""

    text: str
    inputs: tuple[str, ...]
    unit: Unit
    compute: Callable[[Statistics], MetricValue]
    measure: Measure | None = None


def read_sum(statistics: Statistics, names: str) -> int:
    """Return the value of a member, or of one less others: `decisions - with_mistake`."""
    first, *less = (getattr(statistics, name) for name in names.split(" - "))
    return int(first - sum(less))


def amount(name: str, text: str, none: Reason = "out_of_range") -> Formula:
    def compute(statistics: Statistics) -> MetricValue:
        value = getattr(statistics, name)
        return MetricValue(value, none if value is None else None)

    return Formula(text, (name,), "currency", compute)


def count(name: str, text: str) -> Formula:
    return Formula(text, (name,), "count", lambda one: MetricValue((getattr(one, name) or 0) * SCALE))


def percent(part: str, whole: str, none: Reason) -> Formula:
    def compute(statistics: Statistics) -> MetricValue:
        size = read_sum(statistics, whole)
        value = quotient(read_sum(statistics, part) * 100, size) if size else None
        return MetricValue(value, None if size else none)

    text = f"({part})" if " - " in part else part
    return Formula(f"{text} / {whole} × 100", (*part.split(" - "), whole), "percent", compute)


def share(part: str, whole: str, none: Reason, measure: str) -> Formula:
    """A share of decisions, which has an interval; `measure` is SQL that is 1 for decisions of the part."""
    return percent(part, whole, none)._replace(measure=Measure(measure))


def mean(total: str, number: str, none: Reason, measure: Measure | None = None, unit: Unit = "currency") -> Formula:
    """A sum over decisions by their number; with its measure it has an interval."""

    def compute(statistics: Statistics) -> MetricValue:
        size, value = getattr(statistics, number), getattr(statistics, total)
        if not size:
            return MetricValue(None, none)
        return MetricValue(None, "out_of_range") if value is None else MetricValue(round(Fraction(value, size)))

    return Formula(f"{total} / {number}", (total, number), unit, compute, measure)


def compute_profit_factor(statistics: Statistics) -> MetricValue:
    if not statistics.decisions:
        return MetricValue(None, "no_trades")
    if not statistics.losses:
        is_infinite = statistics.wins > 0
        return MetricValue(None, "no_losses" if is_infinite else "no_wins_or_losses", infinite=is_infinite)
    return MetricValue(quotient(statistics.winning_pnl, -statistics.losing_pnl))


def compute_payoff_ratio(statistics: Statistics) -> MetricValue:
    if not statistics.wins:
        return MetricValue(None, "no_wins")
    if not statistics.losses:
        return MetricValue(None, "no_losses")
    return MetricValue(quotient(statistics.winning_pnl * statistics.losses, -statistics.losing_pnl * statistics.wins))


PROFIT_FACTOR = Formula("winning_pnl / -losing_pnl", ("winning_pnl", "losing_pnl"), "ratio", compute_profit_factor)
PAYOFF_RATIO = Formula(
    "(winning_pnl / wins) / (-losing_pnl / losses)", ("winning_pnl", "losing_pnl"), "ratio", compute_payoff_ratio
)
BALANCE = amount("closing_balance", "opening_balance + cash + net_pnl")._replace(
    inputs=("opening_balance", "cash", "net_pnl")
)
