"""Random streams of requests: the server responds to the requests that h11 finds in them, and to no others.

With JOURNAL_SOAK=1 they come in full numbers.
"""

import time
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import h11
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from proofs import examples
from streams import CLOSE, HOST, Journal, are_in_step, parse_responses, read_to_end, serve_in_thread

EXAMPLES = examples(4_000, 100)


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Journal]:
    folder = tmp_path_factory.mktemp("streams")
    with serve_in_thread(folder / "journal.db", idle_seconds=1, body_seconds=0.3) as journal:
        yield journal


def entries(text: str) -> tuple[bytes, ...]:
    r"""The entries of a table, separated by | or by lines; \r, \n, \t and \x escapes stand for bytes."""
    parts = (part.strip() for line in text.strip().splitlines() for part in line.split(" | "))
    return tuple(part.encode().decode("unicode_escape").encode("latin-1") for part in parts)


REQUEST_LINES = entries("""
    GET /health | HEAD /health | POST /health | OPTIONS /v1/tags | GET /v1/tags | POST /v1/tags | PUT /v1/tags
    POST /v1/tag-categories | DELETE /v1/tags/1 | PATCH /v1/tags/1 | GET /nowhere
    GET http://localhost/health | GET http://evil.example/health
""")
OTHER_HEADERS = entries(r"""
    Connection: Upgrade\r\nUpgrade: h2c | Connection: upgrade, close\r\nUpgrade: websocket | Upgrade: foo
    Connection: x\r\nConnection: UPGRADE\r\nUPGRADE: x/1, y | Connection: Upgrade | Connection: close
    Connection: keep-alive | Expect: 100-continue | Expect: x | Content-Type: application/json | TE: trailers
    Trailer: Host | X: \x80\xff | X: | X:\t x \t\x20
""")
LENGTHS = entries(r"""
    Content-Length: %d | content-length:%d | Content-Length: \t%d \t\x20 | CONTENT-LENGTH: %d
""")
ODD_LENGTHS = entries(r"""
    Content-Length: %d\r\nContent-Length: %d | Content-Length: %d\r\nContent-Length: 0 | Content_Length: %d
    Content-Length: %d, %d | Content-Length: +%d | Content-Length: -%d | Content-Length: 0%d
    Content-Length: 0x%x | Content-Length : %d | \x20Content-Length: %d | Content-Length:\r\n %d
    X: x\nContent-Length: %d | X: x\rContent-Length: %d | Content-Length: %d\x0b
""")
CHUNKED = entries(r"""
    Transfer-Encoding: chunked | transfer-encoding:CHUNKED | Transfer-Encoding: \tchunked \t\x20
""")
ODD_CODINGS = entries(r"""
    Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked | Transfer-Encoding: gzip, chunked
    Transfer-Encoding: identity\r\nTransfer-Encoding: chunked | Transfer-Encoding: chunked, identity
    Transfer-Encoding: identity | Transfer-Encoding: xchunked | Transfer-Encoding : chunked
    \x20Transfer-Encoding: chunked | Transfer-Encoding:\r\n chunked | Transfer-Encoding: \x0bchunked
    Transfer-Encoding: "chunked" | X: x\nTransfer-Encoding: chunked | Transfer_Encoding: chunked
""")
TRAILERS = entries(r"""
    X: x\r\n | Host: evil.example\r\n | Content-Length: 7\r\n | X-Request-Id: x\r\n
    Connection: Upgrade\r\nUpgrade: h2c\r\n | Transfer-Encoding: chunked\r\n
""")
CHUNKS = entries(r"""
    %x\r\n%b\r\n | %X\r\n%b\r\n | 0%x\r\n%b\r\n | %x;a=b\r\n%b\r\n | %x;a="b"\r\n%b\r\n
""")
ODD_CHUNKS = entries(r"""
    %x \r\n%b\r\n | %x\n%b\r\n | %x\r\n%b | 0x%x\r\n%b\r\n | %x\r\n%b\n | %x;\n\r\n%b\r\n | +%x\r\n%b\r\n
    %x\r\n%bx\r\n | 10000000000000000%x\r\n%b\r\n | %x;a="\r\n%b\r\n
""")
FRAMINGS = ("none", "length", "length", "chunked", "chunked", "odd length", "odd coding", "both")


class Stream(NamedTuple):
    """Requests, and where their bytes are cut into packets."""

    data: bytes
    cuts: list[int]

    def packets(self) -> list[bytes]:
        at = sorted({0, len(self.data), *(cut % (len(self.data) + 1) for cut in self.cuts)})
        return [self.data[start:end] for start, end in pairwise(at)]


def chunked_body(draw: st.DrawFn, body: bytes) -> bytes:
    form = draw(st.sampled_from(CHUNKS + (ODD_CHUNKS if draw(st.integers(0, 4)) == 0 else ())))
    trailer = draw(st.sampled_from((b"", b"", b"", *TRAILERS)))
    return (form % (len(body), body) if body else b"") + b"0\r\n" + trailer + b"\r\n"


@st.composite
def requests(draw: st.DrawFn, key: str, number: int) -> bytes:
    """A request, well framed for the most part; its body may itself be a request."""
    inner = b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: in-%d\r\n\r\n" % number
    bodies = [b"", b"{}", b'{"name": "Random"}', inner, inner, b"x" + inner, b"0\r\n\r\n" + inner]
    body = draw(st.sampled_from(bodies))
    headers = [HOST, b"X-Request-Id: out-%d" % number]
    headers += draw(st.sampled_from([[], [b"Authorization: Bearer " + key.encode()]]))
    headers += draw(st.lists(st.sampled_from(OTHER_HEADERS), max_size=2))
    framing = draw(st.sampled_from(FRAMINGS))
    if framing == "chunked" or (framing == "odd coding" and draw(st.booleans())):
        sent = chunked_body(draw, body)
    else:
        sent = b"" if framing == "none" else body
    if framing in ("length", "odd length", "both"):
        form = draw(st.sampled_from(ODD_LENGTHS if framing == "odd length" else LENGTHS))
        headers.append(form % ((len(body),) * form.count(b"%")))
    if framing in ("chunked", "both"):
        headers.append(draw(st.sampled_from(CHUNKED)))
    if framing == "odd coding":
        headers.append(draw(st.sampled_from(ODD_CODINGS)))
    version = draw(st.sampled_from([b"1.1"] * 7 + [b"1.0"]))
    start = b"%b HTTP/%b" % (draw(st.sampled_from(REQUEST_LINES)), version)
    return b"\r\n".join([start, *draw(st.permutations(headers)), b"", sent])


@st.composite
def streams(draw: st.DrawFn, key: str) -> Stream:
    """Up to four requests, and one more that ends the connection."""
    sent = [draw(requests(key, number)) for number in range(draw(st.integers(1, 4)))]
    last = b"\r\n".join([b"GET /health HTTP/1.1", HOST, b"X-Request-Id: last", CLOSE, b"", b""])
    return Stream(b"".join([*sent, last]), draw(st.lists(st.integers(0, 4000), max_size=6)))


def request_ids_by_h11(data: bytes) -> list[bytes]:
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


def send(journal: Journal, stream: Stream) -> bytes:
    """Send the stream; return what the server sends until it closes the connection."""
    with journal.connect() as connection:
        try:
            for packet in stream.packets():
                connection.sendall(packet)
                time.sleep(0.001)
        except ConnectionError:
            pass  # the server has responded and closed
        return read_to_end(connection)


@pytest.mark.promise(18)
def test_of_a_random_stream_the_requests_are_answered_and_nothing_else(journal: Journal) -> None:
    whole = 0

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        phases=[Phase.generate],  # a smaller stream would take minutes to find
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(streams(journal.key))
    def check(stream: Stream) -> None:
        nonlocal whole
        responses = parse_responses(send(journal, stream))
        requested = request_ids_by_h11(stream.data)
        whole += len(responses) > 1 and [response.request_id for response in responses] == requested

        assert are_in_step(responses, requested)

    check()
    assert whole > EXAMPLES / 10
