"""Shared by the commands: the option --db, access to the database, and validation of arguments."""

import asyncio
import os
import shlex
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from functools import partial, wraps
from pathlib import Path
from typing import Any, Generic, TypeVar

import click
import msgspec
from aiosqlite import Connection

from journal_api.database.backup import Report
from journal_api.database.database import Database
from journal_api.database.lock import require_log_of_server
from journal_api.database.migrations import prepare
from journal_api.database.sql import Table
from journal_api.errors import NotFound, ValidationFailed
from journal_api.repositories import accounts, tag_categories, users
from journal_api.settings import Settings
from journal_api.values.types import Day, Name100, TimeZone
from journal_api.values.visible_text import escape_for_json, escape_invisible

T = TypeVar("T")
# Numbers with a fraction stay exact.
DECODER = msgspec.json.Decoder(float_hook=Decimal)
NAMED: dict[str, Table[Any]] = {"account": accounts.TABLE, "tag category": tag_categories.TABLE}


def one_line(message: str) -> str:
    return printable(f"journal-api: {' '.join(message.split())}")


def printable(text: object) -> str:
    """Escape the characters that could control or deceive a terminal: for every text of a journal or a file."""
    return escape_invisible(str(text))


def command_line(*arguments: str | Path) -> str:
    """The line for the shell that runs this program with these arguments, from any folder."""
    program = [sys.executable]
    if not getattr(sys, "frozen", False):
        is_script = Path(sys.argv[0]).stem == "journal-api"
        program = [os.path.abspath(sys.argv[0])] if is_script else [sys.executable, "-m", "journal_api"]
    words = [*program, *map(str, arguments)]
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """A decorator: add the option `--db`, and pass the settings as the first argument of the command."""

    @click.option(
        "--db", type=click.Path(path_type=Path), help="The database file; default: JOURNAL_DB.", metavar="FILE"
    )
    @wraps(command)
    def wrapped(db: Path | None, **options: Any) -> None:
        try:
            settings = Settings.from_environ(os.environ, db)
        finally:
            os.environ.pop("JOURNAL_RUN_KEY", None)  # child processes must not inherit the key
        command(settings, **options)

    return wrapped


def run_in_database(settings: Settings, work: Callable[[Database], Awaitable[T]], *, creates: bool = False) -> T:
    """Run `work` on the database, which a server may have open, and return its result.

    When the command ends, standard error names the journal that it created, migrated or wrote to. Raises
    DatabaseRefused if there is no journal and the command does not create one.
    """
    require_log_of_server(settings.db)
    prepared = prepare(settings, creates=creates, showing=show_migration)
    result, has_written = asyncio.run(open_and_run(settings, work))()
    if prepared.migration:
        say_at_end(f"Journal {settings.db}: {prepared.migration}")
    elif prepared.is_new or has_written:
        say_at_end(f"{'New journal' if prepared.is_new else 'Journal'}: {settings.db}")
    return result


async def open_and_run(settings: Settings, work: Callable[[Database], Awaitable[T]]) -> Callable[[], tuple[T, bool]]:
    """Run `work` on the database. Returns a function for its result, and whether it committed a transaction.

    Before Python 3.13 asyncio.run() formats what it returns, and an import returns a whole file.
    """
    database = await Database.open(settings.db, secondary=True)
    try:
        result = await work(database)
        return lambda: (result, database.has_committed)
    finally:
        await database.close()


@contextmanager
def show_progress(label: str) -> Iterator[Report]:
    """Show a progress bar on a terminal; yield the function that moves it."""
    with click.progressbar(length=100, label=label, file=sys.stderr, hidden=not sys.stderr.isatty()) as progress:
        yield lambda share: progress.update(round(100 * share) - progress.pos)
        progress.update(100 - progress.pos)  # of a journal without pictures


show_migration = partial(show_progress, "Migrating")


def say_at_end(line: str) -> None:
    """Print a line on standard error when the command has ended, below its progress bar."""
    click.get_current_context().call_on_close(lambda: click.echo(printable(line), err=True))


async def find_user(db: Connection, name: str | None) -> int:
    """The id of the user with this name, or of the first user. Raises NotFound."""
    user_id = await users.find_id(db, name)
    if user_id is None:
        raise NotFound(f"there is no user {name!r}; `journal-api users list` lists them")
    return user_id


async def find_named(db: Connection, user_id: int, kind: str, name: str | None) -> int | None:
    """The id of the user's account or tag category with this name; None without a name. Raises NotFound."""
    row_id = None if name is None else await NAMED[kind].find_id(db, user_id, name)
    if name is not None and row_id is None:
        raise NotFound(f"there is no {kind} {name!r}")
    return row_id


@contextmanager
def naming_options() -> Iterator[None]:
    """Raise ClickException that names an option when the block refuses a member of its query."""
    try:
        yield
    except ValidationFailed as error:
        (name, reason), *_ = error.details["fields"].items()
        raise click.ClickException(f"--{name.removesuffix('_id').replace('_', '-')} {reason}") from None


def print_json(text: str) -> None:
    click.echo(msgspec.json.format(escape_invisible(text, escape_for_json), indent=2))


class Decoded(click.ParamType[T], Generic[T]):
    """The type of an option or argument that a function decodes. Help has the name in capital letters."""

    def __init__(self, decode: Callable[[str], T], name: str = "text") -> None:
        self.decode, self.name = decode, name

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> T:
        """Decode the text. Raises ClickException that names the option or argument, UsageError in a prompt."""
        try:
            return self.decode(value)
        except ValueError as error:
            if param is None:  # the prompt asks again
                raise click.UsageError(str(error)) from None
            name = param.opts[0] if isinstance(param, click.Option) else param.human_readable_name
            raise click.ClickException(f"{name} {error}") from None


NAME, ZONE, DAY = Decoded(Name100.decode), Decoded(TimeZone.decode), Decoded(Day.decode, "yyyy-mm-dd")
