"""The requests of a test journal: recorded, delayed, or failed on purpose."""

from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

import anyio
import httpx
import msgspec
from starlette.applications import Starlette
from starlette.routing import BaseRoute, Match
from starlette.types import Message, Receive, Scope, Send

from journal_api import errors

# The errors that a client meets without a mistake of its own, by their codes.
FAULTS: dict[str, Callable[[], errors.ApiError]] = {
    "unauthorized": errors.Unauthorized,
    "key_revoked": errors.KeyRevoked,
    "key_expired": errors.KeyExpired,
    "request_timeout": errors.RequestTimeout,
    "precondition_failed": errors.PreconditionFailed,
    "rate_limited": lambda: errors.RateLimited({"Retry-After": "1"}),
    "internal_error": errors.InternalError,
    "busy": errors.Busy,
    "storage_unavailable": errors.StorageUnavailable,
}


class RecordedRequest(NamedTuple):
    """A request and the journal's response. `path` begins with /v1."""

    method: str
    path: str
    query: httpx.QueryParams
    headers: httpx.Headers
    content: bytes
    status: int

    def json(self) -> Any:
        return msgspec.json.decode(self.content)


class Fault(NamedTuple):
    error: errors.ApiError | None = None
    delay: float = 0.0
    is_carried_out: bool = False


class Traffic:
    """The ASGI application of a journal: it records requests, and faults meet the next ones in order."""

    def __init__(self, app: Starlette) -> None:
        self.app = app
        self.state = app.state  # which the server reads when it stops
        self.requests: list[RecordedRequest] = []
        self.faults: deque[Fault] = deque()
        app.router.routes.insert(0, FaultRoute())

    def fail_next(self, error: int | str, *, times: int = 1, is_carried_out: bool = False) -> None:
        """Respond to the next request with an error: a status such as 503, or a code such as `rate_limited`.

        With `is_carried_out` the journal does what the request says, and only its response is lost.
        """
        made = {code: make_error() for code, make_error in FAULTS.items()}
        fitting = [one for code, one in made.items() if error in (code, one.status)]
        if not fitting:
            raise ValueError(f"no fault {error!r}, but the code or status of {', '.join(made)}")
        self.faults.extend([Fault(fitting[0], is_carried_out=is_carried_out)] * times)

    def delay_next(self, seconds: float, *, times: int = 1) -> None:
        """Let the next request wait before the journal sees it."""
        self.faults.extend([Fault(delay=seconds)] * times)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request. Faults spare the preflight requests of browsers."""
        fault = self.faults.popleft() if self.faults and scope["method"] != "OPTIONS" else Fault()
        content = bytearray()

        async def receive_and_keep() -> Message:
            message = await receive()
            content.extend(message.get("body", b""))
            return message

        async def record_and_send(message: Message) -> None:
            # Before the client can see the response, so that a test that has it finds its request.
            if message["type"] == "http.response.start":
                self.requests.append(build_record(scope, bytes(content), message["status"]))
            await send(message)

        await anyio.sleep(fault.delay)
        if fault.is_carried_out:
            await self.app({**scope, "state": {**scope.get("state", {})}}, receive_and_keep, discard)
        if fault.error is not None:
            scope.setdefault("state", {})["fault"] = fault.error
        await self.app(scope, receive_and_keep, record_and_send)


def build_record(scope: Scope, content: bytes, status: int) -> RecordedRequest:
    query, headers = httpx.QueryParams(scope["query_string"]), httpx.Headers(scope["headers"])
    return RecordedRequest(scope["method"], scope["path"], query, headers, content, status)


async def discard(message: Message) -> None:
    """Send nothing."""


class FaultRoute(BaseRoute):
    """Every path, for a request with a fault, which is raised where the service raises its own errors."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        return (Match.FULL if "fault" in scope["state"] else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        raise scope["state"]["fault"]
