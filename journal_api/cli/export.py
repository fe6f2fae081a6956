"""`journal-api export` and `import-all`: trades to a file, and the whole journal to a folder and back."""

from pathlib import Path

import click

from journal_api.cli.common import NAME, find_named, find_user, printable, run_in_database, show_progress, with_settings
from journal_api.database.database import Database
from journal_api.database.folder_export import export_all
from journal_api.database.folder_format import Manifest
from journal_api.database.folder_import import import_all
from journal_api.imports.export import write_csv
from journal_api.settings import Settings
from journal_api.structs.trades import ExportQuery


@click.command("export")
@click.argument("file", metavar="FILE|FOLDER", type=click.Path(path_type=Path))
@click.option("--all", "everything", is_flag=True, help="Export everything to a new folder, for `import-all`.")
@click.option("--account", help="Export the trades of this account only.")
@click.option("--user", type=NAME, help="The owner of the journal; default: the first user.")
@click.option(
    "--spreadsheet",
    is_flag=True,
    help="Escape text that a spreadsheet would read as a formula; the file cannot be imported.",
)
@with_settings
def export_file(
    settings: Settings, file: Path, everything: bool, account: str | None, user: str | None, spreadsheet: bool
) -> None:
    """Write the trades to a new CSV file that `import` can read, or everything to a new folder."""
    if everything and (account or user or spreadsheet):
        raise click.UsageError("--all exports everything of all users; it goes with no other option")
    if everything:
        click.echo(printable(f"Exported {count_rows(export_folder(settings, file))} to {file}"))
        return

    async def run(database: Database) -> None:
        user_id = await find_user(database.reader, user)
        account_id = await find_named(database.reader, user_id, "account", account)
        query = ExportQuery(account_id=account_id, spreadsheet=spreadsheet)
        await write_csv(database, user_id, query, output)

    with file.open("xb") as output:
        try:
            run_in_database(settings, run)
        except BaseException:
            file.unlink()
            raise
    click.echo(printable(f"Exported to {file}"))


def export_folder(settings: Settings, folder: Path) -> Manifest:
    async def run(_: Database) -> Manifest:
        with show_progress("Exporting") as report:
            return export_all(settings.db, folder, report)

    return run_in_database(settings, run)


@click.command("import-all")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--edited", is_flag=True, help="Accept files that you have changed, and evaluate goals anew.")
@with_settings
def import_folder(settings: Settings, folder: Path, edited: bool) -> None:
    """Make a journal of a folder of `export --all`, in place of none or an empty one. It has no keys."""
    with show_progress("Importing") as report:
        manifest, restored = import_all(settings, folder, is_edited=edited, report=report)
    replaced = f"; the replaced file is {restored.kept}" if restored.kept else ""
    click.echo(printable(f"Imported {count_rows(manifest)} into {settings.db}{replaced}"))


def count_rows(manifest: Manifest) -> str:
    return f"{sum(file.rows for file in manifest.files.values())} rows and {manifest.pictures} pictures"
