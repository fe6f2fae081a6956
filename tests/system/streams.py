"""Bytes on a connection: what is sent as requests, and which of them the server answers."""

import re
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import httpx
import uvicorn
from commands import PATIENCE, WITHOUT_TLS, health

from journal_api.server.protocol import Protocol
from journal_api.server.server import configured, listening
from journal_api.settings import Settings

HOST = b"Host: localhost"


class Answer(NamedTuple):
    status: int
    request_id: bytes
    is_last: bool  # `Connection: close`


class Journal(NamedTuple):
    """A server that answers, and a key to it."""

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
        """Request line and headers of one that has the key."""
        known = (
            HOST,
            b"Authorization: Bearer %b" % self.key.encode(),
            b"X-Request-Id: %b" % request_id.encode(),
        )
        return b"\r\n".join([f"{line} HTTP/1.1".encode(), *known, *headers, b"", b""])


def heard(connection: socket.socket) -> bytes:
    """What the server says until it closes the connection."""
    said = b""
    try:
        while part := connection.recv(65536):
            said += part
    except ConnectionResetError:  # closed, with something of ours unread
        pass
    return said


def answers_in(said: bytes) -> list[Answer]:
    """The final answers, in their order; one without X-Request-Id has an empty id."""
    found = []
    final = said.replace(b"HTTP/1.1 100 Continue\r\n\r\n", b"")
    for status, headers in re.findall(rb"HTTP/1\.1 (\d{3})[^\r]*\r\n(.*?\r\n)\r\n", final, re.DOTALL):
        lower = headers.lower()
        request_id = b"".join(re.findall(rb"x-request-id: (\S+)\r\n", lower))
        found.append(Answer(int(status), request_id, b"connection: close" in lower))
    return found


def exchanged(journal: Journal, *packets: bytes, seconds: float = 0.03) -> list[Answer]:
    """The answers on one connection, to packets with that much time between, until the server closes it."""
    with journal.connect() as connection:
        for packet in packets:
            try:
                connection.sendall(packet)
            except ConnectionError:
                break  # it had its answer
            time.sleep(seconds)
        return answers_in(heard(connection))


def chunked(body: bytes, trailers: bytes = b"") -> bytes:
    chunk = b"%x\r\n%b\r\n" % (len(body), body) if body else b""
    return b"%b0\r\n%b\r\n" % (chunk, trailers)


def is_in_step(answers: Sequence[Answer], asked: Sequence[bytes]) -> bool:
    """Whether the answers are to the requests of those ids, in their order and none beyond.

    They may be fewer, and the last may be an error for what never became a request: the server has closed the
    connection then.
    """
    told = [answer.request_id for answer in answers]
    if answers and answers[-1].status >= 400 and answers[-1].is_last and told[-1] not in asked:
        told.pop()
    return told == list(asked[: len(told)])


@contextmanager
def served(db: Path, protocol: type[Protocol], loop: str = "auto") -> Iterator[int]:
    """The port of a server in this process, on an event loop of its own; it stops as by SIGTERM."""
    settings = Settings(db=db, port=0)
    with listening(settings) as address:
        config = configured(settings, protocol)
        config.timeout_graceful_shutdown, config.loop = 1, loop
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [address]}, daemon=True)
        thread.start()
        port = address.getsockname()[1]
        try:
            assert health(f"http://127.0.0.1:{port}").status_code == 200
            yield port
        finally:
            server.should_exit = True
            thread.join(PATIENCE)
