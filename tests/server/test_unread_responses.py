"""Clients that do not read their responses: what the server keeps of them (docs/reliability.md)."""

import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest
from commands import new_key, run_ok, wait_until
from factories import A_TRADE, error_of, unwrap
from pictures import HEADERS, big_png
from streams import CLOSE, Journal, Served, Watched, read_to_end, serve_in_thread

from journal_api.web.responses import MAX_DOWNLOADS

TRADES = {"trades": [{**A_TRADE, "account_id": 1, "notes": "x" * 10_000}] * 200}  # 2 MB


class Filled(NamedTuple):
    """A journal with 2 MB of trades, and its file."""

    journal: Served
    client: httpx.Client
    db: Path


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    db = tmp_path_factory.mktemp("unread") / "journal.db"
    with serve_in_thread(db) as journal, journal.client() as client:
        unwrap(client.post("/accounts", json={"name": "Sim"}))
        unwrap(client.post("/trades/bulk", json=TRADES))
        yield Filled(journal, client, db)


@contextmanager
def unread(journal: Journal, path: str) -> Iterator[socket.socket]:
    """A connection that has sent its request and reads nothing; its buffer is small."""
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", journal.port))
        connection.sendall(journal.head(f"GET {path}", "unread", CLOSE))
        yield connection


def responding(journal: Served) -> list[Watched]:
    """The connections whose response has begun and is not completely sent."""
    alive = list(journal.protocol.alive)
    still_open = [one for one in alive if one in one.connections and one.cycle is not None]
    return [one for one in still_open if one.cycle.response_started and not is_sent(one)]


def is_sent(connection: Watched) -> bool:
    return connection.cycle.response_complete and not connection.transport.get_write_buffer_size()


def bytes_in_the_system(port: int) -> list[int]:
    """The bytes of each connection that the system has taken and not yet given to the client (Linux)."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return [int(row[4].partition(":")[0], 16) for row in rows if row[1].endswith(f":{port:04X}")]


def test_responses_that_nobody_reads_take_little_memory(filled: Filled) -> None:
    paths = ("/docs/swagger_bundle.js", "/v1/trades?limit=200")
    with ExitStack() as stack:
        for path in paths * 5:
            stack.enter_context(unread(filled.journal, path))
        wait_until(lambda: len(responding(filled.journal)) == 10)
        wait_until(lambda: all(one.flow.write_paused for one in responding(filled.journal)))

        in_the_process = [one.transport.get_write_buffer_size() for one in responding(filled.journal)]
        in_the_system = bytes_in_the_system(filled.journal.port) if sys.platform == "linux" else []

    assert len(in_the_process) == 10
    assert max(in_the_process) <= 160 * 1024
    assert max(in_the_system, default=0) <= 512 * 1024


def test_what_was_held_back_arrives_whole_when_the_client_reads(filled: Filled) -> None:
    expected = filled.client.get("/trades?limit=200")
    wait_until(lambda: not responding(filled.journal))
    with unread(filled.journal, "/v1/trades?limit=200") as connection:
        wait_until(lambda: len(responding(filled.journal)) == 1)
        received = read_to_end(connection)

    body = received.partition(b"\r\n\r\n")[2]
    assert body == expected.content.replace(expected.headers["x-request-id"].encode(), b"unread")


def test_a_connection_whose_responses_are_not_read_is_closed(
    filled: Filled, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    wait_until(lambda: not responding(filled.journal))
    monkeypatch.setattr(filled.journal.protocol, "unread_seconds", 0.1)
    with unread(filled.journal, "/v1/trades?limit=200") as connection:
        side = filled.journal.side_of(connection)
        wait_until(lambda: side.transport.is_closing())

        assert not side.cycle.response_complete
    assert "Exception" not in caplog.text


def test_a_user_has_few_exports_at_a_time(filled: Filled) -> None:
    run_ok("users", "add", "Ada", "--db", filled.db)
    key_of_ada = new_key(filled.db, "--user", "Ada")
    with ExitStack() as stack:
        running = [stack.enter_context(unread(filled.journal, "/v1/trades/export")) for _ in range(MAX_DOWNLOADS)]
        for connection in running:
            assert connection.recv(12) == b"HTTP/1.1 200"
        one_too_many = filled.client.get("/trades/export")
        with replace(filled.journal, key=key_of_ada).client() as ada:
            of_another_user = ada.get("/trades/export")
        running[0].close()
        wait_until(lambda: filled.client.get("/trades/export").status_code == 200)

    assert error_of(one_too_many) == (503, "busy")
    assert of_another_user.status_code == 200


def test_an_export_that_nobody_reads_does_not_let_the_log_grow(filled: Filled) -> None:
    log = filled.db.with_name("journal.db-wal")
    with unread(filled.journal, "/v1/trades/export") as connection:
        assert connection.recv(12) == b"HTTP/1.1 200"
        sizes = []
        for _ in range(8):
            unwrap(filled.client.post("/trades/bulk", json=TRADES))
            sizes.append(log.stat().st_size)

    assert max(sizes) < 12 * 2**20  # of more than 16 MB that were written


def test_a_picture_deleted_while_it_is_read_ends_its_response_and_is_no_error_in_the_log(
    filled: Filled, caplog: pytest.LogCaptureFixture
) -> None:
    path = "/days/2026-01-05/pictures"
    picture = unwrap(filled.client.post(path, content=big_png(2_000_000), headers=HEADERS))
    with unread(filled.journal, f"/v1/pictures/{picture['id']}/content") as connection:
        wait_until(lambda: len(responding(filled.journal)) == 1)
        assert filled.client.delete(f"/pictures/{picture['id']}").status_code == 204
        received = read_to_end(connection)

    assert received.startswith(b"HTTP/1.1 200")
    assert len(received) < picture["bytes"]
    assert [record.message for record in caplog.records if record.levelname == "ERROR"] == []
