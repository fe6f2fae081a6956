"""uvicorn's HTTP protocol with time limits for slow clients, a size limit for headers, and error envelopes.

uvicorn waits for a slow client without a limit and responds to malformed requests in plain text. The subclass
relies on these parts of HttpToolsProtocol and its RequestResponseCycle:

- it overrides the callbacks of asyncio and httptools, `on_response_complete` and `_start_asgi_task`;
- it reads `scope`, `headers`, `url`, `cycle`, `pipeline`, `flow`, `transport` and `loop`, calls
  `_unset_keepalive_if_required`, sets `parser`, `expect_100_continue`, `headers` and `cycle`, and removes
  closed connections from `connections`;
- of a cycle, it reads `response_started`, `response_complete`, `more_body`, `transport` and
  `waiting_for_100_continue`, and sets `keep_alive`, `disconnected` and `message_event`.

A server may ignore `Upgrade` (RFC 9110, 7.8), but httptools ends such a request after its headers, and would
parse the body as the next request. So `data_received` has a second parser read the request without `Upgrade`.

test_slow_clients.py, test_request_boundaries.py and test_request_streams.py in tests/server run it over
sockets and fail when one of them changes; test_slow_clients.py also covers the limits.
"""

import asyncio
import math
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from typing import Any, ClassVar

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from journal_api import __version__
from journal_api.errors import ApiError, RequestTimeout, ValidationFailed
from journal_api.server import request_head
from journal_api.server.descriptors import MAX_CONNECTIONS
from journal_api.web import responses
from journal_api.web.request_log import HandledRequest, new_request_id, write_line


class Protocol(HttpToolsProtocol):
    """A connection that is closed when its client keeps it waiting too long.

    One timer checks the deadline. It runs at least once in the shortest of the limits, so that a limit that
    begins to apply in between cannot expire unnoticed.
    """

    idle_seconds: ClassVar[int] = 10  # until the headers of the next request are complete
    body_seconds: ClassVar[float] = 30  # between two chunks of the body
    unread_seconds: ClassVar[float] = 30  # without reading a byte of the response
    max_connections: ClassVar[int] = MAX_CONNECTIONS  # `serve` sets it by the files that may be open

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.timer: asyncio.TimerHandle | None = None
        # When the service began to wait for the client, in seconds of the event loop.
        self.waiting_since = 0.0
        self.in_body = False
        self.rejection: ApiError | None = None
        self.running_cycle: RequestResponseCycle | None = None
        # Bytes read since the last body chunk or end of a message: incomplete headers, or trailers.
        self.head_bytes = 0
        self.unsent_bytes, self.response_read_at = 0, 0.0

    # The connection -------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        super().connection_made(transport)
        self.waiting_since = self.response_read_at = self.loop.time()
        self.check_deadline()
        if len(self.connections) > self.max_connections:
            self.make_room()

    def make_room(self) -> None:
        """Close the connections whose clients it waits for longest, idle ones first, several at once; else this one."""
        others = [one for one in self.connections if one is not self and isinstance(one, Protocol)]
        waiting = [one for one in others if one.waits_for_client]
        waiting.sort(key=lambda one: (one.in_flight, one.waiting_since))
        for one in waiting[: 1 + self.max_connections // 20] or [self]:
            one.transport.abort()
            self.connections.discard(one)  # now, because further connections may come before it is closed

    def connection_lost(self, exc: Exception | None) -> None:
        # uvicorn notifies the latest request only, which may still wait for an earlier one.
        if self.running_cycle is not None:
            self.running_cycle.disconnected = True
            self.running_cycle.message_event.set()
        super().connection_lost(exc)
        self._unset_keepalive_if_required()  # uvicorn does not when the client resets the connection
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def data_received(self, data: bytes) -> None:
        if self.rejection is not None:
            return
        if self.in_body and self.in_flight:
            self.waiting_since = self.loop.time()
        self.head_bytes += len(data)
        self._unset_keepalive_if_required()
        try:
            self.parse(data)
        except HttpParserError:
            self.reject(ValidationFailed("Invalid HTTP request received."))
        if self.head_bytes > request_head.MAX_HEAD_SIZE:
            self.reject(ValidationFailed(request_head.HEAD_TOO_LARGE))

    def parse(self, data: bytes) -> None:
        try:
            self.parser.feed_data(data)
        except HttpParserUpgrade as upgrade:
            (end_of_head,) = upgrade.args
            head = request_head.head_without_upgrade(self.parser, self.url, self.headers)
            self.parser = HttpRequestParser(self)
            self.parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn sets it
            self.parser.feed_data(head)
            self.parser.feed_data(data[end_of_head:])

    def resume_writing(self) -> None:
        self.response_read_at = self.loop.time()
        super().resume_writing()

    # The parser -----------------------------------------------------------------------------------------

    def on_message_begin(self) -> None:
        self.waiting_since = self.loop.time()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        http_version = self.parser.get_http_version()
        message = request_head.head_error(self.parser.get_method(), self.url, self.headers, http_version)
        if message is not None:
            self.reject(ValidationFailed(message))
            raise ValueError  # stops the parser
        if self.parser.should_upgrade():
            return
        if http_version == "1.0":
            self.expect_100_continue = False  # the client would read 100 as the response
        self.scope["state"]["authority"] = request_head.parse_authority(self.url)
        super().on_headers_complete()
        self.headers = []  # on_header appends trailers, which are not headers (RFC 9110, 6.5.1)
        self.in_body = True
        self.waiting_since = self.loop.time()

    def on_body(self, body: bytes) -> None:
        self.head_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        if self.parser.should_upgrade():
            return
        self.head_bytes = 0
        self.in_body = False
        super().on_message_complete()

    def on_response_complete(self) -> None:
        self.waiting_since = self.loop.time()
        super().on_response_complete()
        self._unset_keepalive_if_required()  # check_deadline knows an idle client from the rest of a body
        if self.rejection is not None and not self.has_pending_responses and not self.transport.is_closing():
            self.write_last_response(self.rejection)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self.running_cycle = cycle
        super()._start_asgi_task(cycle, partial(run, cycle, app))

    # Deadlines ------------------------------------------------------------------------------------------

    def check_deadline(self) -> None:
        """End the connection if its deadline has passed, and schedule the next check."""
        now = self.loop.time()
        self.note_progress(now)
        deadline, end_connection = self.find_deadline()
        if deadline <= now:
            end_connection()
            deadline = math.inf  # closing takes as long as the client takes to read
        shortest = min(self.idle_seconds, self.body_seconds, self.unread_seconds)
        self.timer = self.loop.call_later(min(deadline - now, shortest), self.check_deadline)

    def note_progress(self, now: float) -> None:
        """Remember when the client last read a part of the response."""
        unsent_bytes = self.transport.get_write_buffer_size()
        if unsent_bytes != self.unsent_bytes or not unsent_bytes:
            self.unsent_bytes, self.response_read_at = unsent_bytes, now
        if self.flow.read_paused:
            self.waiting_since = now  # the service stalls, not the client

    def find_deadline(self) -> tuple[float, Callable[[], None]]:
        """When, in seconds of the event loop, and how the connection ends if the client makes no progress."""
        if self.unsent_bytes:
            return self.response_read_at + self.unread_seconds, self.transport.abort
        if self.waits_for_body:
            error = f"No byte of the body arrived for {self.body_seconds:g} seconds. Send the request again."
            return self.waiting_since + self.body_seconds, partial(self.reject, RequestTimeout(error))
        if self.in_flight:
            return math.inf, self.transport.close
        # The rest of a body is read and dropped after the response, so that the client gets to read it.
        is_rest = self.in_body and self.rejection is None
        seconds = self.body_seconds if is_rest else self.idle_seconds
        return self.waiting_since + seconds, self.transport.close

    @property
    def in_flight(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    @property
    def waits_for_body(self) -> bool:
        """Whether the service waits for the body: no earlier response is pending, this one has not begun."""
        busy = self.pipeline or self.flow.read_paused or not self.in_flight
        return self.in_body and not busy and not self.cycle.response_started

    @property
    def waits_for_client(self) -> bool:
        """Whether the service waits for a request, for the rest of one, or until the response is read."""
        return not self.in_flight or self.waits_for_body or self.flow.write_paused

    # Errors ---------------------------------------------------------------------------------------------

    def reject(self, error: ApiError) -> None:
        """Stop reading; send the error after the responses to all earlier requests, then close."""
        if self.rejection is not None or self.transport.is_closing():
            return
        self.rejection = error
        self.waiting_since = self.loop.time()
        if not self.has_pending_responses:
            self.write_last_response(error)

    @property
    def has_pending_responses(self) -> bool:
        """Whether a response to an earlier request, or one already begun to this request, is not complete."""
        return bool(self.pipeline) or (self.in_flight and (not self.in_body or self.cycle.response_started))

    def write_last_response(self, error: ApiError) -> None:
        if self.in_body and self.cycle.response_started:  # the rejected request has its response
            self.transport.close()
            return
        if self.in_flight:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.cycle = None  # type: ignore[assignment]  # the state before the first request
        self.transport.write(last_response(error))
        # Closing while the client still sends would reset the connection and lose the response.
        self.flow.resume_reading()
        if self.transport.can_write_eof():
            self.transport.write_eof()
        else:
            self.transport.close()


async def run(cycle: RequestResponseCycle, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    """Run the application for a request, with the three adjustments below."""

    async def send_before_body(message: Message) -> None:
        # A client that waits for 100 may omit its body, so the beginning of the next request is unknown.
        if cycle.waiting_for_100_continue and cycle.more_body:
            cycle.keep_alive = False
        await send(message)

    # uvicorn cancels running requests when it stops; ErrorMiddleware has responded to them by then.
    with suppress(asyncio.CancelledError):
        await app(scope, receive, send_before_body if cycle.waiting_for_100_continue else send)
    if cycle.response_started and not cycle.response_complete:
        # What was sent cannot be completed, and ErrorMiddleware has logged why.
        cycle.transport.close()
        cycle.disconnected = True


def last_response(error: ApiError) -> bytes:
    """The complete HTTP response to a request that never reached the application; it is logged."""
    request_id = new_request_id()
    write_line(HandledRequest("-", None, error.status, 0, request_id, None))
    response = responses.failed(error)
    body = response.content + response.end(request_id)
    phrase = HTTPStatus(error.status).phrase
    head = (
        f"HTTP/1.1 {error.status} {phrase}\r\nContent-Type: application/json\r\nConnection: close\r\n"
        f"Content-Length: {len(body)}\r\nX-Request-Id: {request_id}\r\n"
        "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
        f"X-Journal-Version: {__version__}\r\n\r\n"
    )
    return head.encode() + body
