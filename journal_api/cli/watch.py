"""`journal-api watch`: imports the files that appear in a folder."""

import asyncio
import sys
from pathlib import Path

import click

from journal_api.cli.common import NAME, ZONE, find_user, one_line, printable, run_in_database, with_settings
from journal_api.database.database import Database
from journal_api.imports.watch import EVERY, FolderImports
from journal_api.imports.watched_folder import REFUSED
from journal_api.settings import Settings
from journal_api.values.types import Name100, TimeZone


@click.command("watch")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--account",
    type=NAME,
    help="The account of the trades, created if it does not exist; default: the accounts in the files.",
)
@click.option(
    "--timezone", type=ZONE, help="The zone of times without an offset; default: the zone of the last import."
)
@click.option("--once", is_flag=True, help="Import the files that are there, and end.")
@click.option("--user", type=NAME, help="The owner of the journal; default: the first user.")
@with_settings
def watch_folder(
    settings: Settings, folder: Path, account: Name100 | None, timezone: TimeZone | None, once: bool, user: str | None
) -> None:
    """Import the files that appear in a folder, until it is stopped.

    A file is moved to imported/ or refused/ in the folder. A subfolder named like an account has its files.
    """

    async def run(database: Database) -> int:
        folder_imports = FolderImports(
            *(folder, await find_user(database.reader, user), lambda line: click.echo(printable(line))),
            account=account,
            timezone=timezone,
        )
        await folder_imports.look(database)
        while True:
            await asyncio.sleep(EVERY)
            await folder_imports.look(database)
            if once:
                return folder_imports.refused

    if refused := run_in_database(settings, run):
        sys.exit(one_line(f"files refused: {refused}; {folder / REFUSED} has them with the reasons"))
