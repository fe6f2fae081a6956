"""The lines of `journal-api status` about accounts: their rules, and checkpoints that differ."""

from collections.abc import Iterator, Sequence

import click
from msgspec import Struct

from journal_api.cli.common import printable
from journal_api.cli.text_width import fit_text
from journal_api.structs.account_rules import AccountRules
from journal_api.structs.cash_flow import CashFlowGroup
from journal_api.structs.checkpoints import CheckpointListItem
from journal_api.structs.standings import BestDayStanding, FloorStanding, RuleStanding, Standing, TargetStanding
from journal_api.values.money import format_money

WIDTH, NAME, STATE = 80, 16, 8
COLORS = {"met": "green", "within": "green", "near": "yellow", "broken": "red"}
DAYS = ("qualifying_day", "minimum_days")


class AccountStatus(Struct, frozen=True):
    """How an account stands by its rules, null without any, and its checkpoints that differ."""

    id: int
    name: str
    currency: str
    standing: Standing | None
    checkpoints: Sequence[CheckpointListItem]


def account_lines(account: AccountStatus) -> Iterator[str]:
    """Yield a heading and a line for each rule and each checkpoint that differs; nothing without any."""
    if account.standing is None and not account.checkpoints:
        return
    sees = "" if account.standing is None else f" ({account.standing.sees} only)"
    yield f"{fit_text(printable(account.name), WIDTH - len(sees)).rstrip()}{sees}"
    floor: FloorStanding | None = getattr(account.standing, "floor", None)
    is_lost = floor is not None and floor.state == "broken"
    for name in AccountRules.__struct_fields__:
        rule: RuleStanding | None = getattr(account.standing, name, None)
        if rule is not None:
            state = click.style(f"{rule.state or 'no value':<{STATE}}", fg=COLORS.get(rule.state or ""))
            is_over = is_lost and rule.state == "open"
            rest = "ended with the account" if is_over else describe_rule(name, rule, account.currency)
            yield f"  {name.replace('_', ' '):<{NAME}}{state} {rest}".rstrip()
    for checkpoint in account.checkpoints:
        yield f"  {describe_difference(checkpoint, account.currency)}"
    yield ""


def cash_flow_lines(total: CashFlowGroup) -> Iterator[str]:
    """Yield what the accounts cost and paid; nothing if no money moved, or in several currencies."""
    amounts = [total.paid, total.received, total.net]
    if total.accounts and None not in amounts:
        paid, received, net = (format_money(amount) for amount in amounts if amount is not None)
        yield f"Accounts: paid {paid}, received {received}, net {net} since January"
        yield ""


def describe_rule(name: str, rule: RuleStanding, currency: str) -> str:
    """Return what is left of a limit, or what is missing of a target."""
    if rule.state == "broken":
        return f"since {rule.since}"
    if rule.room is not None and rule.limit is not None:
        where = f"above {format_money(rule.limit)}" if name == "floor" else "today"
        return f"{format_money(rule.room)} {currency} left {where}"
    if isinstance(rule, BestDayStanding) and rule.remaining and rule.limit is not None:
        return f"{format_money(rule.remaining)} {currency} more, then the best day is {rule.limit:f} %"
    if isinstance(rule, TargetStanding) and rule.missing:
        unit = currency if name not in DAYS else "day" if rule.missing == 1 else "days"
        amount = f"{rule.missing:f}" if name in DAYS else format_money(rule.missing)
        return f"{amount} {unit} to go"
    return ""


def describe_difference(checkpoint: CheckpointListItem, currency: str) -> str:
    """Return by how much the journal's balance is not the broker's."""
    if checkpoint.unexplained is None:
        return f"{checkpoint.day}: the balance is too large to compare"
    side = "more" if checkpoint.unexplained > 0 else "less"
    amount = format_money(abs(checkpoint.unexplained))
    beyond = "" if checkpoint.unexplained == checkpoint.difference else ", beyond what was accepted"
    return f"{checkpoint.day}: the journal has {amount} {currency} {side} than the broker{beyond}"
