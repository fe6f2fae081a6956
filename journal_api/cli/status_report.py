"""The lines of `journal-api status`, each at most 80 columns wide."""

import textwrap
from collections.abc import Iterator, Sequence
from datetime import date
from decimal import Decimal
from fractions import Fraction

import click
from msgspec import Struct, UnsetType

from journal_api.cli.common import printable
from journal_api.cli.status_accounts import AccountStatus, account_lines, cash_flow_lines
from journal_api.cli.text_width import fit_text, text_width
from journal_api.metrics.metrics import METRICS
from journal_api.repositories.days import DailyTotal
from journal_api.structs.cash_flow import CashFlowGroup
from journal_api.structs.goals import GoalListItem
from journal_api.structs.snapshots import Pace, Snapshot
from journal_api.values.money import format_money, shorten
from journal_api.values.periods import ONE_DAY, find_period

WIDTH, NAME, BAR, STATE = 80, 26, 14, 12
NO_BREAK = "\N{NO-BREAK SPACE}"
COLORS = {
    "achieved": "green",
    "on_track": "green",
    "within_limit": "green",
    "near_limit": "yellow",
    "behind": "yellow",
    "missed": "red",
}


class Status(Struct, frozen=True):
    """What a user's journal says today: `trades` counts open ones too, `cash_flow` is since January."""

    user: str
    timezone: str
    today: date
    trades: int
    week: list[DailyTotal]
    accounts: list[AccountStatus]
    cash_flow: CashFlowGroup
    goals: list[GoalListItem]


def report(status: Status) -> Iterator[str]:
    """Yield the lines of the status, with color codes."""
    yield fit_text(f"{status.today:%A} {status.today}, {status.timezone}, {printable(status.user)}", WIDTH).rstrip()
    yield ""
    yield from write_week_lines(status)
    yield ""
    for account in status.accounts:
        yield from account_lines(account)
    yield from cash_flow_lines(status.cash_flow)
    for goal in status.goals:
        yield from write_goal_lines(goal, find_currency(goal, status.accounts))
    if not status.goals:
        yield "No active goals. POST /v1/goals creates one; /docs of a server explains it."


# The week ------------------------------------------------------------------------------------------------


def write_week_lines(status: Status) -> Iterator[str]:
    """Yield today's total, and a line for each day of the week and each currency."""
    if not status.trades:
        yield "No trades. Import a file: journal-api import FILE --account NAME"
        return
    today = [
        f"{format_money(total.net_pnl)} {total.currency} in {format_count(total)}"
        for total in status.week
        if total.day == status.today
    ]
    yield f"Today  {', '.join(today) or 'no trades'}"
    yield ""
    amounts = [text_width(format_money(total.net_pnl)) for total in status.week]
    for number in range(7):
        day = find_period(status.today, "weekly").start + number * ONE_DAY
        totals = [total for total in status.week if total.day == day]
        label = f"{day:%a} {day}"
        for total in totals:
            money = f"{format_money(total.net_pnl):>{max(amounts)}} {total.currency}"
            yield f"{label:<14}  {money}  {format_count(total)}"
            label = ""
        if not totals:
            yield f"{label:<14}  {'-':>{max(amounts, default=1)}}"


def format_count(total: DailyTotal) -> str:
    return f"{total.trades} trade{'' if total.trades == 1 else 's'}"


# The goals -----------------------------------------------------------------------------------------------


def find_currency(goal: GoalListItem, accounts: Sequence[AccountStatus]) -> str | None:
    """Return the currency of the amounts, None where the accounts in scope may have different ones."""
    if isinstance(goal.current, Snapshot) and isinstance(goal.current.snapshot_data.currency, str):
        return goal.current.snapshot_data.currency
    currencies = {one.currency for one in accounts if goal.account_id in (None, one.id)}
    return currencies.pop() if len(currencies) == 1 else None


def write_goal_lines(goal: GoalListItem, currency: str | None) -> Iterator[str]:
    """Yield a line of name, bar, state and what remains, then details; of a probable mistake only its warnings."""
    snapshot = goal.current
    name = fit_text(printable(goal.goal_name), NAME)
    if goal.warnings:
        yield f"{name} {click.style('check this goal:', fg='yellow')}"
        yield from indent_lines(" ".join(goal.warnings).replace("_", " "))
        return
    if not isinstance(snapshot, Snapshot) or isinstance(snapshot.snapshot_data.pace, UnsetType):
        yield f"{name} not running: {goal.custom_start} to {goal.custom_end}"
        return
    pace = snapshot.snapshot_data.pace
    state = click.style(f"{name_state(goal, pace):<{STATE}}", fg=COLORS.get(pace.state or ""))
    remaining = format_remaining(goal, pace, currency)
    start = f"{name} {draw_bar(measure_progress(goal, snapshot, pace))} "
    if text_width(start) + STATE + 1 + len(remaining) <= WIDTH:
        yield f"{start}{state} {remaining}".rstrip()
    else:
        yield f"{start}{state}"
        yield f"{remaining:>{WIDTH}}"
    yield from indent_lines(format_details(goal, snapshot, pace, currency))


def name_state(goal: GoalListItem, pace: Pace) -> str:
    """Return the word for the state, which is the page's: a limit is broken, a target missed or reached."""
    if goal.kind == "limit" and pace.state == "missed":
        return "broken"
    return {None: "no value", "achieved": "reached"}.get(pace.state, (pace.state or "").replace("_", " "))


def indent_lines(text: str) -> Iterator[str]:
    for line in textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent="  "):
        yield line.replace(NO_BREAK, " ")


def format_remaining(goal: GoalListItem, pace: Pace, currency: str | None) -> str:
    """Return what is left, missing or beyond the limit; nothing for a target that is met or a missed goal."""
    if pace.remaining is None or pace.state == "missed":
        return ""
    if goal.kind == "limit":
        what = "beyond" if pace.state == "behind" else "left"
    elif pace.remaining:
        what = "to go"
    else:
        return ""
    return f"{format_amount(pace.remaining, goal.metric, currency)} {what}"


def measure_progress(goal: GoalListItem, snapshot: Snapshot, pace: Pace) -> Fraction:
    """Return how much of a limit is left, or how much of the way to a target is gone, from 0 to 1."""
    is_limit, left = goal.kind == "limit", pace.remaining
    if left is None or (is_limit and pace.state in ("behind", "missed")):
        return Fraction(is_limit and pace.state == "within_limit")
    opening = snapshot.snapshot_data.opening_balance
    way = abs(snapshot.target - (opening if isinstance(opening, Decimal) and not is_limit else 0))
    share = Fraction(left) / Fraction(way) if way else Fraction(0)
    return min(max(share if is_limit else 1 - share, Fraction(0)), Fraction(1))


def draw_bar(part: Fraction) -> str:
    filled = int(part * BAR)  # full only at 1
    return "#" * filled + "-" * (BAR - filled)


def format_details(goal: GoalListItem, snapshot: Snapshot, pace: Pace, currency: str | None) -> str:
    """Return definition, value, and what each day left has to add. Lines break between these parts only."""
    value = (snapshot.snapshot_data.reason or "").replace("_", " ")
    if snapshot.actual is not None:
        value = format_amount(snapshot.actual, goal.metric, currency)
    target = f"{goal.direction.replace('_', ' ')} {format_amount(snapshot.target, goal.metric, currency)}"
    details = [f"{METRICS[goal.metric].title} {target}", f"{goal.timeframe}: {value}"]
    if goal.timeframe != "daily":
        details.append(f"{pace.days_left} day{'' if pace.days_left == 1 else 's'} left")
    if pace.needed_per_day:
        details.append(f"{format_amount(pace.needed_per_day, goal.metric, currency)} a day")
    return ", ".join(part.replace(" ", NO_BREAK) for part in details)


def format_amount(value: Decimal, metric: str, currency: str | None) -> str:
    match METRICS[metric].unit:
        case "currency":
            return f"{format_money(value)} {currency}" if currency else format_money(value)
        case "percent":
            return f"{shorten(value):f} %"
        case _:
            return f"{shorten(value):f}"
