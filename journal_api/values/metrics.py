"""Goal metrics: one registry for `GET /v1/metrics`, for validation and for evaluation.

A metric is a pure function of the statistics of one period (DECISIONS 15). Amounts of money are sums over all
trades; ratios and counts are over decisions: a trade and its copies are one decision, with P&L and risk
summed. Every value is an integer of 10^-8 of its unit, rounded half to even, and is compared after rounding.
"""

from collections.abc import Callable
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

from msgspec import Meta

from journal_api.values.metric_formulas import (
    GoalDirection,
    MetricValue,
    amount,
    balance,
    count,
    mean,
    payoff_ratio,
    percent,
    profit_factor,
)
from journal_api.values.money import MAX_STORED
from journal_api.values.statistics import ExtraStatistic, Statistics

Unit = Literal["currency", "percent", "ratio", "count"]
# Metrics that add or compare amounts of money although their unit is not a currency.
OF_MONEY = frozenset({"profit_factor", "payoff_ratio", "winning_days", "captured"})
# Of the metrics in a currency.
NEVER_NEGATIVE = frozenset({"max_drawdown", "average_risk", "largest_risk", "average_mae", "average_mfe"})


class Metric(NamedTuple):
    """An entry of the registry."""

    key: str
    title: str
    description: str
    unit: Unit
    formula: Callable[[Statistics], MetricValue]
    direction: GoalDirection = "at_least"
    extra: ExtraStatistic | None = None

    @property
    def carries_balance(self) -> bool:
        """Whether the value of a period depends on the closing balance of the period before."""
        return self.extra == "opening_balance"

    @property
    def is_of_money(self) -> bool:
        """Whether the value needs amounts in one currency."""
        return self.unit == "currency" or self.key in OF_MONEY

    @property
    def may_be_negative(self) -> bool:
        """Whether a value below 0 is possible."""
        return (self.unit == "currency" and self.key not in NEVER_NEGATIVE) or self.key == "rr_realized_avg"

    def evaluate(self, statistics: Statistics | None) -> MetricValue:
        """Return the value for a period. Statistics of None mean that a sum does not fit into 64 bits."""
        if statistics and statistics.mixes_currencies and self.is_of_money:
            return MetricValue(None, "mixed_currencies")
        value = self.formula(statistics) if statistics else MetricValue(None, "out_of_range")
        if value.actual is not None and abs(value.actual) > MAX_STORED:
            return MetricValue(None, "out_of_range")
        return value


METRICS = {
    metric.key: metric
    for metric in (
        Metric(
            "net_pnl",
            "Net P&L",
            "The sum of gross P&L less fees over all trades.",
            "currency",
            lambda statistics: amount(statistics.net_pnl),
        ),
        Metric(
            "gross_pnl",
            "Gross P&L",
            "The sum of P&L before fees over all trades.",
            "currency",
            lambda statistics: amount(statistics.gross_pnl),
        ),
        Metric(
            "max_drawdown",
            "Maximum drawdown",
            "The largest decline of cumulative net P&L from its peak, trade by trade; the first peak is 0.",
            "currency",
            lambda statistics: amount(statistics.max_drawdown),
            "at_most",
            extra="max_drawdown",
        ),
        Metric(
            "balance_target",
            "Balance",
            "Starting balances, cash and net P&L of the accounts in scope up to the end of the period.",
            "currency",
            balance,
            extra="opening_balance",
        ),
        Metric(
            "win_rate",
            "Win rate",
            "The share of winning decisions among all decisions, break-even decisions included.",
            "percent",
            lambda statistics: percent(statistics.wins, statistics.decisions, "no_trades"),
        ),
        Metric(
            "profit_factor",
            "Profit factor",
            "The P&L of winning decisions divided by the absolute P&L of losing decisions.",
            "ratio",
            profit_factor,
        ),
        Metric(
            "expectancy",
            "Expectancy",
            "Net P&L per decision.",
            "currency",
            lambda statistics: mean(statistics.net_pnl, statistics.decisions, "no_trades"),
        ),
        Metric(
            "rr_realized_avg",
            "Average R",
            "The mean of net P&L divided by initial risk, over the decisions with an initial risk; trades"
            " without one are left out.",
            "ratio",
            lambda statistics: mean(statistics.r_total, statistics.with_risk, "no_risk"),
        ),
        Metric(
            "a_plus_rate",
            "A+ rate",
            "The share of decisions graded A+ among all graded decisions.",
            "percent",
            lambda statistics: percent(statistics.a_plus, statistics.graded, "no_grades"),
        ),
        Metric(
            "max_trades_per_day",
            "Most trades in a day",
            "The highest number of decisions on one trading day.",
            "count",
            lambda statistics: count(statistics.max_trades_per_day),
            "at_most",
            extra="days",
        ),
        Metric(
            "protocol_completion_rate",
            "Protocol completion",
            "The share of decisions whose confirmations are all answered as present, among the decisions"
            " whose setup has a checklist.",
            "percent",
            lambda statistics: percent(
                statistics.checklists_confirmed, statistics.with_checklist, "no_checklists"
            ),
        ),
        Metric(
            "trade_count",
            "Trades",
            "The number of decisions.",
            "count",
            lambda statistics: count(statistics.decisions),
        ),
        Metric(
            "trading_days",
            "Trading days",
            "The number of days with at least one trade.",
            "count",
            lambda statistics: count(statistics.trading_days),
            extra="days",
        ),
        Metric(
            "winning_days",
            "Winning days",
            "The number of days with a net P&L above 0.",
            "count",
            lambda statistics: count(statistics.winning_days),
            extra="days",
        ),
        Metric(
            "win_streak",
            "Win streak",
            "The longest run of winning decisions; break-even decisions neither extend nor end it.",
            "count",
            lambda statistics: count(statistics.win_streak or 0),
            extra="win_streak",
        ),
        Metric(
            "average_win",
            "Average win",
            "The mean P&L of winning decisions.",
            "currency",
            lambda statistics: mean(statistics.winning_pnl, statistics.wins, "no_wins"),
        ),
        Metric(
            "payoff_ratio",
            "Payoff ratio",
            "The average win divided by the absolute average loss.",
            "ratio",
            payoff_ratio,
        ),
        Metric(
            "worst_trade",
            "Worst trade",
            "The lowest P&L of a decision.",
            "currency",
            lambda statistics: amount(statistics.worst_trade, "no_trades"),
        ),
        Metric(
            "worst_day",
            "Worst day",
            "The lowest net P&L of a day; a daily loss limit is `at_least -500`.",
            "currency",
            lambda statistics: amount(statistics.worst_day, "no_trades"),
            extra="days",
        ),
        Metric(
            "average_risk",
            "Average risk",
            "The mean initial risk of the decisions with one.",
            "currency",
            lambda statistics: mean(statistics.risk_total, statistics.with_risk, "no_risk"),
        ),
        Metric(
            "largest_risk",
            "Largest risk",
            "The highest initial risk of a decision.",
            "currency",
            lambda statistics: amount(statistics.largest_risk, "no_risk"),
        ),
        Metric(
            "mistake_free_rate",
            "Mistake-free rate",
            "The share of decisions without a tag of type mistake among all decisions.",
            "percent",
            lambda statistics: percent(
                statistics.decisions - statistics.with_mistake, statistics.decisions, "no_trades"
            ),
        ),
        Metric(
            "average_mae",
            "Average MAE",
            "The mean of the worst loss while a trade was open, over the decisions that state one.",
            "currency",
            lambda statistics: mean(statistics.mae_total, statistics.with_mae, "no_excursions"),
            extra="excursions",
        ),
        Metric(
            "average_mfe",
            "Average MFE",
            "The mean of the best profit while a trade was open, over the decisions that state one.",
            "currency",
            lambda statistics: mean(statistics.mfe_total, statistics.with_mfe, "no_excursions"),
            extra="excursions",
        ),
        Metric(
            "captured",
            "Captured",
            "The net P&L of winning decisions as a share of the best profit while they were open, over their"
            " trades that state it.",
            "percent",
            lambda statistics: percent(statistics.captured_pnl, statistics.winning_mfe, "no_excursions"),
            extra="excursions",
        ),
    )
}


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
