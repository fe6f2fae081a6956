"""`journal-api export`: writes trades to a file."""

from pathlib import Path

import click

from journal_api.cli.common import find_account, find_user, printable, run_in_database, with_settings
from journal_api.database.database import Database
from journal_api.settings import Settings
from journal_api.structs.trades import ExportQuery
from journal_api.trade_files.export import write_csv


@click.command("export")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--account", help="Export the trades of this account only.")
@click.option("--user", help="The owner of the journal; default: the first user.")
@click.option(
    "--spreadsheet",
    is_flag=True,
    help="Escape text that a spreadsheet would read as a formula; the file cannot be imported.",
)
@with_settings
def export_file(
    settings: Settings, file: Path, account: str | None, user: str | None, spreadsheet: bool
) -> None:
    """Write the trades to a new CSV file that `import` can read."""

    async def run(database: Database) -> None:
        user_id = await find_user(database.reader, user)
        account_id = await find_account(database.reader, user_id, account)
        query = ExportQuery(account_id=account_id, spreadsheet=spreadsheet)
        await write_csv(database, user_id, query, output)

    with file.open("xb") as output:
        try:
            run_in_database(settings, run)
        except BaseException:
            file.unlink()
            raise
    click.echo(printable(f"Exported to {file}"))
