"""The statistics of a period: the inputs of every metric, shown in the snapshot of the period."""

from collections.abc import Collection
from typing import Literal

from msgspec import Struct
from msgspec.structs import asdict

from journal_api.values.money import decimal_json


class Statistics(Struct, kw_only=True, frozen=True):
    """Sums and counts over the trades of one period. Amounts are in units of 10^-8.

    None means that the sum does not fit into 64 bits, that there is no trade, or that the statistic was not
    requested. With `mixes_currencies` the members in MONEY have no meaning: amounts of accounts in different
    currencies were added.
    """

    currency: str | None = None  # of all trades; None without a trade and for different currencies
    mixes_currencies: bool = False
    trades: int = 0
    decisions: int = 0
    wins: int = 0
    losses: int = 0
    breakevens: int = 0
    graded: int = 0
    a_plus: int = 0
    with_risk: int = 0
    with_checklist: int = 0
    checklists_confirmed: int = 0
    with_mistake: int = 0
    trading_days: int = 0
    winning_days: int = 0
    max_trades_per_day: int = 0
    # Of the day on which the snapshot is made, for its pace. A decision whose first trade closed earlier in
    # the period is of that day, although a copy closes today.
    decisions_today: int = 0
    gross_pnl: int = 0
    fees: int = 0
    net_pnl: int = 0
    winning_pnl: int = 0
    losing_pnl: int = 0
    risk_total: int | None = 0  # over decisions
    largest_risk: int | None = None
    worst_trade: int | None = None
    worst_day: int | None = None
    # The sum over decisions of net P&L / initial risk, each quotient rounded to eight decimals.
    r_total: int | None = 0
    # Extra statistics: computed only for a metric that needs them.
    max_drawdown: int | None = 0
    # The highest cumulative net P&L, at least 0: the current drawdown is peak_pnl - net_pnl.
    peak_pnl: int | None = 0
    win_streak: int | None = 0
    # Over decisions, of their trades with an excursion.
    with_mae: int = 0
    mae_total: int = 0
    with_mfe: int = 0
    mfe_total: int = 0
    winning_mfe: int = 0
    captured_pnl: int = 0  # the net P&L of the same trades
    # The balance of the accounts in scope at the start of the period.
    opening_balance: int | None = None
    # What deposits, withdrawals and the like added to it in the period, and what resets changed.
    cash: int = 0

    @property
    def closing_balance(self) -> int | None:
        """The balance of the accounts in scope at the end of the period."""
        return None if self.opening_balance is None else self.opening_balance + self.cash + self.net_pnl


# The statistics of a period without trades.
NO_TRADES = Statistics()

ExtraStatistic = Literal["days", "max_drawdown", "win_streak", "excursions", "opening_balance"]
# The members that need an extra statistic, each with the extra statistic that it needs.
EXTRA_STATISTICS: dict[str, ExtraStatistic] = {
    "trading_days": "days",
    "winning_days": "days",
    "max_trades_per_day": "days",
    "worst_day": "days",
    "max_drawdown": "max_drawdown",
    "peak_pnl": "max_drawdown",
    "win_streak": "win_streak",
    "with_mae": "excursions",
    "mae_total": "excursions",
    "with_mfe": "excursions",
    "mfe_total": "excursions",
    "winning_mfe": "excursions",
    "captured_pnl": "excursions",
    "opening_balance": "opening_balance",
    "cash": "opening_balance",
}
AMOUNTS = frozenset(
    {
        "gross_pnl",
        "fees",
        "net_pnl",
        "winning_pnl",
        "losing_pnl",
        "risk_total",
        "largest_risk",
        "max_drawdown",
        "peak_pnl",
        "worst_trade",
        "worst_day",
        "r_total",
        "mae_total",
        "mfe_total",
        "winning_mfe",
        "captured_pnl",
        "opening_balance",
        "cash",
    }
)
# The members that no response shows.
INTERNAL = frozenset({"mixes_currencies", "decisions_today"})
# What adding or comparing amounts of money makes; R is a ratio of each decision.
MONEY = AMOUNTS - {"r_total"} | {"winning_days"}


def show_statistics(
    statistics: Statistics | None, extras: Collection[ExtraStatistic | None]
) -> dict[str, object]:
    """Return the statistics as members of a JSON object, with those extra statistics and no others.

    Amounts in different currencies are None. Without statistics there are no members.
    """
    if statistics is None:
        return {}
    shown: dict[str, object] = {}
    for name, value in asdict(statistics).items():
        if name in INTERNAL or (name in EXTRA_STATISTICS and EXTRA_STATISTICS[name] not in extras):
            continue
        if statistics.mixes_currencies and name in MONEY:
            shown[name] = None
        else:
            shown[name] = decimal_json(value) if name in AMOUNTS else value
    return shown
