"""Every snapshot computed a second time, slowly and plainly, from docs/goals.md alone."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from fractions import Fraction
from itertools import accumulate
from zoneinfo import ZoneInfo

DAY = timedelta(days=1)
Day = date
LARGEST = Fraction(2**63 - 1, 10**8)
# The counts and sums of a period, by the names that snapshot_data gives them.
Data = dict[str, Fraction | int | None]
# What cannot be said of amounts in different currencies: sums and comparisons, and the metrics made of them.
SUMS = {"gross_pnl", "fees", "net_pnl", "winning_pnl", "losing_pnl", "worst_trade", "worst_day"}
SUMS |= {"winning_days", "max_drawdown", "peak_pnl", "opening_balance"}
OF_MONEY = {"net_pnl", "gross_pnl", "max_drawdown", "balance_target", "profit_factor", "expectancy"}
OF_MONEY |= {"average_win", "payoff_ratio", "worst_trade", "worst_day", "winning_days"}
# The value, and what explains that there is none.
Answer = tuple[Fraction | None, set[str]]
Pace = dict[str, Fraction | int | str | None]


@dataclass
class Account:
    id: int
    starting_balance: Fraction = Fraction(0)
    currency: str = "USD"


@dataclass
class Trade:
    """A row of the journal; open while `closed_at` is None."""

    id: int
    account_id: int
    closed_at: datetime | None
    gross: Fraction = Fraction(0)
    fees: Fraction = Fraction(0)
    risk: Fraction | None = None
    grade: str | None = None
    setup_id: int | None = None
    source_id: int | None = None
    tags: set[int] = field(default_factory=set)
    answers: dict[int, bool] = field(default_factory=dict)

    @property
    def net(self) -> Fraction:
        return self.gross - self.fees


@dataclass
class Decision:
    """The rows of one period and scope that are copies of one decision, in the order of their closes."""

    rows: list[Trade]
    currencies: set[str] = field(default_factory=set)

    @property
    def paid(self) -> list[Trade]:
        """The rows whose amounts count: all of them, or the spokesman's alone if they cannot be added."""
        return self.rows if len(self.currencies) == 1 else [self.spokesman]

    @property
    def net(self) -> Fraction:
        return sum((row.net for row in self.paid), Fraction(0))

    @property
    def r(self) -> Fraction | None:
        """Net P&L over risk, of the rows with a risk, to eight decimals before anything is averaged."""
        nets = [row.net for row in self.paid if row.risk is not None]
        risks = [row.risk for row in self.paid if row.risk is not None]
        return rounded(sum(nets, Fraction(0)) / sum(risks, Fraction(0))) if risks else None

    @property
    def spokesman(self) -> Trade:
        """The original where it counts, else the first copy: whose grade and checklist are the decision's."""
        originals = [row for row in self.rows if row.source_id is None]
        return originals[0] if originals else self.rows[0]


@dataclass
class Journal:
    """All that one owner wrote down."""

    timezone: str = "UTC"
    rollover: str = "00:00"
    trading_weekdays: set[int] = field(default_factory=lambda: {1, 2, 3, 4, 5})
    selection: str = "all"
    accounts: dict[int, Account] = field(default_factory=dict)
    groups: dict[int, set[int]] = field(default_factory=dict)
    tags: dict[int, str] = field(default_factory=dict)
    # setup -> its confirmations
    checklists: dict[int, set[int]] = field(default_factory=dict)
    trades: dict[int, Trade] = field(default_factory=dict)

    def day_of(self, instant: datetime) -> Day:
        """The trading day of an instant."""
        wall_clock = instant.astimezone(ZoneInfo(self.timezone))
        hour, minute = map(int, self.rollover.split(":"))
        late = self.rollover != "00:00" and (wall_clock.hour, wall_clock.minute) >= (hour, minute)
        return wall_clock.date() + (DAY if late else timedelta())

    def accounts_in(self, scope: str) -> set[int]:
        if scope == "":
            scope = self.selection
        kind, _, number = scope.partition("_")
        if kind == "account":
            return {int(number)}
        return set(self.groups[int(number)]) if kind == "group" else set(self.accounts)

    def counted(self, scope: str) -> list[tuple[Day, Trade]]:
        """The closed trades in scope with their days, in order: day, close, id."""
        accounts = self.accounts_in(scope)
        closed = [
            (self.day_of(trade.closed_at), trade.closed_at, trade.id, trade)
            for trade in self.trades.values()
            if trade.closed_at is not None and trade.account_id in accounts
        ]
        return [(day, trade) for day, _, _, trade in sorted(closed, key=lambda row: row[:3])]


@dataclass
class Goal:
    metric: str
    direction: str
    timeframe: str
    scope: str
    created_at: datetime
    # (the moment it was set, the target), oldest first
    targets: list[tuple[datetime, Fraction]]
    # for timeframe custom
    window: tuple[Day, Day] | None = None


@dataclass
class Snapshot:
    period_start: Day
    period_end: Day
    target: Fraction
    actual: Fraction | None
    achieved: bool | None
    closed: bool
    # The one of all trades, or of all balances.
    currency: str | None
    # Any of these explains a null.
    reasons: set[str]
    data: Data
    # How the running period of an active goal stands.
    pace: Pace | None


def rounded(value: Fraction) -> Fraction:
    """To eight decimals, half to even."""
    return Fraction(round(value * 10**8), 10**8)


def snapshots(journal: Journal, goal: Goal, now: datetime, stopped_on: date | None = None) -> list[Snapshot]:
    """The whole history of the goal as of `now`, or to the day it was stopped, newest period first."""
    today = stopped_on or journal.day_of(now)
    counted = journal.counted(goal.scope)
    found = []
    for start, end in periods(journal, goal, [day for day, _ in counted], today):
        rows = [(day, trade) for day, trade in counted if start <= day <= end]
        opening = sum((trade.net for day, trade in counted if day < start), Fraction(0)) + sum(
            (journal.accounts[id_].starting_balance for id_ in journal.accounts_in(goal.scope)), Fraction(0)
        )
        data = explained(journal, rows, opening)
        currencies = currencies_of(journal, goal, rows)
        if len(currencies) > 1:
            data |= dict.fromkeys(SUMS)
        actual, reasons = METRICS[goal.metric](data)
        if len(currencies) > 1 and goal.metric in OF_MONEY:
            actual, reasons = None, {"mixed_currencies"}
        if actual is not None and abs(actual := rounded(actual)) > LARGEST:
            actual, reasons = None, {"out_of_range"}
        target = target_of(journal, goal, end, today)
        met = achieved(goal, data, actual, target)
        pace = None
        if stopped_on is None and start <= today <= end:
            calendar = trading_days_of(journal, start, end)
            of_today = explained(journal, [row for row in rows if row[0] == today], opening)
            # As the period counts them: a decision whose copy closes today may be of an earlier day.
            of_today["max_trades_per_day"] = sum(day == today for day, _ in decisions_of(journal, rows))
            pace = pace_of(goal, calendar, today, end, (target, actual, met, reasons), data, of_today)
        found.append(
            Snapshot(
                start,
                end,
                target,
                actual,
                met,
                end < today,
                currencies.pop() if len(currencies) == 1 else None,
                reasons,
                data,
                pace,
            )
        )
    return found[::-1]


# How the running period stands ---------------------------------------------------------------------------

FINAL_AT_MOST = {"max_drawdown", "max_trades_per_day", "trade_count", "trading_days", "win_streak"}
FINAL_AT_LEAST = {"worst_day", "worst_trade"}
LOSS_LIMITS = {*FINAL_AT_LEAST, "net_pnl", "gross_pnl", "expectancy", "rr_realized_avg"}
ADDED_UP = {"net_pnl", "gross_pnl", "balance_target", "trade_count", "trading_days", "winning_days"}
HIGHEST_SO_FAR = {"win_streak", "max_trades_per_day", "max_drawdown"}


def trading_days_of(journal: Journal, start: Day, end: Day) -> list[Day]:
    days = (start + number * DAY for number in range((end - start).days + 1))
    return [day for day in days if day.isoweekday() in journal.trading_weekdays]


def pace_of(
    goal: Goal,
    calendar: list[Day],
    today: Day,
    last: Day,
    value: tuple[Fraction, Fraction | None, bool | None, set[str]],
    data: Data,
    of_today: Data,
) -> Pace:
    """The table of docs/goals.md#pace, row by row."""
    target, actual, met, reasons = value
    left = [day for day in calendar if day > today or (day == today and not of_today["trades"])]
    if reasons & {"mixed_currencies", "out_of_range"}:
        return paced(None, None, left)
    apart = None if actual is None else abs(actual - target)
    if goal.direction == "at_most" or (target < 0 and goal.metric in LOSS_LIMITS):
        final = goal.metric in (FINAL_AT_MOST if goal.direction == "at_most" else FINAL_AT_LEAST)
        if met is False:
            lost = final or (
                goal.metric == "winning_days"
                and (data["winning_days"] or 0) - (of_today["winning_days"] or 0) > target
            )
            return paced("missed", Fraction(0), left) if lost else paced("behind", apart, left)
        room = room_now(goal.metric, target, data, of_today) if final else apart
        near = room is not None and abs(target) - room >= Fraction(8, 10) * abs(target)
        return paced("near_limit" if near else "within_limit", room, left)
    missing = Fraction(0) if met else apart
    if goal.metric not in ADDED_UP | HIGHEST_SO_FAR:
        below = goal.metric == "worst_trade" or (
            goal.metric == "worst_day"
            and not (of_today["trades"] and data["worst_day"] == of_today["net_pnl"])
        )
        return paced(("missed" if below else "behind") if met is False else "on_track", missing, left)
    assert missing is not None
    assert actual is not None
    needed = rounded(missing / len(left)) if left and goal.metric in ADDED_UP else None
    if met:
        return paced("achieved", missing, left, needed)
    is_used = of_today["winning_days"] if goal.metric == "winning_days" else of_today["trades"]
    possible = (last - today).days + (0 if is_used else 1)
    if goal.metric in ("trading_days", "winning_days") and missing > possible:
        return paced("missed", missing, left, needed)
    begun = data["opening_balance"] if goal.metric == "balance_target" else 0
    assert begun is not None
    expected = begun + (target - begun) * (len(calendar) - len(left)) / max(len(calendar), 1)
    on_track = actual >= expected or not calendar
    return paced("on_track" if on_track else "behind", missing, left, needed)


def room_now(metric: str, target: Fraction, data: Data, of_today: Data) -> Fraction:
    """What is left until a limit that can be broken but once."""
    used: dict[str, Callable[[], Fraction | int | None]] = {
        "worst_day": lambda: of_today["net_pnl"],
        "worst_trade": lambda: 0,
        "max_trades_per_day": lambda: of_today["max_trades_per_day"],
        "max_drawdown": lambda: Fraction(data["peak_pnl"] or 0) - Fraction(data["net_pnl"] or 0),
        "trade_count": lambda: data["decisions"],
        "trading_days": lambda: data["trading_days"],
        "win_streak": lambda: data["win_streak"],
    }
    now = used[metric]()
    assert now is not None
    return max(Fraction(0), now - target if metric in FINAL_AT_LEAST else target - now)


def paced(
    state: str | None, remaining: Fraction | None, left: list[Day], needed: Fraction | None = None
) -> Pace:
    return {"state": state, "remaining": remaining, "days_left": len(left), "needed_per_day": needed}


def currencies_of(journal: Journal, goal: Goal, rows: list[tuple[Day, Trade]]) -> set[str]:
    """The currencies of what is added: of the trades of a period, or of all balances in scope."""
    accounts = {trade.account_id for _, trade in rows}
    if goal.metric == "balance_target":
        accounts = journal.accounts_in(goal.scope)
    return {journal.accounts[id_].currency for id_ in accounts}


def periods(journal: Journal, goal: Goal, days: list[Day], today: Day) -> list[tuple[Day, Day]]:
    """Which periods have a snapshot, oldest first."""
    if goal.window:
        return [goal.window]
    first = min([*days, journal.day_of(goal.created_at)])
    if goal.timeframe == "daily":
        return [(day, day) for day in sorted({*days, today}) if day <= today]
    found: list[tuple[Day, Day]] = []
    day = first
    while day <= today:
        period = bounds(day, goal.timeframe)
        if period not in found[-1:]:
            found.append(period)
        day += DAY
    return found


def bounds(day: Day, timeframe: str) -> tuple[Day, Day]:
    """The first and the last day around it that belong to the same period."""
    same = NAME_OF_PERIOD[timeframe]
    start = end = day
    while same(start - DAY) == same(day):
        start -= DAY
    while same(end + DAY) == same(day):
        end += DAY
    return start, end


NAME_OF_PERIOD: dict[str, Callable[[Day], object]] = {
    "weekly": lambda day: day.isocalendar()[:2],
    "monthly": lambda day: (day.year, day.month),
    "quarterly": lambda day: (day.year, {1: "Q1", 4: "Q2", 7: "Q3", 10: "Q4"}[(day.month + 2) // 3 * 3 - 2]),
}


def target_of(journal: Journal, goal: Goal, end: Day, today: Day) -> Fraction:
    """The target in force when the period closed; of a running one today's; before the goal its first."""
    in_force = [target for since, target in goal.targets if end >= today or journal.day_of(since) <= end]
    return in_force[-1] if in_force else goal.targets[0][1]


def achieved(goal: Goal, data: Data, actual: Fraction | None, target: Fraction) -> bool | None:
    if actual is not None:
        return actual >= target if goal.direction == "at_least" else actual <= target
    if goal.metric == "profit_factor" and data["wins"] and not data["losses"] and data["net_pnl"] is not None:
        return goal.direction == "at_least"
    return None


def decisions_of(journal: Journal, rows: Iterable[tuple[Day, Trade]]) -> list[tuple[Day, Decision]]:
    """The decisions in the order of their first closes, each with the day of that close."""
    gathered: dict[int, tuple[Day, Decision]] = {}
    for day, trade in rows:
        original = trade.id if trade.source_id is None else trade.source_id
        decision = gathered.setdefault(original, (day, Decision([])))[1]
        decision.rows.append(trade)
        decision.currencies.add(journal.accounts[trade.account_id].currency)
    return list(gathered.values())


def explained(journal: Journal, rows: list[tuple[Day, Trade]], opening: Fraction) -> Data:
    """The counts and sums of one period."""
    placed = decisions_of(journal, rows)
    decisions = [decision for _, decision in placed]
    nets = [decision.net for decision in decisions]
    rs = [decision.r for decision in decisions if decision.r is not None]
    grades = [one.spokesman.grade for one in decisions if one.spokesman.grade is not None]
    checked = [one.spokesman for one in decisions if checklist_of(journal, one.spokesman)]
    by_day: dict[Day, Fraction] = {}
    for day, trade in rows:
        by_day[day] = by_day.get(day, Fraction(0)) + trade.net
    return {
        "trades": len(rows),
        "decisions": len(decisions),
        "wins": sum(net > 0 for net in nets),
        "losses": sum(net < 0 for net in nets),
        "breakevens": sum(net == 0 for net in nets),
        "graded": len(grades),
        "a_plus": grades.count("A+"),
        "with_risk": len(rs),
        "with_checklist": len(checked),
        "checklists_confirmed": sum(wholly_confirmed(journal, trade) for trade in checked),
        "with_mistake": sum(has_mistake(journal, decision) for decision in decisions),
        "trading_days": len(by_day),
        "winning_days": sum(net > 0 for net in by_day.values()),
        "max_trades_per_day": max((sum(day == other for other, _ in placed) for day in by_day), default=0),
        "gross_pnl": sum((trade.gross for _, trade in rows), Fraction(0)),
        "fees": sum((trade.fees for _, trade in rows), Fraction(0)),
        "net_pnl": sum((trade.net for _, trade in rows), Fraction(0)),
        "winning_pnl": sum((net for net in nets if net > 0), Fraction(0)),
        "losing_pnl": sum((net for net in nets if net < 0), Fraction(0)),
        "worst_trade": min(nets, default=None),
        "worst_day": min(by_day.values(), default=None),
        "r_total": sum(rs, Fraction(0)),
        "max_drawdown": drawdown([trade.net for _, trade in rows]),
        "peak_pnl": max(accumulate((trade.net for _, trade in rows), initial=Fraction(0))),
        "win_streak": streak(nets),
        "opening_balance": opening,
    }


def checklist_of(journal: Journal, trade: Trade) -> set[int]:
    return journal.checklists[trade.setup_id] if trade.setup_id is not None else set()


def wholly_confirmed(journal: Journal, trade: Trade) -> bool:
    return all(trade.answers.get(one) is True for one in checklist_of(journal, trade))


def has_mistake(journal: Journal, decision: Decision) -> bool:
    return any(journal.tags[tag] == "mistake" for row in decision.rows for tag in row.tags)


def drawdown(nets: list[Fraction]) -> Fraction:
    """The largest fall from any moment, the start included, to a later one."""
    curve = [Fraction(0)]
    for net in nets:
        curve.append(curve[-1] + net)
    return max(high - low for moment, high in enumerate(curve) for low in curve[moment:])


def streak(nets: list[Fraction]) -> int:
    longest = running = 0
    for net in nets:
        if net != 0:
            running = running + 1 if net > 0 else 0
        longest = max(longest, running)
    return longest


def of(key: str) -> Callable[[Data], Answer]:
    """A fact as it is; its absence is a period without trades."""

    def answer(data: Data) -> Answer:
        value = data[key]
        return (None, {"no_trades"}) if value is None else (Fraction(value), set())

    return answer


def share(part: str, whole: str, reason: str, times: int = 1) -> Callable[[Data], Answer]:
    def answer(data: Data) -> Answer:
        over, under = data[part], data[whole]
        return (Fraction(over) * times / under, set()) if under and over is not None else (None, {reason})

    return answer


def profit_factor(data: Data) -> Answer:
    won, lost = data["winning_pnl"], data["losing_pnl"]
    if not data["decisions"]:
        return None, {"no_trades"}
    if won is not None and lost:
        return Fraction(won) / -lost, set()
    return None, {"no_losses" if won else "no_wins_or_losses"}


def payoff_ratio(data: Data) -> Answer:
    won, lost, wins, losses = (data[key] for key in ("winning_pnl", "losing_pnl", "wins", "losses"))
    missing = ({"no_wins"} if not wins else set()) | ({"no_losses"} if not losses else set())
    if missing or won is None or lost is None or not wins or not losses:
        return None, missing
    return (Fraction(won) / wins) / (Fraction(-lost) / losses), set()


def balance(data: Data) -> Answer:
    opening, net = data["opening_balance"], data["net_pnl"]
    return (None, set()) if opening is None or net is None else (Fraction(opening + net), set())


def mistake_free(data: Data) -> Answer:
    decisions, mistaken = data["decisions"], data["with_mistake"]
    assert mistaken is not None
    return (Fraction((decisions - mistaken) * 100) / decisions, set()) if decisions else (None, {"no_trades"})


METRICS: dict[str, Callable[[Data], Answer]] = {
    "net_pnl": of("net_pnl"),
    "gross_pnl": of("gross_pnl"),
    "max_drawdown": of("max_drawdown"),
    "balance_target": balance,
    "win_rate": share("wins", "decisions", "no_trades", 100),
    "profit_factor": profit_factor,
    "expectancy": share("net_pnl", "decisions", "no_trades"),
    "rr_realized_avg": share("r_total", "with_risk", "no_risk"),
    "a_plus_rate": share("a_plus", "graded", "no_grades", 100),
    "max_trades_per_day": of("max_trades_per_day"),
    "protocol_completion_rate": share("checklists_confirmed", "with_checklist", "no_checklists", 100),
    "trade_count": of("decisions"),
    "trading_days": of("trading_days"),
    "winning_days": of("winning_days"),
    "win_streak": of("win_streak"),
    "average_win": share("winning_pnl", "wins", "no_wins"),
    "payoff_ratio": payoff_ratio,
    "worst_trade": of("worst_trade"),
    "worst_day": of("worst_day"),
    "mistake_free_rate": mistake_free,
}
