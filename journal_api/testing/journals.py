"""A test journal: its database file, and the application that has it open."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from functools import cache
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypedDict, Unpack

import anyio
import anyio.to_thread
from aiosqlite import Connection
from starlette.applications import Starlette

from journal_api.app import create_app
from journal_api.repositories import api_keys, users
from journal_api.settings import Settings, parse_origins
from journal_api.testing import example_journal
from journal_api.values.api_keys import parse_scopes
from journal_api.values.types import DayRollover, TimeZone

Folder = str | PathLike[str]
FILE = "journal.db"


class Options(TypedDict, total=False):
    """The options of a test journal.

    scopes: the scopes of the key: `all` (default), `read`, or a list such as `read:tags,write:tags`.
    example: start with the example journal (docs/embedding.md) instead of an empty one.
    timezone, day_rollover: settings of the user; default `UTC` and `00:00`.
    max_strategies, rate_limit, cors_origins: settings of the service (docs/self-hosting.md#settings).
    """

    scopes: str
    example: bool
    timezone: str
    day_rollover: str
    max_strategies: int
    rate_limit: int
    cors_origins: str


@asynccontextmanager
async def open_app(folder: Folder | None, **options: Unpack[Options]) -> AsyncIterator[tuple[Starlette, str]]:
    """Create a journal; yield its application and a key. Raises ValueError, or FileExistsError if there is one."""
    scopes = options.get("scopes", "all")
    parse_scopes(scopes)
    zone = decode("timezone", TimeZone.decode, options.get("timezone", "UTC"))
    rollover = decode("day_rollover", DayRollover.decode, options.get("day_rollover", "00:00"))
    origins = parse_origins(options.get("cors_origins", ""))
    content = await anyio.to_thread.run_sync(template, options.get("example", False), zone, rollover)
    with nullcontext(folder) if folder is not None else TemporaryDirectory(prefix="journal-") as directory:
        app = create_app(
            Settings(
                db=write_new(content, directory),
                timezone=zone,
                day_rollover=rollover,
                max_strategies=options.get("max_strategies", 100),
                rate_limit=options.get("rate_limit"),
                cors_origins=origins,
            ),
            is_prepared=True,
        )
        async with app.router.lifespan_context(app):
            yield app, await add_key(app, scopes)


async def add_key(app: Starlette, scopes: str, user: str | None = None) -> str:
    """Return a new key of the named user, who is created unless they exist, or of the first user."""
    settings: Settings = app.state.settings

    async def insert(db: Connection) -> str:
        user_id = await users.find_id(db, user)
        if user_id is None:
            user_id = await users.insert(db, str(user), settings.timezone, settings.day_rollover)
        return await api_keys.insert(db, user_id, "tests", parse_scopes(scopes))

    return str(await app.state.database.write(insert))


@cache
def template(example: bool, timezone: str, day_rollover: str) -> bytes:
    """The content of a new database file, cached for the process."""
    with TemporaryDirectory(prefix="journal-") as directory:
        settings = Settings(db=Path(directory, FILE), timezone=timezone, day_rollover=day_rollover)
        anyio.run(create_file, settings, example)
        # The file is complete, because the last connection to close has checkpointed the WAL.
        return settings.db.read_bytes()


async def create_file(settings: Settings, example: bool) -> None:
    app = create_app(settings)
    async with app.router.lifespan_context(app):
        if example:
            await app.state.database.write(example_journal.insert)


def write_new(content: bytes, folder: Folder) -> Path:
    """Write a new database file in the folder and return its path. Raises FileExistsError."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    path = Path(folder, FILE)
    with path.open("xb") as file:
        file.write(content)
    return path


def decode(name: str, convert: Callable[[str], str], text: str) -> str:
    """Decode an argument. Raises ValueError that names the argument."""
    try:
        return convert(text)
    except ValueError as error:
        raise ValueError(f"{name} {error}: {text!r}") from None
