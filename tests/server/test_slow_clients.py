"""Clients that keep a connection and the service waiting: docs/reliability.md 7 and #connections.

The limits are shortened here. With JOURNAL_SOAK=1 the crowd comes in full numbers, to the server as it is.
"""

import gc
import re
import selectors
import socket
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, ClassVar, NamedTuple
from weakref import WeakSet

import httpx
import pytest
from commands import PATIENCE, health, new_key, running, wait_until
from proofs import SOAK
from streams import CLOSE, Journal, is_open, parse_responses, read_to_end, serve_in_thread

from journal_api.server.protocol import Protocol
from journal_api.server.request_head import MAX_HEAD_SIZE

GET = b"GET /health HTTP/1.1\r\nHost: localhost\r\n"
LAST = CLOSE + b"\r\n\r\n"
CATEGORIES = "POST /v1/tag-categories"


class Hurried(Protocol):
    """The protocol with short limits, and a list of its living connections."""

    idle_seconds = 1
    body_seconds = 1.5
    unread_seconds = 1
    alive: ClassVar[WeakSet[Protocol]] = WeakSet()

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.alive.add(self)


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Journal]:
    with serve_in_thread(tmp_path_factory.mktemp("slow") / "journal.db", Hurried) as journal:
        yield journal


def post(journal: Journal, *headers: bytes) -> bytes:
    return journal.head(CATEGORIES, "post", *headers)


def statuses(received: bytes) -> list[int]:
    return [response.status for response in parse_responses(received)]


class Slow(NamedTuple):
    """What a client sends first, and what it sends again and again until the connection is closed."""

    start: bytes
    dribble: bytes = b""


def read_of_each(
    journal: Journal,
    clients: list[Slow],
    meanwhile: Callable[[], object] = lambda: None,
    seconds: float = PATIENCE,
) -> list[bytes]:
    """What each client reads until the server closes its connection; all are connected at once."""
    received = [b""] * len(clients)
    deadline = time.monotonic() + seconds
    with ExitStack() as stack, selectors.DefaultSelector() as connected:
        for number, client in enumerate(clients):
            connection = stack.enter_context(journal.connect())
            connection.sendall(client.start)
            connected.register(connection, selectors.EVENT_READ, number)
        while connected.get_map():
            assert time.monotonic() < deadline, "the server never closed a connection"
            meanwhile()
            for key, _ in connected.select(0.05):
                part = read_part(key.fileobj)  # type: ignore[arg-type]  # a socket
                received[key.data] += part
                if not part:
                    connected.unregister(key.fileobj)
            for key in list(connected.get_map().values()):
                if clients[key.data].dribble:
                    send(key.fileobj, clients[key.data].dribble)  # type: ignore[arg-type]  # a socket
    return received


def read_part(connection: socket.socket) -> bytes:
    try:
        return connection.recv(65536)
    except ConnectionError:
        return b""


def send(connection: socket.socket, data: bytes) -> None:
    with suppress(ConnectionError):  # the next read notices it
        connection.sendall(data)


# Idle connections, headers and bodies ---------------------------------------------------------------------


def test_clients_that_keep_the_service_waiting_are_sent_away(journal: Journal) -> None:
    with_length, with_chunks = b"Content-Length: 100", b"Transfer-Encoding: chunked"
    clients: dict[str, tuple[Slow, list[int]]] = {
        "nothing": (Slow(b""), []),
        "an empty line": (Slow(b"\r\n"), []),
        "half a path": (Slow(b"GET /hea"), []),
        "half the headers": (Slow(GET), []),
        "half a header": (Slow(GET + b"X: half a val"), []),
        "a header that dribbles": (Slow(GET + b"X: ", b"x"), []),
        "nothing after a response": (Slow(GET + b"\r\n"), [200]),
        "headers that dribble after a response": (Slow(GET + b"\r\n" + GET, b"X: x\r\n"), [200]),
        "no body": (Slow(post(journal, with_length)), [408]),
        "half a body": (Slow(post(journal, with_length) + b'{"name": "Half'), [408]),
        "half the chunks": (Slow(post(journal, with_chunks) + b'5\r\n{"nam\r\n'), [408]),
        "half the size of a chunk": (Slow(post(journal, with_chunks) + b"5"), [408]),
        "half a body after a response": (Slow(GET + b"\r\n" + post(journal, with_length) + b"{"), [200, 408]),
    }

    received = read_of_each(journal, [client for client, _ in clients.values()])

    found = dict(zip(clients, map(statuses, received), strict=True))
    assert found == {name: expected for name, (_, expected) in clients.items()}
    assert all(b"connection: close" in one.lower() for one in received if b" 408 " in one)


class Patient(Protocol):
    """Never sends anybody away in a test."""

    idle_seconds = body_seconds = unread_seconds = 10 * PATIENCE


class IdleShortly(Patient):
    idle_seconds = 1


class StalledShortly(Patient):
    body_seconds = 1


@pytest.mark.parametrize("protocol", [IdleShortly, StalledShortly])
def test_each_limit_sends_away_its_own_clients_only(tmp_path: Path, protocol: type[Protocol]) -> None:
    with serve_in_thread(tmp_path / "journal.db", protocol) as journal, ExitStack() as stack:
        length = b"Content-Length: 100"
        idle = [b"", GET, GET + b"\r\n"]
        stalled = [post(journal, length) + b"{", GET + length + b"\r\n\r\n{"]
        leaving, staying = (idle, stalled) if protocol is IdleShortly else (stalled, idle)
        others = [stack.enter_context(journal.connect()) for _ in staying]
        for connection, sent in zip(others, staying, strict=True):
            connection.sendall(sent)

        read_of_each(journal, [Slow(sent) for sent in leaving])

        assert all(map(is_open, others))


def test_the_limits_are_the_documented_ones() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reliability.md").read_text()

    stated = re.search(r"A connection has (\d+) s to send.* may be (\d+) s;", page, re.DOTALL)

    assert stated is not None
    idle, stalled = map(int, stated.groups())
    assert (idle, stalled, stalled) == (
        *(Protocol.idle_seconds, Protocol.body_seconds, Protocol.unread_seconds),
    )


def test_a_body_that_nobody_needs_has_the_time_of_a_body_and_no_more(journal: Journal) -> None:
    started = time.monotonic()

    (received,) = read_of_each(journal, [Slow(GET + b"Content-Length: 1000000\r\n\r\n", b"x")])

    assert statuses(received) == [200]
    assert time.monotonic() - started >= Hurried.body_seconds


def test_a_connection_that_is_used_in_time_lives_longer_than_the_limit(journal: Journal) -> None:
    with journal.connect() as connection:
        received = b""
        for _ in range(5):
            connection.sendall(GET + b"\r\n")
            received += connection.recv(65536)
            time.sleep(Hurried.idle_seconds * 0.25)  # a client that thinks

        connection.sendall(GET + LAST)
        received += read_to_end(connection)

    assert statuses(received) == [200] * 6


def test_a_body_that_keeps_moving_may_take_longer_than_the_limit(journal: Journal) -> None:
    body = b'{"name": "Slowly"}'
    started = time.monotonic()

    with journal.connect() as connection:
        connection.sendall(post(journal, b"Content-Length: %d" % len(body), CLOSE))
        for at in range(0, len(body), 3):
            connection.sendall(body[at : at + 3])
            time.sleep(Hurried.body_seconds / 5)  # a slow line
        received = read_to_end(connection)

    assert time.monotonic() - started > Hurried.body_seconds
    assert statuses(received) == [201]


# Headers without end ---------------------------------------------------------------------------------------

LARGE = b"x" * MAX_HEAD_SIZE
HEADS = {
    "just under the limit": (GET + b"X: %b\r\n" % LARGE[len(GET + LAST + b"X: \r\n") :] + LAST, [200]),
    "one header": (GET + b"X: " + LARGE + b"\r\n\r\n", [400]),
    "many headers": (GET + b"X: x\r\n" * (MAX_HEAD_SIZE // 6) + b"\r\n", [400]),
    "the path": (b"GET /" + LARGE + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", [400]),
    "half a header": (GET + b"X: " + LARGE, [400]),
    "half a path": (b"GET /" + LARGE, [400]),
    "a header without end": (GET + b"X: " + LARGE * 64, [400]),
    "after a request": (GET + b"\r\n" + GET + b"X: " + LARGE + b"\r\n\r\n", [200, 400]),
    "half a header after a request": (GET + b"\r\n" + GET + b"X: " + LARGE * 16, [200, 400]),
    "trailers": (CATEGORIES.encode() + b" %b2\r\n{}\r\n0\r\n" + b"X: x\r\n" * 10**5, [400]),
    "half a trailer": (CATEGORIES.encode() + b" %b2\r\n{}\r\n0\r\nX: " + LARGE * 16, [400]),
}


@pytest.mark.parametrize(("sent", "expected"), HEADS.values(), ids=HEADS)
def test_headers_and_trailers_over_the_limit_are_400(
    journal: Journal, sent: bytes, expected: list[int]
) -> None:
    with_body = post(journal, b"Transfer-Encoding: chunked")
    with journal.connect() as connection:
        send(connection, sent.replace(CATEGORIES.encode() + b" %b", with_body))

        received = read_to_end(connection)

    assert statuses(received) == expected
    assert parse_responses(received)[-1].is_last


# What is kept of a connection ------------------------------------------------------------------------------


def wait_until_only_closed_connections_are_left() -> None:
    def nothing_is_alive() -> bool:
        gc.collect()
        return not Hurried.alive

    wait_until(nothing_is_alive)


def test_a_connection_whose_responses_are_not_read_is_closed(
    journal: Journal, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", journal.port))
        # More than the buffers of both sides hold.
        connection.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 1000)
        wait_until_only_closed_connections_are_left()

    assert "Exception" not in caplog.text


def test_nothing_is_kept_of_a_closed_connection(journal: Journal) -> None:
    for sent in (b"", GET, GET + b"\r\n", post(journal, b"Content-Length: 9") + b"{", b"not HTTP\r\n\r\n"):
        with journal.connect() as connection:
            connection.sendall(sent)

    wait_until_only_closed_connections_are_left()


# The end of the server -----------------------------------------------------------------------------------


@pytest.mark.promise(9)
def test_a_request_that_the_end_of_the_server_cuts_off_is_503_in_the_envelope(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with ExitStack() as stack:
        with serve_in_thread(tmp_path / "journal.db") as journal:
            connection = stack.enter_context(journal.connect())
            connection.sendall(post(journal, b"Content-Length: 100") + b'{"name": "Half')
            assert health(journal.url).status_code == 200
        received = read_to_end(connection)

    assert parse_responses(received) == [(503, b"post", True)]
    assert b'"code":"busy"' in received
    assert b"retry-after: 1\r\n" in received
    assert "Exception" not in caplog.text


# A crowd ---------------------------------------------------------------------------------------------------


class Crowd(NamedTuple):
    """The number of clients of each kind, and how long the last of them may stay."""

    idle: int
    half_sent: int
    stalled: int
    seconds: float


CROWD = Crowd(500, 200, 100, 45) if SOAK else Crowd(50, 20, 10, PATIENCE)


@pytest.fixture
def crowded(tmp_path: Path, journal: Journal) -> Iterator[Journal]:
    """The server with short limits; for the full numbers a server process with the limits as they are."""
    if not SOAK:
        yield journal
        return
    key = new_key(tmp_path / "journal.db")
    with running(tmp_path / "journal.db") as server:
        yield Journal(server.url, key)


@pytest.mark.promise(7)
def test_a_crowd_of_slow_clients_is_sent_away_while_others_are_answered(
    crowded: Journal, record_observation: Callable[[str], None]
) -> None:
    stalled = Slow(post(crowded, b"Content-Length: 100") + b"{")
    clients = [Slow(b"")] * CROWD.idle + [Slow(GET + b"X")] * CROWD.half_sent + [stalled] * CROWD.stalled
    others: list[httpx.Response] = []

    with crowded.client() as client:
        received = read_of_each(crowded, clients, lambda: others.append(client.get("/tags")), CROWD.seconds)

    assert {response.status_code for response in others} == {200}
    assert Counter(tuple(statuses(one)) for one in received) == {
        (): CROWD.idle + CROWD.half_sent,
        (408,): CROWD.stalled,
    }
    p99 = statistics.quantiles([response.elapsed.total_seconds() for response in others], n=100)[98]
    record_observation(
        f"{CROWD.idle} idle, {CROWD.half_sent} half-sent, {CROWD.stalled} stalled: all sent away, "
        f"p99 of {len(others)} other requests {p99 * 1000:.1f} ms"
    )
    if SOAK:
        assert p99 < 0.05
