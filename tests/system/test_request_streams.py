"""Random streams of requests: the server answers those that h11 finds in them, and no others.

With JOURNAL_SOAK=1 they come in full numbers.
"""

import socket
import time
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import h11
import pytest
from commands import new_key
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from proofs import examples
from streams import HOST, Journal, answers_in, is_in_step, served

from journal_api.server.protocol import Protocol


class Hurried(Protocol):
    """The protocol with little time for what is incomplete."""

    idle_seconds = 1
    body_seconds = 0.3


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Journal]:
    """A server in this process, on an event loop of its own."""
    db = tmp_path_factory.mktemp("streams") / "journal.db"
    key = new_key(db)
    with served(db, Hurried) as port:
        yield Journal(f"http://127.0.0.1:{port}", key)


LINES = (
    *("GET /health", "HEAD /health", "OPTIONS /v1/tags", "GET /v1/tags", "HEAD /v1/tags", "POST /v1/tags"),
    *("POST /v1/tag-categories", "DELETE /v1/tags/1", "PUT /v1/tags", "PATCH /v1/tags/1", "GET /nowhere"),
    *("POST /health", "GET http://localhost/health", "GET http://evil.example/health"),
)
EXTRAS = (
    *(b"Connection: Upgrade\r\nUpgrade: h2c", b"Connection: upgrade, close\r\nUpgrade: websocket"),
    *(b"Upgrade: foo", b"Connection: Upgrade", b"Connection: close", b"Connection: keep-alive"),
    *(b"Connection: x\r\nConnection: UPGRADE\r\nUPGRADE: x/1, y", b"Expect: 100-continue", b"Expect: x"),
    *(
        b"Content-Type: application/json",
        b"TE: trailers",
        b"Trailer: Host",
        b"X: \x80\xff",
        b"X:",
        b"X:\t x \t",
    ),
)
LENGTHS = (b"Content-Length: %d", b"content-length:%d", b"Content-Length: \t%d \t", b"CONTENT-LENGTH: %d")
ODD_LENGTHS = (
    *(b"Content-Length: %d\r\nContent-Length: %d", b"Content-Length: %d, %d", b"Content-Length: +%d"),
    *(b"Content-Length: 0%d", b"Content-Length : %d", b" Content-Length: %d", b"Content-Length: 0x%x"),
    *(b"Content-Length:\r\n %d", b"Content-Length: %d\r\nContent-Length: 0", b"Content-Length: -%d"),
    *(
        b"X: x\nContent-Length: %d",
        b"X: x\rContent-Length: %d",
        b"Content-Length: %d\x0b",
        b"Content_Length: %d",
    ),
)
CHUNKED = (b"Transfer-Encoding: chunked", b"transfer-encoding:CHUNKED", b"Transfer-Encoding: \tchunked \t")
ODD_CODINGS = (
    *(b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", b"Transfer-Encoding: gzip, chunked"),
    *(b"Transfer-Encoding : chunked", b" Transfer-Encoding: chunked", b"Transfer-Encoding: xchunked"),
    *(
        b"Transfer-Encoding: identity",
        b"Transfer-Encoding:\r\n chunked",
        b"Transfer-Encoding: chunked, identity",
    ),
    *(b"Transfer-Encoding: \x0bchunked", b"X: x\nTransfer-Encoding: chunked", b"Transfer_Encoding: chunked"),
    *(b"Transfer-Encoding: identity\r\nTransfer-Encoding: chunked", b'Transfer-Encoding: "chunked"'),
)
TRAILERS = (
    *(
        b"",
        b"",
        b"",
        b"X: x\r\n",
        b"Host: evil.example\r\n",
        b"Content-Length: 7\r\n",
        b"X-Request-Id: x\r\n",
    ),
    *(
        b"Connection: Upgrade\r\nUpgrade: h2c\r\n",
        b"Transfer-Encoding: chunked\r\n",
        b"Connection: close\r\n",
    ),
)
SIZES = (b"%x\r\n%b\r\n", b"%X\r\n%b\r\n", b"0%x\r\n%b\r\n", b"%x;a=b\r\n%b\r\n", b'%x;a="b"\r\n%b\r\n')
ODD_SIZES = (
    *(b"%x \r\n%b\r\n", b"%x\n%b\r\n", b"%x\r\n%b", b"0x%x\r\n%b\r\n", b"%x\r\n%b\n", b"%x;\n\r\n%b\r\n"),
    *(b"+%x\r\n%b\r\n", b"%x\r\n%bx\r\n", b"10000000000000000%x\r\n%b\r\n", b'%x;a="\r\n%b\r\n'),
)


class Stream(NamedTuple):
    """Requests, and where their bytes are cut into packets."""

    data: bytes
    cuts: list[int]

    def packets(self) -> list[bytes]:
        at = sorted({0, len(self.data), *(cut % (len(self.data) + 1) for cut in self.cuts)})
        return [self.data[start:end] for start, end in pairwise(at)]


@st.composite
def requests(draw: st.DrawFn, key: str, number: int) -> bytes:
    """One, well framed for the most part; its body may itself be a request."""
    inner = b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: in-%d\r\n\r\n" % number
    body = draw(
        st.sampled_from([b"", b"{}", b'{"name": "Random"}', inner, inner, b"x" + inner, b"0\r\n\r\n" + inner])
    )
    lines = [HOST, b"X-Request-Id: out-%d" % number]
    lines += draw(st.sampled_from([[], [b"Authorization: Bearer " + key.encode()]]))
    lines += draw(st.lists(st.sampled_from(EXTRAS), max_size=2))
    kind = draw(
        st.sampled_from(
            ["none", "length", "length", "chunked", "chunked", "odd length", "odd coding", "both"]
        )
    )
    if kind == "chunked" or (kind == "odd coding" and draw(st.booleans())):
        sizes = SIZES + (ODD_SIZES if draw(st.integers(0, 4)) == 0 else ())
        form = draw(st.sampled_from(sizes))
        sent = (
            (form % (len(body), body) if body else b"") + b"0\r\n" + draw(st.sampled_from(TRAILERS)) + b"\r\n"
        )
    else:
        sent = body
    if "length" in kind or kind == "both":
        form = draw(st.sampled_from(ODD_LENGTHS if kind == "odd length" else LENGTHS))
        lines.append(form % ((len(body),) * form.count(b"%")))
    if "chunked" in kind or kind == "both":
        lines.append(draw(st.sampled_from(CHUNKED)))
    if kind == "odd coding":
        lines.append(draw(st.sampled_from(ODD_CODINGS)))
    if kind == "none":
        sent = b""
    lines = draw(st.permutations(lines))
    version = draw(st.sampled_from(["1.1"] * 7 + ["1.0"]))
    start = f"{draw(st.sampled_from(LINES))} HTTP/{version}".encode()
    return b"\r\n".join([start, *lines, b"", sent])


@st.composite
def streams(draw: st.DrawFn, key: str) -> Stream:
    """Up to four, and one more that ends the connection."""
    sent = [draw(requests(key, number)) for number in range(draw(st.integers(1, 4)))]
    last = b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: last\r\nConnection: close\r\n\r\n"
    return Stream(b"".join(sent) + last, draw(st.lists(st.integers(0, 4000), max_size=6)))


def ids_found_by_h11(data: bytes) -> list[bytes]:
    """The ids of the requests in the data, up to where the connection ends or is in error."""
    connection = h11.Connection(h11.SERVER)
    connection.receive_data(data)
    found: list[bytes] = []
    while True:
        try:
            event = connection.next_event()
        except h11.RemoteProtocolError:
            return found
        if isinstance(event, h11.Request):
            found.append(dict(event.headers).get(b"x-request-id", b""))
        elif isinstance(event, h11.EndOfMessage):
            connection.send(h11.Response(status_code=200, headers=[("Content-Length", "0")]))
            connection.send(h11.EndOfMessage())
            if connection.our_state is h11.MUST_CLOSE:
                return found
            connection.start_next_cycle()
        elif not isinstance(event, h11.Data):
            return found


def said_to(journal: Journal, stream: Stream) -> bytes:
    """What the server says until it closes the connection."""
    said = b""
    with journal.connect() as connection:
        try:
            for packet in stream.packets():
                connection.sendall(packet)
                time.sleep(0.001)
            while part := connection.recv(65536):
                said += part
        except ConnectionError:
            while part := read_after_reset(connection):
                said += part
    return said


def read_after_reset(connection: socket.socket) -> bytes:
    try:
        return connection.recv(65536)
    except ConnectionError:
        return b""


@pytest.mark.promise(18)
def test_of_a_random_stream_the_requests_are_answered_and_nothing_else(journal: Journal) -> None:
    whole = 0

    @settings(
        max_examples=examples(full=4_000, ci=200),
        deadline=None,
        phases=[Phase.generate],  # a smaller stream would take minutes to find
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(streams(journal.key))
    def of_a_stream(stream: Stream) -> None:
        nonlocal whole
        answers, asked = answers_in(said_to(journal, stream)), ids_found_by_h11(stream.data)
        whole += len(answers) > 1 and [answer.request_id for answer in answers] == asked

        assert is_in_step(answers, asked)

    of_a_stream()
    assert whole > examples(full=4_000, ci=200) / 10
