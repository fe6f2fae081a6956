"""What a goal is: a limit or a target, and the formula of its value as text. SQL calls both functions."""

from decimal import Decimal
from typing import Literal

from journal_api.values.metric_formulas import GoalDirection

GoalKind = Literal["limit", "target"]
# Metrics of which a negative target at least is a loss limit.
LOSSES = frozenset({"net_pnl", "gross_pnl", "worst_day", "worst_trade", "expectancy", "rr_realized_avg"})
# How each metric is computed: arithmetic with members of `snapshot_data`, or words.
FORMULAS = {
    "net_pnl": "gross_pnl - fees",
    "gross_pnl": "P&L before fees, of all trades",
    "max_drawdown": "the largest fall of the running total from its peak, trade by trade",
    "balance_target": "opening_balance + cash + net_pnl",
    "win_rate": "wins / decisions × 100",
    "profit_factor": "winning_pnl / -losing_pnl",
    "expectancy": "net_pnl / decisions",
    "rr_realized_avg": "r_total / with_risk",
    "a_plus_rate": "a_plus / graded × 100",
    "max_trades_per_day": "the most decisions on one day",
    "protocol_completion_rate": "checklists_confirmed / with_checklist × 100",
    "trade_count": "decisions: a trade and its copies are one",
    "trading_days": "days with a trade",
    "winning_days": "days with a net P&L over 0",
    "win_streak": "the longest run of wins",
    "average_win": "winning_pnl / wins",
    "payoff_ratio": "(winning_pnl / wins) / (-losing_pnl / losses)",
    "worst_trade": "the lowest P&L of a decision",
    "worst_day": "the lowest net P&L of a day",
    "average_risk": "risk_total / with_risk",
    "largest_risk": "the highest initial risk of a decision",
    "mistake_free_rate": "(decisions - with_mistake) / decisions × 100",
    "average_mae": "mae_total / with_mae",
    "average_mfe": "mfe_total / with_mfe",
    "captured": "captured_pnl / winning_mfe × 100",
}


def goal_kind(metric: str, direction: GoalDirection, target: int | Decimal) -> GoalKind:
    """A limit holds at the start of its period, and trading can break it; a target is to be reached."""
    return "limit" if direction == "at_most" or (target < 0 and metric in LOSSES) else "target"


def goal_formula(metric: str) -> str:
    return FORMULAS[metric]
