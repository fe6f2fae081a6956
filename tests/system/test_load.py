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
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from commands import PATIENCE, WITHOUT_TLS, Server, locked, new_key, rows, running, wait_until
from factories import A_TRADE, error_of, is_whole, three_by_three, unwrap
from journals import assert_sound
from proofs import SOAK, examples
from streams import Journal

from journal_api.database.database import MAX_WAIT, MAX_WAITING

CLIENTS = 64
LOAD_SECONDS = examples(60, 2)
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
async def clients_of(server: Server, key: str, number: int) -> AsyncIterator[list[httpx.AsyncClient]]:
    """So many clients with a connection each: one pool for all of them would be slower than the server."""
    headers = {"Authorization": f"Bearer {key}"}
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(
                httpx.AsyncClient(
                    base_url=f"{server.url}/v1", headers=headers, timeout=PATIENCE, verify=WITHOUT_TLS
                )
            )
            for _ in range(number)
        ]


# A crowd at work ---------------------------------------------------------------------------------------


class Shared(NamedTuple):
    """What every front end shows."""

    category: int
    accounts: list[int]
    goals: list[int]


GOALS = [
    ("net_pnl", 500, "monthly"),
    ("win_rate", 55, "weekly"),
    ("max_drawdown", 300, "monthly"),
    ("max_trades_per_day", 5, "daily"),
]


async def make_shared(client: httpx.AsyncClient) -> Shared:
    """Create a journal that has been kept for a while."""

    async def new(path: str, **body: Any) -> int:
        return int(unwrap(await client.post(path, json=body))["id"])

    shared = Shared(
        await new("/tag-categories", name="Psychology"),
        [await new("/accounts", name=name) for name in ("Sim", "Live")],
        [
            await new("/goals", goal_name=metric, metric=metric, target_value=target, timeframe=timeframe)
            for metric, target, timeframe in GOALS
        ],
    )
    for thousand in range(TRADES_BEFORE):
        trades = [trade_on(thousand * 1000 + number, shared) for number in range(1000)]
        (await client.post("/trades/bulk", json={"trades": trades})).raise_for_status()
    return shared


def trade_on(number: int, shared: Shared) -> dict[str, Any]:
    """A trade of its own price, on one of the 28 first days of one of six months."""
    day = f"2026-{number % 6 + 1:02}-{number % 28 + 1:02}"
    return {
        **A_TRADE,
        "account_id": shared.accounts[number % 2],
        "exit_price": 99 + number % 7 / 2,
        "opened_at": f"{day}T14:00:00Z",
        "closed_at": f"{day}T15:00:00Z",
    }


class FrontEnd:
    """A front end at work: its own objects as they were acknowledged, and every response that it got."""

    def __init__(self, client: httpx.AsyncClient, shared: Shared, number: int) -> None:
        self.client, self.shared, self.number = client, shared, number
        self.chance, self.words = random.Random(number), count(1)
        self.tags: dict[int, str] = {}
        self.trades: dict[int, str] = {}
        self.strategy: Any = None
        self.reads: list[httpx.Response] = []
        self.refreshes: list[httpx.Response] = []
        self.writes: list[httpx.Response] = []

    async def begin(self) -> None:
        body = {"name": f"Of {self.number}", "setups": three_by_three("first")}
        self.strategy = unwrap(await self.client.post("/strategies", json=body))
        await self.create_trade()

    async def work(self, until: float) -> None:
        """Mostly read; now and then write."""
        writes = (
            self.create_tag,
            self.delete_tag,
            self.create_trade,
            self.update_trade,
            self.update_strategy,
        )
        while time.monotonic() < until:
            await (self.read() if self.chance.random() < 0.7 else self.chance.choice(writes)())

    async def read(self) -> None:
        snapshots = f"/goals/{self.chance.choice(self.shared.goals)}/snapshots?limit=12"
        trade, strategy = self.chance.choice(list(self.trades)), self.strategy["id"]
        lists = ("/tags", "/tag-categories", "/strategies", "/goals", "/trades?limit=50")
        path = self.chance.choice([*lists, f"/strategies/{strategy}", f"/trades/{trade}", snapshots])
        # Somebody has traded since the goal was last read, so this is a write as well.
        found = self.refreshes if path == snapshots else self.reads
        found.append(await self.client.get(path))

    async def write(self, method: str, path: str, body: Any = None) -> httpx.Response:
        self.writes.append(await self.client.request(method, path, json=body))
        return self.writes[-1]

    def new_word(self) -> str:
        return f"{self.number}-{next(self.words)}"

    async def create_tag(self) -> None:
        name = self.new_word()
        if len(self.tags) > 4:
            await self.delete_tag()
        response = await self.write("POST", "/tags", {"name": name, "category_id": self.shared.category})
        if response.is_success:
            self.tags[unwrap(response)["id"]] = name

    async def delete_tag(self) -> None:
        if self.tags:
            tag = self.chance.choice(list(self.tags))
            if (await self.write("DELETE", f"/tags/{tag}")).is_success:
                del self.tags[tag]

    async def create_trade(self) -> None:
        notes = self.new_word()
        trade = trade_on(self.chance.randrange(1000), self.shared)
        response = await self.write("POST", "/trades", {**trade, "notes": notes})
        if response.is_success:
            self.trades[unwrap(response)["id"]] = notes

    async def update_trade(self) -> None:
        trade, notes = self.chance.choice(list(self.trades)), self.new_word()
        body = {"notes": notes, "exit_price": self.chance.randrange(90, 110), "tag_ids": list(self.tags)}
        if (await self.write("PATCH", f"/trades/{trade}", body)).is_success:
            self.trades[trade] = notes

    async def update_strategy(self) -> None:
        body = {"description": self.new_word(), "setups": three_by_three(self.new_word())}
        response = await self.write("PATCH", f"/strategies/{self.strategy['id']}", body)
        if response.is_success:
            self.strategy = unwrap(response)


def assert_stored(db: Path, front_ends: list[FrontEnd]) -> None:
    """The journal holds exactly what was acknowledged."""
    strategies = {one.strategy["id"]: one.strategy for one in front_ends}
    assert dict(rows(db, "SELECT id, name FROM tags")) == {
        tag: name for one in front_ends for tag, name in one.tags.items()
    }
    assert dict(rows(db, "SELECT id, notes FROM trades WHERE notes IS NOT NULL")) == {
        trade: notes for one in front_ends for trade, notes in one.trades.items()
    }
    assert dict(rows(db, "SELECT id, description FROM strategies")) == {
        strategy_id: strategy["description"] for strategy_id, strategy in strategies.items()
    }
    assert rows(db, "SELECT strategy_id, id, name FROM setups ORDER BY strategy_id, sort_order") == [
        (strategy_id, setup["setup_id"], setup["name"])
        for strategy_id, strategy in sorted(strategies.items())
        for setup in strategy["setups"]
    ]
    assert_sound(db)


@pytest.mark.promise(6)
async def test_under_load_nothing_fails_but_what_is_busy_and_what_was_acknowledged_is_there(
    tmp_path: Path, record_observation: Callable[[str], None]
) -> None:
    db = tmp_path / "journal.db"
    key = new_key(db)

    with running(db) as server:
        async with clients_of(server, key, CLIENTS) as clients:
            shared = await make_shared(clients[0])
            front_ends = [FrontEnd(client, shared, number) for number, client in enumerate(clients)]
            await asyncio.gather(*(one.begin() for one in front_ends))
            started = time.monotonic()
            await asyncio.gather(*(one.work(started + LOAD_SECONDS) for one in front_ends))
            took = time.monotonic() - started
        assert server.stop() == 0

    reads = [response for one in front_ends for response in one.reads]
    refreshes = [response for one in front_ends for response in one.refreshes]
    writes = [response for one in front_ends for response in one.writes]
    refused = assert_only_busy(reads + refreshes + writes)
    assert_stored(db, front_ends)
    record_observation(
        f"{CLIENTS} clients for {took:.0f} s: {len(reads + refreshes + writes) / took:.0f} requests/s, "
        f"{len(reads)} reads ({times_of(reads)}), {len(refreshes)} of snapshots ({times_of(refreshes)}), "
        f"{len(writes)} writes ({times_of(writes)}), {refused} of them 503 busy, nothing else refused; every "
        "row as acknowledged"
    )


@pytest.mark.promise(6)
async def test_what_is_refused_as_busy_was_not_begun_and_can_be_repeated_until_it_is_done_once(
    tmp_path: Path, record_observation: Callable[[str], None]
) -> None:
    db = tmp_path / "journal.db"
    key = new_key(db)
    refused: list[httpx.Response] = []

    with running(db) as server:
        async with clients_of(server, key, examples(2 * MAX_WAITING, MAX_WAITING + 40)) as clients:
            trade = trade_on(1, await make_shared(clients[0]))
            # Nothing keeps a trade from being there twice, so one that was written and refused would show.
            names = [f"busy {number}" for number in range(len(clients))]
            left = dict(zip(names, clients, strict=True))

            async def try_all() -> None:
                sent = [
                    client.post("/trades", json={**trade, "notes": notes}) for notes, client in left.items()
                ]
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
    at_once = sum(one < MAX_WAIT / 2 for one in seconds)
    record_observation(
        f"{len(names)} trades at once, the file locked: {len(at_first)} times 503 busy, {at_once} of them "
        f"at once, the last after {max(seconds):.1f} s; repeated {rounds} times "
        f"({len(refused)} times 503 in all), each is there once"
    )


# Clients that vanish -----------------------------------------------------------------------------------


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


def open_files(server: Server) -> int:
    return len(list(Path(f"/proc/{server.process.pid}/fd").iterdir()))


@pytest.mark.promise(5)
@pytest.mark.skipif(sys.platform != "linux", reason="what a process has open is told by /proc")
def test_connections_that_are_reset_break_nothing_and_keep_nobody_waiting(
    tmp_path: Path, record_observation: Callable[[str], None]
) -> None:
    db = tmp_path / "journal.db"
    key, chance = new_key(db), random.Random(5)
    resets, next_writes = examples(200, 40), []
    acknowledged: set[str] = set()

    with running(db) as server, server.client(key) as client:
        category = unwrap(client.post("/tag-categories", json={"name": "After"}))["id"]
        kept = unwrap(client.post("/strategies", json={"name": "w", "setups": three_by_three("w")}))["id"]
        large = {"name": "Large", "setups": [{"name": f"{number}", **LARGE_SETUP} for number in range(50)]}
        large_id = unwrap(client.post("/strategies", json=large))["id"]
        before, journal = open_files(server), Journal(server.url, key)

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
        wait_until(lambda: open_files(server) <= before)
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
