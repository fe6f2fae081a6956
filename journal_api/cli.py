"""The `journal-api` command. Errors are one line on standard error and exit 1."""

import asyncio
import hashlib
import os
import re
import sqlite3
import sys
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from functools import partial, wraps
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec

from journal_api import __version__
from journal_api.database import backup, restore
from journal_api.database import check as database_check
from journal_api.database.database import Database
from journal_api.database.migrations import prepare
from journal_api.errors import ApiError, DatabaseRefused, NotFound
from journal_api.openapi import document
from journal_api.repositories import accounts, api_keys, imports, users
from journal_api.server.server import serve as run_server
from journal_api.settings import Settings, SettingsError
from journal_api.structs.accounts import AccountCreate
from journal_api.structs.imports import Counts, Verdict
from journal_api.structs.trades import ExportQuery
from journal_api.trade_files import export, importer
from journal_api.trade_files import reader as trade_files_reader
from journal_api.trade_files.threads import in_thread
from journal_api.values import api_keys as values_api_keys
from journal_api.values.clock import as_text
from journal_api.values.types import CONTROL, Name, Name100, TimeZone

T = TypeVar("T")
NOT_MADE = 0  # an id that no account has


def main() -> None:
    """Run the command that the arguments name."""
    os.umask(0o077)
    try:
        cli(standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
    except click.ClickException as error:
        sys.exit(one_line(error.format_message()))
    except (ApiError, DatabaseRefused, SettingsError, OSError, sqlite3.Error) as error:
        sys.exit(one_line(str(error)))
    except (click.Abort, KeyboardInterrupt):
        sys.exit("journal-api: stopped")


def one_line(message: str) -> str:
    return printable(f"journal-api: {' '.join(message.split())}")


def printable(text: object) -> str:
    """The text without control characters, which a terminal would obey: a file may have any name."""
    return CONTROL.sub("\N{REPLACEMENT CHARACTER}", str(text))


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="%(version)s")
def cli() -> None:
    """A trading journal over HTTP: tags, strategies, goals and the trades they hang on."""


def with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command `--db` and, as its first argument, the settings with what the options override."""

    @click.option(
        "--db", type=click.Path(path_type=Path), help="The database file (or JOURNAL_DB).", metavar="FILE"
    )
    @wraps(command)
    def wrapped(db: Path | None, **options: Any) -> None:
        try:
            settings = Settings.from_environ(os.environ, db)
        finally:
            os.environ.pop("JOURNAL_RUN_KEY", None)  # no child is to inherit it
        command(settings, **options)

    return wrapped


def in_database(settings: Settings, work: Callable[[Database], Awaitable[T]]) -> T:
    """Do one piece of work on the database, beside a running server or without one."""

    async def opened() -> T:
        database = await Database.open(settings.db, guest=True)
        try:
            return await work(database)
        finally:
            await database.close()

    prepare(settings)
    return asyncio.run(opened())


@cli.command()
@click.option("--host", help="The address to listen on (or JOURNAL_HOST).")
@click.option("--port", type=click.IntRange(0, 65535), help="The port to listen on (or JOURNAL_PORT).")
@click.option("--first-key", is_flag=True, help="If the database has no key yet, make one and print it.")
@click.option(
    "--announce",
    is_flag=True,
    help="Print a line of JSON when requests are answered, and stop when standard input ends.",
)
@with_settings
def serve(settings: Settings, host: str | None, port: int | None, first_key: bool, announce: bool) -> None:
    """Answer HTTP requests until stopped."""
    if announce and first_key:
        raise click.UsageError("--announce prints nothing but its line: make the key with `keys create`")
    settings = msgspec.structs.replace(
        settings,
        host=settings.host if host is None else host,
        port=settings.port if port is None else port,
    )

    async def make_first_key(database: Database) -> str | None:
        async with database.transaction() as db:
            if not await api_keys.is_empty(db):
                return None
            user_id = await users.id_of(db, None)
            assert user_id is not None, "a database is made with its owner"
            return await api_keys.insert(db, user_id, "first key", values_api_keys.SCOPES)

    prepare(settings)
    if first_key and (key := in_database(settings, make_first_key)):
        click.echo(f"Your API key, shown only this once:\n\n    {key}\n")

    def greet(url: str) -> None:
        click.echo(f"Journal {printable(settings.db)} on {url}/v1 (Ctrl-C stops it)")

    def tell_parent(url: str) -> None:
        line = {"url": url, "pid": os.getpid(), "version": __version__}
        click.echo(msgspec.json.encode(line).decode())

    run_server(settings, tell_parent if announce else greet, for_parent=announce)


@cli.command()
@click.option("--full", is_flag=True, help="Compare the indexes with their tables too, which takes longer.")
@with_settings
def check(settings: Settings, full: bool) -> None:
    """Say whether the database and its surroundings are fine; nothing is changed."""
    is_wrong = False
    for finding in database_check.examine(settings.db, full=full):
        click.echo(f"{finding.verdict:<6}{printable(finding.text)}")
        is_wrong = is_wrong or finding.verdict == "wrong"
    if is_wrong:
        sys.exit(1)


@cli.command("backup")
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


@cli.command("restore")
@click.argument("file", type=click.Path(path_type=Path))
@with_settings
def restore_backup(settings: Settings, file: Path) -> None:
    """Put a backup in the place of the journal; what was there is kept. No server may run."""
    kept, is_verified = restore.restore(settings.db, file)
    checksum = "its checksum is right" if is_verified else "it has no checksum beside it"
    told = f"; what was there is {kept}" if kept else ""
    click.echo(printable(f"Restored {settings.db} from {file} ({checksum}){told}"))


@cli.command("openapi")
def print_description() -> None:
    """Print the OpenAPI document, which a server answers GET /openapi.json with."""
    click.echo(document.document())


@cli.group("users")
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


@cli.group("keys")
def keys_group() -> None:
    """API keys: who may call, with which scopes."""


@keys_group.command("create")
@click.argument("name")
@click.option("--scopes", required=True, help="all, read, or a list such as read:tags,write:tags.")
@click.option("--user", help="Whose key it is; the first user unless said.")
@click.option("--expires", metavar="90d", help="After how many days it ends; never unless said.")
@with_settings
def create_key(settings: Settings, name: str, scopes: str, user: str | None, expires: str | None) -> None:
    """Create a key and print it, for the only time."""
    named = read(values_api_keys.scopes_named, scopes, "--scopes")
    expires_at = read(days_from_now, expires, "--expires") if expires is not None else None

    async def create(database: Database) -> str:
        async with database.transaction() as db:
            user_id = await user_of(db, user)
            return await api_keys.insert(db, user_id, read(Name100.decode, name, "NAME"), named, expires_at)

    click.echo(in_database(settings, create))


@keys_group.command("list")
@with_settings
def list_keys(settings: Settings) -> None:
    """List the keys: id, user, name, last four characters, state, scopes."""
    now = as_text(datetime.now(UTC))
    for key_id, user, name, last_four, scopes, expires_at, revoked_at in in_database(
        settings, lambda database: api_keys.list_all(database.reader)
    ):
        if revoked_at:
            state = f"revoked {revoked_at[:10]}"
        elif expires_at:
            state = f"{'expired' if expires_at <= now else 'expires'} {expires_at[:10]}"
        else:
            state = "active"
        click.echo("\t".join((str(key_id), user, name, f"...{last_four}", state, scopes)))


@keys_group.command("revoke")
@click.argument("key_id", metavar="ID", type=click.IntRange(1, 2**63 - 1))
@with_settings
def revoke_key(settings: Settings, key_id: int) -> None:
    """Revoke a key; the next request with it is refused."""

    async def revoke(database: Database) -> bool:
        async with database.transaction() as db:
            return await api_keys.revoke(db, key_id)

    if not in_database(settings, revoke):
        raise NotFound(f"there is no key {key_id}")


@cli.command("export")
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


@cli.command("import")
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

    def tell(verdicts: list[Verdict]) -> None:
        wrong.extend(one for one in verdicts if one.reason)
        for one in verdicts if rows else ():
            told = one.reason or ", ".join(one.changed)
            click.echo(f"line {one.line}: {one.verdict}{f': {told}' if told else ''}")

    async def run(database: Database) -> tuple[Counts, bool]:
        user_id = await user_of(database.reader, user)
        in_zone = zone or (await users.find(database.reader, user_id)).timezone
        in_one = name_of_account is not None
        reading = partial(trade_files_reader.read, opened, in_zone, bar.update, into_one_account=in_one)
        # What is read for the first trade, which may be the whole file, is read before the lock is taken.
        found = await in_thread(user_id, reading)
        async with database.snapshot() if dry_run else database.transaction() as db:
            account_id, is_new = None, False
            if name_of_account is not None:
                account_id, is_new = await account_of(db, user_id, name_of_account, dry_run=dry_run)
            source = imports.Source(account_id, name, sha256, in_zone)
            _, counts = await importer.bring_in(db, user_id, source, found, tell, dry_run=dry_run)
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


async def user_of(db: Any, name: str | None) -> int:
    user_id = await users.id_of(db, None if name is None else read(Name100.decode, name, "--user"))
    if user_id is None:
        raise NotFound(f"there is no user {name!r}")
    return user_id


def read(reader: Callable[[str], T], text: str, option: str) -> T:
    """An argument as its reader has it; its error as a click error."""
    try:
        return reader(text)
    except ValueError as error:
        raise click.ClickException(f"{option} {error}") from None


def days_from_now(text: str) -> str:
    found = re.fullmatch(r"([1-9][0-9]{0,4})d", text)
    if not found:
        raise ValueError("must be a number of days such as 90d")
    return as_text(datetime.now(UTC) + timedelta(days=int(found[1])))
