"""`journal-api users`: add and list users."""

import click

from journal_api.cli.common import decoded, in_database, with_settings
from journal_api.database.database import Database
from journal_api.repositories import users
from journal_api.settings import Settings
from journal_api.values.types import Name100


@click.group("users")
def users_group() -> None:
    """Add and list users; each has a separate journal."""


@users_group.command("add")
@click.argument("name")
@with_settings
def add_user(settings: Settings, name: str) -> None:
    """Add a user, who has access to their own data only."""

    async def add(database: Database) -> None:
        async with database.transaction() as db:
            await users.insert(db, decoded(Name100.decode, name, "NAME"), settings)

    in_database(settings, add)


@users_group.command("list")
@with_settings
def list_users(settings: Settings) -> None:
    """List the names of the users, one on each line."""
    for name in in_database(settings, lambda database: users.names(database.reader)):
        click.echo(name)
