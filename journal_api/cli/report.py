"""`journal-api report`: prints the statistics of groups of trades."""

from typing import Any

import click

from journal_api.cli.common import (
    DECODER,
    decode_argument,
    decode_option,
    find_account,
    find_category,
    find_user,
    naming_options,
    print_json,
    run_in_database,
    with_settings,
)
from journal_api.cli.exits import print_exits
from journal_api.cli.report_csv import format_csv
from journal_api.cli.report_table import format_table
from journal_api.database.database import Database
from journal_api.metrics.groupings import GROUPINGS
from journal_api.repositories import users
from journal_api.settings import Settings
from journal_api.statistics import reports_sql
from journal_api.structs.reports import ReportKeys, ReportMetrics, ReportQuery, ReportSort
from journal_api.values.types import Day


@click.group("report", invoke_without_command=True)
@click.option("--by", metavar="KEY[,KEY]", default="none", help=f"What to group by: {', '.join(GROUPINGS)}.")
@click.option("--category", help="With --by category: the tag category whose tags are the groups.")
@click.option("--account", help="Only the trades of this account.")
@click.option("--from", "since", metavar="YYYY-MM-DD", help="Only trading days from this one on.")
@click.option("--to", "until", metavar="YYYY-MM-DD", help="Only trading days to this one.")
@click.option("--compare-from", metavar="YYYY-MM-DD", help="Show another range beside it, from this day on.")
@click.option("--compare-to", metavar="YYYY-MM-DD", help="Show another range beside it, to this day.")
@click.option("--metrics", metavar="KEYS", help="The metrics, separated by commas.")
@click.option("--sort", metavar="KEY", help="Sort by this metric; with a - before it the highest first.")
@click.option("--limit", type=click.IntRange(1, 2000), default=50, help="The most groups; default: 50.")
@click.option("--user", help="The owner of the journal; default: the first user.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV with all digits.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as GET /v1/reports returns it.")
@with_settings
def print_report(
    settings: Settings,
    by: str,
    category: str | None,
    account: str | None,
    since: str | None,
    until: str | None,
    compare_from: str | None,
    compare_to: str | None,
    metrics: str | None,
    sort: str | None,
    limit: int,
    user: str | None,
    as_csv: bool,
    as_json: bool,
) -> None:
    """Print the statistics of closed trades in groups: by weekday, setup, tag and so on."""
    if click.get_current_context().invoked_subcommand:
        return
    if as_csv and as_json:
        raise click.ClickException("--csv and --json exclude each other")
    members: dict[str, Any] = {
        "since": decode_option(Day.decode, since, "--from"),
        "until": decode_option(Day.decode, until, "--to"),
        "compare_since": decode_option(Day.decode, compare_from, "--compare-from"),
        "compare_until": decode_option(Day.decode, compare_to, "--compare-to"),
        "group_by": decode_argument(ReportKeys.decode, by, "--by"),
        "sort": decode_option(ReportSort.decode, sort, "--sort"),
    }
    if metrics is not None:
        members["metrics"] = decode_argument(ReportMetrics.decode, metrics, "--metrics")

    async def run(database: Database) -> tuple[str, int]:
        owner = await users.find(database.reader, await find_user(database.reader, user))
        account_id = await find_account(database.reader, owner.id, account)
        category_id = await find_category(database.reader, owner.id, category)
        with naming_options():
            query = ReportQuery(account_id=account_id, category_id=category_id, limit=limit, **members)
        return await reports_sql.get(database, owner.id, owner.timezone, owner.day_rollover, query)

    text, count = run_in_database(settings, run)
    if as_json:
        print_json(text)
        return
    report = DECODER.decode(text)
    click.echo(format_csv(report) if as_csv else format_table(report), nl=False)
    if count > limit:
        click.echo(f"{limit} of {count} groups; --limit shows more.", err=True)


print_report.add_command(print_exits)
