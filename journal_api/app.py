"""The application: `create_app(settings)`, what happens around every request, and every error's answer."""

import asyncio
import logging
import random
import re
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import anyio.to_thread
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from journal_api import backup, docs_page, envelope, idempotency, keys, monitoring
from journal_api.auth import KnownKeys
from journal_api.database import Database, api_error
from journal_api.dispatch import Dispatch
from journal_api.errors import (
    ApiError,
    Busy,
    InternalError,
    MisdirectedRequest,
    ValidationFailed,
)
from journal_api.migrations import VERSION, prepare
from journal_api.monitoring import Handled, Meters
from journal_api.rates import Rates
from journal_api.routes import OPERATIONS, health
from journal_api.settings import Settings

log = logging.getLogger("journal_api")

LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "[::1]")
REQUEST_ID = re.compile("[A-Za-z0-9_-]{1,64}")
STOPPING = "The server is stopping; nothing was written, try again."
HOST = re.compile(r"(?P<name>\[[0-9a-fA-F:.]+\]|[^:\[\]]+)(?::[0-9]{1,5})?")
# What a page of another origin may send, and read of the answer.
SENT_HEADERS = [
    *("Authorization", "Content-Type", "If-Match", "If-None-Match", "X-Request-Id", "Idempotency-Key"),
]
READ_HEADERS = [
    *("Content-Disposition", "ETag", "Location", "Retry-After", "X-Request-Id"),
    *("X-Idempotent-Replay", "X-Trades-Kept", "X-Trades-Unlinked"),
    *("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"),
]
# On every answer: nothing is taken for another type than it says, and no copy of the data is kept.
OF_ALL = [(b"x-content-type-options", b"nosniff")]
OF_DATA = [*OF_ALL, (b"cache-control", b"no-store")]


class Journal(Starlette):
    """Starlette with a stack of our own: its own two layers would answer errors in plain text."""

    def build_middleware_stack(self) -> ASGIApp:
        """Errors stands inside Cors, so that a page may read what went wrong."""
        settings: Settings = self.state.settings
        reachable = Cors(
            Errors(Dispatch(self.router)),
            allow_origins=settings.cors_origins,
            allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            allow_headers=SENT_HEADERS,
            expose_headers=READ_HEADERS,
        )
        hosts = (*LOOPBACK_HOSTS, *settings.allowed_hosts)
        return Frame(reachable, hosts, self.state.tell)


def create_app(settings: Settings) -> Starlette:
    """The journal as an ASGI application. Its lifespan makes or opens the database at `settings.db`."""
    routes: list[BaseRoute] = [Route("/health", health.health), *docs_page.ROUTES, *OPERATIONS]
    tell: list[Callable[[Handled], None]] = [monitoring.write_line]
    if settings.metrics:
        meters = Meters(settings.db, VERSION)
        routes.append(Route("/metrics", health.metrics_from(meters)))
        tell.append(meters.count)
    app = Journal(routes=routes, lifespan=lifespan)
    app.state.settings = settings
    app.state.tell = tell
    app.state.rates = Rates(settings.requests_a_minute) if settings.requests_a_minute else None
    return app


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    settings: Settings = app.state.settings
    await anyio.to_thread.run_sync(prepare, settings)
    app.state.database = await Database.open(settings.db)
    app.state.known_keys = KnownKeys(app.state.database)
    try:
        async with backup.on_schedule(settings), idempotency.forgetting(app.state.database):
            yield
    finally:
        await app.state.database.close()


class Frame:
    """Around everything: the headers of every answer, the hosts that this service answers for, who is told.

    The host check keeps a web page from driving a loopback service through a name of its own (DNS rebinding).
    Each of `tell` hears of every request that is over.
    """

    def __init__(
        self, app: ASGIApp, allowed_hosts: tuple[str, ...], tell: Sequence[Callable[[Handled], None]]
    ) -> None:
        self.app, self.allowed_hosts = app, frozenset(host.lower() for host in allowed_hosts)
        self.tell = tell

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began = time.perf_counter()
        status = None
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        state = scope.setdefault("state", {})
        state["request_id"] = request_id = id_of_request(scope)
        state["headers"] = {"x-request-id": request_id}
        always = OF_DATA if scope["path"].startswith("/v1/") else OF_ALL

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                added = [(name.lower().encode(), value.encode()) for name, value in state["headers"].items()]
                message["headers"] = [*message.get("headers", ()), *always, *added]
            await send(message)

        try:
            if self.answers_for(hosts, state.get("authority")):
                await self.app(scope, receive, send_with_id)
            else:
                await envelope.failed(MisdirectedRequest())(scope, receive, send_with_id)
        finally:
            request = monitoring.handled(scope, status, time.perf_counter() - began)
            for tell in self.tell:
                tell(request)

    def answers_for(self, hosts: Sequence[bytes], authority: bytes | None) -> bool:
        """Whether the one Host is allowed, and so is the authority of the target if it has one.

        The authority overrides Host (RFC 9112, 3.2.2).
        """
        names = hosts if authority is None else [*hosts, authority]
        return len(hosts) == 1 and all(map(self.is_allowed, names))

    def is_allowed(self, sent: bytes) -> bool:
        host = HOST.fullmatch(sent.decode("latin-1"))
        return host is not None and ("*" in self.allowed_hosts or host["name"].lower() in self.allowed_hosts)


def id_of_request(scope: Scope) -> str:
    """The first that the client sent, if it is one; else a new one.

    A key that was sent by mistake is none, because ids are echoed and logged.
    """
    sent = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"x-request-id"), "")
    is_id = REQUEST_ID.fullmatch(sent) and not keys.is_in(sent, scope["app"].state.settings.run_key)
    return sent if is_id else new_request_id()


def new_request_id() -> str:
    # No secret, so not from the system, which would hand the interpreter to another thread meanwhile.
    return f"req_{random.getrandbits(64):016x}"


class Cors(CORSMiddleware):
    """Starlette's CORS, its one error in our envelope, out of the way where no other origin may come."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_from_page = scope["type"] == "http" and any(name == b"origin" for name, _ in scope["headers"])
        # Without allowed origins no answer depends on the origin, so there is no `Vary` to add either.
        answer = super().__call__ if self.allow_origins or is_from_page else self.app
        await answer(scope, receive, send)

    def preflight_response(self, request_headers: Headers) -> Response:
        response = super().preflight_response(request_headers)
        if response.status_code < 400:
            return response
        refused = ValidationFailed(bytes(response.body).decode())
        vary = {name: value for name, value in response.headers.items() if name == "vary"}
        return envelope.failed(refused, vary)  # type: ignore[return-value]  # an ASGI application is all it takes


class Errors:
    """Whatever is raised below becomes the error envelope."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False
        answer: ASGIApp | None = None

        async def note_start(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self.app(scope, receive, note_start)
        except ClientDisconnect:
            pass  # nobody is there to answer
        except asyncio.CancelledError:
            if scope["type"] == "http" and not started:
                await envelope.failed(Busy(STOPPING))(scope, receive, send)
            raise
        except Exception as error:
            if isinstance(error, sqlite3.Error):
                scope["app"].state.database.note(error)
            if scope["type"] != "http" or started:
                raise
            answer = answer_to(error, scope)
        # Not before the error is let go: a name for it here would keep it, and the body in its traceback,
        # until the garbage is collected.
        if answer is not None:
            await answer(scope, receive, send)


def answer_to(error: Exception, scope: Scope) -> ASGIApp:
    known = known_error(error, scope)
    if known is None:
        log.exception("%s: %s failed", scope["state"]["request_id"], scope["method"])
        known = InternalError()
    headers = {"Allow": ", ".join(known.details["allowed"])} if known.status == 405 else {}
    return envelope.failed(known, headers)


def known_error(error: Exception, scope: Scope) -> ApiError | None:
    """What to answer; None for a bug."""
    match error:
        case ApiError():
            return error
        case sqlite3.Error() | OSError():
            log.warning("%s: %s", scope["state"]["request_id"], error)
            return api_error(error)
    return None
