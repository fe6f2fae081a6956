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
from contextlib import ExitStack
from pathlib import Path
from typing import Any, ClassVar, NamedTuple
from weakref import WeakSet

import httpx
import msgspec
import pytest
from commands import PATIENCE, WITHOUT_TLS, health, new_key, running
from conftest import ErrorEnvelope
from proofs import SOAK
from streams import served

from journal_api.server.protocol import Protocol
from journal_api.server.request_head import MAX_HEAD_SIZE

GET = b"GET /health HTTP/1.1\r\nHost: localhost\r\n"
LAST = b"Connection: close\r\n\r\n"


class Hurried(Protocol):
    """The protocol with little time, and a list of what lives of it."""

    idle_seconds = 1
    body_seconds = 1.5
    unread_seconds = 1
    alive: ClassVar[WeakSet[Protocol]] = WeakSet()

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.alive.add(self)


class Journal(NamedTuple):
    """A server that answers, and a key to it."""

    port: int
    key: str

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)

    def post(self, *headers: bytes) -> bytes:
        """The head of a request that makes a category."""
        first = (b"POST /v1/tag-categories HTTP/1.1", b"Host: localhost", b"Authorization: Bearer %b")
        return b"\r\n".join([*first, *headers, b"", b""]) % self.key.encode()


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Journal]:
    db = tmp_path_factory.mktemp("slow") / "journal.db"
    key = new_key(db)
    with served(db, Hurried) as port:
        yield Journal(port, key)


def rest_of(connection: socket.socket) -> bytes:
    """What is said until the server closes the connection."""
    said = b""
    while part := connection.recv(65536):
        said += part
    return said


def said_to_each(journal: Journal, every: list[bytes]) -> list[bytes]:
    """What is said to each on a connection of its own, all at once, until the server closes it."""
    with ExitStack() as stack:
        connections = [stack.enter_context(journal.connect()) for _ in every]
        for connection, sent in zip(connections, every, strict=True):
            connection.sendall(sent)
        return [rest_of(connection) for connection in connections]


def dribble(connection: socket.socket, part: bytes, seconds: float) -> bytes:
    """Send `part` again and again until the server closes the connection; what it says."""
    said = b""
    connection.settimeout(seconds)
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            connection.sendall(part)
            heard = connection.recv(65536)
        except TimeoutError:
            continue
        except ConnectionError:
            return said
        if not heard:
            return said
        said += heard
    raise AssertionError("the server never closed the connection")


def statuses(said: bytes) -> list[int]:
    return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d+)", said)]


def refusal_in(said: bytes) -> tuple[int, str]:
    """Status and code of the one answer, which is an error envelope and the last of its connection."""
    head, _, body = said.partition(b"\r\n\r\n")
    refused = msgspec.json.decode(body, type=ErrorEnvelope)
    assert f"x-request-id: {refused.meta.request_id}".encode() in head.lower()
    assert b"connection: close" in head.lower()
    (status,) = statuses(said)
    return status, refused.error.code


# Idle connections and headers ----------------------------------------------------------------------------


def test_a_connection_without_a_whole_request_is_closed(journal: Journal) -> None:
    incomplete = [b"", b"\r\n", b"GET /hea", GET, GET + b"X: half a val"]

    assert said_to_each(journal, incomplete) == [b""] * len(incomplete)


def test_headers_have_their_time_in_total_however_they_dribble(journal: Journal) -> None:
    with journal.connect() as connection:
        connection.sendall(GET + b"X: ")

        said = dribble(connection, b"x", Hurried.idle_seconds / 10)

    assert said == b""


def test_a_connection_is_closed_when_nothing_follows_an_answer(journal: Journal) -> None:
    with journal.connect() as connection:
        connection.sendall(GET + b"\r\n")

        said = rest_of(connection)

    assert statuses(said) == [200]


def test_half_a_request_after_an_answer_is_closed_however_it_dribbles(journal: Journal) -> None:
    with journal.connect() as connection:
        connection.sendall(GET + b"\r\n" + GET)

        said = dribble(connection, b"X: x\r\n", Hurried.idle_seconds / 10)

    assert statuses(said) == [200]


def test_a_connection_that_is_used_in_time_lives_longer_than_the_limit(journal: Journal) -> None:
    with journal.connect() as connection:
        answers = []
        for _ in range(5):
            connection.sendall(GET + b"\r\n")
            answers.append(connection.recv(65536))
            time.sleep(Hurried.idle_seconds * 0.25)  # a client that thinks

        connection.sendall(GET + LAST)
        last = rest_of(connection)

    assert [statuses(answer) for answer in answers] == [[200]] * 5
    assert statuses(last) == [200]


# Bodies ----------------------------------------------------------------------------------------------------


def test_a_body_that_stalls_is_408_after_what_was_answered_and_the_end_of_the_connection(
    journal: Journal,
) -> None:
    stalled = [
        journal.post(header) + sent
        for header, sent in (
            (b"Content-Length: 100", b""),
            (b"Content-Length: 100", b'{"name": "Half'),
            (b"Transfer-Encoding: chunked", b'5\r\n{"nam\r\n'),
            (b"Transfer-Encoding: chunked", b"5"),
        )
    ]

    *alone, after_another = said_to_each(journal, [*stalled, GET + b"\r\n" + stalled[1]])

    first, second = re.split(rb"(?<=.)(?=HTTP/1\.1 )", after_another, flags=re.DOTALL)
    assert statuses(first) == [200]
    assert [refusal_in(said) for said in [*alone, second]] == [(408, "request_timeout")] * 5


def test_a_body_that_keeps_moving_may_take_longer_than_the_limit(journal: Journal) -> None:
    body = b'{"name": "Slowly"}'
    started = time.monotonic()

    with journal.connect() as connection:
        connection.sendall(journal.post(b"Content-Length: %d" % len(body), b"Connection: close"))
        for at in range(0, len(body), 2):
            connection.sendall(body[at : at + 2])
            time.sleep(Hurried.body_seconds / 5)  # a slow line
        said = rest_of(connection)

    assert time.monotonic() - started > Hurried.body_seconds
    assert statuses(said) == [201]


def test_the_rest_of_a_body_that_nobody_needs_does_not_hold_the_connection(journal: Journal) -> None:
    with journal.connect() as connection:
        connection.sendall(GET + b"Content-Length: 1000000\r\n\r\n")

        said = dribble(connection, b"x", Hurried.idle_seconds / 10)

    assert statuses(said) == [200]


# Headers without end ---------------------------------------------------------------------------------------


def test_headers_just_under_the_cap_are_read(journal: Journal) -> None:
    value = b"x" * (MAX_HEAD_SIZE - len(GET + LAST + b"X: \r\n"))

    with journal.connect() as connection:
        connection.sendall(GET + b"X: " + value + b"\r\n" + LAST)
        said = rest_of(connection)

    assert statuses(said) == [200]


LARGE = b"x" * MAX_HEAD_SIZE
TOO_LARGE = {
    "one header": GET + b"X: " + LARGE + b"\r\n\r\n",
    "many headers": GET + b"X: x\r\n" * (MAX_HEAD_SIZE // 6) + b"\r\n",
    "the path": b"GET /" + LARGE + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "half a header": GET + b"X: " + LARGE,
    "half a path": b"GET /" + LARGE,
    "a header without end": GET + b"X: " + LARGE * 64,
    "after a request": GET + b"\r\n" + GET + b"X: " + LARGE + b"\r\n\r\n",
    "half a header after a request": GET + b"\r\n" + GET + b"X: " + LARGE * 16,
}


@pytest.mark.parametrize("sent", TOO_LARGE.values(), ids=TOO_LARGE)
def test_headers_over_the_cap_are_400_and_the_end_of_the_connection(journal: Journal, sent: bytes) -> None:
    with journal.connect() as connection:
        connection.sendall(sent)

        said = rest_of(connection)

    *before, refused = re.split(rb"(?<=.)(?=HTTP/1\.1 )", said, flags=re.DOTALL)
    assert [statuses(answer) for answer in before] == [[200]] * (sent.count(GET) - 1)
    assert refusal_in(refused) == (400, "validation_error")


@pytest.mark.parametrize("endless", [b"X: x\r\n", b"x"], ids=["many", "one"])
def test_trailers_over_the_cap_are_400(journal: Journal, endless: bytes) -> None:
    with journal.connect() as connection:
        connection.sendall(journal.post(b"Transfer-Encoding: chunked") + b"2\r\n{}\r\n0\r\nX: ")

        connection.sendall(endless * 1024 * 1024)
        said = rest_of(connection)

    assert refusal_in(said) == (400, "validation_error")


# Answers ---------------------------------------------------------------------------------------------------


def test_a_large_body_and_pipelined_requests_are_answered_in_order(journal: Journal) -> None:
    body = b'{"name": "Large"}'.ljust(1024 * 1024)
    requests = 2 * MAX_HEAD_SIZE // len(GET)  # their headers together are over the cap

    with journal.connect() as connection:
        connection.sendall(journal.post(b"Content-Length: %d" % len(body)) + body)
        connection.sendall((GET + b"\r\n") * requests + GET + LAST)
        said = rest_of(connection)

    assert statuses(said) == [201] + [200] * (requests + 1)


def test_requests_are_answered_before_what_follows_them_is_refused(journal: Journal) -> None:
    body = b'{"name": "Before garbage"}'
    post = journal.post(b"Content-Length: %d" % len(body)) + body

    with journal.connect() as connection:
        connection.sendall(post + GET + b"\r\nnot HTTP at all\r\n\r\n")
        said = rest_of(connection)

    assert statuses(said) == [201, 200, 400]


def test_a_bad_body_is_refused_after_the_request_before_it_is_answered(journal: Journal) -> None:
    with journal.connect() as connection:
        connection.sendall(GET + b"\r\n" + journal.post(b"Transfer-Encoding: chunked") + b"no size\r\n")

        said = rest_of(connection)

    assert statuses(said) == [200, 400]


def test_an_answered_request_is_not_answered_again_for_its_bad_body(journal: Journal) -> None:
    with journal.connect() as connection:
        connection.sendall(GET + b"Transfer-Encoding: chunked\r\n\r\n")
        answered = connection.recv(65536)

        connection.sendall(b"no size\r\n")
        said = rest_of(connection)

    assert statuses(answered) == [200]
    assert said == b""


def test_a_request_for_another_protocol_is_answered_in_this_one(journal: Journal) -> None:
    with journal.connect() as connection:
        connection.sendall(GET + b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n")

        said = rest_of(connection)

    assert statuses(said) == [200]


def test_answers_that_the_client_does_not_read_end_the_connection(
    journal: Journal, caplog: pytest.LogCaptureFixture
) -> None:
    asked = 1000  # more than the buffers of both sides hold

    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(PATIENCE)
        connection.connect(("127.0.0.1", journal.port))
        connection.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * asked)
        wait_until_only_closed_connections_are_left()

        # What the system has taken of the server would else trickle in for half a minute.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2**20)
        answered = dribble(connection, b"", PATIENCE)

    assert len(statuses(answered)) < asked
    assert "Exception" not in caplog.text


def wait_until_only_closed_connections_are_left() -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        gc.collect()
        if not Hurried.alive:
            return
        assert time.monotonic() < deadline, "the server keeps something of a closed connection"
        time.sleep(0.05)


def test_nothing_is_kept_of_a_closed_connection(journal: Journal) -> None:
    starts = (b"", GET, GET + b"\r\n", journal.post(b"Content-Length: 9") + b"{", b"not HTTP\r\n\r\n")

    for sent in starts:
        with journal.connect() as connection:
            connection.sendall(sent)

    wait_until_only_closed_connections_are_left()


# The end of the server -----------------------------------------------------------------------------------


@pytest.mark.promise(9)
def test_a_request_that_the_end_of_the_server_cuts_off_is_503_in_the_envelope(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    key = new_key(tmp_path / "journal.db")
    with ExitStack() as stack:
        with served(tmp_path / "journal.db", Protocol) as port:
            journal = Journal(port, key)
            connection = stack.enter_context(journal.connect())
            connection.sendall(journal.post(b"Content-Length: 100") + b'{"name": "Half')
            assert health(f"http://127.0.0.1:{port}").status_code == 200
        said = rest_of(connection)

    assert refusal_in(said) == (503, "busy")
    assert b"retry-after: 1\r\n" in said
    assert "Exception" not in caplog.text


# A crowd ---------------------------------------------------------------------------------------------------


class Crowd(NamedTuple):
    """How many of each, and how long the last of them may stay."""

    idle: int
    half_sent: int
    stalled: int
    seconds: float


CROWD = Crowd(500, 200, 100, 45) if SOAK else Crowd(50, 20, 10, PATIENCE)


@pytest.fixture
def crowded(tmp_path: Path, journal: Journal) -> Iterator[Journal]:
    """The hurried server; for the full numbers one in a process of its own with the limits as they are."""
    if not SOAK:
        yield journal
        return
    key = new_key(tmp_path / "journal.db")
    with running(tmp_path / "journal.db") as server:
        yield Journal(httpx.URL(server.url).port or 0, key)


@pytest.mark.promise(7)
def test_a_crowd_of_slow_clients_is_sent_away_while_others_are_answered(
    crowded: Journal, record_observation: Callable[[str], None]
) -> None:
    stalled = crowded.post(b"Content-Length: 100") + b"{"
    starts = [b""] * CROWD.idle + [GET + b"X"] * CROWD.half_sent + [stalled] * CROWD.stalled

    with ExitStack() as stack:
        slow = [stack.enter_context(crowded.connect()) for _ in starts]
        for connection, start in zip(slow, starts, strict=True):
            connection.sendall(start)
        said, answers = ask_while_they_stay(crowded, slow)

    assert {answer.status_code for answer in answers} == {200}
    assert Counter(tuple(statuses(heard)) for heard in said) == {
        (): CROWD.idle + CROWD.half_sent,
        (408,): CROWD.stalled,
    }
    seconds = [answer.elapsed.total_seconds() for answer in answers]
    p99 = statistics.quantiles(seconds, n=100)[98]
    record_observation(
        f"{CROWD.idle} idle, {CROWD.half_sent} half-sent, {CROWD.stalled} stalled: all sent away, "
        f"p99 of {len(answers)} other requests {p99 * 1000:.1f} ms"
    )
    if SOAK:
        assert p99 < 0.05


def ask_while_they_stay(
    journal: Journal, slow: list[socket.socket]
) -> tuple[list[bytes], list[httpx.Response]]:
    """What each slow client heard until it was sent away, and the answers to the others meanwhile."""
    said = dict.fromkeys(slow, b"")
    answers = []
    deadline = time.monotonic() + CROWD.seconds
    headers = {"Authorization": f"Bearer {journal.key}"}
    with (
        selectors.DefaultSelector() as open_still,
        httpx.Client(headers=headers, timeout=PATIENCE, verify=WITHOUT_TLS) as client,
    ):
        for connection in slow:
            open_still.register(connection, selectors.EVENT_READ)
        while open_still.get_map():
            assert time.monotonic() < deadline, f"{len(open_still.get_map())} of {len(slow)} are still there"
            answers.append(client.get(f"http://127.0.0.1:{journal.port}/v1/tags"))
            for ready, _ in open_still.select(0.01):
                heard = ready.fileobj.recv(65536)  # type: ignore[union-attr]  # a socket
                said[ready.fileobj] += heard  # type: ignore[index]
                if not heard:
                    open_still.unregister(ready.fileobj)
    return list(said.values()), answers
