"""Every report computed a second time, slowly and plainly, from docs/api.md#reports alone."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Context, Decimal
from fractions import Fraction
from statistics import mean, variance
from typing import Any
from zoneinfo import ZoneInfo

import naive
from naive import OF_MONEY, SUMS, Day, Decision, Journal, Trade

Row = tuple[Day, Trade]
HOLDING = {
    "under_1m": timedelta(minutes=1),
    "1m_5m": timedelta(minutes=5),
    "5m_15m": timedelta(minutes=15),
    "15m_1h": timedelta(hours=1),
    "1h_4h": timedelta(hours=4),
    "4h_1d": timedelta(days=1),
    "over_1d": timedelta(days=10**6),
}
BY_TRADE = ("day", "week", "month", "quarter", "year", "account")
IN_KEY_ORDER = ("day", "week", "month", "quarter", "year", "weekday", "hour", "holding")


@dataclass
class Ticket(Trade):
    """A trade with what only reports read."""

    opened_at: datetime = field(kw_only=True)
    symbol: str = field(kw_only=True)
    direction: str = field(kw_only=True)
    strategy_id: int | None = field(kw_only=True)


def keys_of_trade(journal: Journal, day: Day, trade: Any) -> dict[str, Any]:
    """The group of the trade, by `group_by`."""
    held = trade.closed_at - trade.opened_at
    return {
        "day": str(day),
        "week": str(day - timedelta(days=day.weekday())),
        "month": str(day.replace(day=1)),
        "quarter": str(day.replace(day=1, month={0: 1, 1: 4, 2: 7, 3: 10}[(day.month - 1) // 3])),
        "year": str(day.replace(day=1, month=1)),
        "weekday": day.isoweekday(),
        "hour": trade.opened_at.astimezone(ZoneInfo(journal.timezone)).hour,
        "holding": min((bound, name) for name, bound in HOLDING.items() if held < bound)[1],
        "account": trade.account_id,
        "symbol": trade.symbol,
        "direction": trade.direction,
        "grade": trade.grade,
        "strategy": trade.strategy_id,
        "setup": trade.setup_id,
    }


def groups(journal: Journal, rows: list[Row], group_by: str) -> dict[Any, list[Row]]:
    """The trades of each group; the key of a confirmation is its id and the answer."""
    found: dict[Any, list[Row]] = {}
    if group_by == "none":
        return found
    if group_by in BY_TRADE:
        for day, trade in rows:
            found.setdefault(keys_of_trade(journal, day, trade)[group_by], []).append((day, trade))
        return found
    days = {trade.id: day for day, trade in rows}
    for _, decision in naive.decisions_of(journal, rows):
        for key in keys_of_decision(journal, days, decision, group_by):
            members = {trade.id for trade in decision.rows}
            found.setdefault(key, []).extend(row for row in rows if row[1].id in members)
    return {
        key: sorted(group, key=lambda row: (row[0], row[1].closed_at, row[1].id))
        for key, group in found.items()
    }


def keys_of_decision(
    journal: Journal, days: dict[int, Day], decision: Decision, group_by: str
) -> Iterable[Any]:
    speaker = decision.spokesman
    if group_by == "tag":
        return {tag for trade in decision.rows for tag in trade.tags} or {None}
    if group_by == "confirmation":
        answers = {True: "present", False: "absent", None: "unanswered"}
        checklist = naive.checklist_of(journal, speaker)
        return [(one, answers[speaker.answers.get(one)]) for one in checklist] or [(None, "unanswered")]
    return [keys_of_trade(journal, days[speaker.id], speaker)[group_by]]


def statistics_of(journal: Journal, rows: list[Row]) -> dict[str, Any]:
    data = naive.explained(journal, rows, Fraction(0))
    currencies = {journal.accounts[trade.account_id].currency for _, trade in rows}
    if len(currencies) > 1:
        data |= dict.fromkeys(SUMS)
    del data["opening_balance"]
    return {**data, "currency": currencies.pop() if len(currencies) == 1 else None}


def values_of(journal: Journal, rows: list[Row]) -> dict[str, naive.Answer]:
    """The value of each metric, and what explains that there is none."""
    data = naive.explained(journal, rows, Fraction(0))
    if len({journal.accounts[trade.account_id].currency for _, trade in rows}) > 1:
        data |= dict.fromkeys(SUMS)
        metrics = {
            key: (lambda _: (None, {"mixed_currencies"})) if key in OF_MONEY else metric
            for key, metric in naive.METRICS.items()
        }
    else:
        metrics = naive.METRICS
    answers = {key: metric(data) for key, metric in metrics.items() if key != "balance_target"}
    return {
        key: (value if value is None else naive.rounded(value), why) for key, (value, why) in answers.items()
    }


def in_order(values: dict[Any, Fraction | None], group_by: str) -> list[Any]:
    """The keys in the order of the report, given the net P&L of each group."""

    def place(key: Any) -> tuple[bool, Any]:
        return key is None, 0 if key is None else list(HOLDING).index(key) if group_by == "holding" else key

    if group_by in IN_KEY_ORDER:
        return sorted(values, key=place)

    def rank(key: Any) -> tuple[Any, ...]:
        value = values[key]
        return value is None, -(value or 0), *place(key)

    return sorted(values, key=rank)


def edge(present: list[Fraction], absent: list[Fraction]) -> tuple[Decimal, Decimal, Decimal]:
    """The difference of the means and its interval, with the variances of the standard library."""
    context = Context(prec=60)

    def decimal(value: Fraction) -> Decimal:
        return context.divide(Decimal(value.numerator), Decimal(value.denominator))

    difference = decimal(mean(present) - mean(absent))
    error = context.sqrt(decimal(variance(present) / len(present) + variance(absent) / len(absent)))
    margin = context.multiply(Decimal("1.959964"), error)
    return difference, context.subtract(difference, margin), context.add(difference, margin)


FILTERS: dict[str, Callable[[Any, Any], bool]] = {
    "account_id": lambda trade, value: trade.account_id == value,
    "strategy_id": lambda trade, value: trade.strategy_id == value,
    "setup_id": lambda trade, value: trade.setup_id == value,
    "tag_id": lambda trade, value: value in trade.tags,
    "symbol": lambda trade, value: trade.symbol == value,
    "direction": lambda trade, value: trade.direction == value,
    "grade": lambda trade, value: trade.grade == value,
}


def selected(journal: Journal, query: dict[str, Any]) -> list[Row]:
    """The closed trades that match the filters, in the order of their closes."""
    rows = journal.counted("all")
    if "copy_group_id" in query:
        rows = journal.counted(f"group_{query['copy_group_id']}")
    return [
        (day, trade)
        for day, trade in rows
        if query.get("from", "") <= str(day) <= query.get("to", "9999")
        and all(matches(trade, query[name]) for name, matches in FILTERS.items() if name in query)
    ]
