"""Shared by the commands: the option --db, access to the database, and validation of arguments."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click
from aiosqlite import Connection

from journal_api.database.database import Database
from journal_api.database.migrations import prepare
from journal_api.errors import NotFound
from journal_api.repositories import users
from journal_api.settings import Settings
from journal_api.values.types import CONTROL, Name100

T = TypeVar("T")


def one_line(message: str) -> str:
    """The message as one printable line that begins with the name of the command."""
    return printable(f"journal-api: {' '.join(message.split())}")


def printable(text: object) -> str:
    """The text with control characters replaced, because a file name could control the terminal."""
    return CONTROL.sub("\N{REPLACEMENT CHARACTER}", str(text))


def with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """A decorator: add the option `--db`, and pass the settings as the first argument of the command."""

    @click.option(
        "--db",
        type=click.Path(path_type=Path),
        help="The database file; default: JOURNAL_DB.",
        metavar="FILE",
    )
    @wraps(command)
    def wrapped(db: Path | None, **options: Any) -> None:
        try:
            settings = Settings.from_environ(os.environ, db)
        finally:
            os.environ.pop("JOURNAL_RUN_KEY", None)  # child processes must not inherit the key
        command(settings, **options)

    return wrapped


def in_database(settings: Settings, work: Callable[[Database], Awaitable[T]]) -> T:
    """Run `work` on the database, which a server may have open, and return its result."""

    async def run() -> T:
        database = await Database.open(settings.db, secondary=True)
        try:
            return await work(database)
        finally:
            await database.close()

    prepare(settings)
    return asyncio.run(run())


async def user_of(db: Connection, name: str | None) -> int:
    """The id of the user with this name, or of the first user. Raises NotFound."""
    user_id = await users.id_of(db, None if name is None else decoded(Name100.decode, name, "--user"))
    if user_id is None:
        raise NotFound(f"there is no user {name!r}; `journal-api users list` lists them")
    return user_id


def decoded(decode: Callable[[str], T], text: str, option: str) -> T:
    """Decode an argument. Raises ClickException that names the option."""
    try:
        return decode(text)
    except ValueError as error:
        raise click.ClickException(f"{option} {error}") from None
