"""`journal-api check`, `backup` and `restore`: the database file."""

import sys
from pathlib import Path

import click

from journal_api.cli.common import printable, with_settings
from journal_api.database import backup, check, restore
from journal_api.settings import Settings


@click.command("check")
@click.option("--full", is_flag=True, help="Compare the indexes with their tables too, which takes longer.")
@with_settings
def check_journal(settings: Settings, full: bool) -> None:
    """Say whether the database and its surroundings are fine; nothing is changed."""
    is_wrong = False
    for finding in check.examine(settings.db, full=full):
        click.echo(f"{finding.verdict:<6}{printable(finding.text)}")
        is_wrong = is_wrong or finding.verdict == "wrong"
    if is_wrong:
        sys.exit(1)


@click.command("backup")
@click.argument("target", metavar="FILE|FOLDER", type=click.Path(path_type=Path))
@click.option(
    "--keep", type=click.IntRange(1), help="How many backups remain in the folder; all unless said."
)
@with_settings
def make_backup(settings: Settings, target: Path, keep: int | None) -> None:
    """Copy the journal to a new file, or under the time into a folder; a server may run."""
    if keep and not target.is_dir():
        raise click.UsageError("--keep needs a folder that is there")
    restore.require_journal(settings.db)
    click.echo(printable(f"Backup: {backup.back_up(settings.db, target, keep=keep or 0)}"))


@click.command("restore")
@click.argument("file", type=click.Path(path_type=Path))
@with_settings
def restore_backup(settings: Settings, file: Path) -> None:
    """Put a backup in the place of the journal; what was there is kept. No server may run."""
    kept, is_verified = restore.restore(settings.db, file)
    checksum = "its checksum is right" if is_verified else "it has no checksum beside it"
    told = f"; what was there is {kept}" if kept else ""
    click.echo(printable(f"Restored {settings.db} from {file} ({checksum}){told}"))
