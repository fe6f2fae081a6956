"""What the trades of a period come to: all that a metric is computed from, and what a snapshot explains."""

from typing import Literal, get_args

from msgspec import Struct


class Facts(Struct, kw_only=True, frozen=True):
    """What the trades of one period come to. Amounts are in 10^-8, the rest are counts.

    None stands for a number that left 64 bits, for the worst of nothing, or for what was not asked for.
    """

    trades: int
    decisions: int
    wins: int
    losses: int
    breakevens: int
    graded: int
    a_plus: int
    with_risk: int
    with_checklist: int
    checklists_confirmed: int
    with_mistake: int
    trading_days: int
    winning_days: int
    max_trades_per_day: int
    gross_pnl: int
    fees: int
    net_pnl: int
    winning_pnl: int
    losing_pnl: int
    worst_trade: int | None
    worst_day: int | None
    # The sum over decisions of net P&L / initial risk, each rounded to eight decimals.
    r_total: int | None
    # Special facts: only the metric that names one asks for it.
    max_drawdown: int | None = None
    win_streak: int | None = None
    # What the accounts in scope held when the period began.
    opening_balance: int | None = None


SpecialFact = Literal["max_drawdown", "win_streak", "opening_balance"]
SPECIAL_FACTS = frozenset(get_args(SpecialFact))
AMOUNTS = frozenset(
    {
        "gross_pnl",
        "fees",
        "net_pnl",
        "winning_pnl",
        "losing_pnl",
        "max_drawdown",
        "worst_trade",
        "worst_day",
        "r_total",
        "opening_balance",
    }
)
