"""The metrics of goals. One registry feeds `GET /v1/metrics`, the validation and the evaluation.

A metric is a pure function of the facts of one period (DECISIONS 12). Money counts rows, ratios count
decisions: copies of one decision are one decision with their P&L and their risk summed. Every value is in
10^-8 of its unit, rounded half to even, and is compared as it is shown.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any, ClassVar, Literal, NamedTuple, Self

from journal_api.facts import Facts, SpecialFact
from journal_api.money import SCALE, ratio

Unit = Literal["currency", "percent", "ratio", "count"]
GoalDirection = Literal["at_least", "at_most"]
Reason = Literal["no_trades", "no_wins", "no_losses", "no_risk", "no_grades", "no_checklists", "out_of_range"]
LARGEST_STORED = 2**63 - 1


class Measured(NamedTuple):
    """The value of a metric; without one, the reason. `infinite` is a profit factor without losses."""

    actual: int | None
    reason: Reason | None = None
    infinite: bool = False

    def achieves(self, direction: GoalDirection, target: int) -> bool | None:
        """Whether the target is met; None when there is nothing to compare."""
        if self.infinite:
            return direction == "at_least"
        if self.actual is None:
            return None
        return self.actual >= target if direction == "at_least" else self.actual <= target


class Metric(NamedTuple):
    """One entry of the registry."""

    key: str
    title: str
    description: str
    unit: Unit
    measured_by: Callable[[Facts], Measured]
    direction: GoalDirection = "at_least"
    special: SpecialFact | None = None

    def measure(self, facts: Facts | None) -> Measured:
        """The value over the period; None for facts is a sum that left 64 bits."""
        measured = self.measured_by(facts) if facts else Measured(None, "out_of_range")
        if measured.actual is not None and abs(measured.actual) > LARGEST_STORED:
            return Measured(None, "out_of_range")
        return measured


def amount(value: int | None, reason: Reason = "out_of_range") -> Measured:
    return Measured(None, reason) if value is None else Measured(value)


def count(number: int) -> Measured:
    return Measured(number * SCALE)


def mean(total: int | None, number: int, reason: Reason) -> Measured:
    if not number:
        return Measured(None, reason)
    return amount(None) if total is None else Measured(round(Fraction(total, number)))


def percent(part: int, whole: int, reason: Reason) -> Measured:
    return Measured(ratio(part * 100, whole)) if whole else Measured(None, reason)


def profit_factor(facts: Facts) -> Measured:
    if not facts.decisions:
        return Measured(None, "no_trades")
    if not facts.losses:
        return Measured(None, "no_losses", infinite=facts.wins > 0)
    return Measured(ratio(facts.winning_pnl, -facts.losing_pnl))


def payoff_ratio(facts: Facts) -> Measured:
    if not facts.wins:
        return Measured(None, "no_wins")
    if not facts.losses:
        return Measured(None, "no_losses")
    return Measured(ratio(facts.winning_pnl * facts.losses, -facts.losing_pnl * facts.wins))


def balance(facts: Facts) -> Measured:
    if facts.opening_balance is None:
        return Measured(None, "out_of_range")
    return Measured(facts.opening_balance + facts.net_pnl)


METRICS = {
    metric.key: metric
    for metric in (
        Metric(
            "net_pnl",
            "Net P&L",
            "The sum of gross P&L less fees over all trades.",
            "currency",
            lambda facts: amount(facts.net_pnl),
        ),
        Metric(
            "gross_pnl",
            "Gross P&L",
            "The sum of P&L before fees over all trades.",
            "currency",
            lambda facts: amount(facts.gross_pnl),
        ),
        Metric(
            "max_drawdown",
            "Maximum drawdown",
            "The largest fall of cumulative net P&L from its peak, trade by trade, the peak starting at 0.",
            "currency",
            lambda facts: amount(facts.max_drawdown),
            "at_most",
            special="max_drawdown",
        ),
        Metric(
            "balance_target",
            "Balance",
            "The starting balances of the accounts in scope plus all net P&L to the end of the period.",
            "currency",
            balance,
            special="opening_balance",
        ),
        Metric(
            "win_rate",
            "Win rate",
            "Winning decisions among all decisions; a break-even one counts among all.",
            "percent",
            lambda facts: percent(facts.wins, facts.decisions, "no_trades"),
        ),
        Metric(
            "profit_factor",
            "Profit factor",
            "The P&L of winning decisions over the absolute P&L of losing ones.",
            "ratio",
            profit_factor,
        ),
        Metric(
            "expectancy",
            "Expectancy",
            "Net P&L per decision.",
            "currency",
            lambda facts: mean(facts.net_pnl, facts.decisions, "no_trades"),
        ),
        Metric(
            "rr_realized_avg",
            "Average R",
            "The mean of net P&L over initial risk, over the decisions that have an initial risk.",
            "ratio",
            lambda facts: mean(facts.r_total, facts.with_risk, "no_risk"),
        ),
        Metric(
            "a_plus_rate",
            "A+ rate",
            "Decisions graded A+ among the graded ones.",
            "percent",
            lambda facts: percent(facts.a_plus, facts.graded, "no_grades"),
        ),
        Metric(
            "max_trades_per_day",
            "Most trades in a day",
            "The most decisions on one trading day.",
            "count",
            lambda facts: count(facts.max_trades_per_day),
            "at_most",
        ),
        Metric(
            "protocol_completion_rate",
            "Protocol completion",
            "Decisions with every confirmation of their setup answered as present, among those whose setup"
            " has a checklist.",
            "percent",
            lambda facts: percent(facts.checklists_confirmed, facts.with_checklist, "no_checklists"),
        ),
        Metric(
            "trade_count", "Trades", "The number of decisions.", "count", lambda facts: count(facts.decisions)
        ),
        Metric(
            "trading_days",
            "Trading days",
            "The number of days with a trade.",
            "count",
            lambda facts: count(facts.trading_days),
        ),
        Metric(
            "winning_days",
            "Winning days",
            "The number of days with a net P&L above 0.",
            "count",
            lambda facts: count(facts.winning_days),
        ),
        Metric(
            "win_streak",
            "Win streak",
            "The longest run of winning decisions; a break-even one neither adds to it nor breaks it.",
            "count",
            lambda facts: count(facts.win_streak or 0),
            special="win_streak",
        ),
        Metric(
            "average_win",
            "Average win",
            "The mean P&L of winning decisions.",
            "currency",
            lambda facts: mean(facts.winning_pnl, facts.wins, "no_wins"),
        ),
        Metric(
            "payoff_ratio",
            "Payoff ratio",
            "The average win over the absolute average loss.",
            "ratio",
            payoff_ratio,
        ),
        Metric(
            "worst_trade",
            "Worst trade",
            "The lowest P&L of a decision.",
            "currency",
            lambda facts: amount(facts.worst_trade, "no_trades"),
        ),
        Metric(
            "worst_day",
            "Worst day",
            "The lowest net P&L of a day; a daily loss limit is `at_least -500`.",
            "currency",
            lambda facts: amount(facts.worst_day, "no_trades"),
        ),
        Metric(
            "mistake_free_rate",
            "Mistake-free rate",
            "Decisions without a tag of type mistake among all decisions.",
            "percent",
            lambda facts: percent(facts.decisions - facts.with_mistake, facts.decisions, "no_trades"),
        ),
    )
}


class MetricKey(str):
    """The key of a metric in the registry."""

    allowed: ClassVar[list[str]] = list(METRICS)
    json_schema: ClassVar[dict[str, Any]] = {"type": "string", "enum": allowed}

    @classmethod
    def decode(cls, sent: object) -> Self:
        if not isinstance(sent, str) or sent not in METRICS:
            raise ValueError("must be a metric of GET /v1/metrics")
        return cls(sent)
