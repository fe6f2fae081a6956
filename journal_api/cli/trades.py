"""`journal-api import` and `export`: read trades from a file, write them to a file."""

import hashlib
import os
import sys
from contextlib import aclosing
from functools import partial
from pathlib import Path

import click
import msgspec
from aiosqlite import Connection

from journal_api.cli.common import decoded, in_database, one_line, printable, user_of, with_settings
from journal_api.database.database import Database
from journal_api.errors import NotFound, ValidationFailed
from journal_api.repositories import accounts, import_profiles, imports, instruments, users
from journal_api.settings import Settings
from journal_api.structs.accounts import AccountCreate
from journal_api.structs.import_profiles import ImportProfileCreate
from journal_api.structs.imports import Counts, LeftOutRows, Verdict
from journal_api.structs.trades import ExportQuery
from journal_api.trade_files import export, importer, reader
from journal_api.trade_files.profiles.profile_format import profile_from
from journal_api.trade_files.profiles.proposal import as_toml, proposal_for
from journal_api.trade_files.threads import in_thread
from journal_api.values.types import Name, Name100, TimeZone

NOT_CREATED = 0  # an id that no account has


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
        user_id = await user_of(database.reader, user)
        account_id = None
        if account is not None:
            account_id = await accounts.id_of(database.reader, user_id, account)
            if account_id is None:
                raise NotFound(f"there is no account {account!r}")
        query = ExportQuery(account_id=account_id, spreadsheet="true" if spreadsheet else "false")
        async with aclosing(export.csv_of(database, user_id, query)) as chunks:
            async for chunk in chunks:
                output.write(chunk)

    with file.open("xb") as output:
        try:
            in_database(settings, run)
        except BaseException:
            file.unlink()
            raise
    click.echo(printable(f"Exported to {file}"))


@click.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--account",
    help="The account of the trades, created if it does not exist; default: the accounts in the file.",
)
@click.option("--timezone", help="The time zone of times without an offset; default: the user's.")
@click.option(
    "--profile",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Read the file by this import profile (TOML), which need not be stored.",
)
@click.option("--user", help="The owner of the journal; default: the first user.")
@click.option("--dry-run", is_flag=True, help="Report what the import would do, and write nothing.")
@click.option("--rows", is_flag=True, help="Print the verdict of every row.")
@with_settings
def import_file(
    settings: Settings,
    file: Path,
    account: str | None,
    timezone: str | None,
    profile: Path | None,
    user: str | None,
    dry_run: bool,
    rows: bool,
) -> None:
    """Import a file of trades, completely or not at all."""
    account_name = decoded(Name100.decode, account, "--account") if account is not None else None
    chosen_timezone = decoded(TimeZone.decode, timezone, "--timezone") if timezone is not None else None
    chosen_profiles = [] if profile is None else [profile_in(profile)]
    file_name = stored_name(file)
    errors: list[Verdict] = []

    def on_verdicts(verdicts: list[Verdict]) -> None:
        errors.extend(verdict for verdict in verdicts if verdict.reason)
        for verdict in verdicts if rows else ():
            details = verdict.reason or ", ".join(verdict.changed)
            click.echo(f"line {verdict.line}: {verdict.verdict}{f': {details}' if details else ''}")

    async def run(database: Database) -> tuple[Counts, bool, list[LeftOutRows]]:
        user_id = await user_of(database.reader, user)
        file_timezone = chosen_timezone or (await users.find(database.reader, user_id)).timezone
        into_one_account = account_name is not None
        read = partial(
            reader.read,
            content,
            file_timezone,
            progress.update,
            into_one_account=into_one_account,
            instruments=await instruments.table_of_user(database.reader, user_id),
            profiles=[*chosen_profiles, *await import_profiles.profiles_of(database.reader, user_id)],
        )
        # Some formats need the whole file for the first trade; it is read before the write lock is acquired.
        try:
            trade_file = await in_thread(user_id, read)
        except ValidationFailed as error:
            if dry_run and "missing" in error.details and (proposal := proposal_for(content)) is not None:
                click.echo(as_toml(proposal.profile), nl=False)
            raise
        is_new = False

        async def account_in(db: Connection) -> int | None:
            nonlocal is_new
            if account_name is None:
                return None
            account_id, is_new = await account_of(db, user_id, account_name, dry_run=dry_run)
            return account_id

        source = imports.Source(None, file_name, sha256, file_timezone)
        _, counts = await importer.import_trades(
            database, user_id, source, trade_file, on_verdicts, dry_run=dry_run, account_in=account_in
        )
        return counts, is_new, trade_file.left_out.report()

    hidden = rows or not sys.stderr.isatty()
    with (
        file.open("rb") as content,
        click.progressbar(
            length=file.stat().st_size, label=file_name, file=sys.stderr, hidden=hidden
        ) as progress,
    ):
        sha256 = hashlib.file_digest(content, "sha256").hexdigest()
        content.seek(0)
        counts, is_new, left_out = in_database(settings, run)
    if errors:  # only after a dry run; otherwise import_trades has raised them
        in_order = sorted(errors, key=lambda verdict: verdict.line)
        sys.exit(one_line(str(importer.refused(counts, in_order))))
    if is_new:
        click.echo(f"New account {account_name!r}.", err=True)
    updated = f", {counts.updated} updated" if counts.updated else ""
    click.echo(f"{counts.new} new{updated}, {counts.duplicate} already there")
    for rows_left_out in left_out:
        click.echo(printable(f"{rows_left_out.rows} left out: {rows_left_out.reason}"), err=True)
    if dry_run:
        click.echo("Dry run: nothing was written.", err=True)


def profile_in(file: Path) -> ImportProfileCreate:
    """The import profile in a TOML file. Raises ClickException that names the file."""
    try:
        return profile_from(file.read_bytes())
    except ValidationFailed as error:
        reason = "; ".join(f"{name} {text}" for name, text in error.details["fields"].items())
    except (msgspec.MsgspecError, ValueError) as error:
        reason = str(error)
    raise click.ClickException(printable(f"--profile {file}: {reason}"))


def stored_name(file: Path) -> str | None:
    """The file's name in the form that the database stores; None if it is only white space."""
    try:
        return Name.decode(printable(os.fsencode(file.name).decode(errors="replace")))
    except ValueError:
        return None


async def account_of(db: Connection, user_id: int, name: str, *, dry_run: bool) -> tuple[int, bool]:
    """The id of the account, and whether it is new. A dry run creates no account and returns NOT_CREATED."""
    account_id = await accounts.id_of(db, user_id, name)
    if account_id is not None:
        return account_id, False
    if dry_run:
        return NOT_CREATED, True
    return await accounts.insert(db, user_id, AccountCreate(name=Name100(name))), True
