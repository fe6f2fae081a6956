"""`journal-api report`: prints the statistics of groups of trades."""

from typing import Any

import click

from journal_api.cli import common
from journal_api.cli.exits import print_exits
from journal_api.cli.report_csv import format_csv
from journal_api.cli.report_table import format_table
from journal_api.database.database import Database
from journal_api.metrics.groupings import GROUPINGS
from journal_api.repositories import users
from journal_api.settings import Settings
from journal_api.statistics import reports_sql
from journal_api.structs.reports import ReportKeys, ReportMetrics, ReportQuery, ReportSort

KEYS = common.Decoded(ReportKeys.decode, "key[,key]")
METRICS, SORT = common.Decoded(ReportMetrics.decode, "keys"), common.Decoded(ReportSort.decode, "key")


@click.group("report", invoke_without_command=True)
@click.option("--by", "group_by", type=KEYS, help=f"What to group by: {', '.join(GROUPINGS)}.")
@click.option("--category", help="With --by category: the tag category whose tags are the groups.")
@click.option("--account", help="Only the trades of this account.")
@click.option("--from", "since", type=common.DAY, help="Only trading days from this one on.")
@click.option("--to", "until", type=common.DAY, help="Only trading days to this one.")
@click.option(
    "--compare-from", "compare_since", type=common.DAY, help="Show another range beside it, from this day on."
)
@click.option("--compare-to", "compare_until", type=common.DAY, help="Show another range beside it, to this day.")
@click.option("--metrics", type=METRICS, help="The metrics, separated by commas.")
@click.option("--sort", type=SORT, help="Sort by this metric; with a - before it the highest first.")
@click.option("--limit", type=click.IntRange(1, 2000), default=50, help="The most groups; default: 50.")
@click.option("--user", type=common.NAME, help="The owner of the journal; default: the first user.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV with all digits.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as GET /v1/reports returns it.")
@common.with_settings
def print_report(
    settings: Settings,
    category: str | None,
    account: str | None,
    limit: int,
    user: str | None,
    as_csv: bool,
    as_json: bool,
    **members: Any,
) -> None:
    """Print the statistics of closed trades in groups: by weekday, setup, tag and so on."""
    if click.get_current_context().invoked_subcommand:
        return
    if as_csv and as_json:
        raise click.ClickException("--csv and --json exclude each other")
    sent = {name: value for name, value in members.items() if value is not None}

    async def run(database: Database) -> tuple[str, int]:
        owner = await users.find(database.reader, await common.find_user(database.reader, user))
        account_id = await common.find_named(database.reader, owner.id, "account", account)
        category_id = await common.find_named(database.reader, owner.id, "tag category", category)
        with common.naming_options():
            query = ReportQuery(account_id=account_id, category_id=category_id, limit=limit, **sent)
        return await reports_sql.get(database, owner.id, owner.timezone, owner.day_rollover, query)

    text, count = common.run_in_database(settings, run)
    if as_json:
        common.print_json(text)
        return
    report = common.DECODER.decode(text)
    click.echo(format_csv(report) if as_csv else format_table(report), nl=False)
    if count > limit:
        click.echo(f"{limit} of {count} groups; --limit shows more.", err=True)


print_report.add_command(print_exits)
