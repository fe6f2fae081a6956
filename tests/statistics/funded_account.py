"""A funded account as one would keep it on paper: a line for each event, and every number by its definition.

Nothing is shared with the service. Amounts are decimals, whose sums are exact.
"""

from collections.abc import Iterator
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any, NamedTuple

FIRST_DAY = date(2026, 1, 1)
SIGNS = {"deposit": 1, "adjustment": 1, "withdrawal": -1, "payout": -1, "fee": -1}
RESET, MONEY_IN, TRADE, MONEY_OUT, CLOSE = range(5)


class Trade(NamedTuple):
    day: str
    minute: int
    amount: Decimal


class Cash(NamedTuple):
    day: str
    kind: str
    amount: Decimal


class Event(NamedTuple):
    """A line of the account: `balance` is that after the event."""

    day: str
    what: int
    balance: Decimal
    trade_id: int | None = None
    result: Decimal = Decimal(0)


class Book:
    """The trades and the cash of an account, by id."""

    def __init__(self, start: Decimal) -> None:
        self.start = start
        self.trades: dict[int, Trade] = {}
        self.cash: dict[int, Cash] = {}
        self.ids = {"trades": 0, "cash": 0}  # the highest ever

    def next_id(self, table: str) -> int:
        self.ids[table] += 1
        return self.ids[table]

    def days(self, at: str) -> list[str]:
        days = {trade.day for trade in self.trades.values()} | {cash.day for cash in self.cash.values()}
        return sorted(day for day in days if day <= at)

    def events(self, at: str) -> list[Event]:
        """The lines of the account to the end of a day, from the last reset or the start on."""
        balance, lines = self.start, list[Event]()
        for day in self.days(at):
            for what, amount, trade_id in sorted(self.changes(day), key=lambda change: change[0]):
                balance = amount if what == RESET else balance + amount
                if what == RESET:
                    lines.clear()
                lines.append(Event(day, what, balance, trade_id, amount))
            lines.append(Event(day, CLOSE, balance))
        return lines

    def changes(self, day: str) -> Iterator[tuple[int, Decimal, int | None]]:
        """What moves the balance on a day: money in, trades, money out, each in its own order."""
        for _, cash in sorted(self.cash.items()):
            if cash.day == day and cash.kind == "reset":
                yield RESET, cash.amount, None
            elif cash.day == day:
                signed = SIGNS[cash.kind] * cash.amount
                yield MONEY_IN if signed > 0 else MONEY_OUT, signed, None
        for trade_id, trade in sorted(self.trades.items(), key=lambda item: (item[1].minute, item[0])):
            if trade.day == day:
                yield TRADE, trade.amount, trade_id


def stand(book: Book, rules: dict[str, Any], at: str) -> dict[str, Any]:
    """How the account stands at the end of a day, by rules as a body states them."""
    lines = book.events(at)
    is_reset = bool(lines) and lines[0].what == RESET
    start = lines[0].balance if is_reset else book.start
    payouts = [cash.day for cash in book.cash.values() if cash.kind == "payout" and cash.day <= at]
    payouts = [day for day in payouts if not is_reset or day >= lines[0].day]
    standing_floor = rules.get("floor") and floor(lines, start, rules["floor"], at)
    # A lost account goes on losing and winning, but reaches nothing any more.
    end = (standing_floor and standing_floor["since"]) or at
    payouts = [day for day in payouts if day <= end]
    trades = [line for line in lines if line.what == TRADE]
    counted = [line for line in trades if line.day <= end]
    cycle = [line for line in counted if line.day > max(payouts, default="")]
    begins = lines[0].day if is_reset else None
    paid = {"counts_from": following(max(payouts)) if payouts else begins}
    return {
        "start_day": lines[0].day if is_reset else None,
        "start_balance": start,
        "balance": lines[-1].balance if lines else start,
        "last_payout_day": max(payouts, default=None),
        "floor": standing_floor,
        "daily_loss": rules.get("daily_loss") and daily_loss(trades, rules["daily_loss"], at),
        "profit_target": rules.get("profit_target")
        and {**profit(counted, rules["profit_target"]), "counts_from": begins},
        "best_day_share": rules.get("best_day_share")
        and {**best_day(cycle, rules["best_day_share"]), **paid},
        "qualifying_day": rules.get("qualifying_day")
        and {
            **count(
                [day for day, net in nets(cycle) if net >= rules["qualifying_day"]["amount"]],
                rules["qualifying_day"]["days"],
            ),
            **paid,
        },
        "minimum_days": rules.get("minimum_days")
        and {**count([day for day, _ in nets(counted)], rules["minimum_days"]), "counts_from": begins},
    }


def following(day: str) -> str:
    return (date.fromisoformat(day) + timedelta(days=1)).isoformat()


def closings(book: Book, at: str) -> list[dict[str, Any]]:
    """The days since the last reset or the start, as a checkpoint lists them."""
    lines = book.events(at)
    return [
        {
            "day": close.day,
            "net_pnl": sum(one.result for one in lines if (one.day, one.what) == (close.day, TRADE)),
            "cash": sum(
                one.result for one in lines if one.day == close.day and one.what in (MONEY_IN, MONEY_OUT)
            ),
            "balance": close.balance,
        }
        for close in lines
        if close.what == CLOSE
    ]


def nets(trades: list[Event]) -> list[tuple[str, Decimal]]:
    """The days with a trade and their net P&L."""
    days = sorted({line.day for line in trades})
    return [(day, sum((line.result for line in trades if line.day == day), Decimal(0))) for day in days]


def floor(lines: list[Event], start: Decimal, rule: dict[str, Any], at: str) -> dict[str, Any]:
    distance, locks_at = rule["distance"], rule.get("locks_at")

    def peak_before(number: int, day: str) -> tuple[Decimal, str | None, int | None]:
        """The highest balance of those that count when that line is written, the first of equal ones."""
        counted = {
            "static": [],
            "end_of_day": [line for line in lines if line.what == CLOSE and line.day < day],
            "trade": [line for line in lines[: number + 1] if line.what == TRADE],
        }[rule["kind"]]
        peak: tuple[Decimal, str | None, int | None] = (start, None, None)
        for line in counted:
            if line.balance > peak[0]:
                peak = (line.balance, line.day, line.trade_id)
        return peak

    def level(peak: Decimal) -> Decimal:
        return peak - distance if locks_at is None else Decimal(min(locks_at, peak - distance))

    met = [
        line.day
        for number, line in enumerate(lines)
        if line.what in (TRADE, CLOSE) and line.balance <= level(peak_before(number, line.day)[0])
    ]
    balance = lines[-1].balance if lines else start
    peak, peak_day, peak_trade_id = peak_before(len(lines), at)
    room = balance - level(peak)
    state = "broken" if met else "near" if 5 * room <= distance else "within"
    return {
        **described(state, balance, level(peak), 0 if met else room, met[0] if met else None),
        "kind": rule["kind"],
        "peak": peak,
        "peak_day": peak_day,
        "peak_trade_id": peak_trade_id,
        "locked": level(peak) == locks_at,
    }


def daily_loss(trades: list[Event], limit: Any, at: str) -> dict[str, Any]:
    broken, today = [], Decimal(0)
    for number, line in enumerate(trades):
        so_far = sum(one.result for one in trades[: number + 1] if one.day == line.day)
        if so_far < -limit:
            broken.append(line.day)
        if line.day == at:
            today = Decimal(so_far)
    state = "broken" if broken else "near" if -5 * today >= 4 * limit else "within"
    return described(
        state, today, -limit, 0 if at in broken else today + limit, broken[0] if broken else None
    )


def profit(trades: list[Event], target: Any) -> dict[str, Any]:
    gains = [(day, sum(net for other, net in nets(trades) if other <= day)) for day, _ in nets(trades)]
    gain = gains[-1][1] if gains else 0
    since = last_run([(day, so_far >= target) for day, so_far in gains])
    return {**described_target(gain, target, since), "missing": max(target - gain, 0)}


def best_day(trades: list[Event], share: Any) -> dict[str, Any]:
    days = nets(trades)
    met = []
    for number, (day, _) in enumerate(days):
        so_far = [net for _, net in days[: number + 1]]
        met.append((day, sum(so_far) > 0 and max(so_far) * 100 <= share * sum(so_far)))
    total = sum((net for _, net in days), Decimal(0))
    best = max((net for _, net in days), default=Decimal(0))
    winner = next((day for day, net in days if net == best and best > 0), None)
    needed = up_to_eight_decimals(Fraction(best) * 100 / Fraction(share)) - Fraction(total)
    value = to_eight_decimals(Fraction(best) / Fraction(total) * 100) if total > 0 else None
    return {
        **described_target(value, share, last_run(met)),
        "reason": None if total > 0 else "no_profit",
        "remaining": max(needed, 0) if best > 0 else None,
        "total": total,
        "best": best if best > 0 else None,
        "best_day": winner,
    }


def count(days: list[str], needed: int) -> dict[str, Any]:
    since = days[needed - 1] if len(days) >= needed else None
    return {**described_target(len(days), needed, since), "missing": max(needed - len(days), 0)}


def last_run(days: list[tuple[str, bool]]) -> str | None:
    """The first of the last days on all of which something holds."""
    run = []
    for day, holds in reversed(days):
        if not holds:
            break
        run.append(day)
    return run[-1] if run else None


def described(state: str, value: Any, limit: Any, room: Any, since: str | None) -> dict[str, Any]:
    return {"state": state, "value": value, "limit": limit, "room": room, "since": since, "reason": None}


def described_target(value: Any, limit: Any, since: str | None) -> dict[str, Any]:
    return described("met" if since else "open", value, limit, None, since)


def to_eight_decimals(value: Fraction) -> Fraction:
    return Fraction(round(value * 10**8), 10**8)


def up_to_eight_decimals(value: Fraction) -> Fraction:
    return Fraction(-(-value * 10**8 // 1), 10**8)


# Random accounts -----------------------------------------------------------------------------------------


def random_day(random: Random, last: int) -> str:
    return (FIRST_DAY + timedelta(days=random.randrange(last))).isoformat()


def random_amount(random: Random, most: int) -> Decimal:
    """Amounts of which many are equal, and some have all decimals."""
    if random.random() < 0.1:
        return Decimal(random.randrange(1, most * 10**8)).scaleb(-8)
    return Decimal(random.randrange(1, most // 50 + 1) * 50)


def random_rules(random: Random) -> dict[str, Any]:
    """All kinds of rules, each there or not."""
    kind = random.choice(["static", "end_of_day", "trade"])
    locks_at = random.choice([None, 1000, 1100, 1300])
    every: dict[str, Any] = {
        "floor": {"kind": kind, "distance": random.choice([200, 500, 800]), "locks_at": locks_at},
        "daily_loss": random.choice([250, 500]),
        "profit_target": random.choice([100, 300, 1000]),
        "best_day_share": random.choice([25, 40, Decimal("33.3333"), 50, 100]),
        "qualifying_day": {"amount": random.choice([50, 100, 200]), "days": random.randint(1, 4)},
        "minimum_days": random.randint(1, 6),
    }
    return {name: rule for name, rule in every.items() if random.random() < 0.8}


def random_cash(random: Random, day: str) -> Cash:
    kind = random.choice([*SIGNS, "reset"])
    if kind == "reset":
        return Cash(day, kind, Decimal(random.choice([0, 1000, 1500])))
    sign = random.choice([1, -1]) if kind == "adjustment" else 1
    return Cash(day, kind, sign * random_amount(random, 500))


def random_trade(random: Random, day: str) -> Trade:
    amount = random.choice([1, -1, 1, -1, 0]) * random_amount(random, 300)
    return Trade(day, random.randrange(6), amount)
