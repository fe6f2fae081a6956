"""A journal for the tests of other projects: in the same process, with a temporary database file.

Install it with `pip install "trading-journal-api[testing]"`. pytest then has the fixtures `journal` and
`example_journal`, each an `httpx.Client`, and `make_journal`, which returns one
(journal_api/pytest_plugin.py):

    def test_my_report_names_every_tag(example_journal):
        assert "FOMO" in my_report(example_journal)

    def test_my_report_says_what_it_may_not_read(make_journal):
        assert my_report(make_journal(scopes="read:tags")) == "no access to trades"

With another test runner use `journal_client`, in asynchronous tests `open_journal`:

    @pytest_asyncio.fixture
    async def journal():
        async with open_journal() as client:
            yield client

A client's base URL is /v1, and it sends the API key: `client.get("/tags")` is `GET /v1/tags`. Every journal
has one user and one key. It ignores the environment variables JOURNAL_*, and requires asyncio's event loop.
"""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, nullcontext
from functools import cache, partial
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol, TypedDict, Unpack

import anyio
import anyio.to_thread
from aiosqlite import Connection
from anyio.from_thread import BlockingPortal, start_blocking_portal

from journal_api.app import create_app
from journal_api.repositories import api_keys, users
from journal_api.settings import Settings
from journal_api.testing import example_journal
from journal_api.values.api_keys import parse_scopes
from journal_api.values.types import DayRollover, TimeZone

try:
    import httpx
except ModuleNotFoundError:
    raise ModuleNotFoundError(
        'journal_api.testing needs httpx: pip install "trading-journal-api[testing]"'
    ) from None

__all__ = ["MakeJournal", "Options", "journal_client", "open_journal"]

Folder = str | PathLike[str]

BASE_URL = "http://localhost/v1"
FILE = "journal.db"


class Options(TypedDict, total=False):
    """The options of a test journal.

    scopes: the scopes of the key: `all` (default), `read`, or a list such as `read:tags,write:tags`.
    example: start with the example journal (docs/embedding.md) instead of an empty one.
    timezone, day_rollover: settings of the user; default `UTC` and `00:00`.
    """

    scopes: str
    example: bool
    timezone: str
    day_rollover: str


class MakeJournal(Protocol):
    """The type of the fixture `make_journal`, which takes the arguments of `journal_client`."""

    def __call__(self, folder: Folder | None = None, **options: Unpack[Options]) -> httpx.Client: ...


@asynccontextmanager
async def open_journal(
    folder: Folder | None = None, **options: Unpack[Options]
) -> AsyncIterator[httpx.AsyncClient]:
    """Create a journal and yield its client; the journal is closed at the end of the block.

    The database is `journal.db` in `folder`, which keeps it, or in a temporary folder.

    Raises ValueError for an unknown scope, time zone or rollover, FileExistsError if `folder` has a journal.
    """
    scopes = parse_scopes(options.get("scopes", "all"))
    zone = decode("timezone", TimeZone.decode, options.get("timezone", "UTC"))
    rollover = decode("day_rollover", DayRollover.decode, options.get("day_rollover", "00:00"))
    content = await anyio.to_thread.run_sync(template, options.get("example", False), zone, rollover)
    with nullcontext(folder) if folder is not None else TemporaryDirectory(prefix="journal-") as directory:
        app = create_app(Settings(db=write_new(content, directory), timezone=zone, day_rollover=rollover))
        async with app.router.lifespan_context(app):
            key = await app.state.database.write(partial(insert_key, scopes=scopes))
            # Exceptions of the application become responses, as a server makes them.
            transport = httpx.ASGITransport(app, raise_app_exceptions=False)
            headers = {"Authorization": f"Bearer {key}"}
            async with httpx.AsyncClient(transport=transport, base_url=BASE_URL, headers=headers) as client:
                yield client


async def insert_key(db: Connection, scopes: list[str]) -> str:
    return await api_keys.insert(db, await users.find_first_id(db), "tests", scopes)


@contextmanager
def journal_client(folder: Folder | None = None, **options: Unpack[Options]) -> Iterator[httpx.Client]:
    """`open_journal` for synchronous tests: the journal runs in a separate thread."""
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(open_journal(folder, **options)) as journal,
        httpx.Client(
            transport=ThreadTransport(portal, journal), base_url=BASE_URL, headers=journal.headers
        ) as client,
    ):
        yield client


class ThreadTransport(httpx.BaseTransport):
    """A transport that sends requests through the client of a journal in another thread."""

    def __init__(self, portal: BlockingPortal, journal: httpx.AsyncClient) -> None:
        self.portal, self.journal = portal, journal

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.read()  # the body may be a generator, which belongs to this thread
        return self.portal.call(self.send, request)

    async def send(self, request: httpx.Request) -> httpx.Response:
        response = await self.journal.send(request, stream=True)
        body = b"".join([chunk async for chunk in response.aiter_raw()])
        return httpx.Response(response.status_code, headers=response.headers, stream=httpx.ByteStream(body))


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
