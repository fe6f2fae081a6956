"""What every request passes: host check, CORS, errors in the envelope."""

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

from journal_api.database.errors import api_error
from journal_api.errors import (
    ApiError,
    Busy,
    InternalError,
    MisdirectedRequest,
    ValidationFailed,
)
from journal_api.web import request_log, responses
from journal_api.web.request_id import id_of_request
from journal_api.web.request_log import HandledRequest

log = logging.getLogger("journal_api")


LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "[::1]")


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


class RequestContextMiddleware:
    """Around everything: the headers of every answer, the hosts that this service answers for, who is told.

    The host check keeps a web page from driving a loopback service through a name of its own (DNS rebinding).
    Each of `tell` hears of every request that is over.
    """

    def __init__(
        self, app: ASGIApp, allowed_hosts: tuple[str, ...], tell: Sequence[Callable[[HandledRequest], None]]
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
                await responses.failed(MisdirectedRequest())(scope, receive, send_with_id)
        finally:
            request = request_log.handled(scope, status, time.perf_counter() - began)
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


class CorsMiddleware(CORSMiddleware):
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
        return responses.failed(refused, vary)  # type: ignore[return-value]  # an ASGI application is all it takes


class ErrorMiddleware:
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
                await responses.failed(Busy(STOPPING))(scope, receive, send)
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
    return responses.failed(known, headers)


def known_error(error: Exception, scope: Scope) -> ApiError | None:
    """What to answer; None for a bug."""
    match error:
        case ApiError():
            return error
        case sqlite3.Error() | OSError():
            log.warning("%s: %s", scope["state"]["request_id"], error)
            return api_error(error)
    return None
