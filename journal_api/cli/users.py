"""`journal-api users`: add and list users."""

import click

from journal_api.cli.common import decoded, in_database, printable, with_settings
from journal_api.database.database import Database
from journal_api.repositories import users
from journal_api.settings import Settings
from journal_api.values.types import DayRollover, Name100, TimeZone


@click.group("users")
def users_group() -> None:
    """Add and list users; each has a separate journal."""


@users_group.command("add")
@click.argument("name")
@click.option("--timezone", help="The time zone of the trading days; default: JOURNAL_TIMEZONE.")
@click.option("--day-rollover", help="The time at which a trading day begins; default: JOURNAL_DAY_ROLLOVER.")
@with_settings
def add_user(settings: Settings, name: str, timezone: str | None, day_rollover: str | None) -> None:
    """Add a user, who has access to their own data only."""
    user_name = decoded(Name100.decode, name, "NAME")
    zone = decoded(TimeZone.decode, settings.timezone if timezone is None else timezone, "--timezone")
    rollover = decoded(
        DayRollover.decode, settings.day_rollover if day_rollover is None else day_rollover, "--day-rollover"
    )

    async def add(database: Database) -> None:
        async with database.transaction() as db:
            await users.insert(db, user_name, zone, rollover)

    in_database(settings, add)
    click.echo(
        printable(f"New user {user_name!r} in {settings.db}: trading days begin at {rollover} in {zone}")
    )


@users_group.command("list")
@with_settings
def list_users(settings: Settings) -> None:
    """List the names of the users, one on each line."""
    for name in in_database(settings, lambda database: users.names(database.reader)):
        click.echo(name)
