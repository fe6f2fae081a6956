"""Requests that wait for changes: docs/api.md#changes, C7."""

import asyncio
import socket
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from commands import PATIENCE, Server, change, new_key, run_ok, running, wait_until
from factories import Client, unwrap
from proofs import examples
from streams import CLOSE, Clock, Served, read_to_end, serve_in_thread

from journal_api.web.change_signal import POLL

NUMBER = examples(full=1000, ci=100)
READS = examples(full=2000, ci=30)

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


def memory_of(server: Server) -> float:
    """MiB in memory."""
    (line,) = [one for one in Path(f"/proc/{server.process.pid}/status").read_text().splitlines() if "VmRSS" in one]
    return int(line.split()[1]) / 1024


async def ask(server: Server, key: str, since: str) -> Connection:
    reader, writer = await asyncio.open_connection("127.0.0.1", int(server.url.rpartition(":")[2]))
    head = f"GET /v1/changes?since={since}&wait=60 HTTP/1.1\r\nHost: localhost\r\n"
    writer.write(f"{head}Authorization: Bearer {key}\r\n\r\n".encode())
    return reader, writer


async def read_body(connection: Connection) -> bytes:
    reader, writer = connection
    head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 "), head
    (length,) = [int(line[15:]) for line in head.lower().splitlines() if line.startswith(b"content-length:")]
    body = await reader.readexactly(length)
    writer.close()
    return body


async def read_all(connections: Sequence[Connection]) -> tuple[float, list[bytes]]:
    """The bodies, and the seconds until the last of them."""
    began = time.monotonic()
    async with asyncio.timeout(PATIENCE):
        bodies = await asyncio.gather(*map(read_body, connections))
    return time.monotonic() - began, bodies


async def time_reads(client: Client) -> list[float]:
    """The ms of each read, sorted."""
    times = []
    for number in range(READS):
        began = time.perf_counter()
        await client.get("/tags", params={"category_id": number + 1})
        times.append((time.perf_counter() - began) * 1000)
    return sorted(times)


@pytest.mark.promise(27)
@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process is read from /proc")
async def test_many_requests_wait_without_delaying_others_and_are_answered_by_a_change_and_by_a_stop(
    db: Path, record_observation: Callable[[str], None]
) -> None:
    key = new_key(db)
    with running(db) as server:
        async with httpx.AsyncClient(base_url=f"{server.url}/v1", headers={"Authorization": f"Bearer {key}"}) as client:
            since = (await client.get("/tags")).headers["x-cursor"]
            files = server.open_files()
            alone, before = await time_reads(client), memory_of(server)
            waiting = [await ask(server, key, since) for _ in range(NUMBER)]
            beside, after = await time_reads(client), memory_of(server)
            answering = asyncio.create_task(read_all(waiting))
            unwrap(await client.post("/tag-categories", json={"name": "New"}))
            seconds, bodies = await answering
            await asyncio.to_thread(wait_until, lambda: server.open_files() <= files)
            since = (await client.get("/tags")).headers["x-cursor"]
            waiting = [await ask(server, key, since) for _ in range(NUMBER)]
            await asyncio.to_thread(wait_until, lambda: server.open_files() >= files + NUMBER)
            for _ in range(10):  # and until the server has read what they ask
                await client.get("/tags")
            answering = asyncio.create_task(read_all(waiting))
            stopped_at = time.monotonic()
            status = await asyncio.to_thread(server.stop)
            gone = time.monotonic() - stopped_at
            seconds_of_stop, empty = await answering

    assert all(b'"tag_categories"' in body for body in bodies)
    assert all(b'"changes":[]' in body for body in empty)
    assert status == 0
    assert seconds_of_stop < 5
    record_observation(
        f"{NUMBER} waiting: {after - before:.1f} MiB; reads p50 {statistics.median(alone):.2f} -> "
        f"{statistics.median(beside):.2f} ms, p99 {alone[int(READS * 0.99)]:.2f} -> "
        f"{beside[int(READS * 0.99)]:.2f} ms; all answered {seconds:.2f} s after a change; "
        f"on SIGTERM all answered after {seconds_of_stop:.2f} s, gone after {gone:.2f} s"
    )


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Served]:
    with serve_in_thread(tmp_path / "journal.db", Clock) as journal:
        yield journal


@contextmanager
def waiting_client(journal: Served, wait: int) -> Iterator[socket.socket]:
    """A client that has asked for the changes after now, and waits."""
    with journal.client() as client, journal.connect() as connection:
        since = client.get("/tags").headers["x-cursor"]
        connection.sendall(journal.head(f"GET /v1/changes?since={since}&wait={wait}", "a", CLOSE))
        wait_until(lambda: listeners(journal) == 1)
        yield connection


def listeners(journal: Served) -> int:
    return sum(sum(one.app.state.change_signal._listeners.values()) for one in [*journal.protocol.alive][:1])


@pytest.mark.parametrize(
    ("write", "resource"),
    [
        (lambda db: change(db, "UPDATE users SET name = 'New'"), b'"me"'),
        (lambda db: run_ok("keys", "create", "other", "--scopes", "all", "--db", db), b'"keys"'),
    ],
    ids=["by hand", "by a command"],
)
def test_a_change_by_another_program_is_answered_after_a_second(
    tmp_path: Path, journal: Served, write: Callable[[Path], object], resource: bytes
) -> None:
    with waiting_client(journal, wait=60) as connection:
        write(tmp_path / "journal.db")
        journal.pass_time(POLL)

        assert resource in read_to_end(connection)


def test_a_wait_without_changes_ends_with_an_empty_page_and_a_client_that_leaves_is_forgotten(journal: Served) -> None:
    with waiting_client(journal, wait=60) as connection:
        journal.pass_time(59)
        assert listeners(journal) == 1
        journal.pass_time(1)
        received = read_to_end(connection)
    with waiting_client(journal, wait=60):
        pass
    wait_until(lambda: listeners(journal) == 0)

    assert b'"changes":[]' in received
