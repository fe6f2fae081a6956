"""A funded account as one would keep it on paper: a line for each event, every number by its definition."""

import math
from fractions import Fraction
from typing import Any, NamedTuple

from reference import DAY, MAX_AMOUNT, ZERO, Cash, Day, Journal, rounded

RESET, MONEY_IN, TRADE, MONEY_OUT, CLOSE = range(5)


class Event(NamedTuple):
    """A line of the account: `balance` is that after the event."""

    day: str
    what: int
    balance: Fraction
    trade_id: int | None = None
    result: Fraction = ZERO


def list_changes(journal: Journal, account: int) -> list[tuple[str, int, Fraction, int | None]]:
    """What moves the balance: on each day resets, money in, trades, money out, each in its own order."""
    cash = [
        (str(one.day), RESET if one.kind == "reset" else MONEY_IN if one.change > 0 else MONEY_OUT, one)
        for one in journal.cash
        if one.account_id == account
    ]
    closed = sorted(journal.trades.values(), key=lambda trade: (trade.closed_at, trade.id))
    trades = [
        (str(journal.day_of(one.closed_at, account)), TRADE, one.net, one.id)
        for one in closed
        if one.account_id == account
    ]
    moved = [(day, what, one.change, None) for day, what, one in cash]
    return sorted([*moved, *trades], key=lambda change: change[:2])


def list_events(journal: Journal, account: int, at: str) -> list[Event]:
    """The lines of the account to the end of a day, from the last reset or the start on."""
    balance, lines = journal.balances[account], list[Event]()
    changes = [change for change in list_changes(journal, account) if change[0] <= at]
    for number, (day, what, amount, trade_id) in enumerate(changes, 1):
        balance = amount if what == RESET else balance + amount
        if what == RESET:
            lines.clear()
        lines.append(Event(day, what, balance, trade_id, amount))
        if number == len(changes) or changes[number][0] > day:
            lines.append(Event(day, CLOSE, balance))
    return lines


def stand(journal: Journal, account: int, rules: dict[str, Any], at: str) -> dict[str, Any]:
    """How the account stands at the end of a day, by rules as a body states them."""
    lines = list_events(journal, account, at)
    is_reset = bool(lines) and lines[0].what == RESET
    start = lines[0].balance if is_reset else journal.balances[account]
    paid_out = [one for one in journal.cash if (one.account_id, one.kind) == (account, "payout")]
    payouts = [str(one.day) for one in paid_out if str(one.day) <= at]
    payouts = [day for day in payouts if not is_reset or day >= lines[0].day]
    standing_floor = rules.get("floor") and floor(lines, start, rules["floor"], at)
    # A lost account goes on losing and winning, but reaches nothing any more.
    end = (standing_floor and standing_floor["since"]) or at
    payouts = [day for day in payouts if day <= end]
    trades = [line for line in lines if line.what == TRADE]
    counted = [line for line in trades if line.day <= end]
    cycle = [line for line in counted if line.day > max(payouts, default="")]
    begins = lines[0].day if is_reset else None
    paid = {"counts_from": str(Day.fromisoformat(max(payouts)) + DAY) if payouts else begins}
    return {
        "account_id": account,
        "at": at,
        "sees": "closed trades",
        "start_day": lines[0].day if is_reset else None,
        "start_balance": start,
        "balance": lines[-1].balance if lines else start,
        "last_payout_day": max(payouts, default=None),
        "floor": standing_floor,
        "payout": standing_floor
        and {"room": standing_floor["room"], "received": arrived(journal, account, standing_floor["room"])},
        "daily_loss": rules.get("daily_loss") and daily_loss(trades, rules["daily_loss"], at),
        "profit_target": rules.get("profit_target")
        and {**profit(counted, rules["profit_target"]), "counts_from": begins},
        "best_day_share": rules.get("best_day_share") and {**best_day(cycle, rules["best_day_share"]), **paid},
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


def arrived(journal: Journal, account: int, payout: Fraction) -> Fraction:
    """What the firm leaves of a payout."""
    _, _, share = journal.terms[account]
    return payout if share is None else rounded(payout * share / 100)


def bank(journal: Journal, query: dict[str, Any], rules: dict[int, dict[str, Any]]) -> dict[str, Any]:
    """What accounts cost and pay, from the statements of a bank, with the rules of each account."""
    account, group_by = query.get("account_id"), query["group_by"]
    lines = [
        one
        for one in (*journal.cash, *journal.outside)
        if query["from"] <= str(one.day) <= query["to"]
        and account in (None, one.account_id)
        and (one.outside or one.kind in ("deposit", "withdrawal", "payout"))
    ]

    def find_key(one: Cash) -> tuple[Any, str | None]:
        name, broker, _ = journal.terms[one.account_id]
        month = f"{one.day:%Y-%m}"
        return {"account": (one.account_id, name), "broker": (broker, broker), "month": (f"{month}-01", month)}[
            group_by
        ]

    groups = dict.fromkeys([] if group_by == "none" else map(find_key, lines))
    in_order = sorted(groups, key=lambda key: (key[1] is None, str(key[1]).casefold()))
    broken = {one: stand(journal, one, rules[one], query["to"])["floor"] for one in rules}
    lost = {one for one, floor in broken.items() if floor and floor["state"] == "broken"}
    return {
        "groups": [
            {
                "key": key[0],
                "name": key[1],
                **sum_lines(
                    journal, [one for one in lines if find_key(one) == key], None if group_by == "month" else lost
                ),
            }
            for key in in_order
        ],
        "total": {"key": None, "name": None, **sum_lines(journal, lines, lost)},
    }


def sum_lines(journal: Journal, lines: list[Cash], lost: set[int] | None) -> dict[str, Any]:
    payouts = [one for one in lines if one.kind == "payout"]
    came = [arrived(journal, one.account_id, one.amount) if one.received is None else one.received for one in payouts]
    paid = sum(one.amount for one in lines if one.outside or one.kind == "deposit")
    received = sum(came) + sum(one.amount for one in lines if one.kind == "withdrawal")
    amounts = {
        "paid": paid,
        "received": received,
        "net": received - paid,
        "payouts": sum(one.amount for one in payouts),
    }
    accounts = {one.account_id for one in lines}
    is_mixed = len(journal.currencies_of(accounts)) > 1
    return {
        **(dict.fromkeys(amounts) if is_mixed else amounts),
        "accounts": len(accounts),
        "lost": None if lost is None else len(accounts & lost),
    }


def closings(journal: Journal, account: int, at: str) -> list[dict[str, Any]]:
    """The days since the last reset or the start, as a checkpoint lists them."""
    lines = list_events(journal, account, at)
    return [
        {
            "day": close.day,
            "net_pnl": sum(one.result for one in lines if (one.day, one.what) == (close.day, TRADE)),
            "cash": sum(one.result for one in lines if one.day == close.day and one.what in (MONEY_IN, MONEY_OUT)),
            "balance": close.balance,
        }
        for close in lines
        if close.what == CLOSE
    ]


def nets(trades: list[Event]) -> list[tuple[str, Fraction]]:
    """The days with a trade and their net P&L."""
    days = sorted({line.day for line in trades})
    return [(day, sum((line.result for line in trades if line.day == day), ZERO)) for day in days]


def floor(lines: list[Event], start: Fraction, rule: dict[str, Any], at: str) -> dict[str, Any]:
    distance, locks_at = rule["distance"], rule.get("locks_at")

    def peak_before(number: int, day: str) -> tuple[Fraction, str | None, int | None]:
        """The highest balance of those that count when that line is written, the first of equal ones."""
        counted = {
            "static": [],
            "end_of_day": [line for line in lines if line.what == CLOSE and line.day < day],
            "trade": [line for line in lines[: number + 1] if line.what == TRADE],
        }[rule["kind"]]
        peak: tuple[Fraction, str | None, int | None] = (start, None, None)
        for line in counted:
            if line.balance > peak[0]:
                peak = (line.balance, line.day, line.trade_id)
        return peak

    def level(peak: Fraction) -> Fraction:
        return peak - Fraction(distance) if locks_at is None else min(Fraction(locks_at), peak - distance)

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
    broken, today = [], ZERO
    for number, line in enumerate(trades):
        so_far = sum((one.result for one in trades[: number + 1] if one.day == line.day), ZERO)
        if so_far < -limit:
            broken.append(line.day)
        if line.day == at:
            today = so_far
    state = "broken" if broken else "near" if -5 * today >= 4 * limit else "within"
    return described(state, today, -limit, 0 if at in broken else today + limit, broken[0] if broken else None)


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
    total = sum((net for _, net in days), ZERO)
    best = max((net for _, net in days), default=ZERO)
    winner = next((day for day, net in days if net == best and best > 0), None)
    needed = Fraction(math.ceil(best * 100 / share * 10**8), 10**8) - total
    value = rounded(best / total * 100) if total > 0 else None
    if value is not None and value > MAX_AMOUNT:
        amounts = dict.fromkeys(("value", "limit", "remaining", "total", "best"))
        return {**described("", None, None, None, last_run(met)), **amounts, "state": None, "best_day": winner} | {
            "reason": "out_of_range"
        }
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
