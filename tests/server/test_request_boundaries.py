"""Where a request ends and the next begins: a body or a trailer is never read as a request or a header."""

from collections.abc import Iterator

import pytest
from factories import unwrap
from streams import (
    CLOSE,
    HOST,
    Journal,
    Response,
    Served,
    chunked,
    exchange,
    parse_responses,
    read_to_end,
    serve_in_thread,
)


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serve_in_thread(tmp_path_factory.mktemp("boundaries") / "journal.db") as journal:
        yield journal


PATCH_ME = "PATCH /v1/me"
BODY = b'{"name": "owner"}'  # 200, and 400 if less of it arrives
LENGTH = b"Content-Length: %d" % len(BODY)
CHUNKED = b"Transfer-Encoding: chunked"
UPGRADE = (b"Connection: Upgrade", b"Upgrade: h2c")
EXPECT = b"Expect: 100-continue"


UPGRADES = [
    *((b"Upgrade", upgrade) for upgrade in (b"h2c", b"websocket", b"foo", b"H2C", b"h2c, websocket", b"x/1")),
    *((b"upgrade, HTTP2-Settings", b"h2c"), (b"keep-alive, UPGRADE", b"h2c"), (b"close, Upgrade", b"h2c")),
]


@pytest.mark.parametrize("is_chunked", [False, True], ids=["length", "chunked"])
@pytest.mark.parametrize("split", ["same packet", "second packet", "within the body"])
@pytest.mark.promise(18)
def test_the_body_of_a_request_for_another_protocol_is_no_request(
    journal: Served, is_chunked: bool, split: str
) -> None:
    with journal.client() as client:
        name = f"Kept {split} {is_chunked}"
        category = unwrap(client.post("/tag-categories", json={"name": name}))
        smuggled = journal.head(f"DELETE /v1/tag-categories/{category['id']}", "smuggled")
        header = CHUNKED if is_chunked else b"Content-Length: %d" % len(smuggled)
        body = chunked(smuggled) if is_chunked else smuggled
        at = {"same packet": len(body), "second packet": 0, "within the body": len(body) // 2}[split]
        responses = []
        for upgrade in UPGRADES:
            headers = b"Connection: %b\r\nUpgrade: %b" % upgrade
            outer = journal.head("POST /v1/tag-categories", "outer", header, headers)
            responses.append(exchange(journal, outer + body[:at], body[at:]))

        # The body was read whole, as a body: it is no JSON.
        assert responses == [[(400, b"outer", True)]] * len(UPGRADES)
        assert name in [category["name"] for category in unwrap(client.get("/tag-categories"))]


KEY = "k" * 40  # each test puts the key of its journal in its place
KEY_HEADER = b"Authorization: Bearer %b" % KEY.encode()
head = Journal("", KEY).head
ME, LAST = "GET /v1/me", head("GET /v1/me", "b", CLOSE)
MANY = 700  # requests whose heads together are larger than one head may be
REFUSED = Response(400, b"", True)


def plain(line: str, *headers: bytes) -> bytes:
    """The head of a request with these headers only."""
    return b"\r\n".join([f"{line} HTTP/1.1".encode(), *headers, b"", b""])


def malformed_post(*framing: bytes) -> bytes:
    return plain("POST /v1/tag-categories", HOST, KEY_HEADER, *framing)


def ok(request_id: bytes, is_last: bool = False) -> Response:
    return Response(200, request_id, is_last)


# The packets of a connection, and the responses until the server closes it.
EXCHANGES: dict[str, tuple[list[bytes], list[Response]]] = {
    "pipelined requests": ([head(ME, "a"), head("HEAD /v1/me", "h"), LAST], [ok(b"a"), ok(b"h"), ok(b"b", True)]),
    "a body in chunks": (
        [head(PATCH_ME, "a", CHUNKED, CLOSE), b"5\r\n" + BODY[:5] + b"\r\n", chunked(BODY[5:])],
        [ok(b"a", True)],
    ),
    "errors that keep the connection": (
        [head("GET /v1/nothing", "a"), head(PATCH_ME, "c", b"Content-Length: 1"), b"{", LAST],
        [Response(404, b"a", False), Response(400, b"c", False), ok(b"b", True)],
    ),
    "a large body, then many requests": (
        [head(PATCH_ME, "a", b"Content-Length: 1000000"), BODY.ljust(10**6), head(ME, "m") * MANY, LAST],
        [ok(b"a"), *[ok(b"m")] * MANY, ok(b"b", True)],
    ),
    "upgrade with a body": ([head(PATCH_ME, "a", LENGTH, *UPGRADE), BODY[:9], BODY[9:]], [ok(b"a", True)]),
    "upgrade with chunks": ([head(PATCH_ME, "a", CHUNKED, *UPGRADE), chunked(BODY)], [ok(b"a", True)]),
    "upgrade with a bad chunk": ([head(PATCH_ME, "a", CHUNKED, *UPGRADE), b"no size\r\n"], [REFUSED]),
    "upgrade after another request": (
        [head(ME, "a"), head(PATCH_ME, "b", LENGTH, *UPGRADE), BODY],
        [ok(b"a"), ok(b"b", True)],
    ),
    **{
        f"what follows an upgrade with {method}": ([head(f"{method} /v1/me", "a", *UPGRADE), LAST], [response])
        for method, response in (("GET", ok(b"a", True)), ("DELETE", Response(405, b"a", True)))
    },
    **{
        line: ([head(line, "a", b"Content-Length: %d" % len(LAST)), LAST], [REFUSED])
        for line in ("CONNECT localhost:80", "CONNECT http://localhost/health", "CONNECT /health", "PRI *")
    },
    "a key in a trailer": (
        [plain(ME, HOST, b"X-Request-Id: a", CHUNKED, CLOSE), chunked(b"", KEY_HEADER + b"\r\n")],
        [Response(401, b"a", True)],
    ),
    "a host in a trailer": (
        [plain("GET /health", b"X-Request-Id: a", CHUNKED, CLOSE), chunked(b"", HOST + b"\r\n")],
        [Response(421, b"a", True)],
    ),
    "a request id in a trailer": (
        [head(ME, "a", CHUNKED, CLOSE), chunked(b"", b"X-Request-Id: x\r\n")],
        [ok(b"a", True)],
    ),
    **{
        f"a trailer with {field.decode()}": (
            [head(PATCH_ME, "a", CHUNKED), chunked(BODY, field + b"\r\n"), LAST],
            [ok(b"a"), ok(b"b", True)],
        )
        for field in (b"Connection: Upgrade\r\nUpgrade: h2c", b"Expect: x")
    },
    "a trailer with a length": (
        [head(PATCH_ME, "a", CHUNKED), chunked(BODY, b"Content-Length: 400\r\n"), LAST],
        [REFUSED],
    ),
    "chunks in HTTP/1.0": ([head(ME, "a", CHUNKED).replace(b"HTTP/1.1", b"HTTP/1.0"), chunked(b"")], [REFUSED]),
    "bytes that are no request, after requests": (
        [head(PATCH_ME, "a", LENGTH), BODY, head(ME, "b"), b"not HTTP at all\r\n\r\n"],
        [ok(b"a"), ok(b"b"), REFUSED],
    ),
    "a bad body after a request": ([head(ME, "a"), head(PATCH_ME, "b", CHUNKED), b"no size\r\n"], [ok(b"a"), REFUSED]),
    "a body that is announced too large": (
        [head("POST /v1/tags", "a", b"Content-Length: 4194305", CLOSE)],
        [Response(413, b"a", True)],
    ),
    "no host": ([plain("GET /health", CLOSE, b"X-Request-Id: a")], [Response(421, b"a", True)]),
    "two hosts": ([plain("GET /health", HOST, HOST, CLOSE, b"X-Request-Id: a")], [Response(421, b"a", True)]),
    **{
        name: ([request], [REFUSED])
        for name, request in {
            "length and chunks": malformed_post(LENGTH, CHUNKED) + b"0\r\n\r\n",
            "two lengths": malformed_post(LENGTH, LENGTH + b"0") + BODY,
            "a negative length": malformed_post(b"Content-Length: -1") + BODY,
            "a length that is no number": malformed_post(b"Content-Length: ten") + BODY,
            "a length with a sign": malformed_post(b"Content-Length: +17") + BODY,
            "a length beyond 64 bits": malformed_post(b"Content-Length: %d" % (2**64 + 17)) + BODY,
            "a bad chunk size": malformed_post(CHUNKED) + b"zz\r\n" + BODY,
            "a bad end of a chunk": malformed_post(CHUNKED) + b"2\r\n{}XX\r\n0\r\n\r\n",
            "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
            "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            "an unknown version": b"GET /health HTTP/9.9\r\nHost: localhost\r\n\r\n",
            "an unknown method": plain("FETCH /health", HOST),
            "no path": plain("GET ", HOST),
            "a path without its slash": plain("GET a/b", HOST),
            "an address without a path": plain("GET http://localhost", HOST),
            "a space in the name of a header": plain("GET /health", HOST, b"X Y: 1"),
            "NUL in a header": plain("GET /health", HOST, b"X: a\0b"),
            "a header without a colon": plain("GET /health", HOST, b"X"),
        }.items()
    },
    **{
        f"Transfer-Encoding: {coding.decode()!r}{' and upgrade' if more else ''}": (
            [head(PATCH_ME, "a", b"Transfer-Encoding: " + coding, *more), chunked(BODY)],
            [REFUSED],
        )
        for coding in (
            b"gzip, chunked",
            b",chunked",
            b"identity",
            b"xchunked",
            b"chunked;q=1",
            b"chunked\r\n" + CHUNKED,
        )
        for more in ((), UPGRADE)
    },
    **{
        f"GET {target}": ([head(f"GET {target}", "a", CLOSE)], [Response(status, b"a", True)])
        for target, status in {
            "http://localhost/health": 200,
            "http://LOCALHOST:8000/health": 200,
            "http://[::1]:80/health": 200,
            "http://evil.example/health": 421,
            "http://evil.example:80/health": 421,
            "http://localhost@evil.example/health": 421,
            "http://evil.example@localhost/health": 421,
            "https://localhost.evil.example/health": 421,
            "//evil.example/health": 404,  # a path
            "/v1/trades/export": 200,
            "/v1/trades%2fexport": 404,
            "/v1%2Ftags": 404,
        }.items()
    },
    "OPTIONS *": ([head("OPTIONS *", "a", CLOSE)], [Response(404, b"a", True)]),
}


@pytest.mark.parametrize("is_one_packet", [True, False], ids=["one packet", "several packets"])
@pytest.mark.parametrize(("packets", "responses"), EXCHANGES.values(), ids=EXCHANGES)
def test_requests_are_answered_until_the_connection_ends(
    journal: Served, packets: list[bytes], responses: list[Response], is_one_packet: bool
) -> None:
    keyed = [packet.replace(KEY.encode(), journal.key.encode()) for packet in packets]

    assert exchange(journal, *([b"".join(keyed)] if is_one_packet else keyed)) == responses


@pytest.mark.parametrize("version", [b"HTTP/1.1", b"HTTP/1.0"])
def test_a_client_of_http_1_1_that_waits_to_send_its_body_is_told_to_send_it(journal: Served, version: bytes) -> None:
    expecting = journal.head(PATCH_ME, "a", EXPECT, CLOSE, LENGTH).replace(b"HTTP/1.1", version)
    with journal.connect() as connection:
        connection.sendall(expecting)
        told = connection.recv(65536) if version == b"HTTP/1.1" else b""
        connection.sendall(BODY)
        received = read_to_end(connection)

    assert told == (b"HTTP/1.1 100 Continue\r\n\r\n" if version == b"HTTP/1.1" else b"")
    assert received.startswith(b"HTTP/1.1 200 ")


def test_an_early_response_to_a_client_that_waits_to_send_its_body_is_the_last(journal: Served) -> None:
    """The client may send its body or leave it out, and what comes next may be either."""
    following = journal.head(ME, "b", CLOSE)
    length = b"Content-Length: %d" % len(following)
    waiting = plain("POST /v1/tags", HOST, b"X-Request-Id: a", length, EXPECT)

    assert exchange(journal, waiting, following, following) == [Response(401, b"a", True)]


def test_a_request_with_a_response_gets_no_other_for_its_bad_body(journal: Served) -> None:
    with journal.connect() as connection:
        connection.sendall(journal.head("GET /health", "a", CHUNKED))
        first = connection.recv(65536)
        connection.sendall(b"no size\r\n")
        rest = read_to_end(connection)

    assert parse_responses(first) == [ok(b"a")]
    assert rest == b""
