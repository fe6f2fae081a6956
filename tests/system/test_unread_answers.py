"""Clients that ask and do not read: what the server keeps of their answers (docs/reliability.md)."""

import socket
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, ClassVar, NamedTuple
from weakref import WeakSet

import httpx
import pytest
from commands import new_key, run_ok, wait_until
from factories import A_TRADE, error_of, unwrap
from streams import Journal, heard, served

from journal_api.server.protocol import Protocol
from journal_api.web.responses import MAX_DOWNLOADS

TRADES = {"trades": [{**A_TRADE, "account_id": 1, "notes": "x" * 10_000}] * 200}  # 2 MB


class Watched(Protocol):
    """The protocol, and all its connections."""

    alive: ClassVar[WeakSet[Protocol]] = WeakSet()

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.alive.add(self)


class Served(NamedTuple):
    """A journal with 2 MB of trades, and its file."""

    journal: Journal
    client: httpx.Client
    db: Path


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[Served]:
    db = tmp_path / "journal.db"
    key = new_key(db)
    with served(db, Watched) as port:
        journal = Journal(f"http://127.0.0.1:{port}", key)
        with journal.client() as client:
            unwrap(client.post("/accounts", json={"name": "Sim"}))
            unwrap(client.post("/trades/bulk", json=TRADES))
            yield Served(journal, client, db)


@contextmanager
def unread(journal: Journal, path: str) -> Iterator[socket.socket]:
    """A connection that has asked and reads nothing; its buffer is small."""
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", journal.port))
        connection.sendall(journal.head(f"GET {path}", "unread", b"Connection: close"))
        yield connection


def answering() -> list[Protocol]:
    """The connections whose answer has begun and is not complete, or not sent."""
    still_open = [one for one in list(Watched.alive) if one in one.connections and one.cycle is not None]
    return [one for one in still_open if one.cycle.response_started and not is_sent(one)]


def is_sent(connection: Protocol) -> bool:
    return connection.cycle.response_complete and not connection.transport.get_write_buffer_size()


def bytes_in_the_system(port: int) -> list[int]:
    """What the system has taken of each connection's answers and not yet given to the client (Linux)."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return [int(row[4].partition(":")[0], 16) for row in rows if row[1].endswith(f":{port:04X}")]


@pytest.mark.parametrize("path", ["/docs/swagger_bundle.js", "/openapi.json", "/v1/trades?limit=200"])
def test_answers_that_nobody_reads_take_little_memory(filled: Served, path: str) -> None:
    with ExitStack() as stack:
        for _ in range(10):
            stack.enter_context(unread(filled.journal, path))
        wait_until(lambda: len(answering()) == 10)
        time.sleep(0.5)  # until the system has taken what it takes

        in_the_process = [one.transport.get_write_buffer_size() for one in answering()]
        in_the_system = bytes_in_the_system(filled.journal.port) if sys.platform == "linux" else []

    assert len(in_the_process) == 10
    assert max(in_the_process) <= 160 * 1024
    assert max(in_the_system, default=0) <= 512 * 1024


def test_what_was_held_back_arrives_whole_when_the_client_reads(filled: Served) -> None:
    expected = filled.client.get("/trades?limit=200")
    with unread(filled.journal, "/v1/trades?limit=200") as connection:
        wait_until(lambda: len(answering()) == 1)
        said = heard(connection)

    body = said.partition(b"\r\n\r\n")[2]
    assert body == expected.content.replace(expected.headers["x-request-id"].encode(), b"unread")


def test_an_export_that_nobody_reads_does_not_let_the_log_grow(filled: Served) -> None:
    log = filled.db.with_name("journal.db-wal")
    with unread(filled.journal, "/v1/trades/export") as connection:
        assert connection.recv(12) == b"HTTP/1.1 200"
        sizes = []
        for _ in range(10):
            unwrap(filled.client.post("/trades/bulk", json=TRADES))
            sizes.append(log.stat().st_size)

    assert max(sizes) < 12 * 2**20  # of more than 20 MB that were written


def test_a_user_has_few_exports_at_a_time(filled: Served) -> None:
    run_ok("users", "add", "Ada", "--db", filled.db)
    key_of_ada = new_key(filled.db, "--user", "Ada")
    with ExitStack() as stack:
        running = [
            stack.enter_context(unread(filled.journal, "/v1/trades/export")) for _ in range(MAX_DOWNLOADS)
        ]
        for connection in running:
            assert connection.recv(12) == b"HTTP/1.1 200"
        refused = filled.client.get("/trades/export")
        with filled.journal._replace(key=key_of_ada).client() as ada:
            of_another = ada.get("/trades/export")
        running[0].close()
        wait_until(lambda: filled.client.get("/trades/export").status_code == 200)

    assert error_of(refused) == (503, "busy")
    assert of_another.status_code == 200
