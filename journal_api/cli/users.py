"""`journal-api users`: add, list, rename and remove users."""

import click
from aiosqlite import Connection

from journal_api.cli.common import NAME, ZONE, Decoded, find_user, printable, run_in_database, with_settings
from journal_api.repositories import users
from journal_api.settings import Settings
from journal_api.structs.me import MePatch
from journal_api.values.types import DayRollover, Name100


@click.group("users")
def users_group() -> None:
    """Add, list, rename and remove users; each has a separate journal."""


@users_group.command("add")
@click.argument("name", type=NAME)
@click.option("--timezone", type=ZONE, help="The time zone of the trading days; default: JOURNAL_TIMEZONE.")
@click.option(
    "--day-rollover",
    type=Decoded(DayRollover.decode),
    help="The time at which a trading day begins; default: JOURNAL_DAY_ROLLOVER.",
)
@with_settings
def add_user(settings: Settings, name: str, timezone: str | None, day_rollover: str | None) -> None:
    """Add a user, who has access to their own data only."""
    zone, rollover = timezone or settings.timezone, day_rollover or settings.day_rollover

    async def add(db: Connection) -> None:
        await users.insert(db, name, zone, rollover)

    run_in_database(settings, lambda database: database.write(add), creates=True)
    click.echo(printable(f"New user {name!r}: trading days begin at {rollover} in {zone}"))


@users_group.command("list")
@with_settings
def list_users(settings: Settings) -> None:
    """List the names of the users, one on each line."""
    for name in run_in_database(settings, lambda database: users.list_names(database.reader)):
        click.echo(printable(name))


@users_group.command("rename")
@click.argument("name", type=NAME)
@click.argument("new_name", type=NAME)
@with_settings
def rename_user(settings: Settings, name: str, new_name: Name100) -> None:
    """Give a user another name. A proxy that signs users in must then send that name."""
    patch = MePatch(name=new_name)

    async def rename(db: Connection) -> None:
        await users.update(db, await users.find(db, await find_user(db, name)), patch)

    run_in_database(settings, lambda database: database.write(rename))
    click.echo(printable(f"User {name!r} is now {patch.name!r}"))


@users_group.command("remove")
@click.argument("name", type=NAME)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@with_settings
def remove_user(settings: Settings, name: str, yes: bool) -> None:
    """Delete a user with all their data; the only user cannot be removed."""

    async def count(db: Connection) -> dict[str, int]:
        return await users.count_rows(db, await find_user(db, name))

    async def remove(db: Connection) -> dict[str, int]:
        counts = await count(db)
        await users.delete(db, await find_user(db, name))
        return counts

    if not yes:
        contents = format_counts(run_in_database(settings, lambda database: count(database.reader)))
        click.confirm(printable(f"Delete user {name!r} with {contents} from {settings.db}?"), abort=True, err=True)
    removed = run_in_database(settings, lambda database: database.write(remove))
    click.echo(printable(f"Removed user {name!r} with {format_counts(removed)}"))


def format_counts(counts: dict[str, int]) -> str:
    """The counts that are not zero, such as `trades: 3, keys: 1`."""
    return ", ".join(f"{kind}: {count}" for kind, count in counts.items() if count) or "no data"
