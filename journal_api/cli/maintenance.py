"""`journal-api check`, `backup` and `restore`: maintenance of the database file."""

import os
import sys
from pathlib import Path

import click

from journal_api.cli.common import printable, show_progress, with_settings
from journal_api.database import backup, check, restore
from journal_api.database.lock import require_log_of_server
from journal_api.settings import Settings
from journal_api.statistics.row_checks import CHECKS


@click.command("check")
@click.option("--full", is_flag=True, help="Compare all trades and indexes with their tables, too.")
@with_settings
def check_journal(settings: Settings, full: bool) -> None:
    """Check the database file and its environment without changing anything."""
    is_wrong = False
    for finding in check.examine(settings.db, CHECKS, full=full):
        click.echo(f"{finding.verdict:<6}{printable(finding.text)}")
        is_wrong = is_wrong or finding.verdict == "wrong"
    if is_wrong:
        sys.exit(1)


@click.command("backup")
@click.argument("target", metavar="FILE|FOLDER", type=click.Path())
@click.option("--keep", type=click.IntRange(1), help="Number of backups to keep in the folder; default: all.")
@with_settings
def make_backup(settings: Settings, target: str, keep: int | None) -> None:
    """Copy the journal to a new file, or to a file named by the time in a folder. A server may be running."""
    path = Path(target)
    if keep and not path.is_dir():
        raise click.UsageError("--keep requires an existing folder")
    if os.path.basename(target) in ("", ".", "..") and not path.is_dir():
        raise click.UsageError(f"{target}: no such folder; a backup creates none")
    require_log_of_server(settings.db)  # before the file is opened, which would begin another log
    restore.require_journal(settings.db)
    with show_progress("Copying") as report:
        copy = backup.back_up(settings.db, path, keep=keep or 0, report=report)
    click.echo(printable(f"Backup: {copy}"))


@click.command("restore")
@click.argument("file", type=click.Path(path_type=Path))
@with_settings
def restore_backup(settings: Settings, file: Path) -> None:
    """Replace the journal by a backup and keep the replaced file. The server must be stopped."""
    kept, is_verified = restore.restore(settings.db, file)
    checksum = "checksum verified" if is_verified else "no checksum file"
    replaced = f"; the replaced file is {kept}" if kept else ""
    click.echo(printable(f"Restored {settings.db} from {file} ({checksum}){replaced}"))
