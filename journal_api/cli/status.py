"""`journal-api status`: today, this week and the active goals, for a terminal or as JSON."""

import io
import os
import sys
from datetime import date

import click
import msgspec

from journal_api.cli.common import NAME, find_user, run_in_database, with_settings
from journal_api.cli.status_accounts import AccountStatus
from journal_api.cli.status_report import Status, report
from journal_api.database.database import Database
from journal_api.repositories import accounts, cash_flow, checkpoints, days, snapshots, standings, users
from journal_api.rules.goal_warnings import find_warnings
from journal_api.settings import Settings
from journal_api.structs.accounts import Account
from journal_api.structs.cash_flow import CashFlowQuery
from journal_api.structs.goals import GoalListItem, GoalQuery
from journal_api.values.clock import now
from journal_api.values.money import ENCODER
from journal_api.values.periods import find_period, trading_day
from journal_api.values.types import Day
from journal_api.values.visible_text import escape_for_json, escape_invisible


@click.command("status")
@click.option("--user", type=NAME, help="The owner of the journal; default: the first user.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_settings
def print_status(settings: Settings, user: str | None, as_json: bool) -> None:
    """Print today's net P&L, this week, and how the active goals stand. A server may be running."""
    status = run_in_database(settings, lambda database: read_status(database, user))
    if as_json:
        click.echo(escape_invisible(ENCODER.encode(status).decode(), escape_for_json))
        return
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a name may have letters that the terminal has not
    is_colored = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    for line in report(status):
        click.echo(line if is_colored else click.unstyle(line).rstrip())


async def read_status(database: Database, user_name: str | None) -> Status:
    """Read the status of a user, by default the first. Stale snapshots are refreshed, as over HTTP."""
    user_id = await find_user(database.reader, user_name)
    me = await users.find(database.reader, user_id)
    today = trading_day(now(), me.timezone, me.day_rollover)
    counts = await users.count_rows(database.reader, user_id)
    week = find_period(date.fromisoformat(today), "weekly")
    listed = await snapshots.list_with_goals(database, user_id, GoalQuery(parts="snapshot"))
    goals = msgspec.json.decode(listed, type=list[GoalListItem])
    for goal in goals:
        goal.warnings = find_warnings(goal)
    return Status(
        user=me.name,
        timezone=me.timezone,
        today=date.fromisoformat(today),
        trades=counts["trades"],
        week=await days.list_totals(database.reader, user_id, week),
        accounts=await read_accounts(database, user_id),
        cash_flow=(await cash_flow.read(database, user_id, CashFlowQuery(since=Day(int(today[:4]), 1, 1)))).total,
        goals=goals,
    )


async def read_accounts(database: Database, user_id: int) -> list[AccountStatus]:
    """Return how accounts that are in use stand by their rules, and where the broker's balances differ."""
    listed = await accounts.list_of_user(database.reader, user_id)
    standing_of = await standings.read_all(database, user_id)
    differing = await checkpoints.list_differing(database.reader, user_id)
    return [
        AccountStatus(
            id=account.id,
            name=account.name,
            currency=account.currency,
            standing=standing_of.get(account.id),
            checkpoints=differing.get(account.id, []),
        )
        for account in msgspec.json.decode(listed, type=list[Account])
        if not account.archived
    ]
