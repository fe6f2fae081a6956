"""Goal metrics: one entry each, for `GET /v1/metrics`, validation, evaluation, goals and reports.

A metric is a pure function of the statistics of one period (DECISIONS 16). Amounts of money are sums over all
trades; ratios and counts are over decisions: a trade and its copies are one decision, with P&L and risk
summed. Every value is an integer of 10^-8 of its unit, rounded half to even, and is compared after rounding.
"""

from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

from msgspec import Meta

from journal_api.metrics.formulas import (
    BALANCE,
    PAYOFF_RATIO,
    PNL,
    PROFIT_FACTOR,
    WINNING_PNL,
    Formula,
    GoalDirection,
    MetricValue,
    R,
    Unit,
    amount,
    count,
    mean,
    percent,
    share,
)
from journal_api.metrics.members import MEMBERS, ExtraStatistic, Statistics
from journal_api.metrics.outcomes import is_win
from journal_api.values.money import MAX_STORED

GoalKind = Literal["limit", "target"]
# Whether a value can be below 0, and whether a target below 0 is then a loss limit, as of the worst of all.
BelowZero = Literal["never", "possible", "loss", "worst"]


class Metric(NamedTuple):
    key: str
    title: str
    description: str
    formula: Formula
    direction: GoalDirection = "at_least"
    below_zero: BelowZero = "never"

    @property
    def unit(self) -> Unit:
        return self.formula.unit

    @property
    def extra(self) -> ExtraStatistic | None:
        """The extra statistic that must be read for it."""
        return next(filter(None, (MEMBERS[name].extra for name in self.formula.inputs)), None)

    @property
    def carries_balance(self) -> bool:
        """Whether the value of a period depends on the closing balance of the period before."""
        return self.extra == "opening_balance"

    @property
    def is_of_money(self) -> bool:
        """Whether the value needs amounts in one currency."""
        return self.unit == "currency" or any(MEMBERS[name].is_money for name in self.formula.inputs)

    @property
    def may_be_negative(self) -> bool:
        return self.below_zero != "never"

    def evaluate(self, statistics: Statistics | None) -> MetricValue:
        """Return the value for a period. Statistics of None mean that a sum does not fit into 64 bits."""
        if statistics and statistics.mixes_currencies and self.is_of_money:
            return MetricValue(None, "mixed_currencies")
        value = self.formula.compute(statistics) if statistics else MetricValue(None, "out_of_range")
        if value.actual is not None and abs(value.actual) > MAX_STORED:
            return MetricValue(None, "out_of_range")
        return value


# fmt: off
ENTRIES = (
    Metric("net_pnl", "Net P&L",
           "The sum of gross P&L less fees over all trades.",
           amount("net_pnl", "gross_pnl - fees"), below_zero="loss"),
    Metric("gross_pnl", "Gross P&L",
           "The sum of P&L before fees over all trades.",
           amount("gross_pnl", "P&L before fees, of all trades"), below_zero="loss"),
    Metric("max_drawdown", "Maximum drawdown",
           "The largest decline of cumulative net P&L from its peak, trade by trade; the first peak is 0.",
           amount("max_drawdown", "the largest fall of the running total from its peak, trade by trade"),
           "at_most"),
    Metric("balance_target", "Balance",
           "Starting balances, cash and net P&L of the accounts in scope up to the end of the period.",
           BALANCE, below_zero="possible"),
    Metric("win_rate", "Win rate",
           "The share of winning decisions among all decisions, break-even decisions included.",
           share("wins", "decisions", "no_trades", is_win())),
    Metric("profit_factor", "Profit factor",
           "The P&L of winning decisions divided by the absolute P&L of losing decisions.",
           PROFIT_FACTOR),
    Metric("expectancy", "Expectancy",
           "Net P&L per decision.",
           mean("net_pnl", "decisions", "no_trades", PNL), below_zero="loss"),
    Metric("rr_realized_avg", "Average R",
           "The mean of net P&L divided by initial risk, over the decisions with an initial risk; trades"
           " without one are left out.",
           mean("r_total", "with_risk", "no_risk", R, "ratio"), below_zero="loss"),
    Metric("a_plus_rate", "A+ rate",
           "The share of decisions graded A+ among all graded decisions.",
           share("a_plus", "graded", "no_grades", "grade = 'A+'")),
    Metric("max_trades_per_day", "Most trades in a day",
           "The highest number of decisions on one trading day.",
           count("max_trades_per_day", "the most decisions on one day"), "at_most"),
    Metric("protocol_completion_rate", "Protocol completion",
           "The share of decisions whose confirmations are all answered as present, among the decisions"
           " whose setup has a checklist.",
           share("checklists_confirmed", "with_checklist", "no_checklists", "checklist")),
    Metric("trade_count", "Trades",
           "The number of decisions.",
           count("decisions", "decisions: a trade and its copies are one")),
    Metric("trading_days", "Trading days",
           "The number of days with at least one trade.",
           count("trading_days", "days with a trade")),
    Metric("winning_days", "Winning days",
           "The number of days with a net P&L above 0.",
           count("winning_days", "days with a net P&L over 0")),
    Metric("win_streak", "Win streak",
           "The longest run of winning decisions; break-even decisions neither extend nor end it.",
           count("win_streak", "the longest run of wins")),
    Metric("average_win", "Average win",
           "The mean P&L of winning decisions.",
           mean("winning_pnl", "wins", "no_wins", WINNING_PNL), below_zero="possible"),
    Metric("payoff_ratio", "Payoff ratio",
           "The average win divided by the absolute average loss.",
           PAYOFF_RATIO),
    Metric("worst_trade", "Worst trade",
           "The lowest P&L of a decision.",
           amount("worst_trade", "the lowest P&L of a decision", "no_trades"), below_zero="worst"),
    Metric("worst_day", "Worst day",
           "The lowest net P&L of a day; a daily loss limit is `at_least -500`.",
           amount("worst_day", "the lowest net P&L of a day", "no_trades"), below_zero="worst"),
    Metric("average_risk", "Average risk",
           "The mean initial risk of the decisions with one.",
           mean("risk_total", "with_risk", "no_risk")),
    Metric("largest_risk", "Largest risk",
           "The highest initial risk of a decision.",
           amount("largest_risk", "the highest initial risk of a decision", "no_risk")),
    Metric("mistake_free_rate", "Mistake-free rate",
           "The share of decisions without a tag of type mistake among all decisions.",
           share("decisions - with_mistake", "decisions", "no_trades", "NOT is_mistake")),
    Metric("average_mae", "Average MAE",
           "The mean of the worst loss while a trade was open, over the decisions that state one.",
           mean("mae_total", "with_mae", "no_excursions")),
    Metric("average_mfe", "Average MFE",
           "The mean of the best profit while a trade was open, over the decisions that state one.",
           mean("mfe_total", "with_mfe", "no_excursions")),
    Metric("captured", "Captured",
           "The net P&L of winning decisions as a share of the best profit while they were open, over their"
           " trades that state it.",
           percent("captured_pnl", "winning_mfe", "no_excursions")),
)
# fmt: on
METRICS = {metric.key: metric for metric in ENTRIES}


def goal_kind(metric: str, direction: GoalDirection, target: int | Decimal) -> GoalKind:
    """A limit holds at the start of its period, and trading can break it; a target is to be reached."""
    is_loss = target < 0 and METRICS[metric].below_zero in ("loss", "worst")
    return "limit" if direction == "at_most" or is_loss else "target"


class MetricKey(str):
    """The key of a metric in the registry."""

    allowed: ClassVar[list[str]] = list(METRICS)
    json_schema: ClassVar[dict[str, Any]] = {"type": "string", "enum": allowed}

    @classmethod
    def decode(cls, value: object) -> Self:
        if not isinstance(value, str) or value not in METRICS:
            raise ValueError("must be a metric of GET /v1/metrics")
        return cls(value)


# The key of a metric in responses.
MetricName = Annotated[str, Meta(extra_json_schema={"enum": MetricKey.allowed})]
