"""Raw bytes on a connection: requests as they are sent, and the responses that come back."""

import re
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import httpx
import msgspec
from commands import PATIENCE, WITHOUT_TLS, health, new_key
from conftest import ErrorEnvelope

from journal_api.app import create_app
from journal_api.server.protocol import Protocol
from journal_api.server.server import bind_socket, build_config
from journal_api.server.stop import Server
from journal_api.settings import Settings

HOST = b"Host: localhost"
CLOSE = b"Connection: close"
PACKET_INTERVAL = 0.03  # seconds, enough for the server to read a packet alone


class Response(NamedTuple):
    status: int
    request_id: bytes  # empty unless the client chose it
    is_last: bool  # `Connection: close`


class Journal(NamedTuple):
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
        known = (
            HOST,
            b"Authorization: Bearer %b" % self.key.encode(),
            b"X-Request-Id: %b" % request_id.encode(),
        )
        return b"\r\n".join([f"{line} HTTP/1.1".encode(), *known, *headers, b"", b""])


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


def exchange(journal: Journal, *packets: bytes) -> list[Response]:
    """Send these packets on one connection, and return the responses until the server closes it."""
    with journal.connect() as connection:
        for packet in packets:
            try:
                connection.sendall(packet)
            except ConnectionError:
                break  # the server has responded and closed
            time.sleep(PACKET_INTERVAL)
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
def serve_in_thread(db: Path, protocol: type[Protocol] = Protocol, loop: str = "auto") -> Iterator[Journal]:
    """A server for a new journal, in this process with its own event loop; it stops as on SIGTERM."""
    key = new_key(db)
    settings = Settings(db=db, port=0)
    with bind_socket(settings) as address:
        config = build_config(create_app(settings), protocol)
        config.timeout_graceful_shutdown, config.loop = 1, loop
        server = Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [address]}, daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{address.getsockname()[1]}"
        try:
            assert health(url).status_code == 200
            yield Journal(url, key)
        finally:
            server.should_exit = True
            thread.join(PATIENCE)
