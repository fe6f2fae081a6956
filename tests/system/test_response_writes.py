"""What the server writes of a response."""

import gc
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import new_key
from streams import Journal, heard, served
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from journal_api.server.protocol import Protocol


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Journal]:
    db: Path = tmp_path_factory.mktemp("writes") / "journal.db"
    key = new_key(db)
    with served(db, Protocol) as port:
        yield Journal(f"http://127.0.0.1:{port}", key)


def test_100_continue_does_not_wait_for_the_response(journal: Journal) -> None:
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


def test_pipelined_responses_come_in_order(journal: Journal) -> None:
    names = [f"p{number}" for number in range(6)]
    requests = [journal.head("GET /v1/me", name) for name in names[:-1]]
    requests.append(journal.head("HEAD /v1/me", names[-1], b"Connection: close"))
    with journal.connect() as connection:
        connection.sendall(b"".join(requests))
        said = heard(connection)

    assert re.findall(rb"x-request-id: (\w+)\r\n", said) == [name.encode() for name in names]


def test_a_streamed_file_arrives_whole(journal: Journal) -> None:
    with journal.client() as client:
        export = client.get("/trades/export")

    assert int(export.headers["content-length"]) == len(export.content)
    assert export.text.startswith("row,account,")


def test_a_request_that_was_answered_is_freed_at_once(journal: Journal) -> None:
    with journal.client() as client:
        client.get("/me")
        gc.collect()
        before = len(cycles())
        gc.disable()  # it goes at once, not when the garbage is collected
        try:
            for _ in range(10):
                assert client.get("/me").status_code == 200
            kept = len(cycles()) - before
        finally:
            gc.enable()

    assert kept <= 2  # the last of its connection, and the last of the connection before


def cycles() -> list[object]:
    """The requests in this process that are not freed."""
    return [one for one in gc.get_objects() if type(one) is RequestResponseCycle]
