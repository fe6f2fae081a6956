"""Snapshots and reports computed a second time, slowly and plainly, from the pages of docs alone.

`read_journal` reads the rows that the service has stored; everything else follows from them with exact
fractions. A value is a Fraction, or the reason why there is none. The pace is left out: test_pace_rule.py.
"""

import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from fractions import Fraction
from functools import cache, cached_property, wraps
from itertools import accumulate
from math import ceil
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import inference

Day = date
DAY = timedelta(days=1)
ZERO = Fraction(0)
MAX_AMOUNT = Fraction(2**63 - 1, 10**8)
Statistics = dict[str, Any]
Value = Fraction | str


def rounded(value: Fraction) -> Fraction:
    """To eight decimals, half to even."""
    return Fraction(round(value * 10**8), 10**8)


# The journal ---------------------------------------------------------------------------------------------


@dataclass
class Trade:
    id: int
    account_id: int
    opened_at: datetime
    closed_at: datetime
    symbol: str
    direction: str
    gross: Fraction
    fees: Fraction
    risk: Fraction | None
    mae: Fraction | None
    mfe: Fraction | None
    grade: str | None
    strategy_id: int | None
    setup_id: int | None
    source_id: int | None
    imports: set[int]
    tags: set[int] = field(default_factory=set)
    answers: dict[int, bool] = field(default_factory=dict)

    @cached_property
    def net(self) -> Fraction:
        return self.gross - self.fees


@dataclass
class Cash:
    account_id: int
    day: Day
    kind: str
    amount: Fraction
    outside: bool
    received: Fraction | None

    @property
    def change(self) -> Fraction:
        """What it adds to the balance, unless it is a reset."""
        return -self.amount if self.kind in ("withdrawal", "payout", "fee") else self.amount


# A trade with its trading day.
Row = tuple[Day, Trade]


@dataclass
class Journal:
    timezone: str
    rollover: str
    selection: str
    within: Fraction  # of a break-even
    balances: dict[int, Fraction]
    currencies: dict[int, str]
    groups: dict[int, set[int]]
    mistakes: set[int]
    checklists: dict[int, set[int]]
    trades: dict[int, Trade]
    # By day, then in the order of entry; and the fees that no account paid.
    cash: list[Cash]
    outside: list[Cash]
    # The zone and the rollover of accounts, None where they have none of their own.
    calendars: dict[int, tuple[str | None, str | None]]
    # The tags of categories, and the ratings and the tags of days.
    categories: dict[int, set[int]]
    days: dict[Day, tuple[int | None, set[int]]]
    # The name, the broker and the share of payouts of accounts.
    terms: dict[int, tuple[str, str | None, Fraction | None]]
    # The tags of the category by which a report groups.
    category: set[int] = field(default_factory=set)
    # What `remembered` functions have computed.
    known: dict[Any, Statistics] = field(default_factory=dict, init=False)

    def of_category(self, query: dict[str, Any]) -> "Journal":
        if "category_id" not in query:
            return self
        return replace(self, category=self.categories.get(query["category_id"], set()))

    def day_of(self, instant: datetime, account: int | None = None) -> Day:
        """The trading day of an instant: of the account, without one of the owner."""
        return find_trading_day(instant, *self.calendar_of(account))

    def calendar_of(self, account: int | None) -> tuple[str, str]:
        zone, rollover = self.calendars.get(account or 0, (None, None))
        return zone or self.timezone, rollover or self.rollover

    def account_of(self, scope: str) -> int | None:
        """The account that the scope names, None if it names several."""
        kind, _, number = (scope or self.selection).partition("_")
        return int(number) if kind == "account" else None

    def accounts_in(self, scope: str) -> set[int]:
        kind, _, number = (scope or self.selection).partition("_")
        if kind == "account":
            return {int(number)}
        return self.groups[int(number)] if kind == "group" else set(self.balances)

    def rows_in(self, scope: str) -> list[Row]:
        """The closed trades in scope, in order: day, close, id."""
        accounts = self.accounts_in(scope)
        rows = [
            (self.day_of(one.closed_at, one.account_id), one)
            for one in self.trades.values()
            if one.account_id in accounts
        ]
        return sorted(rows, key=in_time)

    def balance_of(self, account: int, end: Day) -> Fraction:
        """The balance of the account at the end of the day."""
        cash = [one for one in self.cash if one.account_id == account and one.day <= end]
        resets = [one for one in cash if one.kind == "reset"]
        begin, since = (resets[-1].amount, resets[-1].day) if resets else (self.balances[account], Day.min)
        moved = [one.change for one in cash if one.kind != "reset" and one.day >= since]
        closed = [one for one in self.trades.values() if one.account_id == account]
        won = [one.net for one in closed if since <= self.day_of(one.closed_at, account) <= end]
        return begin + sum(moved, ZERO) + sum(won, ZERO)

    def currencies_of(self, accounts: Iterable[int]) -> set[str]:
        return {self.currencies[account] for account in accounts}


@cache
def find_trading_day(instant: datetime, zone: str, rollover: str) -> Day:
    wall_clock = instant.astimezone(ZoneInfo(zone))
    is_late = rollover != "00:00" and f"{wall_clock:%H:%M}" >= rollover
    return wall_clock.date() + (DAY if is_late else timedelta())


def in_time(row: Row) -> tuple[Day, datetime, int]:
    return row[0], row[1].closed_at, row[1].id


def amount(units: int | None) -> Fraction:
    return Fraction(units or 0, 10**8)


def amount_if_any(units: int | None) -> Fraction | None:
    return None if units is None else amount(units)


def read_journal(file: Path) -> Journal:
    """The journal of the owner, its open trades left out."""
    with closing(sqlite3.connect(file)) as db:
        db.row_factory = sqlite3.Row

        def pairs(sql: str) -> list[tuple[Any, Any]]:
            return [tuple(row) for row in db.execute(sql)]

        ((zone, rollover, within, account, group),) = db.execute(
            """
            SELECT timezone, day_rollover, breakeven_within, active_account_id, active_copy_group_id
            FROM users WHERE id = 1
            """
        )
        selection = f"account_{account}" if account else f"group_{group}" if group else "all"
        accounts = db.execute(
            """
            SELECT id, name, starting_balance, currency, timezone, day_rollover, broker, payout_share
            FROM accounts WHERE user_id = 1
            """
        ).fetchall()
        moved = [
            Cash(
                row["account_id"],
                Day.fromisoformat(row["day"]),
                row["kind"],
                amount(row["amount"]),
                bool(row["outside"]),
                amount_if_any(row["received"]),
            )
            for row in db.execute("SELECT * FROM cash_movements ORDER BY day, id")
        ]
        journal = Journal(
            *(zone, rollover, selection, amount(within)),
            balances={row["id"]: amount(row["starting_balance"]) for row in accounts},
            currencies={row["id"]: row["currency"] for row in accounts},
            groups={row["id"]: set() for row in db.execute("SELECT id FROM copy_groups")},
            mistakes={row["id"] for row in db.execute("SELECT id FROM tags WHERE type = 'mistake'")},
            checklists={row["id"]: set() for row in db.execute("SELECT id FROM setups")},
            trades={
                row["id"]: read_trade(row)
                for row in db.execute("SELECT * FROM trades WHERE user_id = 1")
                if row["closed_at"]
            },
            cash=[one for one in moved if not one.outside],
            outside=[one for one in moved if one.outside],
            calendars={row["id"]: (row["timezone"], row["day_rollover"]) for row in accounts},
            categories={row["id"]: set() for row in db.execute("SELECT id FROM tag_categories")},
            days={
                Day.fromisoformat(date): (rating, set())
                for date, rating in pairs("SELECT date, rating FROM days WHERE user_id = 1")
            },
            terms={row["id"]: (row["name"], row["broker"], amount_if_any(row["payout_share"])) for row in accounts},
        )
        for tag_id, category_id in pairs("SELECT id, category_id FROM tags"):
            journal.categories[category_id].add(tag_id)
        for date, tag_id in pairs("SELECT date, tag_id FROM days JOIN day_tags ON day_id = id WHERE user_id = 1"):
            journal.days[Day.fromisoformat(date)][1].add(tag_id)
        for group_id, account_id in pairs("SELECT copy_group_id, account_id FROM copy_group_members"):
            journal.groups[group_id].add(account_id)
        for setup_id, confirmation_id in pairs("SELECT setup_id, id FROM confirmations"):
            journal.checklists[setup_id].add(confirmation_id)
        for trade_id, tag_id in pairs("SELECT trade_id, tag_id FROM trade_tags"):
            if trade_id in journal.trades:
                journal.trades[trade_id].tags.add(tag_id)
        for trade_id, import_id in pairs("SELECT trade_id, import_id FROM statements"):
            if trade_id in journal.trades:
                journal.trades[trade_id].imports.add(import_id)
        for row in db.execute("SELECT trade_id, confirmation_id, was_present FROM confirmation_answers"):
            if row["trade_id"] in journal.trades:
                journal.trades[row["trade_id"]].answers[row["confirmation_id"]] = bool(row["was_present"])
    return journal


def read_trade(row: sqlite3.Row) -> Trade:
    return Trade(
        id=row["id"],
        account_id=row["account_id"],
        opened_at=datetime.fromisoformat(row["opened_at"]),
        closed_at=datetime.fromisoformat(row["closed_at"]),
        symbol=row["symbol"],
        direction=row["direction"],
        gross=amount(row["gross_pnl"]),
        fees=amount(row["fees"]),
        risk=amount_if_any(row["initial_risk"]),
        mae=amount_if_any(row["mae"]),
        mfe=amount_if_any(row["mfe"]),
        grade=row["grade"],
        strategy_id=row["strategy_id"],
        setup_id=row["setup_id"],
        source_id=row["source_trade_id"],
        imports={row["import_id"]} - {None},
    )


# Decisions and statistics --------------------------------------------------------------------------------


@dataclass
class Decision:
    """A trade and its copies, as far as they are counted together, in the order of their closes."""

    day: Day
    trades: list[Trade]
    currencies: set[str]

    @cached_property
    def representative(self) -> Trade:
        """The original, else the first copy. It gives the decision its grade and checklist."""
        return next((one for one in self.trades if one.source_id is None), self.trades[0])

    @cached_property
    def paid(self) -> list[Trade]:
        """The trades whose amounts count."""
        return self.trades if len(self.currencies) == 1 else [self.representative]

    @cached_property
    def id(self) -> int:
        return self.trades[0].source_id or self.trades[0].id

    @cached_property
    def opened_at(self) -> datetime:
        return min(one.opened_at for one in self.trades)

    @cached_property
    def closed_at(self) -> datetime:
        return self.trades[0].closed_at

    @cached_property
    def net(self) -> Fraction:
        return sum((one.net for one in self.paid), ZERO)

    @cached_property
    def sums(self) -> dict[str, Fraction]:
        """What all of its trades have together, if all have it."""
        names = ("fees", "risk", "mae", "mfe")
        return {name: sum((getattr(one, name) or ZERO for one in self.paid), ZERO) for name in names}

    @cached_property
    def risk(self) -> Fraction | None:
        risks = [one.risk for one in self.paid if one.risk is not None]
        return sum(risks, ZERO) if risks else None

    @cached_property
    def r(self) -> Fraction | None:
        with_risk = [(one.net, one.risk) for one in self.paid if one.risk is not None]
        return rounded(sum((n for n, _ in with_risk), ZERO) / sum(r for _, r in with_risk)) if with_risk else None


def decisions_of(journal: Journal, rows: list[Row]) -> list[Decision]:
    """The decisions in the order of their first closes."""
    found: dict[int, Decision] = {}
    for day, trade in rows:
        decision = found.setdefault(trade.source_id or trade.id, Decision(day, [], set()))
        decision.trades.append(trade)
        decision.currencies.add(journal.currencies[trade.account_id])
    return list(found.values())


def remembered(compute: Callable[..., Statistics]) -> Callable[..., Statistics]:
    """Compute the same of the same trades but once in a journal: reports have many groups in common."""

    @wraps(compute)
    def look_up(journal: Journal, rows: list[Row], metrics: Iterable[str] = ()) -> Statistics:
        key = (compute, *metrics, *(one.id for _, one in rows))
        if key not in journal.known:
            journal.known[key] = compute(journal, rows, *([metrics] if metrics else []))
        return {**journal.known[key]}

    return look_up


@remembered
def compute_statistics(journal: Journal, rows: list[Row]) -> Statistics:
    """The counts and sums over the trades of a period or a group."""
    decisions = decisions_of(journal, rows)
    nets = [one.net for one in decisions]
    wins = [net for net in nets if net > journal.within]
    losses = [net for net in nets if net < -journal.within]
    risks = [one.risk for one in decisions if one.risk is not None]
    rs = [one.r for one in decisions if one.r is not None]
    maes = [[one.mae for one in each.paid if one.mae is not None] for each in decisions]
    mfes = [[one.mfe for one in each.paid if one.mfe is not None] for each in decisions]
    won = [one for each in decisions if each.net > journal.within for one in each.paid]
    grades = [one.representative.grade for one in decisions if one.representative.grade]
    checked = [one.representative for one in decisions if journal.checklists.get(one.representative.setup_id or 0)]
    by_day: dict[Day, Fraction] = {}
    for day, trade in rows:
        by_day[day] = by_day.get(day, ZERO) + trade.net
    return {
        "trades": len(rows),
        "decisions": len(decisions),
        "wins": len(wins),
        "losses": len(losses),
        "breakevens": sum(abs(net) <= journal.within for net in nets),
        "graded": len(grades),
        "a_plus": grades.count("A+"),
        "with_risk": len(rs),
        "r_total": sum(rs, ZERO),
        "with_checklist": len(checked),
        "checklists_confirmed": sum(
            all(one.answers.get(asked) for asked in journal.checklists[one.setup_id or 0]) for one in checked
        ),
        "with_mistake": sum(any(one.tags & journal.mistakes for one in each.trades) for each in decisions),
        "trading_days": len(by_day),
        "winning_days": sum(net > 0 for net in by_day.values()),
        "max_trades_per_day": max(Counter(one.day for one in decisions).values(), default=0),
        "gross_pnl": sum((trade.gross for _, trade in rows), ZERO),
        "fees": sum((trade.fees for _, trade in rows), ZERO),
        "net_pnl": sum((trade.net for _, trade in rows), ZERO),
        "winning_pnl": sum(wins, ZERO),
        "losing_pnl": sum(losses, ZERO),
        "risk_total": sum(risks, ZERO),
        "largest_risk": max(risks, default=None),
        "with_mae": sum(map(bool, maes)),
        "mae_total": sum(map(sum, maes), ZERO),
        "with_mfe": sum(map(bool, mfes)),
        "mfe_total": sum(map(sum, mfes), ZERO),
        "winning_mfe": sum((one.mfe for one in won if one.mfe is not None), ZERO),
        "captured_pnl": sum((one.net for one in won if one.mfe is not None), ZERO),
        "worst_trade": min(nets, default=None),
        "worst_day": min(by_day.values(), default=None),
        "max_drawdown": compute_drawdown([trade.net for _, trade in rows]),
        "peak_pnl": max(accumulate((trade.net for _, trade in rows), initial=ZERO)),
        "win_streak": compute_streak([net for net in nets if abs(net) > journal.within]),
    }


def compute_drawdown(nets: list[Fraction]) -> Fraction:
    """The largest fall from any moment, the start included, to a later one."""
    curve = list(accumulate(nets, initial=ZERO))
    return max(high - low for high, low in zip(accumulate(curve, max), curve, strict=True))


def compute_streak(nets: list[Fraction]) -> int:
    longest = running = 0
    for net in nets:
        running = running + 1 if net > 0 else 0
        longest = max(longest, running)
    return longest


# Metrics -------------------------------------------------------------------------------------------------

UNITS = {
    "currency": (
        "net_pnl gross_pnl max_drawdown balance_target expectancy average_win worst_trade worst_day"
        " average_risk largest_risk average_mae average_mfe"
    ),
    "percent": "win_rate a_plus_rate mistake_free_rate protocol_completion_rate captured",
    "ratio": "profit_factor rr_realized_avg payoff_ratio",
    "count": "max_trades_per_day trade_count trading_days winning_days win_streak",
}
UNIT_OF = {metric: unit for unit, metrics in UNITS.items() for metric in metrics.split()}
# Everything that adds or compares amounts of money, and so cannot be said of different currencies.
OF_MONEY = {*UNITS["currency"].split(), "profit_factor", "payoff_ratio", "winning_days", "captured"}
AMOUNTS = {"gross_pnl", "fees", "net_pnl", "winning_pnl", "losing_pnl", "worst_trade", "worst_day"}
AMOUNTS |= {"risk_total", "largest_risk", "winning_days", "max_drawdown", "peak_pnl", "opening_balance", "cash"}
AMOUNTS |= {"mae_total", "mfe_total", "winning_mfe", "captured_pnl"}
# The members that are shown only for the metric that needs them.
OF_DAYS = {"trading_days", "winning_days", "max_trades_per_day", "worst_day"}
OF_EXCURSIONS = ("with_mae", "mae_total", "with_mfe", "mfe_total", "winning_mfe", "captured_pnl")
EXTRAS = {
    "max_drawdown": {"max_drawdown"},
    "peak_pnl": {"max_drawdown"},
    "win_streak": {"win_streak"},
    **{name: {"average_mae", "average_mfe", "captured"} for name in OF_EXCURSIONS},
    "opening_balance": {"balance_target"},
    "cash": {"balance_target"},
    **dict.fromkeys(OF_DAYS, OF_DAYS),
}


def divide(part: Fraction | int, whole: int, reason: str) -> Value:
    return Fraction(part) / whole if whole else reason


def or_no_trades(value: Fraction | None) -> Value:
    return "no_trades" if value is None else value


def profit_factor(data: Statistics) -> Value:
    if not data["decisions"]:
        return "no_trades"
    if data["losing_pnl"]:
        return Fraction(data["winning_pnl"] / -data["losing_pnl"])
    return "no_losses" if data["winning_pnl"] else "no_wins_or_losses"


def payoff_ratio(data: Statistics) -> Value:
    if not data["wins"] or not data["losses"]:
        return "no_losses" if data["wins"] else "no_wins"
    return Fraction((data["winning_pnl"] / data["wins"]) / (-data["losing_pnl"] / data["losses"]))


METRICS: dict[str, Callable[[Statistics], Value]] = {
    "net_pnl": lambda data: Fraction(data["net_pnl"]),
    "gross_pnl": lambda data: Fraction(data["gross_pnl"]),
    "max_drawdown": lambda data: Fraction(data["max_drawdown"]),
    "balance_target": lambda data: Fraction(data["opening_balance"] + data["cash"] + data["net_pnl"]),
    "win_rate": lambda data: divide(100 * data["wins"], data["decisions"], "no_trades"),
    "profit_factor": profit_factor,
    "expectancy": lambda data: divide(data["net_pnl"], data["decisions"], "no_trades"),
    "rr_realized_avg": lambda data: divide(data["r_total"], data["with_risk"], "no_risk"),
    "a_plus_rate": lambda data: divide(100 * data["a_plus"], data["graded"], "no_grades"),
    "max_trades_per_day": lambda data: Fraction(data["max_trades_per_day"]),
    "protocol_completion_rate": lambda data: divide(
        100 * data["checklists_confirmed"], data["with_checklist"], "no_checklists"
    ),
    "trade_count": lambda data: Fraction(data["decisions"]),
    "trading_days": lambda data: Fraction(data["trading_days"]),
    "winning_days": lambda data: Fraction(data["winning_days"]),
    "win_streak": lambda data: Fraction(data["win_streak"]),
    "average_win": lambda data: divide(data["winning_pnl"], data["wins"], "no_wins"),
    "payoff_ratio": payoff_ratio,
    "worst_trade": lambda data: or_no_trades(data["worst_trade"]),
    "worst_day": lambda data: or_no_trades(data["worst_day"]),
    "average_risk": lambda data: divide(data["risk_total"], data["with_risk"], "no_risk"),
    "largest_risk": lambda data: "no_risk" if data["largest_risk"] is None else data["largest_risk"],
    "mistake_free_rate": lambda data: divide(
        100 * (data["decisions"] - data["with_mistake"]), data["decisions"], "no_trades"
    ),
    "average_mae": lambda data: divide(data["mae_total"], data["with_mae"], "no_excursions"),
    "average_mfe": lambda data: divide(data["mfe_total"], data["with_mfe"], "no_excursions"),
    "captured": lambda data: (
        100 * data["captured_pnl"] / data["winning_mfe"] if data["winning_mfe"] else "no_excursions"
    ),
}


def evaluate(metric: str, data: Statistics, is_mixed: bool) -> Value:
    if is_mixed and metric in OF_MONEY:
        return "mixed_currencies"
    value = METRICS[metric](data)
    if isinstance(value, str):
        return value
    return rounded(value) if abs(rounded(value)) <= MAX_AMOUNT else "out_of_range"


def show_statistics(data: Statistics, currencies: set[str], metrics: Iterable[str]) -> Statistics:
    """What a snapshot or a report shows of the statistics, with those that these metrics need."""
    return {
        "currency": next(iter(currencies)) if len(currencies) == 1 else None,
        **{
            name: None if len(currencies) > 1 and name in AMOUNTS else value
            for name, value in data.items()
            if name not in EXTRAS or not EXTRAS[name].isdisjoint(metrics)
        },
    }


# Snapshots -----------------------------------------------------------------------------------------------


@dataclass
class Goal:
    metric: str
    direction: str
    timeframe: str
    scope: str
    created_at: datetime
    # (the trading day on which it was set, the target), oldest first
    targets: list[tuple[Day, Fraction]]
    # for timeframe custom
    window: tuple[Day, Day] | None = None
    stopped_on: Day | None = None


def compute_snapshots(journal: Journal, goal: Goal, now: datetime) -> list[dict[str, Any]]:
    """The whole history of the goal, newest first: what the API shows but `goal_id` and `computed_at`."""
    today = goal.stopped_on or find_day(journal, goal, now)
    rows = journal.rows_in(goal.scope)
    begun = [day for day, one in rows if day <= journal.day_of(now, one.account_id)]
    last = today if goal.stopped_on else max([today, *begun])
    days = [day for day, _ in rows]
    if goal.metric == "balance_target" and goal.timeframe == "daily":
        first = min([*days, find_day(journal, goal, goal.created_at)])
        days += [day for day in days_of_cash(journal, journal.accounts_in(goal.scope)) if day >= first]
    periods = find_periods(journal, goal, days, today, last)
    return [compute_snapshot(journal, goal, rows, period, today) for period in reversed(periods)]


def sum_balances(journal: Journal, accounts: Collection[int], end: Day) -> Fraction:
    return sum((journal.balance_of(one, end) for one in accounts), ZERO)


def days_of_cash(journal: Journal, accounts: Collection[int]) -> list[Day]:
    """The days without a trade on which the sum of the balances changes."""
    if len(journal.currencies_of(accounts)) > 1:
        return []
    days = {one.day for one in journal.cash if one.account_id in accounts}
    return [one for one in days if sum_balances(journal, accounts, one) != sum_balances(journal, accounts, one - DAY)]


def compute_snapshot(
    journal: Journal, goal: Goal, rows: list[Row], period: tuple[Day, Day], today: Day
) -> dict[str, Any]:
    start, end = period
    counted = [(day, trade) for day, trade in rows if start <= day <= end]
    data = compute_statistics(journal, counted)
    accounts = journal.accounts_in(goal.scope)
    opening, closing = (sum_balances(journal, accounts, day) for day in (start - DAY, end))
    data |= {"opening_balance": opening, "cash": closing - opening - data["net_pnl"]}
    if goal.metric != "balance_target":
        accounts = {trade.account_id for _, trade in counted}
    currencies = journal.currencies_of(accounts)
    value = evaluate(goal.metric, data, len(currencies) > 1)
    target = find_target(goal, end, today)
    zone, rollover = journal.calendar_of(journal.account_of(goal.scope))
    return {
        "period_start": str(start),
        "period_end": str(end),
        "target": target,
        "actual": None if isinstance(value, str) else value,
        "achieved": is_achieved(goal, value, target),
        "closed": end < today,
        "snapshot_data": {
            "unit": UNIT_OF[goal.metric],
            "timezone": zone,
            "day_rollover": rollover,
            "breakeven_within": journal.within,
            "reason": value if isinstance(value, str) else None,
            **show_statistics(data, currencies, [goal.metric, *OF_DAYS]),
        },
    }


def find_day(journal: Journal, goal: Goal, instant: datetime) -> Day:
    """The trading day of an instant for the goal: of its account, of several accounts the owner's."""
    return journal.day_of(instant, journal.account_of(goal.scope))


def find_periods(journal: Journal, goal: Goal, days: list[Day], today: Day, last: Day) -> list[tuple[Day, Day]]:
    """The periods that have a snapshot, oldest first; the last may be later than today."""
    if goal.window:
        return [goal.window]
    if goal.timeframe == "daily":
        return [(day, day) for day in sorted({*days, today}) if day <= last]
    name = NAME_OF_PERIOD[goal.timeframe]
    start = min([*days, find_day(journal, goal, goal.created_at)])
    found = []
    while start <= last:
        end = start
        while name(start - DAY) == name(end):
            start -= DAY
        while name(end + DAY) == name(start):
            end += DAY
        found.append((start, end))
        start = end + DAY
    return found


NAME_OF_PERIOD: dict[str, Callable[[Day], object]] = {
    "weekly": lambda day: day.isocalendar()[:2],
    "monthly": lambda day: (day.year, day.month),
    "quarterly": lambda day: (day.year, (day.month - 1) // 3),
}


def find_target(goal: Goal, end: Day, today: Day) -> Fraction:
    """The target in force when the period closed; the newest for a running one, the first before the goal."""
    in_force = [target for since, target in goal.targets if end >= today or since <= end]
    return in_force[-1] if in_force else goal.targets[0][1]


def is_achieved(goal: Goal, value: Value, target: Fraction) -> bool | None:
    if isinstance(value, str):
        is_infinite = (goal.metric, value) == ("profit_factor", "no_losses")
        return goal.direction == "at_least" if is_infinite else None
    return value >= target if goal.direction == "at_least" else value <= target


# Reports -------------------------------------------------------------------------------------------------

HOLDING = {
    "under_1m": timedelta(minutes=1),
    "1m_5m": timedelta(minutes=5),
    "5m_15m": timedelta(minutes=15),
    "15m_1h": timedelta(hours=1),
    "1h_4h": timedelta(hours=4),
    "4h_1d": timedelta(days=1),
    "over_1d": timedelta(days=10**6),
}
SEVERAL = ("tag", "category", "day_tag")
BY_TRADE = ("day", "week", "month", "quarter", "year", "account")
PAUSES = {
    "under_1m": timedelta(minutes=1),
    "1m_5m": timedelta(minutes=5),
    "5m_15m": timedelta(minutes=15),
    "15m_1h": timedelta(hours=1),
    "over_1h": timedelta(days=10**6),
}
EARLIER = ("after", "nth", "pause")
IN_ORDER: dict[str, list[Any]] = {
    "holding": list(HOLDING),
    "after": ["first", "win", "loss", "losses", "breakeven"],
    "nth": [1, 2, 3, 4, 5, 6],
    "pause": ["first", *PAUSES],
    "day_rating": [1, 2, 3, 4, 5],
    "rules": ["followed", "broken", "unanswered", "no_checklist"],
}
IN_KEY_ORDER = ("day", "week", "month", "quarter", "year", "weekday", "hour", *IN_ORDER)
REPORTED = [metric for metric in METRICS if metric != "balance_target"]
ANSWERS = {True: "present", False: "absent", None: "unanswered"}
Query = dict[str, Any]


def find_contract(symbol: str) -> str:
    """Symbols are plain names, or micros such as MNQH6 or MNQH26 of the years from 2020 on."""
    return re.sub(r"^(M..[HMUZ])(\d)$", r"\g<1>2\2", symbol)


def find_root(symbol: str) -> str:
    return re.sub(r"^(M..)[HMUZ]\d{1,2}$", r"\1", symbol)


def compute_report(journal: Journal, group_by: str, query: Query) -> dict[str, Any]:
    """The total and all groups in their order, without names, with the metrics of the query, else all."""
    journal = journal.of_category(query)
    rows = select_rows(journal, query)
    parts = group_rows(journal, rows, group_by, query)
    metrics = query["metrics"].split(",") if "metrics" in query else REPORTED
    if group_by == "confirmation":
        groups = show_answers(journal, parts, metrics)
    else:
        groups = [{"key": key, **show_group(journal, part, metrics)} for key, part in parts.items()]
    if group_by in ("confirmation", "rules", *SEVERAL):
        compare_groups(journal, group_by, groups, parts)
    if group_by == "confirmation":
        parts = {one: parts.get((one, "present"), []) for one, _ in parts}
    sort = query.get("sort")
    groups.sort(key=lambda group: rank(journal, (group["key"],), parts[group["key"]], (group_by,), sort))
    shape = {"distribution": show_shape(journal, rows)} if group_by == "none" or "with" in query else {}
    return {"total": show_group(journal, rows, metrics), "groups": groups, **shape}


def show_shape(journal: Journal, rows: list[Row]) -> dict[str, Any]:
    """The bins of docs/api.md#the-shape-of-results."""
    decisions = decisions_of(journal, rows)
    nets, rs = [one.net for one in decisions], [one.r for one in decisions if one.r is not None]
    is_mixed = len(journal.currencies_of(trade.account_id for _, trade in rows)) > 1
    return {"net_pnl": None if is_mixed else {"bins": fill_bins(nets)}, "r": {"bins": fill_bins(rs)} if rs else None}


def fill_bins(values: list[Fraction]) -> list[dict[str, Any]]:
    if len(set(values)) < 2:
        return [{"low": one, "high": one, "decisions": values.count(one)} for one in set(values)]
    lowest, highest = min(values), max(values)
    for width in (Fraction(digit * 10**power, 10**8) for power in range(30) for digit in (1, 2, 5)):
        first, last = lowest // width, ceil(highest / width)
        if last - first <= 24:
            break
    bins: list[dict[str, Any]] = [
        {"low": place * width, "high": (place + 1) * width, "decisions": 0} for place in range(first, last)
    ]
    for value in values:
        bins[min(int(value // width) - first, len(bins) - 1)]["decisions"] += 1
    return bins


def select_rows(journal: Journal, query: Query) -> list[Row]:
    return [row for row in journal.rows_in("all") if is_selected(journal, row, query)]


def is_selected(journal: Journal, row: Row, query: Query) -> bool:
    day, trade = row
    group = journal.groups.get(query.get("copy_group_id", 0), set())
    fields = ("account_id", "strategy_id", "setup_id", "direction", "grade")
    return (
        query.get("from", "") <= str(day) <= query.get("to", "9999")
        and all(getattr(trade, name) == query[name] for name in fields if name in query)
        and find_contract(query.get("symbol", trade.symbol)) == find_contract(trade.symbol)
        and query.get("root") in (None, find_root(trade.symbol))
        and ("tag_id" not in query or query["tag_id"] in trade.tags)
        and ("import_id" not in query or query["import_id"] in trade.imports)
        and ("copy_group_id" not in query or trade.account_id in group)
    )


def find_outcome(net: Fraction | None, within: Fraction) -> str:
    if net is None:
        return "open"
    return "breakeven" if abs(net) <= within else "win" if net > 0 else "loss"


def group_rows(journal: Journal, rows: list[Row], group_by: str, query: Query) -> dict[Any, list[Row]]:
    """The trades of each group; the key of a confirmation is its id and the answer."""
    found: dict[Any, list[Row]] = {}
    if group_by == "none":
        return found
    if group_by in BY_TRADE:
        for day, trade in rows:
            found.setdefault(find_key(journal, day, trade, group_by), []).append((day, trade))
        return found
    days = {trade.id: day for day, trade in rows}
    earlier = place_decisions(journal, query, group_by) if group_by in EARLIER else {}
    for decision in decisions_of(journal, rows):
        for key in [earlier[decision.id]] if earlier else find_keys(journal, days, decision, group_by):
            found.setdefault(key, []).extend((days[one.id], one) for one in decision.trades)
    return {key: sorted(part, key=in_time) for key, part in found.items()}


def place_decisions(journal: Journal, query: Query, group_by: str) -> dict[int, Any]:
    """The groups of decisions by what happened before them on their day, in the accounts of the report."""
    scope: Query = {name: query[name] for name in ("account_id", "copy_group_id", "from", "to") if name in query}
    every = decisions_of(journal, select_rows(journal, scope))
    found: dict[int, Any] = {}
    for number, one in enumerate(every):
        day = [other for other in every if other.day == one.day]
        earlier = [other for other in every[:number] if other.day == one.day and other.closed_at <= one.opened_at]
        last = earlier[-1] if earlier else None
        if group_by == "nth":
            place = sum((other.opened_at, other.id) <= (one.opened_at, one.id) for other in day)
            found[one.id] = min(place, 6)
        elif last is None:
            found[one.id] = "first"
        elif group_by == "pause":
            pause = one.opened_at - last.closed_at
            found[one.id] = next(name for name, bound in PAUSES.items() if pause < bound)
        elif [find_outcome(other.net, journal.within) for other in earlier[-2:]] == ["loss"] * 2:
            found[one.id] = "losses"
        else:
            found[one.id] = find_outcome(last.net, journal.within)
    return found


def find_keys(journal: Journal, days: dict[int, Day], decision: Decision, group_by: str) -> Iterable[Any]:
    one = decision.representative
    if group_by == "day_tag":
        return journal.days.get(days[one.id], (None, set()))[1] or {None}
    if group_by == "day_rating":
        return [journal.days.get(days[one.id], (None, set()))[0]]
    if group_by in ("tag", "category"):
        tags = set().union(*(trade.tags for trade in decision.trades))
        return (tags & journal.category if group_by == "category" else tags) or {None}
    if group_by == "confirmation":
        checklist = journal.checklists.get(one.setup_id or 0, ())
        return [(asked, ANSWERS[one.answers.get(asked)]) for asked in checklist] or [(None, "unanswered")]
    if group_by == "rules":
        checklist = journal.checklists.get(one.setup_id or 0, set())
        answers = [one.answers.get(asked) for asked in checklist]
        if False in answers or any(trade.tags & journal.mistakes for trade in decision.trades):
            return ["broken"]
        return ["no_checklist" if not checklist else "followed" if all(answers) else "unanswered"]
    return [find_key(journal, days[one.id], one, group_by)]


def find_key(journal: Journal, day: Day, trade: Trade, group_by: str) -> Any:
    held = trade.closed_at - trade.opened_at
    return {
        "day": str(day),
        "week": str(day - timedelta(days=day.weekday())),
        "month": str(day.replace(day=1)),
        "quarter": str(day.replace(day=1, month={0: 1, 1: 4, 2: 7, 3: 10}[(day.month - 1) // 3])),
        "year": str(day.replace(day=1, month=1)),
        "weekday": day.isoweekday(),
        "hour": trade.opened_at.astimezone(ZoneInfo(journal.timezone)).hour,
        "holding": next(name for name, bound in HOLDING.items() if held < bound),
        "account": trade.account_id,
        "symbol": find_contract(trade.symbol),
        "root": find_root(trade.symbol),
        "direction": trade.direction,
        "grade": trade.grade,
        "strategy": trade.strategy_id,
        "setup": trade.setup_id,
    }[group_by]


def rank(
    journal: Journal, keys: tuple[Any, ...], rows: list[Row], group_by: tuple[str, ...], sort: str | None = None
) -> Any:
    """By a metric, or by keys that all have an order; groups without a value or a key are last. A tie is by key."""
    places = [
        (key is None, 0 if key is None else IN_ORDER[name].index(key) if name in IN_ORDER else key)
        for name, key in zip(group_by, keys, strict=True)
    ]
    if sort is None and all(name in IN_KEY_ORDER for name in group_by):
        return places
    metric = (sort or "-net_pnl").removeprefix("-")
    is_mixed = len(journal.currencies_of(trade.account_id for _, trade in rows)) > 1
    value = evaluate(metric, compute_statistics(journal, rows), is_mixed)
    if isinstance(value, str) or ("confirmation", None) in zip(group_by, keys, strict=True):
        return True, 0, *places
    return False, value if sort and not sort.startswith("-") else -value, *places


@remembered
def show_group(journal: Journal, rows: list[Row], metrics: Collection[str]) -> dict[str, Any]:
    data, decisions = compute_statistics(journal, rows), decisions_of(journal, rows)
    currencies = journal.currencies_of(trade.account_id for _, trade in rows)
    values = {metric: evaluate(metric, data, len(currencies) > 1) for metric in metrics}
    intervals = {
        metric: value if isinstance(value, str) else find_interval(journal, decisions, metric)
        for metric, value in values.items()
        if metric in INTERVALS
    }
    return {
        "intervals": {metric: None if isinstance(one, str) else one for metric, one in intervals.items()},
        "interval_reasons": {metric: one for metric, one in intervals.items() if isinstance(one, str)},
        "values": {metric: None if isinstance(one, str) else one for metric, one in values.items()},
        "reasons": {metric: one for metric, one in values.items() if isinstance(one, str)},
        "statistics": show_statistics(data, currencies, metrics),
    }


# What a metric is the mean of; None where a decision does not count.
INTERVALS: dict[str, Callable[[Journal, Decision], Any]] = {
    "expectancy": lambda _, one: one.net,
    "average_win": lambda journal, one: one.net if one.net > journal.within else None,
    "rr_realized_avg": lambda _, one: one.r,
    "win_rate": lambda journal, one: one.net > journal.within,
    "a_plus_rate": lambda _, one: one.representative.grade and one.representative.grade == "A+",
    "mistake_free_rate": lambda journal, one: not any(each.tags & journal.mistakes for each in one.trades),
    "protocol_completion_rate": lambda journal, one: is_confirmed(journal, one.representative),
}


def is_confirmed(journal: Journal, trade: Trade) -> bool | None:
    asked = journal.checklists.get(trade.setup_id or 0)
    return all(trade.answers.get(one) for one in asked) if asked else None


def find_interval(journal: Journal, decisions: list[Decision], metric: str) -> Statistics | str:
    measured = [(one.day, INTERVALS[metric](journal, one)) for one in decisions]
    values = [(day, value) for day, value in measured if value is not None]
    if UNIT_OF[metric] == "percent":
        return inference.compute_share_interval(values)
    return inference.compute_mean_interval(values)


def show_answers(journal: Journal, parts: dict[Any, list[Row]], metrics: Collection[str]) -> list[dict[str, Any]]:
    """The groups of confirmations, and the decisions without a checklist."""
    return [
        {
            "key": one,
            **{answer: show_group(journal, parts.get((one, answer), []), metrics) for answer in ANSWERS.values()},
        }
        for one in {one for one, _ in parts}
    ]


def compare_groups(journal: Journal, group_by: str, groups: list[Statistics], parts: dict[Any, Any]) -> None:
    """Give the groups of confirmations, tags and rules their edges, in money and in R."""
    every = decisions_of(
        journal, sorted({row[1].id: row for part in parts.values() for row in part}.values(), key=in_time)
    )
    edges: dict[str, dict[Any, Statistics]] = {"edge": {}, "edge_r": {}}
    answers: dict[Any, dict[int, bool]] = {}
    for group in groups:
        sides = find_sides(journal, group_by, group["key"], parts, every)
        for name, found in edges.items() if sides else ():
            group[name] = found[group["key"]] = compare_sides(journal, *sides, is_r=name == "edge_r")
        if sides:
            with_it, without = sides
            answers[group["key"]] = {one.id: True for one in with_it} | {one.id: False for one in without}
    for name, found in edges.items():
        values = {one.id: (one.day, one.r if name == "edge_r" else one.net) for one in every}
        inference.judge(found, answers, {one: pair for one, pair in values.items() if pair[1] is not None})


def find_sides(
    journal: Journal, group_by: str, key: Any, parts: dict[Any, Any], every: list[Decision]
) -> list[list[Decision]]:
    """The decisions with something and those without it, nothing for a group that is not compared."""
    if group_by == "confirmation":
        return [decisions_of(journal, parts.get((key, answer), [])) for answer in ("present", "absent")]
    if group_by in SEVERAL and key is not None:
        days = {one.id: day for part in parts.values() for day, one in part}
        has = [key in find_keys(journal, days, one, group_by) for one in every]
        return [[one for one, each in zip(every, has, strict=True) if each is side] for side in (True, False)]
    if group_by == "rules" and key == "followed":
        return [decisions_of(journal, parts.get(one, [])) for one in ("followed", "broken")]
    return []


def compare_sides(journal: Journal, present: list[Decision], absent: list[Decision], *, is_r: bool) -> Statistics:
    sides = [[(one.day, one.r if is_r else one.net) for one in side] for side in (present, absent)]
    edge = inference.compute_edge(*([(day, one) for day, one in side if one is not None] for side in sides))
    is_mixed = len(set().union(*(one.currencies for one in present + absent))) > 1
    if not is_r and edge["reason"] != "too_few" and is_mixed:
        sizes = {name: edge[name] for name in ("present", "absent")}
        return {**dict.fromkeys(edge), **sizes, "reason": "mixed_currencies"}
    return edge
