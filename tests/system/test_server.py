"""A real server over real sockets: reliability.md "Hostile inputs" Body and Transport."""

import http.client
import mmap
import platform
import re
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import msgspec
import pytest
from commands import PATIENCE, Server, rows, running
from conftest import ErrorEnvelope
from factories import details_of, error_of, unwrap

MAX_BODY_SIZE = 4 * 1024 * 1024
CATEGORIES = "/v1/tag-categories"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running(tmp_path_factory.mktemp("server") / "journal.db", "--first-key") as server:
        yield server


@pytest.fixture(scope="module")
def key(server: Server) -> str:
    (key,) = re.findall(r"tjk_[0-9A-Za-z]{36}", server.out.read_text())
    return str(key)


@pytest.fixture
def client(server: Server, key: str) -> Iterator[httpx.Client]:
    with server.client(key) as client:
        yield client


def connect(server: Server) -> http.client.HTTPConnection:
    url = httpx.URL(server.url)
    return http.client.HTTPConnection(url.host, url.port, timeout=PATIENCE)


def say(server: Server, *lines: str | bytes, body: bytes = b"") -> bytes:
    """What the server says to these lines and this body, until it closes the connection.

    A request that is to be understood ends with `Connection: close`.
    """
    url = httpx.URL(server.url)
    head = b"".join((line.encode("latin-1") if isinstance(line, str) else line) + b"\r\n" for line in lines)
    with socket.create_connection((url.host, url.port), timeout=PATIENCE) as connection:
        connection.sendall(head + b"\r\n" + body)
        said = b""
        while part := connection.recv(65536):
            said += part
        return said


def status_of(said: bytes) -> int:
    return int(said.split(b" ", 2)[1])


def refusal_in(said: bytes) -> ErrorEnvelope:
    """The error envelope, and the request id in the header the same as in the body."""
    head, _, body = said.partition(b"\r\n\r\n")
    refused = msgspec.json.decode(body, type=ErrorEnvelope)
    assert f"x-request-id: {refused.meta.request_id}".encode() in head.lower()
    assert b"content-type: application/json" in head.lower()
    return refused


# Methods and paths -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path", ["/health", "/v1/tags", "/v1/strategies", "/v1/metrics", "/v1/me", "/v1/goals/1"]
)
def test_head_is_get_without_the_body(server: Server, key: str, path: str) -> None:
    headers = {"Authorization": f"Bearer {key}", "X-Request-Id": "same"}
    connection = connect(server)

    answers = []
    for method in ("GET", "HEAD", "GET"):
        connection.request(method, path, headers=headers)
        response = connection.getresponse()
        shown = {name.lower(): value for name, value in response.getheaders() if name.lower() != "date"}
        answers.append((response.status, shown, response.read()))
    connection.close()

    got, head, got_again = answers
    assert head[:2] == got[:2]
    assert head[2] == b""
    assert got_again == got


@pytest.mark.parametrize(
    "path", ["/v1", "/v1/", "/v1/tags/", "/v2/tags", "/v1/nothing", "/v1/tags/abc", "/v1/tags/0", "/%00"]
)
def test_a_path_that_does_not_exist_is_404_in_the_envelope(client: httpx.Client, path: str) -> None:
    answer = client.get(f"http://{client.base_url.netloc.decode()}{path}")

    assert error_of(answer) == (404, "not_found")
    assert answer.json()["meta"]["request_id"] == answer.headers["x-request-id"]


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/v1/tags", {"GET", "HEAD", "POST"}),
        ("DELETE", "/v1/goals", {"GET", "HEAD", "POST"}),
        ("POST", "/v1/strategies/1", {"GET", "HEAD", "PATCH", "DELETE"}),
        ("PROPFIND", "/v1/tags/1", {"PATCH", "DELETE"}),
        ("POST", "/health", {"GET", "HEAD"}),
    ],
)
def test_a_method_that_the_path_does_not_have_is_405_naming_those_it_has(
    client: httpx.Client, method: str, path: str, allowed: set[str]
) -> None:
    answer = client.request(method, f"http://{client.base_url.netloc.decode()}{path}")

    assert error_of(answer) == (405, "method_not_allowed")
    assert set(details_of(answer)["allowed"]) >= allowed
    assert answer.headers["allow"].split(", ") == details_of(answer)["allowed"]


def test_requests_share_a_connection_whatever_their_answers_are(server: Server, key: str) -> None:
    connection = connect(server)
    connection.connect()
    opened = connection.sock

    statuses = []
    for method, path, body in (
        ("GET", "/health", None),
        ("GET", "/v1/nothing", None),
        ("POST", CATEGORIES, '{"name": '),
        ("POST", CATEGORIES, '{"name": "Kept alive"}'),
        ("DELETE", "/v1/tags/1", None),
        ("GET", "/v1/tags", None),
    ):
        connection.request(method, path, body, {"Authorization": f"Bearer {key}"})
        response = connection.getresponse()
        response.read()
        statuses.append(response.status)

    assert statuses == [200, 404, 400, 201, 404, 200]
    assert connection.sock is opened
    connection.close()


def test_pipelined_requests_are_answered_in_their_order(server: Server) -> None:
    ids = [f"number-{number}" for number in range(5)]
    requests = [f"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: {name}\r\n" for name in ids]

    said = say(server, *requests, "GET /health HTTP/1.1", "Host: localhost", "Connection: close")

    assert re.findall(rb'"request_id":"(number-\d)"', said) == [name.encode() for name in ids]


# Bodies ------------------------------------------------------------------------------------------------


def assert_too_large(answer: httpx.Response) -> None:
    assert error_of(answer) == (413, "request_too_large")
    assert details_of(answer) == {"max_bytes": MAX_BODY_SIZE}


def test_a_body_over_4_mib_is_413_by_its_announced_length(client: httpx.Client) -> None:
    body = b'{"name": "%b"}' % (b"x" * MAX_BODY_SIZE)

    answers = [client.post("/tag-categories", content=body) for _ in range(2)]

    for answer in answers:
        assert_too_large(answer)
    assert client.get("/tags").status_code == 200


def test_a_body_over_4_mib_is_413_when_it_comes_in_chunks(client: httpx.Client) -> None:
    def chunks() -> Iterator[bytes]:
        yield b'{"name": "'
        for _ in range(MAX_BODY_SIZE // 65536 + 1):
            yield b"x" * 65536

    answers = [client.post("/tag-categories", content=chunks()) for _ in range(2)]

    for answer in answers:
        assert_too_large(answer)
    assert client.get("/tags").status_code == 200


def test_a_body_of_exactly_4_mib_is_read(client: httpx.Client) -> None:
    body = b'{"name": "just large"}'.ljust(MAX_BODY_SIZE)

    answer = client.post("/tag-categories", content=body)

    assert answer.status_code == 201


def test_a_body_that_is_announced_too_large_is_refused_before_it_is_sent(server: Server, key: str) -> None:
    connection = connect(server)
    connection.putrequest("POST", CATEGORIES)
    connection.putheader("Authorization", f"Bearer {key}")
    connection.putheader("Content-Length", str(MAX_BODY_SIZE + 1))
    connection.endheaders()

    response = connection.getresponse()

    assert response.status == 413
    connection.close()


def test_chunks_make_one_body(client: httpx.Client) -> None:
    answer = client.post("/tag-categories", content=iter([b'{"na', b'me": "In ', b'pieces"}']))

    assert unwrap(answer)["name"] == "In pieces"


def test_a_body_on_get_or_delete_is_ignored(client: httpx.Client) -> None:
    for method, path, status in (("GET", "/tags", 200), ("DELETE", "/tags/999", 404)):
        answer = client.request(method, path, content=b"\xff not JSON")

        assert answer.status_code == status


# Hosts -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/health", "/v1/tags", "/nothing"])
@pytest.mark.parametrize(
    "hosts",
    [
        ("evil.example",),
        ("localhost.",),
        ("localhost.evil.example",),
        ("",),
        (),
        ("localhost", "localhost"),
        ("localhost", "evil.example"),
        ("localhost:port",),
        ("local\xe9host",),
    ],
    ids=["strange", "final dot", "prefix", "empty", "none", "two", "two of two minds", "no port", "no ASCII"],
)
def test_a_host_that_is_not_on_the_list_is_misdirected_on_every_path(
    server: Server, hosts: tuple[str, ...], path: str
) -> None:
    said = say(server, f"GET {path} HTTP/1.1", *(f"Host: {host}" for host in hosts), "Connection: close")

    assert status_of(said) in (400, 421)
    assert refusal_in(said).error.code in ("validation_error", "misdirected_request")
    head = said.partition(b"\r\n\r\n")[0]
    assert b"evil.example" not in head  # only the message names it


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:8000", "[::1]", "LocalHost:1"])
def test_a_host_of_the_loopback_interface_is_answered_for(server: Server, host: str) -> None:
    said = say(server, "GET /health HTTP/1.1", f"Host: {host}", "Connection: close")

    assert status_of(said) == 200


# What is not HTTP --------------------------------------------------------------------------------------

POST = (f"POST {CATEGORIES} HTTP/1.1", "Host: localhost")
BODY = b'{"name": "Smuggled"}'
MALFORMED: dict[str, tuple[tuple[str | bytes, ...], bytes]] = {
    "length and chunks": (
        (*POST, f"Content-Length: {len(BODY)}", "Transfer-Encoding: chunked"),
        b"0\r\n\r\n",
    ),
    "two lengths": ((*POST, f"Content-Length: {len(BODY)}", f"Content-Length: {len(BODY) + 1}"), BODY),
    "negative length": ((*POST, "Content-Length: -1"), BODY),
    "length that is no number": ((*POST, "Content-Length: ten"), BODY),
    "length with a sign": ((*POST, f"Content-Length: +{len(BODY)}"), BODY),
    "length beyond 64 bits": ((*POST, f"Content-Length: {2**64 + len(BODY)}"), BODY),
    "unknown coding": ((*POST, "Transfer-Encoding: xchunked"), b"0\r\n\r\n"),
    "bad chunk size": ((*POST, "Transfer-Encoding: chunked"), b"zz\r\n" + BODY),
    "bad chunk end": ((*POST, "Transfer-Encoding: chunked"), b"2\r\n{}XX\r\n0\r\n\r\n"),
    "garbage": (("hello, is this the journal?",), b""),
    "TLS": ((b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",), b""),
    "HTTP/2": (("PRI * HTTP/2.0", "", "SM"), b""),
    "unknown version": (("GET /health HTTP/9.9", "Host: localhost"), b""),
    "unknown method": (("FETCH /health HTTP/1.1", "Host: localhost"), b""),
    "no path": (("GET  HTTP/1.1", "Host: localhost"), b""),
    "space in a header name": (("GET /health HTTP/1.1", "Host: localhost", "X Y: 1"), b""),
    "NUL in a header": (("GET /health HTTP/1.1", "Host: localhost", "X: a\0b"), b""),
    "header without a colon": (("GET /health HTTP/1.1", "Host: localhost", "X"), b""),
}


@pytest.mark.parametrize("malformed", MALFORMED)
def test_malformed_http_is_400_in_the_envelope_and_writes_nothing(
    server: Server, key: str, malformed: str
) -> None:
    lines, body = MALFORMED[malformed]
    keyed = (*lines, f"Authorization: Bearer {key}") if lines[0] == POST[0] else lines

    said = say(server, *keyed, body=body)

    assert status_of(said) == 400
    assert refusal_in(said).error.code == "validation_error"
    assert said.count(b"HTTP/1.1 ") == 1
    assert (
        rows(server.out.with_name("journal.db"), "SELECT 1 FROM tag_categories WHERE name = 'Smuggled'") == []
    )


def test_the_server_is_well_after_all_that(client: httpx.Client) -> None:
    answer = client.get("/tags")

    assert answer.status_code == 200


def test_clients_that_go_away_amid_their_body_write_nothing_and_are_no_bugs_in_the_log(
    server: Server, key: str
) -> None:
    url = httpx.URL(server.url)
    before = server.err.read_text()
    head = f"POST {CATEGORIES} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n"

    for _ in range(10):
        with socket.create_connection((url.host, url.port), timeout=PATIENCE) as connection:
            connection.sendall(f'{head}Content-Length: 1000\r\n\r\n{{"name": "Half'.encode())

    with server.client(key) as client:
        categories = unwrap(client.get("/tag-categories"))
    assert "Half" not in str(categories)
    assert "Traceback" not in server.err.read_text().removeprefix(before)


# Memory ----------------------------------------------------------------------------------------------


def page_faults(server: Server) -> int:
    """How often the server had to ask the system for a page of memory."""
    return int(Path(f"/proc/{server.process.pid}/stat").read_text().rsplit(")", 1)[1].split()[7])


@pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc" or not Path("/proc/self/stat").exists(),
    reason="only glibc gives memory back that soon, and only /proc tells",
)
def test_the_memory_of_a_large_answer_serves_the_next_one(server: Server, key: str) -> None:
    confirmations = [{"name": f"confirmation {place}"} for place in range(100)]
    setups = [{"name": f"setup {place}", "confirmations": confirmations} for place in range(20)]
    with server.client(key) as client:
        strategy = unwrap(client.post("/strategies", json={"name": "Large", "setups": setups}))
        path = f"/strategies/{strategy['id']}"
        for _ in range(10):
            large = len(client.get(path).content)

        before = page_faults(server)
        for _ in range(20):
            client.get(path)

    assert page_faults(server) - before < 20 * large / mmap.PAGESIZE / 4
