"""`journal-api import` and `export`: trades in and out of files."""

import hashlib
import os
import sys
from contextlib import aclosing
from functools import partial
from pathlib import Path
from typing import Any

import click
from aiosqlite import Connection

from journal_api.cli.common import in_database, one_line, printable, read, user_of, with_settings
from journal_api.database.database import Database
from journal_api.errors import NotFound
from journal_api.repositories import accounts, imports, users
from journal_api.settings import Settings
from journal_api.structs.accounts import AccountCreate
from journal_api.structs.imports import Counts, Verdict
from journal_api.structs.trades import ExportQuery
from journal_api.trade_files import export, importer, reader
from journal_api.trade_files.threads import in_thread
from journal_api.values.types import Name, Name100, TimeZone

NOT_MADE = 0  # an id that no account has


@click.command("export")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--account", help="Only the trades of this account.")
@click.option("--user", help="Whose journal; the first user's unless said.")
@click.option(
    "--spreadsheet", is_flag=True, help="Let no text be taken for a formula; such a file cannot be imported."
)
@with_settings
def export_file(
    settings: Settings, file: Path, account: str | None, user: str | None, spreadsheet: bool
) -> None:
    """Write the trades to a new CSV file, which `import` reads back."""

    async def run(database: Database) -> None:
        user_id = await user_of(database.reader, user)
        account_id = None
        if account is not None:
            account_id = await accounts.id_of(database.reader, user_id, account)
            if account_id is None:
                raise NotFound(f"there is no account {account!r}")
        query = ExportQuery(account_id=account_id, spreadsheet="true" if spreadsheet else "false")
        async with aclosing(export.csv_of(database, user_id, query)) as parts:
            async for part in parts:
                opened.write(part)

    with file.open("xb") as opened:
        try:
            in_database(settings, run)
        except BaseException:
            file.unlink()
            raise
    click.echo(printable(f"Exported to {file}"))


@click.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--account", help="The account the trades belong to, made if there is none; else the file says."
)
@click.option("--timezone", help="The zone of times without an offset; the user's unless said.")
@click.option("--user", help="Whose journal; the first user's unless said.")
@click.option("--dry-run", is_flag=True, help="Tell what would become of it and write nothing.")
@click.option("--rows", is_flag=True, help="Print a verdict for every row.")
@with_settings
def import_file(
    settings: Settings,
    file: Path,
    account: str | None,
    timezone: str | None,
    user: str | None,
    dry_run: bool,
    rows: bool,
) -> None:
    """Import a file of trades: all of it or nothing."""
    name_of_account = read(Name100.decode, account, "--account") if account is not None else None
    zone = read(TimeZone.decode, timezone, "--timezone") if timezone is not None else None
    name = name_of(file)
    wrong: list[Verdict] = []

    def on_verdicts(verdicts: list[Verdict]) -> None:
        wrong.extend(verdict for verdict in verdicts if verdict.reason)
        for verdict in verdicts if rows else ():
            details = verdict.reason or ", ".join(verdict.changed)
            click.echo(f"line {verdict.line}: {verdict.verdict}{f': {details}' if details else ''}")

    async def run(database: Database) -> tuple[Counts, bool]:
        user_id = await user_of(database.reader, user)
        in_zone = zone or (await users.find(database.reader, user_id)).timezone
        in_one = name_of_account is not None
        reading = partial(reader.read, opened, in_zone, bar.update, into_one_account=in_one)
        # The first trade, for which some formats read the whole file, is read before the write lock is
        # acquired.
        trades = await in_thread(user_id, reading)
        is_new = False

        async def account_in(db: Connection) -> int | None:
            nonlocal is_new
            if name_of_account is None:
                return None
            account_id, is_new = await account_of(db, user_id, name_of_account, dry_run=dry_run)
            return account_id

        source = imports.Source(None, name, sha256, in_zone)
        _, counts = await importer.import_trades(
            database, user_id, source, trades, on_verdicts, dry_run=dry_run, account_in=account_in
        )
        return counts, is_new

    hidden = rows or not sys.stderr.isatty()
    with (
        file.open("rb") as opened,
        click.progressbar(length=file.stat().st_size, label=name, file=sys.stderr, hidden=hidden) as bar,
    ):
        sha256 = hashlib.file_digest(opened, "sha256").hexdigest()
        opened.seek(0)
        counts, is_new = in_database(settings, run)
    if wrong:  # of a dry run: else it was refused
        sys.exit(one_line(str(importer.refused(counts, sorted(wrong, key=lambda one: one.line)))))
    if is_new:
        click.echo(f"New account {name_of_account!r}.", err=True)
    updated = f", {counts.updated} updated" if counts.updated else ""
    click.echo(f"{counts.new} new{updated}, {counts.duplicate} already there")
    if dry_run:
        click.echo("This was a dry run: nothing was written.", err=True)


def name_of(file: Path) -> str | None:
    """The name as it is stored and shown; None for one of white space alone."""
    try:
        return Name.decode(printable(os.fsencode(file.name).decode(errors="replace")))
    except ValueError:
        return None


async def account_of(db: Any, user_id: int, name: str, *, dry_run: bool) -> tuple[int, bool]:
    """The id of the account of that name, and whether it is new: made, or for a dry run NOT_MADE."""
    found = await accounts.id_of(db, user_id, name)
    if found is not None:
        return found, False
    if dry_run:
        return NOT_MADE, True
    return await accounts.insert(db, user_id, AccountCreate(name=Name100(name))), True
