"""The clients of test journals, in the process of the test or over a loopback port."""

import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Unpack

import httpx
from anyio.from_thread import BlockingPortal, start_blocking_portal
from starlette.types import ASGIApp

from journal_api.server.server import bind_socket, build_config
from journal_api.server.stopping import Server
from journal_api.settings import Settings
from journal_api.testing import factories
from journal_api.testing.factories import Kind
from journal_api.testing.journals import Folder, Options, add_key, open_app
from journal_api.testing.traffic import Traffic

IN_PROCESS = "http://localhost"
# uvloop has a clock of its own: with freezegun the timers of asyncio's loop, which end a server, would stop.
LOOP = {"use_uvloop": sys.platform != "win32"}
# The beginnings of paths as openapi.json has them, with /v1.
WHOLE_PATHS = ("v1/", "health", "openapi.json")


class Running(NamedTuple):
    """What the clients of one journal share."""

    traffic: Traffic
    portal: BlockingPortal
    url: str
    clients: ExitStack
    numbers: Iterator[int]


class Journal(httpx.Client):
    """A client of a test journal, whose base URL is /v1.

    `url` is the address without /v1, `key` the API key. `requests` has the requests of all clients of the
    journal.
    """

    def __init__(self, running: Running, key: str) -> None:
        # Without `verify=False` httpx reads the certificates of the machine, longer than making a journal.
        is_served = running.url != IN_PROCESS
        transport = httpx.HTTPTransport(verify=False) if is_served else ThreadTransport(running)
        super().__init__(transport=transport, base_url=f"{running.url}/v1", headers=build_headers(key))
        self.running, self.url, self.key = running, running.url, key
        traffic = running.traffic
        self.requests = traffic.requests
        self.fail_next, self.delay_next = traffic.fail_next, traffic.delay_next

    def build_request(self, method: str, url: httpx.URL | str, *args: Any, **options: Any) -> httpx.Request:
        """Build a request to a path below /v1, which the path may begin with."""
        return super().build_request(method, without_base(self.url, url), *args, **options)

    def create(self, kind: Kind, **fields: Any) -> Any:
        """Create an object with these fields, all others sensible, and return it."""
        return factories.create(self, kind, self.running.numbers, fields)

    def with_key(self, scopes: str = "all", user: str | None = None) -> "Journal":
        """Return another client of this journal, with a new key of the first user or of the named one.

        A user who does not exist is created. Raises ValueError for an unknown scope.
        """
        key = self.running.portal.call(add_key, self.running.traffic.app, scopes, user)
        return self.running.clients.enter_context(Journal(self.running, key))


class AsyncJournal(httpx.AsyncClient):
    """A `Journal` for asynchronous tests, without `create` and `with_key`."""

    def __init__(self, traffic: Traffic, key: str) -> None:
        # Exceptions of the application become responses, as a server makes them.
        transport = httpx.ASGITransport(traffic, raise_app_exceptions=False)
        super().__init__(transport=transport, base_url=f"{IN_PROCESS}/v1", headers=build_headers(key))
        self.url, self.key = IN_PROCESS, key
        self.requests = traffic.requests
        self.fail_next, self.delay_next = traffic.fail_next, traffic.delay_next

    def build_request(self, method: str, url: httpx.URL | str, *args: Any, **options: Any) -> httpx.Request:
        """Build a request to a path below /v1, which the path may begin with."""
        return super().build_request(method, without_base(self.url, url), *args, **options)


class MakeJournal(Protocol):
    """The type of the fixture `make_journal`, which takes the arguments of `journal_client`."""

    def __call__(self, folder: Folder | None = None, *, serve: bool = False, **options: Unpack[Options]) -> Journal: ...


@asynccontextmanager
async def open_journal(folder: Folder | None = None, **options: Unpack[Options]) -> AsyncIterator[AsyncJournal]:
    """Create a journal and yield its client; the journal is closed at the end of the block.

    The database is `journal.db` in `folder`, which keeps it, or in a temporary folder.

    Raises ValueError for an invalid option, FileExistsError if `folder` has a journal.
    """
    async with open_app(folder, **options) as (app, key), AsyncJournal(Traffic(app), key) as client:
        yield client


@contextmanager
def journal_client(
    folder: Folder | None = None, *, serve: bool = False, **options: Unpack[Options]
) -> Iterator[Journal]:
    """`open_journal` for synchronous tests, in a separate thread; with `serve` on a free port, at `client.url`."""
    with (
        start_blocking_portal(backend_options=LOOP) as portal,
        portal.wrap_async_context_manager(open_app(folder, **options)) as (app, key),
        ExitStack() as server,
        ExitStack() as clients,
    ):
        traffic = Traffic(app)
        url = server.enter_context(listening(portal, traffic)) if serve else IN_PROCESS
        yield clients.enter_context(Journal(Running(traffic, portal, url, clients, count(1)), key))


@contextmanager
def listening(portal: BlockingPortal, app: ASGIApp) -> Iterator[str]:
    """Serve the application, whose lifespan has begun, on a free loopback port; yield its address."""
    with bind_socket(Settings(db=Path(), port=0)) as listener:
        server = Server(build_config(app, lifespan="off"))
        serving = portal.start_task_soon(server.serve, [listener])
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            serving.result()


class ThreadTransport(httpx.BaseTransport):
    """A transport that sends requests to a journal in another thread."""

    def __init__(self, running: Running) -> None:
        self.portal = running.portal
        self.transport = httpx.ASGITransport(running.traffic, raise_app_exceptions=False)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.read()  # the body may be a generator, which belongs to this thread
        return self.portal.call(self.send, request)

    async def send(self, request: httpx.Request) -> httpx.Response:
        response = await self.transport.handle_async_request(request)
        body = b"".join([chunk async for chunk in response.aiter_raw()])
        return httpx.Response(response.status_code, headers=response.headers, stream=httpx.ByteStream(body))


def build_headers(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def without_base(origin: str, url: httpx.URL | str) -> httpx.URL | str:
    """The address of a path that has /v1 or is not below it; any other as it is."""
    path = str(url).lstrip("/")
    return f"{origin}/{path}" if path.startswith(WHOLE_PATHS) else url
