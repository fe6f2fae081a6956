"""How an account stands by its rules (docs/accounts.md#standing)."""

from collections.abc import Callable, Iterable, Sequence
from datetime import date
from functools import partial
from typing import Any, TypeVar

from journal_api.statistics.account_days import AccountDay, Phase
from journal_api.statistics.account_floor import FloorTrace
from journal_api.structs.account_rules import AccountRules, Floor
from journal_api.structs.standings import (
    BestDayStanding,
    FloorDay,
    FloorStanding,
    PayoutStanding,
    RuleStanding,
    RuleState,
    Standing,
    TargetStanding,
)
from journal_api.values.money import OUT_OF_RANGE, SCALE, from_units, ratio, share_of, shown, units
from journal_api.values.periods import ONE_DAY

R = TypeVar("R", bound=RuleStanding)


def judge(account_id: int, phase: Phase, rules: AccountRules, trace: FloorTrace | None, at: str) -> Standing:
    """Return the standing at the end of the day `at`; the phase has no later days.

    `trace` is the floor's, None without a floor. Targets count no day after the one that broke it.
    """
    balance = phase.start_balance + sum(day.cash + day.net_pnl for day in phase.days)
    ended_on = trace.broken_on if trace else None
    days = [day for day in phase.days if ended_on is None or day.day <= ended_on]
    cycle, last_payout_day = find_cycle(days)
    counts_from = phase.start_day
    if last_payout_day:
        counts_from = (date.fromisoformat(last_payout_day) + ONE_DAY).isoformat()
    standing = Standing(
        account_id=account_id,
        at=at,
        start_day=phase.start_day,
        start_balance=from_units(phase.start_balance),
        balance=shown(balance),
        last_payout_day=last_payout_day,
    )
    if rules.floor is not None and trace is not None:
        standing.floor = judge_floor(rules.floor, trace)
    if rules.daily_loss is not None:
        standing.daily_loss = judge_daily_loss(phase.days, units(rules.daily_loss), at)
    if rules.profit_target is not None:
        standing.profit_target = judge_profit(days, units(rules.profit_target), phase.start_day)
    if rules.best_day_share is not None:
        standing.best_day_share = judge_best_day(cycle, units(rules.best_day_share), counts_from)
    if rules.qualifying_day is not None:
        least = units(rules.qualifying_day.amount)
        qualifying = (day.day for day in cycle if day.net_pnl >= least)
        standing.qualifying_day = judge_days(qualifying, rules.qualifying_day.days, counts_from)
    if rules.minimum_days is not None:
        traded = (day.day for day in days if day.totals)
        standing.minimum_days = judge_days(traded, rules.minimum_days, phase.start_day)
    return standing


def find_cycle(days: Sequence[AccountDay]) -> tuple[Sequence[AccountDay], str | None]:
    """Return the days after the last payout and the day of the payout, all days without one.

    A payout goes out at the end of its day, so that day's trades were before it.
    """
    for place in reversed(range(len(days))):
        if days[place].has_payout:
            return days[place + 1 :], days[place].day
    return days, None


# Limits --------------------------------------------------------------------------------------------------


def judge_floor(floor: Floor, trace: FloorTrace) -> FloorStanding:
    """A balance at the floor has met it. The floor is near when a fifth of the distance is left."""
    room = trace.balance - trace.floor
    return build(
        partial(FloorStanding, kind=floor.kind, locked=trace.is_locked),
        judge_limit(trace.broken_on, is_near=5 * room <= units(floor.distance)),
        {
            "value": trace.balance,
            "limit": trace.floor,
            "room": 0 if trace.broken_on else room,
            "peak": trace.peak.balance,
        },
        since=trace.broken_on,
        peak_day=trace.peak.day,
    )


def judge_payout(floor: FloorStanding, share: int | None) -> PayoutStanding:
    """Return the room above the floor, and what of it the share of the account lets through."""
    room = floor.room
    return PayoutStanding(room=room, received=None if room is None else from_units(share_of(units(room), share)))


def list_days(trace: FloorTrace) -> list[FloorDay]:
    return [FloorDay(day=one.day, balance=shown(one.balance), floor=shown(one.floor)) for one in trace.levels]


def judge_daily_loss(days: Sequence[AccountDay], most: int, at: str) -> RuleStanding:
    """A day may lose exactly the limit; one that was below it after any trade has broken it.

    The room is that of the day itself: some brokers end only the day.
    """
    is_today = bool(days) and days[-1].day == at
    today = days[-1].net_pnl if is_today else 0
    broken_on = next((day.day for day in days if day.lowest < -most), None)
    return build(
        RuleStanding,
        judge_limit(broken_on, is_near=-5 * today >= 4 * most),
        {"value": today, "limit": -most, "room": 0 if is_today and days[-1].lowest < -most else today + most},
        since=broken_on,
    )


def judge_limit(broken_on: str | None, *, is_near: bool) -> RuleState:
    if broken_on is not None:
        return "broken"
    return "near" if is_near else "within"


# Targets -------------------------------------------------------------------------------------------------


def judge_profit(days: Iterable[AccountDay], target: int, counts_from: str | None) -> TargetStanding:
    """Compare the net P&L of all trades with the target. Cash is no profit."""
    gain, since = 0, None
    for day in days:
        gain += day.net_pnl
        since = (since or day.day) if gain >= target else None
    return build(
        TargetStanding,
        "met" if since else "open",
        {"value": gain, "limit": target, "missing": max(target - gain, 0)},
        since=since,
        counts_from=counts_from,
    )


def judge_best_day(days: Iterable[AccountDay], share: int, counts_from: str | None) -> BestDayStanding:
    """Compare the best day with the profit of all days. `share` is a percentage in units of 10^-8."""
    total, best, best_day, since = 0, 0, None, None
    for day in days:
        total += day.net_pnl
        if day.net_pnl > best:
            best, best_day = day.net_pnl, day.day
        is_met = total > 0 and 100 * SCALE * best <= share * total
        since = (since or day.day) if is_met else None
    needed = -(-100 * SCALE * best // share)  # rounded up, so that it suffices
    return build(
        BestDayStanding,
        "met" if since else "open",
        {
            "value": ratio(100 * best, total) if total > 0 else None,
            "limit": share,
            "remaining": max(needed - total, 0) if best else None,
            "total": total,
            "best": best if best else None,
        },
        since=since,
        counts_from=counts_from,
        best_day=best_day,
        reason=None if total > 0 else "no_profit",
    )


def judge_days(days: Iterable[str], needed: int, counts_from: str | None) -> TargetStanding:
    """Compare the number of days with the number that is needed."""
    counted = list(days)
    return build(
        TargetStanding,
        "met" if len(counted) >= needed else "open",
        {"value": len(counted) * SCALE, "limit": needed * SCALE, "missing": max(needed - len(counted), 0) * SCALE},
        since=counted[needed - 1] if len(counted) >= needed else None,
        counts_from=counts_from,
    )


def build(standing: Callable[..., R], state: RuleState, amounts: dict[str, int | None], **facts: Any) -> R:
    """Return the standing; if an amount does not fit into 64 bits, without state and amounts."""
    values = {name: None if amount is None else shown(amount) for name, amount in amounts.items()}
    if any(values[name] is None for name, amount in amounts.items() if amount is not None):
        return standing(state=None, **dict.fromkeys(amounts), **facts | {"reason": OUT_OF_RANGE})
    return standing(state=state, **values, **facts)
