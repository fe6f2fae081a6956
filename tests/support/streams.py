"""Raw bytes on a connection: requests as they are sent, and the responses that come back."""

import asyncio
import re
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple
from weakref import WeakSet

import httpx
import msgspec
import uvloop
from commands import PATIENCE, WITHOUT_TLS, health, new_key, wait_until
from conftest import ErrorEnvelope

from journal_api.app import create_app
from journal_api.server.protocol import Protocol
from journal_api.server.server import bind_socket, build_config
from journal_api.server.stopping import Server
from journal_api.settings import Settings

HOST = b"Host: localhost"
CLOSE = b"Connection: close"


class Response(NamedTuple):
    status: int
    request_id: bytes  # empty unless the client chose it
    is_last: bool  # `Connection: close`


class Watched(Protocol):
    """The protocol, with the number of bytes that it has read, and a list of its living connections."""

    alive: ClassVar[WeakSet["Watched"]]

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.bytes_read = 0
        self.alive.add(self)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self.bytes_read += len(data)

    def has_read(self, number: int) -> bool:
        """Whether it has read so many bytes, or reads no more."""
        return self.bytes_read >= number or self.flow.read_paused or self.transport.is_closing()


class Clock(asyncio.SelectorEventLoop):
    """An event loop whose time stands still until a test lets it go on."""

    now = 0.0

    def time(self) -> float:
        return self.now

    def go_on(self, seconds: float) -> None:
        self.now += seconds


@dataclass(frozen=True)
class Journal:
    """A server that accepts connections, and a key to it."""

    url: str
    key: str

    @property
    def port(self) -> int:
        return httpx.URL(self.url).port or 0

    def client(self) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.key}"}
        return httpx.Client(base_url=f"{self.url}/v1", headers=headers, timeout=PATIENCE, verify=WITHOUT_TLS)

    def connect(self) -> socket.socket:
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def head(self, line: str, request_id: str, *headers: bytes) -> bytes:
        """The request line and the headers of a request with the key."""
        known = (HOST, b"Authorization: Bearer %b" % self.key.encode(), b"X-Request-Id: %b" % request_id.encode())
        return b"\r\n".join([f"{line} HTTP/1.1".encode(), *known, *headers, b"", b""])


@dataclass(frozen=True)
class Served(Journal):
    """A server in this process."""

    protocol: type[Watched]
    loop: asyncio.AbstractEventLoop

    def side_of(self, connection: socket.socket) -> Watched:
        """The server's side of a connection, once there is one."""

        def found() -> list[Watched]:
            return [one for one in list(self.protocol.alive) if one.client == connection.getsockname()]

        wait_until(lambda: bool(found()))
        return found()[0]

    def in_loop(self, ask: Callable[[], bool]) -> bool:
        """What is so between two callbacks of the server; another thread may look in the middle of one."""

        async def answer() -> bool:
            return ask()

        return asyncio.run_coroutine_threadsafe(answer(), self.loop).result(PATIENCE)

    def pass_time(self, seconds: float) -> None:
        """Let the time of a server with a `Clock` go on; what is due is done then."""

        async def pass_time() -> None:
            assert isinstance(self.loop, Clock)
            self.loop.go_on(seconds)
            for _ in range(10):  # a callback may make the next one
                await asyncio.sleep(0)

        asyncio.run_coroutine_threadsafe(pass_time(), self.loop).result(PATIENCE)


def read_to_end(connection: socket.socket) -> bytes:
    """Everything that the server sends until it closes the connection."""
    received = b""
    try:
        while part := connection.recv(65536):
            received += part
    except ConnectionResetError:  # closed while some of our bytes were unread
        pass
    return received


def parse_responses(received: bytes) -> list[Response]:
    """The final responses, in their order. An error in JSON has to be an envelope with its request id."""
    responses = []
    for response in re.split(rb"(?=HTTP/1\.1 \d{3} )", received)[1:]:
        head, _, body = response.partition(b"\r\n\r\n")
        status, lower = int(head[9:12]), head.lower()
        request_id = b"".join(re.findall(rb"x-request-id: (\S+)", lower))
        if status >= 400 and body and b"content-type: application/json" in lower:
            error = msgspec.json.decode(body, type=ErrorEnvelope)
            assert error.meta.request_id.encode().lower() == request_id
        if status >= 200:
            chosen = b"" if request_id.startswith(b"req_") else request_id
            responses.append(Response(status, chosen, b"connection: close" in lower))
    return responses


def exchange(journal: Served, *packets: bytes) -> list[Response]:
    """Send these packets on one connection, and return the responses until the server closes it.

    The server reads each packet alone.
    """
    with journal.connect() as connection:
        side, sent = journal.side_of(connection), 0
        for packet in packets:
            try:
                connection.sendall(packet)
            except ConnectionError:
                break  # the server has responded and closed
            sent += len(packet)
            wait_until(lambda: side.has_read(sent))  # noqa: B023  # called here
        return parse_responses(read_to_end(connection))


def chunked(body: bytes, trailers: bytes = b"") -> bytes:
    chunk = b"%x\r\n%b\r\n" % (len(body), body) if body else b""
    return b"%b0\r\n%b\r\n" % (chunk, trailers)


def are_in_step(responses: Sequence[Response], requested: Sequence[bytes]) -> bool:
    """Whether the responses belong to the requests with those ids, in their order, and none is added.

    There may be fewer, and the last may be an error for bytes that never became a request: the server has
    closed the connection then.
    """
    ids = [response.request_id for response in responses]
    if responses and responses[-1].status >= 400 and responses[-1].is_last and ids[-1] not in requested:
        ids.pop()
    return ids == list(requested[: len(ids)])


def is_open(connection: socket.socket) -> bool:
    """Whether the server has not closed the connection; what it has sent is read."""
    connection.setblocking(False)
    try:
        while connection.recv(65536):
            pass
    except BlockingIOError:
        return True
    except ConnectionError:
        pass
    return False


@contextmanager
def serve_in_thread(
    db: Path, loop_factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop, **limits: float
) -> Iterator[Served]:
    """A server for a new journal, in this process with its own event loop; it stops as on SIGTERM."""
    key = new_key(db)
    settings = Settings(db=db, port=0)
    protocol = type("Watched", (Watched,), {"alive": WeakSet(), **limits})
    with bind_socket(settings) as address, asyncio.Runner(loop_factory=loop_factory) as runner:
        server = Server(build_config(create_app(settings), protocol))
        thread = threading.Thread(target=lambda: runner.run(server.serve(sockets=[address])), daemon=True)
        thread.start()
        served = Served(f"http://127.0.0.1:{address.getsockname()[1]}", key, protocol, runner.get_loop())
        try:
            assert health(served.url).status_code == 200
            yield served
        finally:
            server.should_exit = True
            while thread.is_alive():
                if isinstance(served.loop, Clock):
                    served.loop.call_soon_threadsafe(served.loop.go_on, 1)
                thread.join(0.01)
