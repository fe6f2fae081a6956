"""The middleware: host check, response headers, request log, CORS, and errors as envelopes."""

import asyncio
import logging
import re
import sqlite3
import time
from collections.abc import Callable, Sequence

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from journal_api import __version__
from journal_api.database.sqlite_errors import api_error
from journal_api.errors import ApiError, Busy, InternalError, MisdirectedRequest, ValidationFailed
from journal_api.web import request_log, responses, wrong_host
from journal_api.web.quoting import quote
from journal_api.web.request_log import HandledRequest, read_request_id

log = logging.getLogger("journal_api")

LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "[::1]")
HOST = re.compile(r"(?P<name>\[[0-9a-fA-F:.]+\]|[^:\[\]]+)(?::[0-9]{1,5})?")
STOPPING = "The server is stopping; nothing was written. Try again."

# CORS: the headers that a page of another origin may send, and those that it may read.
SENT_HEADERS = [*("Authorization", "Content-Type", "If-Match", "If-None-Match", "X-Request-Id", "Idempotency-Key")]
READ_HEADERS = [
    *("Content-Disposition", "ETag", "Location", "Retry-After", "X-Request-Id"),
    *("X-Answers-Deleted", "X-Copies-Unlinked", "X-Cursor", "X-Idempotent-Replay", "X-Journal-Version"),
    *("X-Trades-Annotated", "X-Trades-Charged", "X-Trades-Deleted", "X-Trades-Kept", "X-Trades-Unlinked"),
    *("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"),
]

# Headers of every response, and of every response with data or a key, which no cache may keep unless the
# response says otherwise.
COMMON_HEADERS = [(b"x-content-type-options", b"nosniff"), (b"x-journal-version", __version__.encode())]
DATA_HEADERS = [*COMMON_HEADERS, (b"cache-control", b"no-store")]


class RequestContextMiddleware:
    """The outermost middleware: it assigns the request id, checks the host and adds the common headers.

    The host check prevents web pages from calling a loopback service by DNS rebinding. Each of `listeners` is
    called with every finished request.
    """

    def __init__(
        self, app: ASGIApp, allowed_hosts: tuple[str, ...], listeners: Sequence[Callable[[HandledRequest], None]]
    ) -> None:
        self.app, self.allowed_hosts = app, frozenset(host.lower() for host in allowed_hosts)
        self.listeners = listeners

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        began = time.perf_counter()
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        state = scope.setdefault("state", {})
        state["request_id"] = request_id = read_request_id(scope)
        state["headers"] = {"x-request-id": request_id}
        common = DATA_HEADERS if scope["path"].startswith(("/v1/", "/sign-in")) else COMMON_HEADERS

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                state["status"] = message["status"]
                added = [(name.lower().encode(), value.encode()) for name, value in state["headers"].items()]
                own = message.get("headers", ())
                says_otherwise = any(name == b"cache-control" for name, _ in own)
                message["headers"] = [*own, *(COMMON_HEADERS if says_otherwise else common), *added]
            await send(message)

        try:
            error = self.find_host_error(hosts, state.get("authority"))
            if error is None:
                await self.app(scope, receive, send_with_headers)
            else:
                response = wrong_host.build_page(scope) or responses.failed(error)
                await response(scope, receive, send_with_headers)
        finally:
            request = request_log.handled_request(scope, time.perf_counter() - began)
            for on_request_done in self.listeners:
                on_request_done(request)

    def find_host_error(self, hosts: Sequence[bytes], authority: bytes | None) -> MisdirectedRequest | None:
        """The error unless there is exactly one Host, and it and the target's authority are allowed.

        The authority of an absolute target overrides Host (RFC 9112, 3.2.2).
        """
        if len(hosts) != 1:
            return MisdirectedRequest(f"The request has {len(hosts)} Host headers. Send exactly one.")
        for host in hosts if authority is None else [*hosts, authority]:
            if not self.is_allowed(host):
                return MisdirectedRequest(
                    f"The host {quote(host.decode('latin-1'))} is not allowed. Call the service as "
                    "localhost or 127.0.0.1, or add the name to the setting JOURNAL_ALLOWED_HOSTS."
                )
        return None

    def is_allowed(self, host: bytes) -> bool:
        match = HOST.fullmatch(host.decode("latin-1"))
        return match is not None and ("*" in self.allowed_hosts or match["name"].lower() in self.allowed_hosts)


class CorsMiddleware(CORSMiddleware):
    """Starlette's CORSMiddleware with an error envelope, and without effect if no origin is allowed.

    It overrides `preflight_response` and reads `allow_origins`, both public in Starlette.
    """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Without allowed origins no response depends on Origin, so `Vary: Origin` is not needed.
        if self.allow_origins or any(name == b"origin" for name, _ in scope["headers"]):
            await super().__call__(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    def preflight_response(self, request_headers: Headers) -> Response:
        response = super().preflight_response(request_headers)
        if response.status_code < 400:
            return response
        error = ValidationFailed(bytes(response.body).decode())
        vary = {name: value for name, value in response.headers.items() if name == "vary"}
        return responses.failed(error, vary)  # type: ignore[return-value]  # Starlette only calls it as ASGI app


class ErrorMiddleware:
    """Turns every exception raised below into an error envelope."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response: ASGIApp | None = None
        try:
            await self.app(scope, receive, send)
        except ClientDisconnect:
            pass  # there is no client to respond to
        except asyncio.CancelledError:
            if not has_begun(scope):
                await responses.failed(Busy(STOPPING))(scope, receive, send)
            raise
        except Exception as error:
            if isinstance(error, sqlite3.Error):
                scope["app"].state.database.note(error)
            refusal = build_error_response(error, scope)
            # A response that has begun stays incomplete, and the server closes its connection.
            response = None if has_begun(scope) else refusal
        # Sent outside the except block: there, the frame would refer to the exception, whose traceback refers
        # to the frame, and the request's body would live until the next garbage collection.
        if response is not None:
            await response(scope, receive, send)


def has_begun(scope: Scope) -> bool:
    """Return whether the response has begun; RequestContextMiddleware notes its status."""
    return "status" in scope["state"]


def build_error_response(exception: Exception, scope: Scope) -> ASGIApp:
    """The response for an exception; 500 for an unexpected one, which is logged with its traceback."""
    error: ApiError | None = None
    if isinstance(exception, ApiError):
        error = exception
    elif isinstance(exception, sqlite3.Error | OSError):
        log.warning("%s: %s", scope["state"]["request_id"], exception)
        error = api_error(exception)
    if error is None:
        log.exception("%s: %s failed", scope["state"]["request_id"], scope["method"])
        error = InternalError()
    headers = {"Allow": ", ".join(error.details["allowed"])} if error.status == 405 else {}
    return responses.failed(error, headers)
