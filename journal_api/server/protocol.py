"""uvicorn's HTTP with what it lacks: bounds on slow clients and large headers, and errors in our envelope."""

import asyncio
import math
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from typing import Any, ClassVar

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from journal_api.errors import ApiError, RequestTimeout, ValidationFailed
from journal_api.server.request_parser import RequestParser, authority_of
from journal_api.web import responses
from journal_api.web.request_id import new_request_id
from journal_api.web.request_log import HandledRequest, write_line

LARGEST_HEAD = 64 * 1024  # bytes of request line and headers
HEAD_TOO_LARGE = f"The headers are over {LARGEST_HEAD} bytes."
NO_PROXY = "CONNECT is not supported: this service is not a proxy."
CHUNKED_ONLY = "The one Transfer-Encoding that is supported is chunked, in HTTP/1.1."


class Protocol(HttpToolsProtocol):
    """One connection, which ends when its client keeps it waiting.

    Beyond asyncio's callbacks it overrides those of httptools, `_start_asgi_task` and `send_400_response` of
    uvicorn, replaces its `parser`, and sets `keep_alive`, `disconnected` and `message_event` of its cycles.

    `since` is when the client's time began to run. One timer looks at it: never later than the shortest of
    the limits from now, so that whatever begins meanwhile is not over before the next look.
    """

    idle_seconds: ClassVar[int] = 10  # without a request, and for the whole of its headers
    body_seconds: ClassVar[float] = 30  # without a byte of the body
    unread_seconds: ClassVar[float] = 30  # without taking a byte of the answer

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.parser: RequestParser = RequestParser(self)
        self.timeout_keep_alive = self.idle_seconds
        self.timer: asyncio.TimerHandle | None = None
        self.since = 0.0
        self.in_body = False
        self.refusal: ApiError | None = None
        self.answering: RequestResponseCycle | None = None
        # Bytes read since those that had a piece of a body or the end of a message: headers that are not
        # complete, or trailers.
        self.head = 0
        self.unsent, self.unsent_since = 0, 0.0

    # The connection -------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        super().connection_made(transport)
        self.since = self.unsent_since = self.loop.time()
        self.look()

    def connection_lost(self, exc: Exception | None) -> None:
        # uvicorn tells only the latest request, which may be waiting for an earlier one.
        if self.answering is not None:
            self.answering.disconnected = True
            self.answering.message_event.set()
        super().connection_lost(exc)
        self._unset_keepalive_if_required()  # uvicorn forgets it when the client resets the connection
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def data_received(self, data: bytes) -> None:
        if self.refusal is not None:
            return
        if self.in_body and self.in_flight:
            self.since = self.loop.time()
        self.head += len(data)
        super().data_received(data)
        if self.head > LARGEST_HEAD:
            self.refuse(ValidationFailed(HEAD_TOO_LARGE))

    def resume_writing(self) -> None:
        self.unsent_since = self.loop.time()
        super().resume_writing()

    # The parser -----------------------------------------------------------------------------------------

    def on_message_begin(self) -> None:
        self.since = self.loop.time()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        fault = self.fault_of_head()
        if fault is not None:
            self.refuse(ValidationFailed(fault))
            raise ValueError  # out of the parser
        if self.parser.get_http_version() == "1.0":
            self.expect_100_continue = False  # would take the 100 for its answer
        self.scope["state"]["authority"] = authority_of(self.url)
        super().on_headers_complete()
        if self.parser.should_upgrade():
            self.cycle.keep_alive = False
        self.headers = []  # for the trailers, which are no headers (RFC 9110, 6.5.1)
        self.in_body = True
        self.since = self.loop.time()

    def on_body(self, body: bytes) -> None:
        self.head = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        if self.parser.is_before_body:
            return
        self.head = 0
        self.in_body = False
        super().on_message_complete()
        if not self.parser.should_keep_alive():
            self.read_no_more()

    def read_no_more(self) -> None:
        """Close after this answer, because llhttp drops what follows.

        uvicorn knows only what the headers say; a trailer can say `Connection: close` as well.
        """
        self.cycle.keep_alive = False
        if self.cycle.response_complete:
            self.transport.close()

    def on_response_complete(self) -> None:
        self.since = self.loop.time()
        super().on_response_complete()
        if self.refusal is not None and not self.owes_answers and not self.transport.is_closing():
            self.say_last(self.refusal)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self.answering = cycle
        super()._start_asgi_task(cycle, partial(run, cycle, app))

    def fault_of_head(self) -> str | None:
        """Why no application may see this request."""
        if self.parser.get_method() == b"CONNECT":
            return NO_PROXY
        if self.head_size() > LARGEST_HEAD:
            return HEAD_TOO_LARGE
        codings = [value.lower() for name, value in self.headers if name == b"transfer-encoding"]
        # llhttp looks at the last coding only, and HTTP/1.0 has none (RFC 9112, 6.1).
        if codings and (codings != [b"chunked"] or self.parser.get_http_version() == "1.0"):
            return CHUNKED_ONLY
        return None

    def head_size(self) -> int:
        return len(self.url) + sum(len(name) + len(value) + len(": \r\n") for name, value in self.headers)

    # The clock ------------------------------------------------------------------------------------------

    def look(self) -> None:
        """End the connection if its time is over, and look again until it is gone."""
        now = self.loop.time()
        self.note_progress(now)
        ends = self.ends()
        if ends <= now:
            self.end()
            ends = math.inf  # closing takes as long as the client takes to read
        shortest = min(self.idle_seconds, self.body_seconds, self.unread_seconds)
        self.timer = self.loop.call_later(min(ends - now, shortest), self.look)

    def note_progress(self, now: float) -> None:
        unsent = self.transport.get_write_buffer_size()
        if unsent != self.unsent or not unsent:
            self.unsent, self.unsent_since = unsent, now
        if self.flow.read_paused:
            self.since = now  # it is not the client that stalls

    def ends(self) -> float:
        """When the connection is over if nothing comes of it."""
        if self.unsent:
            return self.unsent_since + self.unread_seconds
        if self.waits_for_body:
            return self.since + self.body_seconds
        if self.in_flight:
            return math.inf
        # What is left of a body after its answer is read and dropped, so that the client gets to the answer.
        return self.since + (
            self.body_seconds if self.in_body and self.refusal is None else self.idle_seconds
        )

    def end(self) -> None:
        if self.unsent:
            self.transport.abort()
        elif self.waits_for_body and self.refusal is None:
            self.refuse(RequestTimeout())
        else:
            self.transport.close()

    @property
    def in_flight(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    @property
    def waits_for_body(self) -> bool:
        """Whether it is the client's turn: no earlier request is being answered, nor this one already."""
        owed = self.pipeline or self.flow.read_paused or not self.in_flight
        return self.in_body and not owed and not self.cycle.response_started

    # What uvicorn answers by itself, and we --------------------------------------------------------------

    def send_400_response(self, msg: str) -> None:
        self.refuse(ValidationFailed(msg))

    def refuse(self, error: ApiError) -> None:
        """Read nothing more, and say why once every request before has its answer."""
        if self.refusal is not None or self.transport.is_closing():
            return
        self.refusal = error
        self.since = self.loop.time()
        if not self.owes_answers:
            self.say_last(error)

    @property
    def owes_answers(self) -> bool:
        """Whether requests before the refused one, or this one in spite of it, are being answered."""
        return bool(self.pipeline) or (self.in_flight and (not self.in_body or self.cycle.response_started))

    def say_last(self, error: ApiError) -> None:
        if self.in_body and self.cycle.response_started:  # the refused request has its answer
            self.transport.close()
            return
        if self.in_flight:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.cycle = None  # type: ignore[assignment]  # as before the first request
        self.transport.write(answer(error))
        # To close upon what the client is still sending would destroy the answer on its way.
        self.flow.resume_reading()
        if self.transport.can_write_eof():
            self.transport.write_eof()
        else:
            self.transport.close()


async def run(cycle: RequestResponseCycle, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    """The application for one request, as its connection needs it."""

    async def send_in_step(message: Message) -> None:
        # A client that waits for 100 may leave its body out upon any other answer, so nobody knows where the
        # next request would begin.
        if cycle.waiting_for_100_continue and cycle.more_body:
            cycle.keep_alive = False
        await send(message)

    # uvicorn cancels what is not done when the server stops; the application has answered that.
    with suppress(asyncio.CancelledError):
        await app(scope, receive, send_in_step)


def answer(error: ApiError) -> bytes:
    """The whole response, the last of its connection, to what never became a request."""
    request_id = new_request_id()
    write_line(HandledRequest("-", None, error.status, 0, request_id, None))
    body = responses.failed(error).body(request_id)
    phrase = HTTPStatus(error.status).phrase
    head = (
        f"HTTP/1.1 {error.status} {phrase}\r\nContent-Type: application/json\r\nConnection: close\r\n"
        f"Content-Length: {len(body)}\r\nX-Request-Id: {request_id}\r\n"
        "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\r\n"
    )
    return head.encode() + body
