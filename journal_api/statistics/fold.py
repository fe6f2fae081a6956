"""Statistics of a period or a group, folded from the sums of its parts (DECISIONS 16).

A part is a set of trades that SQL has summed: a day of a goal, or the trades of a report with the same key.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from operator import add
from typing import Any, Literal, NamedTuple, Protocol

from journal_api.metrics.by_day import DaySample
from journal_api.metrics.formulas import Measure
from journal_api.metrics.inference import Sample, SharedDays
from journal_api.metrics.members import BOUNDS, MEMBERS, SUMMED, ExtraStatistic, Statistics
from journal_api.metrics.outcomes import sign
from journal_api.values.money import MAX_STORED, OUT_OF_RANGE

# Where a decision counts. With trades in several groups it counts in each of them, and once in the total.
Place = Literal["everywhere", "group", "total"]
DECISIONS = SUMMED.index("decisions")
CHOICES = [min if sql.startswith("min") else max for sql in BOUNDS.values()]
AMOUNTS = [name for name in SUMMED if MEMBERS[name].is_amount]


class Course(Protocol):
    """What must be seen row by row, in the order of its statement. Its amounts must fit into 64 bits."""

    def add(self, *row: Any) -> None: ...
    def members(self) -> dict[str, int | None]: ...
    def amounts(self) -> Iterable[int]: ...


class Curve:
    """The course of cumulative net P&L, trade by trade, from 0."""

    __slots__ = ("drawdown", "equity", "low", "peak")

    def __init__(self) -> None:
        self.equity = self.low = self.peak = self.drawdown = 0

    def add(self, net_pnl: int) -> None:
        equity = self.equity = self.equity + net_pnl
        if equity > self.peak:
            self.peak = equity
        elif self.peak - equity > self.drawdown:  # max() would take half as long again
            self.drawdown = self.peak - equity
        if equity < self.low:
            self.low = equity

    def members(self) -> dict[str, int | None]:
        drawdown = self.drawdown if self.drawdown <= MAX_STORED else None
        return {"max_drawdown": drawdown, "peak_pnl": self.peak}

    def amounts(self) -> Iterable[int]:
        return self.low, self.peak


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

    def members(self) -> dict[str, int | None]:
        return {"win_streak": self.longest}

    def amounts(self) -> Iterable[int]:
        return ()


class Days:
    __slots__ = ("days",)

    def __init__(self) -> None:
        self.days = Counter[str]()

    def add(self, day: str, net_pnl: int | str) -> None:
        self.days[day] += net_pnl if isinstance(net_pnl, int) else MAX_STORED + 1

    def members(self) -> dict[str, int | None]:
        return {
            "trading_days": len(self.days),
            "winning_days": sum(net_pnl > 0 for net_pnl in self.days.values()),
            "worst_day": min(self.days.values(), default=None),
        }

    def amounts(self) -> Iterable[int]:
        return self.days.values()


class Scan(NamedTuple):
    """A statement that yields part, place and what a Course adds of each row."""

    select: str
    course: type[Course]


SCANS: dict[ExtraStatistic, Scan] = {
    "days": Scan(
        """
SELECT part, 'everywhere', trading_day, sum(net_pnl)
FROM trades_in_parts
GROUP BY part, trading_day""",
        Days,
    ),
    "max_drawdown": Scan(
        "SELECT part, 'everywhere', net_pnl FROM trades_in_parts ORDER BY trading_day, closed_at, id", Curve
    ),
    "win_streak": Scan(
        f"""
SELECT part, place, {sign()}
FROM decisions
ORDER BY trading_day, closed_at, id""",
        Run,
    ),
}


class Collected:
    """What is collected of one period or group."""

    def __init__(self, extras: Collection[ExtraStatistic | None] = ()) -> None:
        self.sums = [0] * len(SUMMED)
        self.bounds: list[Sequence[int | None]] = []
        self.powers: list[int] = []  # squares and cubes of the first measures that were requested
        # What intervals need of each measure, with the days of the group that this one is compared to.
        self.samples: dict[Measure, Sample] = {}
        self.shared: dict[Measure, SharedDays] = {}
        self.currencies = set[str]()
        self.decisions = Counter[str]()  # by the day of their first close
        self.courses = {extra: scan.course() for extra, scan in SCANS.items() if extra in extras}
        self.is_out_of_range = False

    def add(self, sums: Sequence[int | str], day: str | None = None) -> None:
        """Add SUMMED of decisions that closed first on a day, or on any day."""
        if OUT_OF_RANGE in sums:
            self.is_out_of_range = True
            return
        self.sums = list(map(add, self.sums, sums))
        if day is not None:
            self.decisions[day] += int(sums[DECISIONS])

    def add_powers(self, powers: Sequence[int]) -> None:
        self.powers = list(map(add, self.powers, powers)) if self.powers else list(powers)

    def take_samples(self, measures: Iterable[Measure], by_day: Iterable[DaySample]) -> None:
        for number, (measure, (size, total, days, shared)) in enumerate(zip(measures, by_day, strict=False)):
            # Zeros and ones have no other powers.
            squares, cubes = self.powers[2 * number : 2 * number + 2] or (total, total)
            self.samples[measure] = Sample(size, total, squares, cubes, days)
            self.shared[measure] = shared

    def bound(self, bounds: Sequence[int | None], *currencies: str) -> None:
        """Add what is not a sum: the lowest and highest, the first and last currency in their order."""
        self.currencies.update(currencies)
        self.bounds.append(bounds)

    def beside(self, other: "Collected") -> "Collected":
        """Return what both have collected, which has no day in common, without courses."""
        both = Collected()
        both.sums = list(map(add, self.sums, other.sums))
        both.bounds = [*self.bounds, *other.bounds]
        both.samples = {one: sample.beside(other.samples[one]) for one, sample in self.samples.items()}
        both.shared = {one: SharedDays(*map(add, days, other.shared[one])) for one, days in self.shared.items()}
        both.currencies = self.currencies | other.currencies
        return both

    def compute(self, today: str | None = None) -> Statistics | None:
        """Return the statistics, None if a sum does not fit into 64 bits."""
        members: dict[str, Any] = dict(zip(SUMMED, self.sums, strict=True))
        gross_pnl = members["net_pnl"] + members["fees"]
        amounts = [gross_pnl, *map(members.__getitem__, AMOUNTS)]
        for course in self.courses.values():
            amounts += course.amounts()
        if self.is_out_of_range or any(abs(amount) > MAX_STORED for amount in amounts):
            return None
        risk_total = (members["risk_high"] << 32) + members["risk_low"]
        for name, choose, bounds in zip(BOUNDS, CHOICES, zip(*self.bounds, strict=True), strict=False):
            members[name] = choose((value for value in bounds if isinstance(value, int)), default=None)
        for course in self.courses.values():
            members |= course.members()
        members["breakevens"] = members["decisions"] - members["wins"] - members["losses"]
        members["gross_pnl"] = gross_pnl
        members["risk_total"] = risk_total if risk_total <= MAX_STORED else None
        members["r_total"] = members["r_total"] if members["with_r"] == members["with_risk"] else None
        members["max_trades_per_day"] = max(self.decisions.values(), default=0)
        members["decisions_today"] = self.decisions[today] if today else 0
        members["mixes_currencies"] = len(self.currencies) > 1
        members["currency"] = next(iter(self.currencies)) if len(self.currencies) == 1 else None
        return Statistics(**members)
