"""How a response leaves the server: head and body in one write (DECISIONS 123)."""

import asyncio
import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from commands import new_key
from streams import Journal, heard, served
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from journal_api.server.protocol import Protocol


class Noted:
    """The transport of a connection; `written` is what was written to any, one item for each write."""

    written: ClassVar[list[bytes]] = []

    def __init__(self, transport: asyncio.Transport) -> None:
        self.transport = transport

    def write(self, data: bytes) -> None:
        self.written.append(bytes(data))
        self.transport.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.transport, name)


class NotingProtocol(Protocol):
    """The protocol, with notes of what it writes."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in Protocol
        super().connection_made(Noted(transport))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Journal]:
    db: Path = tmp_path_factory.mktemp("writes") / "journal.db"
    key = new_key(db)
    with served(db, NotingProtocol) as port:
        yield Journal(f"http://127.0.0.1:{port}", key)


@pytest.fixture
def written(journal: Journal) -> list[bytes]:
    Noted.written.clear()
    return Noted.written


def last_of(answer: bytes) -> bytes:
    """The body of a response."""
    return answer.partition(b"\r\n\r\n")[2]


def test_head_and_body_are_one_write(journal: Journal, written: list[bytes]) -> None:
    with journal.client() as client:
        read = client.get("/me")
        missing = client.get("/tags/1")
        unchanged = client.get("/me", headers={"If-None-Match": read.headers["etag"]})
        created = client.post("/tag-categories", json={"name": "New"})
        deleted = client.delete(created.headers["location"].removeprefix("/v1"))

    answers = [read, missing, unchanged, created, deleted]
    assert [answer.status_code for answer in answers] == [200, 404, 304, 201, 204]
    assert [last_of(one) for one in written] == [answer.content for answer in answers]


def test_a_response_without_a_body_to_send_is_written_as_well(journal: Journal, written: list[bytes]) -> None:
    with journal.client() as client:
        head = client.head("/me")
        assert client.get("/me").status_code == 200

    assert head.status_code == 200
    assert int(head.headers["content-length"]) > 0
    assert len(written) == 2
    assert written[0].endswith(b"\r\n\r\n")


def test_100_continue_does_not_wait_for_the_response(journal: Journal, written: list[bytes]) -> None:
    body = b'{"name": "Continued"}'
    headers = b"Expect: 100-continue", b"Content-Length: %d" % len(body), b"Connection: close"
    head = journal.head("POST /v1/tag-categories", "continued", *headers)
    with journal.connect() as connection:
        connection.sendall(head)
        first = connection.recv(65536)
        connection.sendall(body)
        second = heard(connection)

    assert first.startswith(b"HTTP/1.1 100 ")
    assert second.startswith(b"HTTP/1.1 201 ")
    assert len(written) == 2


def test_pipelined_responses_are_one_write_each_in_order(journal: Journal, written: list[bytes]) -> None:
    names = [f"p{number}" for number in range(6)]
    requests = [journal.head("GET /v1/me", name) for name in names[:-1]]
    requests.append(journal.head("HEAD /v1/me", names[-1], b"Connection: close"))
    with journal.connect() as connection:
        connection.sendall(b"".join(requests))
        said = heard(connection)

    assert all(f"x-request-id: {name}\r\n".encode() in one for name, one in zip(names, written, strict=True))
    assert said == b"".join(written)


def test_a_streamed_file_arrives_whole(journal: Journal, written: list[bytes]) -> None:
    with journal.client() as client:
        export = client.get("/trades/export")

    assert int(export.headers["content-length"]) == len(export.content)
    assert export.text.startswith("row,account,")
    assert len(written) == 2  # the head with the first rows, the end


def test_a_request_that_was_answered_is_freed_at_once(journal: Journal) -> None:
    with journal.client() as client:
        client.get("/me")
        gc.collect()
        gc.disable()  # it goes at once, not when the garbage is collected
        try:
            for _ in range(10):
                assert client.get("/me").status_code == 200
            kept = [one for one in gc.get_objects() if type(one) is RequestResponseCycle]
        finally:
            gc.enable()

    assert len(kept) <= 2  # the last of its connection, and the last of the connection before
