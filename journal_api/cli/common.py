"""What the commands share: the option --db, one piece of work on the database, readers of arguments."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from journal_api.database.database import Database
from journal_api.database.migrations import prepare
from journal_api.errors import NotFound
from journal_api.repositories import users
from journal_api.settings import Settings
from journal_api.values.types import CONTROL, Name100

T = TypeVar("T")


def one_line(message: str) -> str:
    return printable(f"journal-api: {' '.join(message.split())}")


def printable(text: object) -> str:
    """The text without control characters, which a terminal would obey: a file may have any name."""
    return CONTROL.sub("\N{REPLACEMENT CHARACTER}", str(text))


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
        database = await Database.open(settings.db, secondary=True)
        try:
            return await work(database)
        finally:
            await database.close()

    prepare(settings)
    return asyncio.run(opened())


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
