"""A crowd at work, and clients that vanish, against a real server: docs/reliability.md 5 and 6."""

import asyncio
import json
import random
import socket
import struct
import sys
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import chain, cycle, takewhile
from pathlib import Path

import httpx
import pytest
from commands import PATIENCE, WITHOUT_TLS, Server, locked, new_key, rows, running, wait_until
from factories import A_TRADE, Client, error_of, is_whole, three_by_three, unwrap
from journals import assert_sound
from proofs import SOAK, examples
from streams import Journal
from writers import Writer

from journal_api.database.database import MAX_WAIT, MAX_WAITING

CLIENTS = examples(64, 16)
LOAD_SECONDS = 60 if SOAK else 0.2
TRADES_BEFORE = examples(4, 1)  # thousands


def times_of(responses: list[httpx.Response]) -> str:
    seconds = sorted(response.elapsed.total_seconds() for response in responses)
    middle, most, longest = (seconds[int(share * (len(seconds) - 1))] * 1000 for share in (0.5, 0.99, 1))
    return f"p50 {middle:.1f}, p99 {most:.1f}, longest {longest:.0f} ms"


def assert_only_busy(responses: list[httpx.Response]) -> int:
    """Every refusal is 503 busy with a Retry-After; return how many there are."""
    refused = [response for response in responses if not response.is_success]
    for response in refused:
        assert error_of(response) == (503, "busy")
        assert int(response.headers["retry-after"]) > 0
    return len(refused)


@asynccontextmanager
async def clients_of(server: Server, key: str, number: int) -> AsyncIterator[list[Client]]:
    """So many clients with a connection each: one pool for all of them would be slower than the server."""
    headers = {"Authorization": f"Bearer {key}"}
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(
                httpx.AsyncClient(base_url=f"{server.url}/v1", headers=headers, timeout=PATIENCE, verify=WITHOUT_TLS)
            )
            for _ in range(number)
        ]


def make_goals(client: httpx.Client) -> list[str]:
    """Create a journal that has been kept for a while; return what a front end reads of it."""
    account = unwrap(client.post("/accounts", json={"name": "Sim"}))["id"]
    days = [f"2026-{number % 6 + 1:02}-{number % 28 + 1:02}" for number in range(1000)]
    trades = [
        {**A_TRADE, "account_id": account, "opened_at": f"{day}T14:00:00Z", "closed_at": f"{day}T15:00:00Z"}
        for day in days
    ]
    for _ in range(TRADES_BEFORE):
        client.post("/trades/bulk", json={"trades": trades}).raise_for_status()
    paths = ["/tags", "/strategies", "/goals", "/trades?limit=50", "/trades/1"]
    for metric, timeframe in (("net_pnl", "monthly"), ("win_rate", "weekly"), ("max_drawdown", "daily")):
        goal = {"goal_name": metric, "metric": metric, "target_value": 50, "timeframe": timeframe}
        paths.append(f"/goals/{unwrap(client.post('/goals', json=goal))['id']}/snapshots?limit=12")
    return paths


def read(server: Server, key: str, paths: list[str], until: float) -> list[httpx.Response]:
    """The responses of a front end that reads one of the paths after the other, each at least once."""
    with server.client(key) as client:
        more = takewhile(lambda _: time.monotonic() < until, cycle(paths))
        return [client.get(path) for path in chain(paths, more)]


@pytest.mark.promise(6)
def test_under_load_nothing_fails_but_what_is_busy_and_what_was_acknowledged_is_there(
    db: Path, record_observation: Callable[[str], None]
) -> None:
    key, writers = new_key(db), [Writer(f"Writer {number:02}") for number in range(CLIENTS // 4)]
    number_of_readers = CLIENTS - len(writers)

    with running(db) as server, ThreadPoolExecutor(CLIENTS) as pool:
        with server.client(key) as client:
            paths = make_goals(client)
        until = time.monotonic() + LOAD_SECONDS
        reading = [pool.submit(read, server, key, paths, until) for _ in range(number_of_readers)]
        for writing in [pool.submit(one.work, server, key, lambda: None, until) for one in writers]:
            writing.result(PATIENCE)
        reads = [response for one in reading for response in one.result(PATIENCE)]
        assert server.stop() == 0

    writes = [response for one in writers for response in one.responses]
    refused = assert_only_busy(reads + writes)
    assert sum(writer.acknowledged for writer in writers) > 0
    for writer in writers:
        writer.compare(db)
    assert_sound(db)
    record_observation(
        f"{CLIENTS} clients for {LOAD_SECONDS} s: {len(reads)} reads ({times_of(reads)}), {len(writes)} "
        f"writes ({times_of(writes)}), {refused} of them 503 busy, nothing else refused; "
        "every row as acknowledged"
    )


@pytest.mark.promise(6)
async def test_what_is_refused_as_busy_was_not_begun_and_can_be_repeated_until_it_is_done_once(
    db: Path, record_observation: Callable[[str], None]
) -> None:
    key = new_key(db)
    refused: list[httpx.Response] = []
    most, longest = (MAX_WAITING, MAX_WAIT) if SOAK else (16, 0.3)
    constants = {
        "database.database.MAX_WAITING": most,
        "database.database.MAX_WAIT": longest,
        "database.connections.BUSY_TIMEOUT": 0.1,
    }

    with running(db, constants=constants) as server:
        async with clients_of(server, key, 2 * most) as clients:
            account = unwrap(await clients[0].post("/accounts", json={"name": "Sim"}))
            trade = {**A_TRADE, "account_id": account["id"]}
            # Nothing keeps a trade from being there twice, so one that was written and refused would show.
            names = [f"busy {number}" for number in range(len(clients))]
            left = dict(zip(names, clients, strict=True))

            async def try_all() -> None:
                sent = [client.post("/trades", json={**trade, "notes": notes}) for notes, client in left.items()]
                for notes, response in zip(list(left), await asyncio.gather(*sent), strict=True):
                    if response.is_success:
                        del left[notes]
                    else:
                        refused.append(response)

            with locked(db):
                await try_all()
            at_first = refused.copy()
            rounds = 1
            while left and rounds < 100:
                await try_all()
                rounds += 1
        assert server.stop() == 0

    assert len(at_first) == len(names)
    assert_only_busy(refused)
    assert left == {}
    stored = rows(db, "SELECT notes FROM trades WHERE notes IS NOT NULL")
    assert sorted(notes for (notes,) in stored) == sorted(names)
    seconds = [response.elapsed.total_seconds() for response in at_first]
    at_once = sum(one < longest / 2 for one in seconds)
    record_observation(
        f"{len(names)} trades at once, the file locked: {len(at_first)} times 503 busy, {at_once} of them "
        f"at once, the last after {max(seconds):.1f} s; repeated {rounds} times "
        f"({len(refused)} times 503 in all), each is there once"
    )


WHERE = ["in the headers", "in the body", "after the request", "while the response comes"]
LARGE_SETUP = {"confirmations": [{"name": f"C{number}", "description": "x" * 100} for number in range(100)]}


def vanish(journal: Journal, head: bytes, body: bytes, where: str, chance: random.Random) -> bytes:
    """Send the request and reset the connection at a random point; return what was heard until then."""
    whole = head + body
    ends = {
        "in the headers": chance.randrange(1, len(head)),
        "in the body": len(head) + chance.randrange(len(body) or 1),
    }
    with socket.socket() as connection:
        connection.settimeout(PATIENCE)
        # Not even a close: a reset, whatever is on its way.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", journal.port))
        connection.sendall(whole[: ends.get(where)])
        if where == "while the response comes":
            return connection.recv(chance.randrange(20, 200))
        return b""


@pytest.mark.promise(5)
@pytest.mark.skipif(sys.platform != "linux", reason="what a process has open is told by /proc")
def test_connections_that_are_reset_break_nothing_and_keep_nobody_waiting(
    db: Path, record_observation: Callable[[str], None]
) -> None:
    key, chance = new_key(db), random.Random(5)
    resets, next_writes = examples(200, 40), []
    acknowledged: set[str] = set()

    with running(db) as server, server.client(key) as client:
        category = unwrap(client.post("/tag-categories", json={"name": "After"}))["id"]
        kept = unwrap(client.post("/strategies", json={"name": "w", "setups": three_by_three("w")}))["id"]
        large = {"name": "Large", "setups": [{"name": f"{number}", **LARGE_SETUP} for number in range(50)]}
        large_id = unwrap(client.post("/strategies", json=large))["id"]
        before, journal = server.open_files(), Journal(server.url, key)

        def one(number: int) -> None:
            word = f"w{number}"
            strategy = {"name": word, "setups": three_by_three(word)}
            method, path, body = chance.choice(
                [
                    ("POST", "/strategies", strategy),
                    ("PATCH", f"/strategies/{kept}", strategy),
                    ("GET", f"/strategies/{large_id}", None),
                ]
            )
            content = b"" if body is None else json.dumps(body).encode()
            head = journal.head(f"{method} /v1{path}", "a", b"Content-Length: %d" % len(content))
            if b" 201 " in vanish(journal, head, content, WHERE[number % len(WHERE)], chance):
                acknowledged.add(word)

        with ThreadPoolExecutor(8) as pool:
            for first in range(0, resets, 8):
                list(pool.map(one, range(first, first + 8)))
                started = time.perf_counter()
                tag = {"name": f"After {first}", "category_id": category}
                assert client.post("/tags", json=tag).status_code == 201
                next_writes.append(time.perf_counter() - started)

        found = [item["id"] for item in unwrap(client.get("/strategies")) if item["id"] != large_id]
        strategies = [unwrap(client.get(f"/strategies/{strategy_id}")) for strategy_id in found]
        wait_until(lambda: server.open_files() <= before)
        assert server.stop() == 0

    log = server.err.read_text()
    assert [strategy for strategy in strategies if not is_whole(strategy)] == []
    assert acknowledged <= {strategy["name"] for strategy in strategies}
    assert len(rows(db, "SELECT 1 FROM tags")) == len(next_writes)
    assert_sound(db)
    assert "Traceback" not in log
    assert '"level":"error"' not in log
    slowest = max(next_writes) * 1000
    record_observation(
        f"{resets} connections reset, a quarter each {', '.join(WHERE)}: 0 half-written of {len(strategies)} "
        f"strategies, {len(acknowledged)} of {len(acknowledged)} acknowledged there, 0 left open, no error "
        f"logged; the next write answered {len(next_writes)} of {len(next_writes)} times, the slowest after "
        f"{slowest:.0f} ms"
    )
    assert slowest < 100 or not SOAK
