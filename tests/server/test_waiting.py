"""Requests that wait for changes: docs/api.md#changes, C7."""

import asyncio
import sqlite3
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from commands import PATIENCE, Server, new_key, run_ok, running
from factories import unwrap
from proofs import examples

NUMBER = examples(full=1000, ci=100)
READS = examples(full=2000, ci=100)

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


def memory_of(server: Server) -> float:
    """MiB in memory."""
    (line,) = [
        one for one in Path(f"/proc/{server.process.pid}/status").read_text().splitlines() if "VmRSS" in one
    ]
    return int(line.split()[1]) / 1024


async def ask(server: Server, key: str, since: str, wait: int = 60) -> Connection:
    reader, writer = await asyncio.open_connection("127.0.0.1", int(server.url.rpartition(":")[2]))
    head = f"GET /v1/changes?since={since}&wait={wait} HTTP/1.1\r\nHost: localhost\r\n"
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


async def time_reads(client: httpx.AsyncClient) -> list[float]:
    """The ms of a write and a read of it, sorted."""
    times = []
    for number in range(READS):
        began = time.perf_counter()
        await client.get("/tags", params={"category_id": number + 1})
        times.append((time.perf_counter() - began) * 1000)
    return sorted(times)


@pytest.mark.promise(27)
@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process is read from /proc")
async def test_many_requests_wait_without_delaying_others_and_are_answered_by_a_change_and_by_a_stop(
    tmp_path: Path, record_observation: Callable[[str], None]
) -> None:
    db = tmp_path / "journal.db"
    key = new_key(db)
    with running(db) as server:
        async with httpx.AsyncClient(
            base_url=f"{server.url}/v1", headers={"Authorization": f"Bearer {key}"}
        ) as client:
            since = (await client.get("/tags")).headers["x-cursor"]
            alone, before = await time_reads(client), memory_of(server)
            waiting = [await ask(server, key, since) for _ in range(NUMBER)]
            beside, after = await time_reads(client), memory_of(server)
            answering = asyncio.create_task(read_all(waiting))
            unwrap(await client.post("/tag-categories", json={"name": "New"}))
            seconds, bodies = await answering
            since = (await client.get("/tags")).headers["x-cursor"]
            waiting = [await ask(server, key, since) for _ in range(NUMBER)]
            await asyncio.sleep(0.5 + NUMBER / 200)  # until all are known to wait, on a busy machine too
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


async def test_a_change_by_another_program_is_answered_within_seconds(tmp_path: Path) -> None:
    db = tmp_path / "journal.db"
    key = new_key(db)
    with running(db) as server, server.client(key) as client:
        since = client.get("/tags").headers["x-cursor"]
        connections = [await ask(server, key, since)]
        await asyncio.sleep(0.5)
        with closing(sqlite3.connect(db)) as other, other:
            other.execute("UPDATE users SET name = 'New'")
        _, by_hand = await read_all(connections)
        since = client.get("/tags").headers["x-cursor"]
        connections = [await ask(server, key, since)]
        await asyncio.sleep(0.5)
        await asyncio.to_thread(run_ok, "keys", "create", "other", "--scopes", "all", "--db", db)
        _, by_command = await read_all(connections)

    assert b'"me"' in by_hand[0]
    assert b'"keys"' in by_command[0]


async def test_a_wait_without_changes_ends_with_an_empty_page_and_a_client_that_leaves_is_forgotten(
    tmp_path: Path,
) -> None:
    db = tmp_path / "journal.db"
    key = new_key(db)
    with running(db) as server, server.client(key) as client:
        since = client.get("/tags").headers["x-cursor"]
        _, leaving = await ask(server, key, since)
        seconds, (body,) = await read_all([await ask(server, key, since, wait=1)])
        leaving.close()
        await leaving.wait_closed()
        again = client.get("/changes", params={"since": since, "wait": 0})

    assert b'"changes":[]' in body
    assert seconds > 0.9
    assert again.json()["data"] == {"changes": []}
