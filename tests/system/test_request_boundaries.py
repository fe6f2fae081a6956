"""Where one request ends and the next begins: what is in a body or a trailer is no request and no header."""

import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence

import httpx
import pytest
from commands import PATIENCE, running
from factories import unwrap
from streams import HOST, Journal, answers_in, chunked, exchanged, heard, is_in_step

from journal_api.server.protocol import Protocol


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Journal]:
    with running(tmp_path_factory.mktemp("boundaries") / "journal.db", "--first-key") as server:
        (key,) = re.findall(r"tjk_[0-9A-Za-z]{36}", server.out.read_text())
        yield Journal(server.url, key)


def names_of(client: httpx.Client) -> list[str]:
    return [category["name"] for category in unwrap(client.get("/tag-categories"))]


# Requests for another protocol ---------------------------------------------------------------------------

UPGRADES = (
    *(b"h2c", b"websocket", b"foo", b"H2C", b"WebSocket", b"h2c, websocket", b"TLS/1.0, HTTP/2.0", b"x/1"),
)
CONNECTIONS = (b"Upgrade", b"upgrade, HTTP2-Settings", b"keep-alive, UPGRADE", b"close, Upgrade")
ASKED = [(upgrade, CONNECTIONS[0]) for upgrade in UPGRADES] + [(b"h2c", other) for other in CONNECTIONS[1:]]


def asking(upgrade: bytes, connection: bytes = b"Upgrade") -> tuple[bytes, ...]:
    return b"Connection: " + connection, b"Upgrade: " + upgrade


def framed(body: bytes, is_chunked: bool) -> tuple[bytes, bytes]:
    """The header that tells where the body ends, and the body as it is sent."""
    if is_chunked:
        return b"Transfer-Encoding: chunked", chunked(body)
    return b"Content-Length: %d" % len(body), body


@pytest.mark.parametrize("is_chunked", [False, True], ids=["length", "chunked"])
@pytest.mark.parametrize("split", ["same packet", "second packet", "within the body"])
@pytest.mark.promise(18)
def test_the_body_of_a_request_for_another_protocol_is_no_request(
    journal: Journal, is_chunked: bool, split: str
) -> None:
    with journal.client() as client:
        name = f"Kept {split} {is_chunked}"
        category = unwrap(client.post("/tag-categories", json={"name": name}))
        smuggled = journal.head(f"DELETE /v1/tag-categories/{category['id']}", "smuggled")
        header, body = framed(smuggled, is_chunked)
        at = {"same packet": 0, "second packet": 0, "within the body": len(body) // 2}[split]
        connections = [journal.connect() for _ in ASKED]
        for connection, asked in zip(connections, ASKED, strict=True):
            head = journal.head("POST /v1/tag-categories", "outer", header, *asking(*asked))
            connection.sendall(head + (body if split == "same packet" else body[:at]))
        time.sleep(0.2)  # until the heads have been read
        if split != "same packet":
            for connection in connections:
                connection.sendall(body[at:])
        answered = [answers_in(heard(connection)) for connection in connections]
        for connection in connections:
            connection.close()

        # The body was read whole, as a body: it is no JSON.
        assert answered == [[(400, b"outer", True)]] * len(ASKED)
        assert name in names_of(client)


@pytest.mark.parametrize("is_chunked", [False, True], ids=["length", "chunked"])
def test_a_request_for_another_protocol_is_served_in_this_one(journal: Journal, is_chunked: bool) -> None:
    header, body = framed(b'{"name": "Asked %d"}' % is_chunked, is_chunked)
    head = journal.head("POST /v1/tag-categories", "asked", header, *asking(b"h2c"))

    once = exchanged(journal, head + body)
    again = exchanged(journal, head, body[:9], body[9:])

    assert once == [(201, b"asked", True)]
    assert again == [(409, b"asked", True)]  # the name is taken, so it was understood


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "DELETE"])
def test_what_follows_a_request_for_another_protocol_is_dropped(journal: Journal, method: str) -> None:
    head = journal.head(f"{method} /v1/tags", "first", *asking(b"h2c"))
    following = journal.head("GET /v1/tags", "second")

    for packets in ([head + following], [head, following]):
        answers = exchanged(journal, *packets)

        assert [(answer.request_id, answer.is_last) for answer in answers] == [(b"first", True)]


def test_requests_before_one_for_another_protocol_are_answered(journal: Journal) -> None:
    header, body = framed(b'{"name": "After another"}', False)
    before = journal.head("GET /v1/tags", "first")
    asked = journal.head("POST /v1/tag-categories", "second", header, *asking(b"h2c"))

    answers = exchanged(journal, before + asked + body)

    assert answers == [(200, b"first", False), (201, b"second", True)]


def test_a_bad_chunk_in_a_request_for_another_protocol_is_400(journal: Journal) -> None:
    head = journal.head("POST /v1/tag-categories", "first", *asking(b"h2c"), b"Transfer-Encoding: chunked")

    for packets in ([head + b"no size\r\n"], [head, b"no size\r\n"]):
        (answer,) = exchanged(journal, *packets)

        assert (answer.status, answer.is_last) == (400, True)


@pytest.mark.parametrize(
    "line",
    ["CONNECT localhost:80", "CONNECT http://localhost/health", "CONNECT /health", "PRI *"],
)
def test_connect_and_the_preface_of_http_2_are_400_and_the_end_of_the_connection(
    journal: Journal, line: str
) -> None:
    body = journal.head("GET /v1/tags", "smuggled")
    head = journal.head(line, "outer", b"Content-Length: %d" % len(body))

    for packets in ([head + body], [head, body]):
        (answer,) = exchanged(journal, *packets)

        assert (answer.status, answer.is_last) == (400, True)


def test_the_preface_of_http_2_itself_is_400(journal: Journal) -> None:
    (answer,) = exchanged(journal, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", journal.head("GET /v1/tags", "next"))

    assert (answer.status, answer.is_last) == (400, True)


def test_curl_with_http_2_is_served(journal: Journal) -> None:
    curl = shutil.which("curl")
    if curl is None:
        pytest.skip("curl is not installed")
    if b"HTTP2" not in subprocess.run([curl, "--version"], capture_output=True, check=True).stdout:
        pytest.skip("this curl has no HTTP/2")

    def asked(*arguments: str) -> list[str]:
        known = ("--silent", "--noproxy", "*", "--http2", "--header", f"Authorization: Bearer {journal.key}")
        told = (
            "--output",
            "/dev/null",
            "--write-out",
            "%{http_code} ",
            "--header",
            "Content-Type: application/json",
        )
        ran = subprocess.run(
            [curl, *known, *told, *arguments], capture_output=True, check=True, timeout=PATIENCE
        )
        return ran.stdout.decode().split()

    url = f"{journal.url}/v1/tag-categories"
    assert asked("--data", '{"name": "curl"}', url) == ["201"]
    assert asked("--header", "Transfer-Encoding: chunked", "--data", '{"name": "chunks"}', url) == ["201"]
    assert asked(url, "--output", "/dev/null", url) == ["200", "200"]


# Trailers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("split", ["same packet", "later packet", "within the trailer"])
def test_trailers_are_no_headers(journal: Journal, split: str) -> None:
    key = b"Authorization: Bearer %b\r\n" % journal.key.encode()
    last = b"X-Request-Id: outer\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    with_host = b"GET /v1/tags HTTP/1.1\r\n" + HOST + b"\r\n" + last
    without_host = b"GET /health HTTP/1.1\r\n" + last
    at = {"same packet": 0, "later packet": 0, "within the trailer": 9}[split]

    answers = []
    for head, trailer in (
        (with_host, key),
        (without_host, HOST + b"\r\n"),
        (with_host, b"X-Request-Id: x\r\n"),
    ):
        body = chunked(b"", trailer)
        packets = [head + body] if split == "same packet" else [head + body[:at], body[at:]]
        answers.append(exchanged(journal, *packets))

    assert answers == [[(401, b"outer", True)], [(421, b"outer", True)], [(401, b"outer", True)]]


def test_a_trailer_moves_no_boundary(journal: Journal) -> None:
    fields = (
        b"Content-Length: 400",
        b"Connection: Upgrade\r\nUpgrade: h2c",
        b"Connection: close",
        b"Expect: x",
    )
    for field in fields:
        head = journal.head("POST /v1/tag-categories", "first", b"Transfer-Encoding: chunked")
        after = journal.head("GET /v1/tags", "second", b"Connection: close")
        body = chunked(b"{}", field + b"\r\n")

        for packets in ([head + body + after], [head, body, after]):
            answers = exchanged(journal, *packets)

            assert is_in_step(answers, [b"first", b"second"])


@pytest.mark.parametrize("is_late", [False, True], ids=["same packet", "later packet"])
def test_a_connection_whose_trailer_says_that_it_ends_is_closed(journal: Journal, is_late: bool) -> None:
    head = b"GET /health HTTP/1.1\r\n%b\r\nTransfer-Encoding: chunked\r\n\r\n" % HOST
    body = chunked(b"", b"Connection: close\r\n")
    begun = time.monotonic()

    answers = exchanged(journal, *([head, body] if is_late else [head + body]))

    assert [answer.status for answer in answers] == [200]
    assert time.monotonic() - begun < Protocol.idle_seconds


# Expectations ----------------------------------------------------------------------------------------------

EXPECTS = b"Expect: 100-continue"


def test_a_client_that_waits_to_send_its_body_is_told_to_when_it_is_wanted(journal: Journal) -> None:
    body = b'{"name": "Expected"}'
    with journal.connect() as connection:
        last = b"Connection: close"
        head = journal.head("POST /v1/tag-categories", "x", EXPECTS, last, b"Content-Length: %d" % len(body))
        connection.sendall(head)
        told = connection.recv(65536)
        connection.sendall(body)
        said = heard(connection)

    assert told == b"HTTP/1.1 100 Continue\r\n\r\n"
    assert answers_in(said) == [(201, b"x", True)]


def test_an_answer_to_a_client_that_still_waits_to_send_its_body_is_the_last(journal: Journal) -> None:
    """It may send the body or leave it out, and what comes next may be either."""
    after = journal.head("GET /v1/tags", "second")
    head = b"POST /v1/tags HTTP/1.1\r\n%b\r\nX-Request-Id: first\r\nContent-Length: %d\r\n%b\r\n\r\n"

    answers = exchanged(journal, head % (HOST, len(after), EXPECTS), after, after)

    assert answers == [(401, b"first", True)]


def test_a_client_of_http_1_0_is_never_told_to_go_on(journal: Journal) -> None:
    body = b'{"name": "Never told"}'
    head = journal.head("POST /v1/tag-categories", "x", EXPECTS, b"Content-Length: %d" % len(body))
    with journal.connect() as connection:
        connection.sendall(head.replace(b"HTTP/1.1", b"HTTP/1.0"))
        time.sleep(0.1)
        connection.sendall(body)
        said = heard(connection)

    assert said.startswith(b"HTTP/1.1 201")


# Codings and targets -----------------------------------------------------------------------------------


@pytest.mark.parametrize("coding", [b"gzip, chunked", b",chunked", b"identity", b"gzip", b"chunked;q=1"])
@pytest.mark.parametrize("more", [(), asking(b"h2c")], ids=["", "upgrade"])
def test_a_coding_other_than_chunked_is_400_and_nothing_is_done(
    journal: Journal, coding: bytes, more: Sequence[bytes]
) -> None:
    with journal.client() as client:
        name = f"Kept {coding.decode()} {len(more)}"
        category = unwrap(client.post("/tag-categories", json={"name": name}))
        line = f"DELETE /v1/tag-categories/{category['id']}"
        head = journal.head(line, "outer", b"Transfer-Encoding: " + coding, *more)

        (answer,) = exchanged(journal, head + chunked(b""))

        assert (answer.status, answer.is_last) == (400, True)
        assert name in names_of(client)


def test_chunks_in_http_1_0_are_400(journal: Journal) -> None:
    head = journal.head("GET /v1/tags", "outer", b"Transfer-Encoding: chunked")

    (answer,) = exchanged(journal, head.replace(b"HTTP/1.1", b"HTTP/1.0") + chunked(b""))

    assert (answer.status, answer.is_last) == (400, True)


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("http://localhost/health", 200),
        ("http://LOCALHOST:8000/health", 200),
        ("http://127.0.0.1/health", 200),
        ("http://[::1]:80/health", 200),
        ("http://evil.example/health", 421),
        ("http://evil.example:80/health", 421),
        ("http://localhost@evil.example/health", 421),
        ("http://evil.example@localhost/health", 421),
        ("https://localhost.evil.example/health", 421),
        ("//evil.example/health", 404),  # a path
    ],
)
def test_the_host_of_an_absolute_target_has_to_be_allowed_too(
    journal: Journal, target: str, status: int
) -> None:
    (answer,) = exchanged(journal, journal.head(f"GET {target}", "x", b"Connection: close"))

    assert answer.status == status


@pytest.mark.parametrize("target", ["/v1/trades%2fexport", "/v1/trades%2Fexport", "/v1%2ftags", "%2fhealth"])
def test_an_encoded_slash_is_no_slash(journal: Journal, target: str) -> None:
    with journal.client() as client:
        assert client.get("/trades/export").status_code == 200
    url = target if target.startswith("/") else f"/{target}"

    (answer,) = exchanged(journal, journal.head(f"GET {url}", "x", b"Connection: close"))

    assert answer.status == 404
