"""A journal for the tests of other projects: in this process, on a database file of its own, in milliseconds.

Install it with `pip install journal-api[testing]`. pytest then has the fixtures `journal`, `make_journal` and
`example_journal`, each an `httpx.Client` (journal_api/pytest_plugin.py):

    def test_my_report_names_every_tag(example_journal):
        assert "FOMO" in my_report(example_journal)

    def test_my_report_says_what_it_may_not_read(make_journal):
        assert my_report(make_journal(scopes="read:tags")) == "no access to trades"

Other runners take `journal_client`, and asynchronous projects `open_journal`, in a fixture of their own:

    @pytest_asyncio.fixture
    async def journal():
        async with open_journal() as client:
            yield client

A client calls as if there were a server: `client.get("/tags")` is `GET /v1/tags`, its key sent along. Every
journal has one user and one key; JOURNAL_* variables do not reach it. Of event loops it knows asyncio's.
"""

import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing, contextmanager, nullcontext
from functools import cache
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, Protocol, TypedDict, Unpack

import anyio.to_thread
from anyio.from_thread import BlockingPortal, start_blocking_portal
from starlette.applications import Starlette

from journal_api.app import create_app
from journal_api.repositories import api_keys, users
from journal_api.settings import Settings
from journal_api.testing.example_journal import seed
from journal_api.values.api_keys import scopes_named
from journal_api.values.types import DayRollover, TimeZone

try:
    import httpx
except ModuleNotFoundError:
    raise ModuleNotFoundError("journal_api.testing needs httpx: pip install journal-api[testing]") from None

__all__ = ["MakeJournal", "Options", "journal_client", "open_journal"]

Folder = str | PathLike[str]

BASE_URL = "http://localhost/v1"
FILE = "journal.db"


class Options(TypedDict, total=False):
    """What a journal of a test may be given.

    scopes: those of the key: `all` (unless given), `read`, or a list such as `read:tags,write:tags`.
    example: begin with the example journal (journal_api/testing/example_journal.py) instead of an empty one.
    timezone, day_rollover: the user's; `UTC` and `00:00` unless given.
    """

    scopes: str
    example: bool
    timezone: str
    day_rollover: str


class MakeJournal(Protocol):
    """The type of the fixture `make_journal`, which takes what `journal_client` takes."""

    def __call__(self, folder: Folder | None = None, **options: Unpack[Options]) -> httpx.Client: ...


@asynccontextmanager
async def open_journal(
    folder: Folder | None = None, **options: Unpack[Options]
) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a fresh journal, which lives as long as the block.

    Its database is `journal.db` in `folder`, where it stays; in a temporary folder unless one is given.

    Raises ValueError for scopes, a zone or a rollover that do not exist, FileExistsError for a folder with a
    journal in it.
    """
    async with (
        fresh(folder, **options) as served,
        httpx.AsyncClient(
            transport=served.transport(), base_url=BASE_URL, headers=served.headers()
        ) as client,
    ):
        yield client


@contextmanager
def journal_client(folder: Folder | None = None, **options: Unpack[Options]) -> Iterator[httpx.Client]:
    """`open_journal` for those who do not await: the journal runs in a thread of its own."""
    with calling(fresh(folder, **options)) as client:
        yield client


class Served(NamedTuple):
    """A journal that runs, and a key to it."""

    app: Starlette
    key: str

    def transport(self) -> httpx.ASGITransport:
        """What goes wrong inside comes as an answer, as it does from a server."""
        return httpx.ASGITransport(self.app, raise_app_exceptions=False)

    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}


class Bridge(httpx.BaseTransport):
    """Carries requests to a journal that runs in another thread."""

    def __init__(self, portal: BlockingPortal, inside: httpx.AsyncBaseTransport) -> None:
        self.portal, self.inside = portal, inside

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.read()  # it may come from a generator, which only this thread may run
        return self.portal.call(self.answer, request)

    async def answer(self, request: httpx.Request) -> httpx.Response:
        answered = await self.inside.handle_async_request(request)
        body = httpx.ByteStream(await answered.aread())
        return httpx.Response(answered.status_code, headers=answered.headers, stream=body)


@contextmanager
def calling(serving: AbstractAsyncContextManager[Served]) -> Iterator[httpx.Client]:
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(serving) as served,
        httpx.Client(
            transport=Bridge(portal, served.transport()), base_url=BASE_URL, headers=served.headers()
        ) as client,
    ):
        yield client


@asynccontextmanager
async def fresh(
    folder: Folder | None,
    *,
    scopes: str = "all",
    example: bool = False,
    timezone: str = "UTC",
    day_rollover: str = "00:00",
) -> AsyncIterator[Served]:
    """A journal that begins as a copy of its template."""
    named = scopes_named(scopes)
    zone = checked("timezone", TimeZone.decode, timezone)
    rollover = checked("day_rollover", DayRollover.decode, day_rollover)
    content = await anyio.to_thread.run_sync(template, example, zone, rollover)
    with nullcontext(folder) if folder is not None else TemporaryDirectory(prefix="journal-") as place:
        settings = Settings(db=copied(content, place), timezone=zone, day_rollover=rollover)
        async with serving(settings, named) as served:
            yield served


@asynccontextmanager
async def serving(settings: Settings, scopes: list[str]) -> AsyncIterator[Served]:
    """The journal at `settings.db`, with a new key of its first user."""
    app = create_app(settings)
    async with app.router.lifespan_context(app):
        async with app.state.database.transaction() as db:
            user_id = await users.id_of(db, None)
            assert user_id is not None, "a database is made with its owner"
            key = await api_keys.insert(db, user_id, "tests", scopes)
        yield Served(app, key)


@cache
def template(example: bool, timezone: str, day_rollover: str) -> bytes:
    """The file of a new journal that nobody has a key to, made once in this process."""
    with TemporaryDirectory(prefix="journal-") as place:
        settings = Settings(db=Path(place, FILE), timezone=timezone, day_rollover=day_rollover)
        with calling(serving(settings, scopes_named("all"))) as client:
            if example:
                seed(client)
        with closing(sqlite3.connect(settings.db, isolation_level=None)) as db:
            db.execute("DELETE FROM api_keys")
        # Whole: the last connection to close has folded the log into the file.
        return settings.db.read_bytes()


def copied(content: bytes, folder: Folder) -> Path:
    """The path of a new file with that content."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    path = Path(folder, FILE)
    with path.open("xb") as file:
        file.write(content)
    return path


def checked(name: str, reader: Callable[[str], str], text: str) -> str:
    """What the reader makes of the text; its error says which argument it is about."""
    try:
        return reader(text)
    except ValueError as error:
        raise ValueError(f"{name} {error}: {text!r}") from None
