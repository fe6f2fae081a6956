"""Clients that keep a connection and the service waiting: docs/reliability.md 7 and #connections.

The server's clock goes on when a test says so. With JOURNAL_SOAK=1 the crowd comes in full numbers, to a
server process.
"""

import gc
import re
import selectors
import socket
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest
from commands import PATIENCE, health, new_key, running, wait_until
from proofs import SOAK
from streams import CLOSE, Clock, Journal, Served, parse_responses, read_to_end, serve_in_thread

from journal_api.server.protocol import Protocol
from journal_api.server.request_head import MAX_HEAD_SIZE

GET = b"GET /health HTTP/1.1\r\nHost: localhost\r\n"
LAST = CLOSE + b"\r\n\r\n"
CATEGORIES = "POST /v1/tag-categories"
LENGTH = b"Content-Length: 100"


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serve_in_thread(tmp_path_factory.mktemp("slow") / "journal.db", Clock) as journal:
        yield journal


def post(journal: Journal, *headers: bytes) -> bytes:
    return journal.head(CATEGORIES, "post", *headers)


def statuses(received: bytes) -> list[int]:
    return [response.status for response in parse_responses(received)]


def send(connection: socket.socket, data: bytes) -> None:
    with suppress(ConnectionError):  # the server has closed it
        connection.sendall(data)


class Client:
    """A connection, and what the server has sent on it."""

    def __init__(self, stack: ExitStack, journal: Served) -> None:
        self.connection = stack.enter_context(journal.connect())
        self.journal, self.side = journal, journal.side_of(self.connection)
        self.sent, self.received, self.is_open = 0, b"", True

    def send(self, data: bytes) -> None:
        """Send these bytes; return when the server has read them and waits for more."""
        send(self.connection, data)
        self.sent += len(data)
        side = self.side
        wait_until(lambda: self.journal.in_loop(lambda: side.has_read(self.sent) and side.waits_for_client))

    def read(self) -> "Client":
        """Read what is there."""
        self.connection.setblocking(False)
        try:
            while part := self.connection.recv(65536):
                self.received += part
            self.is_open = False
        except BlockingIOError:
            pass
        except ConnectionError:
            self.is_open = False
        self.connection.setblocking(True)
        return self


class Slow(NamedTuple):
    """What a client sends first, what it sends a second before its time is over, and what it reads."""

    start: bytes
    dribble: bytes = b""
    statuses: Sequence[int] = ()


@pytest.mark.parametrize(("idle", "body"), [(10, 30), (30, 10)], ids=["as documented", "the other way"])
def test_clients_that_keep_the_service_waiting_are_sent_away_in_time(
    journal: Served, monkeypatch: pytest.MonkeyPatch, idle: float, body: float
) -> None:
    monkeypatch.setattr(journal.protocol, "idle_seconds", idle)
    monkeypatch.setattr(journal.protocol, "body_seconds", body)
    with_length, with_chunks = post(journal, LENGTH), post(journal, b"Transfer-Encoding: chunked")
    idling = {
        "nothing": Slow(b""),
        "an empty line": Slow(b"\r\n"),
        "half a path": Slow(b"GET /hea"),
        "half the headers": Slow(GET),
        "half a header": Slow(GET + b"X: half a val"),
        "a header that dribbles": Slow(GET + b"X: ", b"x"),
        "nothing after a response": Slow(GET + b"\r\n", b"", [200]),
        "headers that dribble after a response": Slow(GET + b"\r\n" + GET, b"X: x\r\n", [200]),
    }
    stalling = {
        "no body": Slow(with_length, b"", [408]),
        "half a body": Slow(with_length + b'{"name": "Half', b"", [408]),
        "half the chunks": Slow(with_chunks + b'5\r\n{"nam\r\n', b"", [408]),
        "half the size of a chunk": Slow(with_chunks + b"5", b"", [408]),
        "half a body after a response": Slow(GET + b"\r\n" + with_length + b"{", b"", [200, 408]),
        "a body that nobody needs": Slow(GET + b"Content-Length: 1000000\r\n\r\n", b"x", [200]),
    }
    groups = sorted([(idle, idling), (body, stalling)], key=lambda group: group[0])

    with ExitStack() as stack:
        clients = {name: Client(stack, journal) for _, rows in groups for name in rows}
        for _, rows in groups:
            for name, row in rows.items():
                clients[name].send(row.start)
                done = [status for status in row.statuses if status == 200]
                wait_until(lambda: statuses(clients[name].read().received) == done)  # noqa: B023
        now = 0.0
        for limit, rows in groups:
            journal.pass_time(limit - 1 - now)
            for name, row in rows.items():
                assert clients[name].read().is_open, name
                clients[name].send(row.dribble)
            journal.pass_time(1)
            now = limit
            wait_until(lambda: not any(clients[name].read().is_open for name in rows))  # noqa: B023
            assert {name: statuses(clients[name].received) for name in rows} == {
                name: [*row.statuses] for name, row in rows.items()
            }

        received = [client.received for client in clients.values()]
        assert all(b"connection: close" in one.lower() for one in received if b" 408 " in one)


def test_the_limits_are_the_documented_ones() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reliability.md").read_text()

    stated = re.search(r"A connection has (\d+) s to send.* may be (\d+) s;", page, re.DOTALL)

    assert stated is not None
    idle, stalled = map(int, stated.groups())
    assert (idle, stalled, stalled) == (*(Protocol.idle_seconds, Protocol.body_seconds, Protocol.unread_seconds),)


BODY = b'{"name": "Slowly"}'


@pytest.mark.parametrize(
    ("packets", "seconds", "expected"),
    [
        ([GET + b"\r\n"] * 5 + [GET + LAST], Protocol.idle_seconds, [200] * 6),
        ([b"Content-Length: %d" % len(BODY), *(BODY[at : at + 3] for at in range(0, 18, 3))], 30, [201]),
    ],
    ids=["requests", "a body"],
)
def test_a_client_that_goes_on_in_time_may_take_longer_than_the_limit(
    journal: Served, packets: list[bytes], seconds: float, expected: list[int]
) -> None:
    if expected == [201]:
        packets = [post(journal, packets[0], CLOSE), *packets[1:]]
    with ExitStack() as stack:
        client = Client(stack, journal)
        for packet in packets:
            client.send(packet)
            journal.pass_time(seconds - 1)
        received = client.received + read_to_end(client.connection)

    assert statuses(received) == expected


def test_the_time_of_a_body_begins_after_the_response_before_it(journal: Served) -> None:
    with ExitStack() as stack, journal.client() as other:
        since = other.get("/tags").headers["x-cursor"]
        client = Client(stack, journal)
        waiting = journal.head(f"GET /v1/changes?since={since}&wait=60", "waiting")
        client.connection.sendall(waiting + post(journal, LENGTH) + b"{")

        while not journal.in_loop(lambda: client.side.waits_for_body):
            journal.pass_time(1)
        # Time may have gone on since the response was complete.
        left = client.side.waiting_since + Protocol.body_seconds - journal.loop.time()
        assert left > Protocol.body_seconds / 2
        journal.pass_time(left - 1)
        assert client.read().is_open
        journal.pass_time(1)

        assert statuses(client.read().received) == [200, 408]


LARGE = b"x" * MAX_HEAD_SIZE
# What the target and the headers leave to the value of another header.
ROOM = MAX_HEAD_SIZE - len("/healthHost: localhost\r\nConnection: close\r\nX: \r\n")
HEADS = {
    "just the limit": (GET + b"X: " + LARGE[:ROOM] + b"\r\n" + LAST, [200]),
    "a byte over the limit": (GET + b"X: " + LARGE[: ROOM + 1] + b"\r\n" + LAST, [400]),
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
def test_headers_and_trailers_over_the_limit_are_400(journal: Served, sent: bytes, expected: list[int]) -> None:
    with_body = post(journal, b"Transfer-Encoding: chunked")
    with journal.connect() as connection:
        send(connection, sent.replace(CATEGORIES.encode() + b" %b", with_body))

        received = read_to_end(connection)

    assert statuses(received) == expected
    assert parse_responses(received)[-1].is_last
    assert (b" larger than 65536 bytes." in received) == (expected[-1] == 400)


def test_nothing_is_kept_of_a_closed_connection(journal: Served) -> None:
    for sent in (b"", GET, GET + b"\r\n", post(journal, b"Content-Length: 9") + b"{", b"not HTTP\r\n\r\n"):
        with journal.connect() as connection:
            connection.sendall(sent)

    def nothing_is_alive() -> bool:
        gc.collect()
        return not journal.protocol.alive

    wait_until(nothing_is_alive)


@pytest.mark.promise(9)
def test_a_request_that_the_end_of_the_server_cuts_off_is_503_in_the_envelope(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with ExitStack() as stack:
        with serve_in_thread(tmp_path / "journal.db", Clock) as journal:
            connection = stack.enter_context(journal.connect())
            connection.sendall(post(journal, b"Content-Length: 100") + b'{"name": "Half')
            assert health(journal.url).status_code == 200
        received = read_to_end(connection)

    assert parse_responses(received) == [(503, b"post", True)]
    assert b'"code":"busy"' in received
    assert b"retry-after: 1\r\n" in received
    assert "Exception" not in caplog.text


class Crowd(NamedTuple):
    """The number of clients of each kind, and how long the last of them may stay."""

    idle: int
    half_sent: int
    stalled: int
    seconds: float


CROWD = Crowd(500, 200, 100, 45) if SOAK else Crowd(15, 8, 5, PATIENCE)


@pytest.fixture
def crowded(tmp_path: Path, journal: Served) -> Iterator[Journal]:
    """The server whose clock goes on; for the full numbers a server process."""
    if not SOAK:
        yield journal
        return
    key = new_key(tmp_path / "journal.db")
    with running(tmp_path / "journal.db") as server:
        yield Journal(server.url, key)


def read_of_each(journal: Journal, sent: list[bytes], meanwhile: Callable[[], object]) -> list[bytes]:
    """What clients that send no more read until the server closes their connections."""
    received = [b""] * len(sent)
    deadline = time.monotonic() + CROWD.seconds
    with ExitStack() as stack, selectors.DefaultSelector() as connected:
        for number, start in enumerate(sent):
            connection = stack.enter_context(journal.connect())
            connection.sendall(start)
            connected.register(connection, selectors.EVENT_READ, number)
            if isinstance(journal, Served):
                side = journal.side_of(connection)
                wait_until(lambda: side.has_read(len(start)))  # noqa: B023  # called here
        while connected.get_map():
            assert time.monotonic() < deadline, "the server never closed a connection"
            meanwhile()
            if isinstance(journal, Served):
                journal.pass_time(1)
            for key, _ in connected.select(0 if isinstance(journal, Served) else 0.05):
                part = read_part(key.fileobj)  # type: ignore[arg-type]  # a socket
                received[key.data] += part
                if not part:
                    connected.unregister(key.fileobj)
    return received


def read_part(connection: socket.socket) -> bytes:
    try:
        return connection.recv(65536)
    except ConnectionError:
        return b""


@pytest.mark.promise(7)
def test_a_crowd_of_slow_clients_is_sent_away_while_others_are_answered(
    crowded: Journal, record_observation: Callable[[str], None]
) -> None:
    stalled = post(crowded, LENGTH) + b"{"
    sent = [b""] * CROWD.idle + [GET + b"X"] * CROWD.half_sent + [stalled] * CROWD.stalled
    others: list[httpx.Response] = []

    with crowded.client() as client:
        received = read_of_each(crowded, sent, lambda: others.append(client.get("/tags")))

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
