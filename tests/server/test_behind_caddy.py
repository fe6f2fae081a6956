"""Behind the Caddy of docs/self-hosting.md: no response reaches another client, whatever others send.

With JOURNAL_SOAK=1 in full numbers.
"""

import re
import shutil
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import httpx
import pytest
from commands import PATIENCE, environment, free_port, key_in, run_ok, running, wait_until
from page_servers import empty_pages
from proofs import examples
from streams import Journal, chunked, parse_responses

CADDY = shutil.which("caddy")
pytestmark = pytest.mark.skipif(CADDY is None, reason="caddy is not installed")
DOCUMENTED = Path(__file__).parents[2] / "docs" / "self-hosting.md"
SITE = "journal.example.org"
INNER = b"GET /v1/me HTTP/1.1\r\nHost: journal.example.org\r\nX-Request-Id: smuggled\r\n\r\n"


def caddyfile(port: int, journal_port: int, heading: str) -> str:
    """The Caddyfile documented below that heading, without TLS and on the loopback interface."""
    (block,) = re.findall(rf"### {heading}\n.*?```\n(.*?)```", DOCUMENTED.read_text(), re.DOTALL)
    block = block.replace(f"{SITE} {{", f"http://{SITE}:{port} {{\n\tbind 127.0.0.1", 1)
    return f"{{\n\tadmin off\n}}\n{block.replace('127.0.0.1:8000', f'127.0.0.1:{journal_port}')}"


@contextmanager
def caddy(folder: Path, journal_port: int, heading: str = "Caddy", auth_port: int = 9091) -> Iterator[int]:
    """The port of a Caddy in front of the journal."""
    port = free_port()
    config = folder / "Caddyfile"
    text = caddyfile(port, journal_port, heading)
    config.write_text(text.replace("127.0.0.1:9091", f"127.0.0.1:{auth_port}"))
    homes = {"HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    with (folder / "caddy.log").open("wb") as log:
        process = subprocess.Popen(
            [str(CADDY), "run", "--config", config, "--adapter", "caddyfile"],
            env=environment() | homes,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    try:
        wait_until(lambda: process.poll() is not None or is_passing_on(port))
        assert process.poll() is None, (folder / "caddy.log").read_text()
        yield port
    finally:
        process.terminate()
        process.wait(PATIENCE)


def is_passing_on(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/health", headers={"Host": SITE}).status_code in (200, 401)
    except httpx.TransportError:
        return False


@pytest.fixture
def behind(tmp_path: Path) -> Iterator[Journal]:
    """A journal as it is reached through Caddy, with the documented setting and without a limit of requests."""
    with running(tmp_path / "journal.db", "--first-key", JOURNAL_ALLOWED_HOSTS=SITE, JOURNAL_RATE_LIMIT="0") as server:
        key = key_in(server.out.read_text())
        with caddy(tmp_path, httpx.URL(server.url).port or 0) as port:
            yield Journal(f"http://127.0.0.1:{port}", key)


def attempts() -> list[bytes]:
    """Requests without a key whose bodies are requests."""
    start = b"POST /v1/tags HTTP/1.1\r\nHost: journal.example.org\r\nX-Request-Id: attack\r\n"
    length = b"Content-Length: %d\r\n\r\n%b" % (len(INNER), INNER)
    chunks = b"Transfer-Encoding: chunked\r\n\r\n%b" % chunked(INNER)
    headers = (
        *(b"Connection: Upgrade\r\nUpgrade: h2c\r\n", b"Connection: Upgrade\r\nUpgrade: x\r\n"),
        *(b"Connection: Upgrade\r\nUpgrade: websocket\r\n", b"Expect: 100-continue\r\n", b""),
    )
    with_trailer = b"Trailer: X\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(INNER, b"X: x\r\n")
    return [start + one + body for one in headers for body in (length, chunks)] + [start + with_trailer]


def attack(behind: Journal, is_over: threading.Event, received: Counter[tuple[int, bytes]]) -> None:
    """Send one attempt after the other; count the responses by status and id of the request."""
    while not is_over.is_set():
        for attempt in attempts():
            with behind.connect() as connection, suppress(ConnectionError, TimeoutError):
                connection.settimeout(1)
                connection.sendall(attempt)
                for response in parse_responses(connection.recv(65536)):
                    received[response.status, response.request_id] += 1


@pytest.mark.promise(18)
def test_smuggling_attempts_never_mix_up_the_answers_of_others(behind: Journal) -> None:
    is_over = threading.Event()
    received: Counter[tuple[int, bytes]] = Counter()
    right, asked = 0, examples(20_000, 100)
    with ThreadPoolExecutor(4) as pool, behind.client() as victim:
        attackers = [pool.submit(attack, behind, is_over, received) for _ in range(4)]
        try:
            for number in range(asked):
                headers = {"Host": SITE, "X-Request-Id": f"victim-{number}"}
                answer = victim.get("/me", headers=headers)
                right += answer.status_code == 200 and answer.headers["X-Request-Id"] == f"victim-{number}"
        finally:
            is_over.set()
    for attacker in attackers:
        attacker.result()

    assert right == asked
    # Each attack is told that it has no key, or by Caddy that the connection was closed.
    assert received[401, b"attack"] > asked / 20
    assert set(received) <= {(401, b"attack"), (502, b"")}


def portal(request: BaseHTTPRequestHandler) -> tuple[int, dict[str, str]]:
    """What signs people in: whoever has the cookie is Ada, and guests have no name."""
    people = {"ada": {"Remote-User": "Ada"}, "guest": {}}
    cookie = request.headers.get("Cookie", "")
    return (200, people[cookie]) if cookie in people else (401, {})


def test_the_proxy_says_who_the_user_is_and_nobody_else_does(db: Path, tmp_path: Path) -> None:
    run_ok("users", "add", "Ada", "--db", db)
    with (
        empty_pages(portal) as auth_port,
        running(
            db, JOURNAL_ALLOWED_HOSTS=SITE, JOURNAL_TRUSTED_PROXIES="127.0.0.1", JOURNAL_USER_HEADER="Remote-User"
        ) as server,
        caddy(tmp_path, httpx.URL(server.url).port or 0, "Signing in by the proxy", auth_port) as port,
    ):

        def sign_in(cookie: str) -> httpx.Response:
            claimed = {"Host": SITE, "Cookie": cookie, "Remote-User": "owner", "Remote_User": "owner"}
            return httpx.post(f"http://127.0.0.1:{port}/sign-in", json={"dry_run": True}, headers=claimed)

        ada, guest, stranger = sign_in("ada"), sign_in("guest"), sign_in("")

    assert ada.json()["data"]["me"]["name"] == "Ada"
    assert guest.status_code in (400, 401)  # Caddy before 2.7 sends a name that no user has
    assert stranger.status_code == 401
