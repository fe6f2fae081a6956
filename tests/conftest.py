"""A real journal on a real database file, and a client that checks every answer it gets."""

import gc
import os
import re
import shutil
import signal
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import httpx
import hypothesis
import msgspec
import pytest
from asgi_lifespan import LifespanManager
from declared_errors import list_errors
from factories import Client, create_account
from hypothesis import HealthCheck
from operations import create_one_of_each, dump
from proofs import SOAK, observations_in
from saved_journals import SavedJournal, saved_journal
from starlette.applications import Starlette

from journal_api import __version__
from journal_api.app import create_app
from journal_api.database.database import Database
from journal_api.repositories import api_keys, users
from journal_api.routes.table import OPERATIONS
from journal_api.settings import Settings
from journal_api.values.api_keys import SCOPES
from journal_api.web import auth
from journal_api.web.operation import Operation

# No test depends on how fast the machine is. Every run has the same examples; `make soak` tries new ones.
hypothesis.settings.register_profile(
    "journal",
    deadline=None,
    derandomize=not SOAK,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
hypothesis.settings.load_profile("journal")

BASE_URL = "http://localhost/v1"
KEY = re.compile(rb"tjk_[0-9A-Za-z]{36}")


def pytest_configure(config: pytest.Config) -> None:
    """Keep the tests' files in memory where there is room: thousands of journals wait for no disk.

    A shell's background job ignores SIGINT, and so would every process that a test starts and interrupts.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.disable()  # until all is collected
    memory = Path("/dev/shm")
    if memory.is_dir() and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 2**30:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(memory))
        os.environ.setdefault("TMPDIR", str(memory))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One worker more than there are processors: those of browsers and servers often wait for them."""
    return (os.cpu_count() or 1) + 1


# What takes longest, and what shares a browser, a server or generated code: xdist gives the tests of the
# beginning to one process, and takes from its end what it gives to another.
FIRST = (
    *("test_query_plans.py", "test_model.py", "test_page.py"),
    *("test_page_imports.py", "test_page_sign_in.py", "test_page_trades.py", "test_page_days.py"),
    *("test_page_forms.py", "test_page_pictures.py", "test_page_many.py", "test_page_positions.py"),
    *("test_page_accounts.py", "test_page_following.py", "test_page_reports.py", "test_page_strategies.py"),
    *("test_browser.py", "test_docs_page.py", "test_lan.py", "test_mcp.py"),
    "test_generated_client.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest, so that no worker is left alone with it at the end."""
    places = {name: place for place, name in enumerate(FIRST)}
    items.sort(key=lambda item: places.get(item.path.name, len(FIRST)))


def pytest_collection_finish() -> None:
    """Leave what was imported and collected out of every later collection of garbage."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def without_settings_of_the_environment() -> Iterator[None]:
    """Commands that run in this process see no JOURNAL_* of whoever runs the tests, JOURNAL_SOAK included."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("JOURNAL_")]:
            patch.delenv(name)
        yield


@pytest.fixture(scope="session", autouse=True)
def with_uses_of_keys_saved_at_the_end_alone() -> Iterator[None]:
    """No write of the shared journal's own falls into a test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(auth, "SAVE_USES_EVERY", 10.0**6)
        yield


class Meta(msgspec.Struct, forbid_unknown_fields=True):
    request_id: str
    pagination: dict[str, int] | msgspec.UnsetType = msgspec.UNSET
    warnings: list[str] | msgspec.UnsetType = msgspec.UNSET
    cursor: str | msgspec.UnsetType = msgspec.UNSET
    more: bool | msgspec.UnsetType = msgspec.UNSET


class ErrorBody(msgspec.Struct, forbid_unknown_fields=True):
    code: str
    message: str
    details: dict[str, Any]


class ErrorEnvelope(msgspec.Struct, forbid_unknown_fields=True):
    ok: bool
    error: ErrorBody
    meta: Meta


SUCCESS = {
    (operation.method, operation.path): msgspec.defstruct(
        "Success",
        [
            ("ok", bool),
            ("data", msgspec.defstruct("Data", list(operation.data.items()), forbid_unknown_fields=True)),
            ("meta", Meta),
        ],
        forbid_unknown_fields=True,
    )
    for operation in OPERATIONS
}


@lru_cache(maxsize=10_000)
def find_operation(method: str, path: str) -> Operation | None:
    """The operation that was called, if it is one."""
    for operation in OPERATIONS:
        if operation.methods is not None and method in operation.methods and operation.path_regex.match(path):
            return operation
    return None


async def check_answer(response: httpx.Response) -> None:
    """Every answer of the suite: the declared struct, strictly, or a declared error; its headers."""
    request = response.request
    operation = find_operation(request.method, request.url.path)
    assert KEY.search(response.content) is None, "an answer holds an API key"
    assert len(response.headers.get_list("x-request-id")) == 1
    check_headers(response)
    if response.status_code in (204, 304) or request.method == "HEAD":
        assert response.content == b""
        return
    if request.method == "OPTIONS" and response.status_code == 200:
        return  # a preflight, which is Starlette's
    if response.status_code >= 400:
        assert response.headers["content-type"] == "application/json"
        refused = msgspec.json.decode(response.content, type=ErrorEnvelope)
        assert not refused.ok
        assert refused.error.message
        assert int(response.headers["content-length"]) == len(response.content)
        assert refused.meta.request_id == response.headers["x-request-id"]
        if operation is not None:
            declared = {(error.status, error.code) for error in list_errors(operation)}
            assert (response.status_code, refused.error.code) in declared
    elif operation is not None:
        assert response.status_code in operation.success_statuses
        if operation.produces != "application/json":
            assert operation.produces in ("image/*", response.headers["content-type"].partition(";")[0])
            return
        assert response.headers["content-type"] == "application/json"
        answer: Any = msgspec.json.decode(response.content, type=SUCCESS[operation.method, operation.path])
        assert answer.ok
        assert answer.meta.request_id == response.headers["x-request-id"]
        assert response.headers.get("x-cursor", "").isdigit() or not operation.has_etag


def check_headers(response: httpx.Response) -> None:
    """No answer is taken for another type, and no copy of the data of /v1 is kept, but of pictures."""
    headers = response.headers
    assert headers.get_list("x-content-type-options") == ["nosniff"]
    assert headers.get_list("x-journal-version") == [__version__]
    if response.request.url.path.endswith("/content") and response.status_code < 400:
        assert headers.get_list("cache-control") == ["private, max-age=31536000, immutable"]
    elif response.request.url.path.startswith("/v1/"):
        assert headers.get_list("cache-control") == ["no-store"]
    else:
        assert len(headers.get_list("cache-control")) <= 1


class JournalClient(httpx.AsyncClient):
    """Without what takes half of a small request: redirects, cookies, and parsing the same addresses again."""

    async def send(self, request: httpx.Request, **_: Any) -> httpx.Response:
        response = await self._transport.handle_async_request(request)
        response.request = request
        await response.aread()
        for check in self.event_hooks["response"]:
            await check(response)
        return response

    def _merge_url(self, url: httpx.URL | str) -> httpx.URL:
        return merge_url(self.base_url, url)


@lru_cache(maxsize=1000)
def merge_url(base_url: httpx.URL, url: httpx.URL | str) -> httpx.URL:
    return httpx.AsyncClient._merge_url(SimpleNamespace(base_url=base_url), url)  # type: ignore[arg-type]


def client_of(app: Starlette, key: str | None = None, base_url: str = BASE_URL) -> Client:
    return JournalClient(
        transport=httpx.ASGITransport(app=app, raise_app_exceptions=False),
        base_url=base_url,
        headers={"Authorization": f"Bearer {key}"} if key else {},
        event_hooks={"response": [check_answer]},
    )


async def new_key_for(app: Starlette, user_id: int = 1, scopes: tuple[str, ...] = SCOPES) -> str:
    key: str = await app.state.database.write(lambda db: api_keys.insert(db, user_id, "test", scopes))
    app.state.keys_made = [*getattr(app.state, "keys_made", ()), key]
    return key


@asynccontextmanager
async def started(app: Starlette) -> AsyncIterator[None]:
    """Start the application, and stop it at the end; each may take a minute on a busy machine."""
    async with LifespanManager(app, startup_timeout=60, shutdown_timeout=60):
        yield


@asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[Client]:
    """A client, with a new key, of the service in this process on the file of the settings."""
    app = create_app(settings)
    async with started(app), client_of(app, await new_key_for(app)) as client:
        yield client


class Template(NamedTuple):
    """An empty journal, made once per process and copied for every test."""

    file: Path
    saved: SavedJournal


@pytest.fixture(scope="session")
async def template(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Template]:
    file = tmp_path_factory.mktemp("template") / "journal.db"
    app = create_app(Settings(db=file))
    async with started(app):
        pass
    with saved_journal(file) as saved:
        yield Template(file, saved)


class SharedJournal:
    """One running journal for many tests, emptied after each: starting one costs more than a usual test.

    The files stay open until the journal is closed: closing a file drops every lock that SQLite has on it.
    """

    def __init__(self, folder: Path, template: Template) -> None:
        self.template, self.file = template, folder / "journal.db"
        self.stack = AsyncExitStack()

    async def open(self) -> "SharedJournal":
        shutil.copy(self.template.file, self.file)
        self.app = create_app(Settings(db=self.file))
        await self.stack.enter_async_context(started(self.app))
        self.checkpoints = self.stack.enter_context(closing(sqlite3.connect(self.file)))
        names = (self.file, self.file.with_name("journal.db-wal"))
        self.files = {name.name: self.stack.enter_context(name.open("rb")) for name in names}
        self.app.state.opened = self.checkpoints
        self.state = dict(self.app.state._state)
        return self

    async def empty(self) -> None:
        """Check that no file holds a key, then put the template in the place of what the test wrote."""
        contents = []
        for name, file in self.files.items():
            file.seek(0)
            contents.append((name, file.read()))
        no_key_is_in(contents, getattr(self.app.state, "keys_made", ()))
        self.template.saved.put_back(self.file)
        self.checkpoints.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.app.state.database.kept_readings.clear()
        self.app.state._state.clear()
        self.app.state._state.update(self.state)


class Sharing:
    """The shared journal of this process, while there is one."""

    def __init__(self) -> None:
        self.journal: SharedJournal | None = None

    async def close(self) -> None:
        if self.journal is not None:
            await self.journal.stack.aclose()
        self.journal = None


@pytest.fixture(scope="session")
async def sharing() -> AsyncIterator[Sharing]:
    sharing = Sharing()
    yield sharing
    await sharing.close()


FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    return report


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Those of the journal of this test; a test that asks for them gets a journal that no other test uses."""
    return Settings(db=tmp_path / "journal.db")


@pytest.fixture
async def app(
    request: pytest.FixtureRequest, template: Template, sharing: Sharing, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Starlette]:
    """An empty journal: a shared one, unless the test asks for `settings` or is marked `own_journal`."""
    if "settings" in request.fixturenames or request.node.get_closest_marker("own_journal"):
        settings = request.getfixturevalue("settings")
        shutil.copy(template.file, settings.db)
        app = create_app(settings)
        async with started(app):
            yield app
        # Only now: a handle on the open database that is closed drops SQLite's locks.
        no_key_is_left(settings.db.parent, getattr(app.state, "keys_made", ()))
        return
    if sharing.journal is None:
        sharing.journal = await SharedJournal(tmp_path_factory.mktemp("shared"), template).open()
    yield sharing.journal.app
    try:
        await sharing.journal.empty()
    except BaseException:
        await sharing.close()
        raise
    if request.node.stash.get(FAILED, False):
        await sharing.close()  # the next test begins with a journal that nothing happened to


def no_key_is_left(folder: Path, keys_made: Sequence[str]) -> None:
    """No file there holds a key, nor the random part of a key that the test made: docs/reliability.md 15."""
    no_key_is_in([(file.name, file.read_bytes()) for file in folder.iterdir() if file.is_file()], keys_made)


def no_key_is_in(contents: Sequence[tuple[str, bytes]], keys_made: Sequence[str]) -> None:
    for name, content in contents:
        assert KEY.search(content) is None, f"{name} holds an API key"
        assert not [key for key in keys_made if key[4:34].encode() in content], f"{name} holds a key"


@pytest.fixture
async def anonymous_client(app: Starlette) -> AsyncIterator[Client]:
    """Without a key, at the address of the page and of the API."""
    async with client_of(app, base_url="http://localhost") as client:
        yield client


@pytest.fixture
def database(app: Starlette) -> Database:
    opened: Database = app.state.database
    return opened


@pytest.fixture
async def client(app: Starlette) -> AsyncIterator[Client]:
    """The owner, with every scope."""
    async with client_of(app, await new_key_for(app)) as client:
        yield client


@pytest.fixture
async def other_user_client(app: Starlette) -> AsyncIterator[Client]:
    """Another owner, with every scope."""
    user_id = await app.state.database.write(lambda db: users.insert(db, "stranger", "UTC", "00:00"))
    async with client_of(app, await new_key_for(app, user_id)) as client:
        yield client


@pytest.fixture
async def one_of_each(client: Client) -> dict[str, Any]:
    """The id by the first word of the path, as `create_one_of_each` makes them."""
    return await create_one_of_each(client)


@pytest.fixture
async def unchanged(app: Starlette, one_of_each: dict[str, Any]) -> AsyncIterator[None]:
    """One of each, of which the test must change nothing."""
    before = dump(app)
    yield
    assert dump(app) == before


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """Where a test makes its journal."""
    return tmp_path / "journal.db"


@pytest.fixture
async def account_id(client: Client) -> int:
    """An account named Sim."""
    return int((await create_account(client))["id"])


@pytest.fixture(scope="session")
async def browser() -> AsyncIterator[Any]:
    """One Chromium for all tests of the page."""
    from chromium import open_browser  # in tests/system, which few runs need

    async with open_browser() as browser:
        yield browser


@pytest.fixture
async def page(browser: Any) -> AsyncIterator[Any]:
    """A tab at an empty page."""
    from chromium import clean_tab

    async with clean_tab(browser) as page:
        yield page


@pytest.fixture(scope="session")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[SavedJournal, tuple[Any, Path, str]]]:
    """One server for all tests of the page, because a browser keeps the page's files for one address: what its
    journal began with, and the server, the journal and its key.
    """
    from commands import new_key, running

    db = tmp_path_factory.mktemp("page") / "journal.db"
    key = new_key(db)
    with saved_journal(db) as saved, running(db) as server:
        yield saved, (server, db, key)


@pytest.fixture
def page_journal(shared_server: tuple[SavedJournal, tuple[Any, Path, str]]) -> Iterator[Any]:
    """The journal of the shared server, which is empty, as a `PageJournal`."""
    from chromium import PageJournal

    saved, (server, db, key) = shared_server
    saved.put_back(db)
    with server.client(key) as client:
        yield PageJournal(server, db, key, client)


@pytest.fixture
def record_observation(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Record what a proof saw; `make soak` lists it under the promise."""
    promise = request.node.get_closest_marker("promise").args[0]
    return lambda text: request.node.user_properties.append((f"promise {promise}", text))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    report_proofs(terminalreporter)
    report_skipped(terminalreporter)


def report_skipped(terminalreporter: Any) -> None:
    """One line: how many tests, and how many for which reason."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = Counter(str(report.longrepr[2]).removeprefix("Skipped: ") for report in skipped)
    skips = "; ".join(f"{count} x {reason}" for reason, count in reasons.most_common())
    if skips:
        terminalreporter.line(f"{len(skipped)} skipped: {skips}")


def report_proofs(terminalreporter: Any) -> None:
    """What the proofs saw, by promise; of the many cases of one test the first two."""
    reports = [report for name in ("passed", "failed") for report in terminalreporter.stats.get(name, [])]
    observations = sorted(one for report in reports for one in observations_in(report))
    if observations:
        terminalreporter.section("what the proofs saw")
    for (promise, test), group in groupby(observations, lambda one: (one.promise, one.test.partition("[")[0])):
        cases = list(group)
        for one in cases[:2]:
            terminalreporter.line(f"{promise:>2}  {one.text}  ({test})")
        if len(cases) > 2:
            terminalreporter.line(f"    and {len(cases) - 2} like these")
