"""`journal-api users`: the owners of journals in this database."""

import click

from journal_api.cli.common import in_database, read, with_settings
from journal_api.database.database import Database
from journal_api.repositories import users
from journal_api.settings import Settings
from journal_api.values.types import Name100


@click.group("users")
def users_group() -> None:
    """The owners of journals in this database."""


@users_group.command("add")
@click.argument("name")
@with_settings
def add_user(settings: Settings, name: str) -> None:
    """Add a user; their data is theirs alone."""

    async def add(database: Database) -> None:
        async with database.transaction() as db:
            await users.insert(db, read(Name100.decode, name, "NAME"), settings)

    in_database(settings, add)


@users_group.command("list")
@with_settings
def list_users(settings: Settings) -> None:
    """List the users, a name a line."""
    for name in in_database(settings, lambda database: users.names(database.reader)):
        click.echo(name)
