"""`journal-api import`: reads trades from a file."""

import gc
import hashlib
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import Literal, get_args

import click
import msgspec
from aiosqlite import Connection

from journal_api.cli import import_report
from journal_api.cli.common import NAME, ZONE, Decoded, find_user, one_line, printable, run_in_database, with_settings
from journal_api.database.database import Database
from journal_api.database.thread_connection import raise_if_cancelled
from journal_api.errors import ValidationFailed
from journal_api.imports import importer
from journal_api.imports.file_accounts import AccountChoice
from journal_api.imports.import_file import choose_accounts, read_file, stored_name
from journal_api.imports.verdicts import refused
from journal_api.repositories import imports
from journal_api.settings import Settings
from journal_api.structs.import_answers import AccountOption, AnswerOption, SaidOption
from journal_api.structs.import_profiles import ImportProfileCreate
from journal_api.structs.imports import DateOrder
from journal_api.trade_files import reader
from journal_api.trade_files.headers import UnknownHeader
from journal_api.trade_files.profiles.profile_format import decode_profile
from journal_api.trade_files.profiles.proposal import propose_profile, write_toml
from journal_api.values.types import Name100, TimeZone


@click.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--account",
    type=NAME,
    help="The account of the trades, created if it does not exist; default: the accounts in the file.",
)
@click.option(
    "--accounts",
    "mappings",
    type=Decoded(AccountOption.decode),
    multiple=True,
    metavar="NAME=ACCOUNT",
    help="The account, by name or id, of the trades that the file has under that name; created if needed.",
)
@click.option(
    "--timezone", type=ZONE, help="The zone of times without an offset; default: the zone of the last import."
)
@click.option(
    "--date-order",
    type=click.Choice(get_args(DateOrder)),
    help="Whether 4/9/2026 has the month or the day first, or 26-03-04 the year; default: what the file shows.",
)
@click.option(
    "--day", type=click.DateTime(["%Y-%m-%d"]), help="The day of the times in a file that has only times of day."
)
@click.option(
    "--column",
    "columns",
    type=Decoded(SaidOption.decode),
    multiple=True,
    metavar="MEMBER=COLUMN",
    help="The column of a member of the profile that a dry run proposes; may be repeated.",
)
@click.option(
    "--one-trade-is",
    type=click.Choice(["position", "row"]),
    help="What one trade is in a file of pairs; default: as the account says, else the position.",
)
@click.option(
    "--profile",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Read the file by this import profile (TOML), which need not be stored.",
)
@click.option(
    "--answer",
    "answers",
    type=Decoded(AnswerOption.decode),
    multiple=True,
    metavar="LINE=ANSWER",
    help="What the suspect of a line is: the id of the trade that it is, new, or leave; may be repeated.",
)
@click.option(
    "--force",
    is_flag=True,
    help="Import suspects too, which may be stored from another file, and a file whose values disagree.",
)
@click.option("--skip-errors", is_flag=True, help="Leave out the rows that cannot be read.")
@click.option("--long-only", is_flag=True, help="Sales of shares and coins open nothing: the rest was held before.")
@click.option("--user", type=NAME, help="The owner of the journal; default: the first user.")
@click.option("--dry-run", is_flag=True, help="Report what the import would do, and write nothing.")
@click.option("--rows", is_flag=True, help="Print the verdict of every row.")
@with_settings
def import_file(
    settings: Settings,
    file: Path,
    account: Name100 | None,
    mappings: tuple[AccountOption, ...],
    timezone: TimeZone | None,
    date_order: DateOrder | None,
    day: datetime | None,
    columns: tuple[SaidOption, ...],
    one_trade_is: Literal["position", "row"] | None,
    profile: Path | None,
    answers: tuple[AnswerOption, ...],
    force: bool,
    skip_errors: bool,
    long_only: bool,
    user: str | None,
    dry_run: bool,
    rows: bool,
) -> None:
    """Import a file of trades, completely or not at all."""
    if account is not None and mappings:
        raise click.ClickException("--account and --accounts exclude each other")
    chosen_profiles = [] if profile is None else [read_profile(profile)]
    file_name = stored_name(file)

    async def run(database: Database) -> tuple[importer.ImportResult, reader.TradeFile, list[str]]:
        user_id = await find_user(database.reader, user)
        choice, _ = await choose_accounts(database.reader, user_id, account, mappings, dry_run=True)
        trade_file = await read_file(
            *(database.reader, user_id, content, choice),
            timezone=timezone,
            date_order=date_order,
            day=day and day.date(),
            one_trade_is=one_trade_is,
            profiles=chosen_profiles,
            force=force,
            skip_errors=skip_errors,
            long_only=long_only,
            on_bytes=count,
        )
        unknown = reader.find_unknown(trade_file) if dry_run else None
        proposal = propose_profile(content, unknown.doubts, SaidOption.collect(columns)) if unknown else None
        if proposal is not None:
            click.echo(write_toml(proposal.profile, proposal.warnings), nl=False)
        if isinstance(trade_file, UnknownHeader):
            raise trade_file.refusal(dry_run=dry_run)
        new: list[str] = []

        async def accounts_in(db: Connection) -> AccountChoice:
            nonlocal new
            choice, new = await choose_accounts(db, user_id, account, mappings, dry_run=dry_run)
            return choice

        source = imports.Source(None, file_name, sha256)
        file_import = importer.FileImport(
            *(user_id, source, trade_file, choice, accounts_in),
            force=force,
            decisions={answer.line: answer.decision for answer in answers},
        )
        if dry_run:
            return await file_import.preview(database), trade_file, new
        result = await file_import.run(database, lambda: database.write(file_import.store))
        return result, trade_file, new

    drawing = Lock()

    def count(number: int) -> None:
        with drawing:
            raise_if_cancelled()  # in the thread that a stopped command leaves behind
            progress.update(number)

    hidden = rows or not sys.stderr.isatty()
    with (
        file.open("rb") as content,
        click.progressbar(
            length=file.stat().st_size, label=file_name and printable(file_name), file=sys.stderr, hidden=hidden
        ) as progress,
    ):
        sha256 = hashlib.file_digest(content, "sha256").hexdigest()
        content.seek(0)
        gc.disable()  # nearly all objects stay, and it ends soon: it takes 0.9 x the time
        try:
            result, trade_file, new = run_in_database(settings, run)
        finally:
            with drawing:  # nothing is drawn any more
                gc.enable()
    for verdict in result.verdicts:
        if rows or verdict.verdict in ("suspect", "unmatched"):
            click.echo(printable(import_report.describe_verdict(verdict)), err=not rows)
    counts, errors = result.counts, [verdict for verdict in result.verdicts if verdict.verdict == "error"]
    if errors:  # only after a dry run; otherwise the import has raised them
        unknown = [named.name for named in result.accounts if named.account_id is None]
        sys.exit(one_line(str(refused(counts, errors, () if account else unknown))))
    for name in new:
        click.echo(printable(f"New account {name!r}."), err=True)
    for note in (
        *import_report.describe_missing_costs(result, new),
        *import_report.describe_reading(trade_file),
        *import_report.describe_left_out(trade_file),
    ):
        click.echo(printable(note), err=True)
    preview = import_report.describe_preview(result.preview, new) if result.preview else ()
    lines = (*preview, import_report.describe_counts(counts), *import_report.describe_fees(result))
    for line in (*lines, *describe_copies(result)):
        click.echo(printable(line))
    if dry_run:
        click.echo("Dry run: nothing was written.", err=True)


def describe_copies(result: importer.ImportResult) -> Iterator[str]:
    """Say how many copies were linked, and which positions were left alone."""
    if result.linked:
        yield f"{result.linked} linked as copies"
    for ambiguous in result.ambiguous:
        one, *others = (
            f"{position.direction} {position.quantity:f} {position.symbol} at {position.opened_at}"
            f" in account {position.account_id}"
            for position in (ambiguous.trade, *ambiguous.candidates)
        )
        yield f"Not linked: {one} may belong to {' or '.join(others)}"


def read_profile(file: Path) -> ImportProfileCreate:
    """The import profile in a TOML file. Raises ClickException that names the file."""
    try:
        return decode_profile(file.read_bytes())
    except ValidationFailed as error:
        reason = "; ".join(f"{name} {text}" for name, text in error.details["fields"].items())
    except (msgspec.MsgspecError, ValueError) as error:
        reason = str(error)
    raise click.ClickException(printable(f"--profile {file}: {reason}"))
