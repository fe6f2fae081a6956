"""Statistics of a period or a group, collected from sums of its parts (DECISIONS 15).

A part is a set of trades that SQL has summed: a day of a goal, or the trades of a report with the same key.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from operator import add
from typing import Literal, NamedTuple, get_args

from journal_api.values.inference import Sample
from journal_api.values.money import MAX_STORED, OUT_OF_RANGE
from journal_api.values.statistics import Statistics

# What is measured of decisions, with the sums of the powers that an interval needs.
Measure = Literal["pnl", "winning_pnl", "r"]
MEASURES = get_args(Measure)
# Where a decision counts. With trades in several groups it counts in each of them, and once in the total.
Place = Literal["everywhere", "group", "total"]


class Sums(NamedTuple):
    """Sums over the decisions of a part, and the amounts of all trades. Every member can be added."""

    trades: int
    decisions: int
    wins: int
    losses: int
    graded: int
    a_plus: int
    with_risk: int
    with_checklist: int
    checklists_confirmed: int
    with_mistake: int
    fees: int
    net_pnl: int
    winning_pnl: int
    losing_pnl: int
    # The total risk is risk_high * 2^32 + risk_low. Unlike P&L it only grows, and other values do without it:
    # in two parts its sum always fits.
    risk_high: int
    risk_low: int
    with_r: int
    r_total: int
    with_mae: int
    mae_total: int
    with_mfe: int
    mfe_total: int
    winning_mfe: int
    captured_pnl: int


DECISIONS = Sums._fields.index("decisions")


class Curve:
    """The course of cumulative net P&L, trade by trade, from 0."""

    __slots__ = ("drawdown", "equity", "low", "peak")

    def __init__(self) -> None:
        self.equity = self.low = self.peak = self.drawdown = 0

    def add(self, net_pnl: int) -> None:
        self.equity += net_pnl
        if self.equity > self.peak:
            self.peak = self.equity
        elif self.equity < self.low:
            self.low = self.equity
        self.drawdown = max(self.drawdown, self.peak - self.equity)


class Run:
    """Runs of winning decisions. A loss ends a run, a break-even decision does not."""

    __slots__ = ("longest", "wins")

    def __init__(self) -> None:
        self.wins = self.longest = 0

    def add(self, sign: int) -> None:
        """Add a decision: 1 for a win, -1 for a loss, 0 for a break-even."""
        if sign > 0:
            self.wins += 1
            self.longest = max(self.longest, self.wins)
        elif sign < 0:
            self.wins = 0


def find_bound(choose: Callable[[Iterable[int]], int], *values: int | str | None) -> int | None:
    """Return the bound of the values, None without one. What is out of range makes sums say so."""
    known = [value for value in values if isinstance(value, int)]
    return choose(known) if known else None


class Collected:
    """What is collected of one period or group."""

    def __init__(self) -> None:
        self.sums = [0] * len(Sums._fields)
        self.powers = {measure: [0, 0] for measure in MEASURES}  # squares and cubes, if requested
        self.worst_trade: int | None = None
        self.largest_risk: int | None = None
        self.currencies = set[str]()
        self.decisions = Counter[str]()  # by the day of their first close
        self.days = Counter[str]()  # net P&L
        self.curve, self.run = Curve(), Run()
        self.is_out_of_range = False

    def add(self, sums: Sequence[int | str], day: str | None) -> None:
        """Add Sums of decisions that closed first on a day, or on any day."""
        if OUT_OF_RANGE in sums:
            self.is_out_of_range = True
            return
        self.sums = list(map(add, self.sums, sums))
        if day is not None:
            self.decisions[day] += int(sums[DECISIONS])

    def add_powers(self, sums: Iterable[str | None]) -> None:
        """Add the sums of squares and of cubes of each measure, None if they were not requested."""
        for powers, text in zip(self.powers.values(), sums, strict=True):
            if text is not None:
                powers[:] = map(add, powers, map(int, text.split()))

    def get_samples(self) -> dict[Measure, Sample]:
        """Return the measures of all decisions, for intervals."""
        sums = Sums(*self.sums)
        totals = {
            "pnl": (sums.decisions, sums.net_pnl),
            "winning_pnl": (sums.wins, sums.winning_pnl),
            "r": (sums.with_r, sums.r_total),
        }
        return {measure: Sample(*totals[measure], *self.powers[measure]) for measure in MEASURES}

    def bound(
        self, worst_trade: int | None, largest_risk: int | None, first_currency: str, last_currency: str
    ) -> None:
        """Add what is not a sum: lowest P&L, highest risk, the first and last currency in their order."""
        self.currencies |= {first_currency, last_currency}
        self.worst_trade = find_bound(min, self.worst_trade, worst_trade)
        self.largest_risk = find_bound(max, self.largest_risk, largest_risk)

    def add_day(self, day: str, net_pnl: int | str) -> None:
        """Add the net P&L of trades that closed on a day."""
        if isinstance(net_pnl, int):
            self.days[day] += net_pnl
        else:
            self.is_out_of_range = True

    def compute(self, today: str | None = None) -> Statistics | None:
        """Return the statistics, None if a sum does not fit into 64 bits."""
        sums = Sums(*self.sums)
        risk_total = (sums.risk_high << 32) + sums.risk_low
        amounts = (
            *(sums.net_pnl + sums.fees, sums.fees, sums.net_pnl, sums.winning_pnl, sums.losing_pnl),
            *(sums.r_total, self.curve.low, self.curve.peak),
            *(sums.mae_total, sums.mfe_total, sums.winning_mfe, sums.captured_pnl),
            *self.days.values(),
        )
        if self.is_out_of_range or any(abs(amount) > MAX_STORED for amount in amounts):
            return None
        return Statistics(
            currency=next(iter(self.currencies)) if len(self.currencies) == 1 else None,
            mixes_currencies=len(self.currencies) > 1,
            trades=sums.trades,
            decisions=sums.decisions,
            wins=sums.wins,
            losses=sums.losses,
            breakevens=sums.decisions - sums.wins - sums.losses,
            graded=sums.graded,
            a_plus=sums.a_plus,
            with_risk=sums.with_risk,
            with_checklist=sums.with_checklist,
            checklists_confirmed=sums.checklists_confirmed,
            with_mistake=sums.with_mistake,
            trading_days=len(self.days),
            winning_days=sum(net_pnl > 0 for net_pnl in self.days.values()),
            max_trades_per_day=max(self.decisions.values(), default=0),
            decisions_today=self.decisions[today] if today else 0,
            gross_pnl=sums.net_pnl + sums.fees,
            fees=sums.fees,
            net_pnl=sums.net_pnl,
            winning_pnl=sums.winning_pnl,
            losing_pnl=sums.losing_pnl,
            risk_total=risk_total if risk_total <= MAX_STORED else None,
            largest_risk=self.largest_risk,
            worst_trade=self.worst_trade,
            worst_day=min(self.days.values(), default=None),
            r_total=sums.r_total if sums.with_r == sums.with_risk else None,
            max_drawdown=self.curve.drawdown if self.curve.drawdown <= MAX_STORED else None,
            peak_pnl=self.curve.peak,
            win_streak=self.run.longest,
            with_mae=sums.with_mae,
            mae_total=sums.mae_total,
            with_mfe=sums.with_mfe,
            mfe_total=sums.mfe_total,
            winning_mfe=sums.winning_mfe,
            captured_pnl=sums.captured_pnl,
        )
