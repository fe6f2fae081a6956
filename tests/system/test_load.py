"""A crowd at work, and clients that vanish, against a real server: docs/reliability.md 5 and 6."""

import asyncio
import json
import random
import socket
import struct
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from commands import PATIENCE, Server, locked, new_key, rows, running, wait_until
from factories import A_TRADE, is_whole, three_by_three, unwrap
from proofs import SOAK, tries

from journal_api.database.database import MAX_WAIT, MAX_WAITING

CLIENTS = 64
LOAD_SECONDS = tries(60, 2)
TRADES_BEFORE = tries(4, 1)  # thousands


class Reply(NamedTuple):
    """An answer and how long it took, in seconds."""

    status: int
    headers: dict[str, str]
    body: bytes
    seconds: float

    @property
    def is_success(self) -> bool:
        return self.status < 300

    @property
    def code(self) -> str:
        """Of a refusal; empty for a success."""
        return "" if self.is_success else str(json.loads(self.body)["error"]["code"])

    @property
    def thing(self) -> Any:
        (thing,) = json.loads(self.body)["data"].values()
        return thing


class Wire:
    """One connection that is kept, as lean as can be: the load is for the server, not for its clients."""

    def __init__(self, server: Server, key: str) -> None:
        url = httpx.URL(server.url)
        self.host, self.port = url.host, url.port
        self.head = f"Host: {url.host}\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n"

    async def __aenter__(self) -> "Wire":
        self.reader, self.writer = await asyncio.open_connection(self.host, self.port, limit=2**20)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.writer.close()
        await self.writer.wait_closed()

    async def send(self, method: str, path: str, body: Any = None) -> Reply:
        content = b"" if body is None else json.dumps(body).encode()
        head = f"{method} /v1{path} HTTP/1.1\r\n{self.head}Content-Length: {len(content)}\r\n\r\n"
        started = time.perf_counter()
        async with asyncio.timeout(PATIENCE):
            self.writer.write(head.encode() + content)
            first, *lines = (await self.reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
            answer = await self.reader.readexactly(int(headers.get("content-length", "0")))
        return Reply(int(first.split()[1]), headers, answer, time.perf_counter() - started)


def percentile(replies: list[Reply], share: float) -> float:
    """In milliseconds."""
    return sorted(reply.seconds for reply in replies)[int(share * (len(replies) - 1))] * 1000


def times_of(replies: list[Reply]) -> str:
    middle, most, longest = (percentile(replies, share) for share in (0.5, 0.99, 1))
    return f"p50 {middle:.1f}, p99 {most:.1f}, longest {longest:.0f} ms"


# A crowd at work ---------------------------------------------------------------------------------------


class Shared(NamedTuple):
    """What every window shows."""

    category: int
    accounts: list[int]
    goals: list[int]


async def make_shared(wire: Wire) -> Shared:
    """A journal that has been kept for a while."""

    async def new(path: str, **body: Any) -> int:
        reply = await wire.send("POST", path, body)
        assert reply.status == 201, reply
        return int(reply.thing["id"])

    shared = Shared(
        await new("/tag-categories", name="Psychology"),
        [await new("/accounts", name=name) for name in ("Sim", "Live")],
        [
            await new("/goals", goal_name=metric, metric=metric, target_value=target, timeframe=timeframe)
            for metric, target, timeframe in (
                *(("net_pnl", 500, "monthly"), ("win_rate", 55, "weekly")),
                *(("max_drawdown", 300, "monthly"), ("max_trades_per_day", 5, "daily")),
            )
        ],
    )
    for thousand in range(TRADES_BEFORE):
        trades = [trade_on(thousand * 1000 + number, shared) for number in range(1000)]
        assert (await wire.send("POST", "/trades/bulk", {"trades": trades})).status == 201
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


class Window:
    """A front end at work: what it was told of its own things, and every reply it got."""

    def __init__(self, wire: Wire, shared: Shared, number: int) -> None:
        self.wire, self.shared, self.number = wire, shared, number
        self.chance = random.Random(number)
        self.made = 0
        self.tags: dict[int, str] = {}
        self.trades: dict[int, str] = {}
        self.strategy: Any = None
        self.reads: list[Reply] = []
        self.refreshes: list[Reply] = []
        self.writes: list[Reply] = []

    async def begin(self) -> None:
        body = {"name": f"Of {self.number}", "setups": three_by_three("first")}
        self.strategy = (await self.wire.send("POST", "/strategies", body)).thing
        await self.new_trade()

    async def work(self, until: float) -> None:
        """Mostly it looks; now and then its trader does something."""
        doing = (self.new_tag, self.drop_tag, self.new_trade, self.edit_trade, self.tag_trade, self.edit)
        while time.monotonic() < until:
            await (self.look() if self.chance.random() < 0.7 else self.chance.choice(doing)())

    async def look(self) -> None:
        snapshots = f"/goals/{self.chance.choice(self.shared.goals)}/snapshots?limit=12"
        path = self.chance.choice(
            [
                *("/tags", "/tag-categories", "/strategies", "/goals", "/trades?limit=50"),
                *(f"/strategies/{self.strategy['id']}", f"/trades/{self.chance.choice(list(self.trades))}"),
                snapshots,
            ]
        )
        # Somebody has traded since the goal was last looked at, so this is a write as well.
        kept = self.refreshes if path == snapshots else self.reads
        kept.append(await self.wire.send("GET", path))

    async def write(self, method: str, path: str, body: Any = None) -> Reply:
        self.writes.append(await self.wire.send(method, path, body))
        return self.writes[-1]

    def word(self) -> str:
        """One that was not used before."""
        self.made += 1
        return f"{self.number}-{self.made}"

    async def new_tag(self) -> None:
        name = self.word()
        if len(self.tags) > 4:
            await self.drop_tag()
        reply = await self.write("POST", "/tags", {"name": name, "category_id": self.shared.category})
        if reply.is_success:
            self.tags[reply.thing["id"]] = name

    async def drop_tag(self) -> None:
        if self.tags:
            tag = self.chance.choice(list(self.tags))
            if (await self.write("DELETE", f"/tags/{tag}")).is_success:
                del self.tags[tag]

    async def new_trade(self) -> None:
        notes = self.word()
        trade = trade_on(self.chance.randrange(1000), self.shared)
        reply = await self.write("POST", "/trades", {**trade, "notes": notes})
        if reply.is_success:
            self.trades[reply.thing["id"]] = notes

    async def edit_trade(self) -> None:
        trade, notes = self.chance.choice(list(self.trades)), self.word()
        body = {"notes": notes, "exit_price": self.chance.randrange(90, 110)}
        if (await self.write("PATCH", f"/trades/{trade}", body)).is_success:
            self.trades[trade] = notes

    async def tag_trade(self) -> None:
        trade = self.chance.choice(list(self.trades))
        await self.write("PUT", f"/trades/{trade}/tags", {"tag_ids": list(self.tags)})

    async def edit(self) -> None:
        body = {"description": self.word(), "setups": three_by_three(self.word())}
        reply = await self.write("PATCH", f"/strategies/{self.strategy['id']}", body)
        if reply.is_success:
            self.strategy = reply.thing


def refusals(replies: list[Reply]) -> Counter[tuple[int, str]]:
    return Counter((reply.status, reply.code) for reply in replies if not reply.is_success)


@asynccontextmanager
async def wires_to(server: Server, key: str, how_many: int) -> AsyncIterator[list[Wire]]:
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(Wire(server, key)) for _ in range(how_many)]


@asynccontextmanager
async def windows_at(server: Server, key: str) -> AsyncIterator[list[Window]]:
    """That many front ends, each with a connection and a strategy of its own."""
    async with wires_to(server, key, CLIENTS) as wires:
        shared = await make_shared(wires[0])
        windows = [Window(wire, shared, number) for number, wire in enumerate(wires)]
        await asyncio.gather(*(window.begin() for window in windows))
        yield windows


def assert_held(db: Path, windows: list[Window]) -> int:
    """The journal holds exactly what the windows were told; how many rows that are."""
    tags = {tag: name for window in windows for tag, name in window.tags.items()}
    trades = {trade: notes for window in windows for trade, notes in window.trades.items()}
    strategies = {window.strategy["id"]: window.strategy for window in windows}

    assert dict(rows(db, "SELECT id, name FROM tags")) == tags
    assert dict(rows(db, "SELECT id, notes FROM trades WHERE notes IS NOT NULL")) == trades
    assert dict(rows(db, "SELECT id, description FROM strategies")) == {
        strategy_id: strategy["description"] for strategy_id, strategy in strategies.items()
    }
    found = rows(db, "SELECT strategy_id, id, name FROM setups ORDER BY strategy_id, sort_order")
    assert found == [
        (strategy_id, setup["setup_id"], setup["name"])
        for strategy_id, strategy in sorted(strategies.items())
        for setup in strategy["setups"]
    ]
    assert rows(db, "PRAGMA integrity_check") == [("ok",)]
    assert rows(db, "PRAGMA foreign_key_check") == []
    return len(tags) + len(trades) + len(strategies) + len(found)


@pytest.mark.promise(6)
async def test_under_load_nothing_fails_but_what_is_busy_and_what_was_acknowledged_is_there(
    tmp_path: Path, seen: Callable[[str], None]
) -> None:
    db = tmp_path / "journal.db"
    key = new_key(db)

    with running(db) as server:
        async with windows_at(server, key) as windows:
            started = time.monotonic()
            await asyncio.gather(*(window.work(started + LOAD_SECONDS) for window in windows))
            took = time.monotonic() - started
        assert server.stop() == 0

    reads = [reply for window in windows for reply in window.reads]
    refreshes = [reply for window in windows for reply in window.refreshes]
    writes = [reply for window in windows for reply in window.writes]
    replies = reads + refreshes + writes
    refused = refusals(replies)
    held = assert_held(db, windows)
    assert set(refused) <= {(503, "busy")}
    assert all(int(reply.headers["retry-after"]) > 0 for reply in replies if reply.status == 503)
    seen(
        f"{CLIENTS} clients for {took:.0f} s: {len(replies) / took:.0f} requests/s, {len(reads)} reads "
        f"({times_of(reads)}), {len(refreshes)} of snapshots ({times_of(refreshes)}), {len(writes)} writes "
        f"({times_of(writes)}), "
        f"{sum(refused.values())} of them 503 busy, nothing else refused; {held} rows as acknowledged"
    )


@pytest.mark.promise(6)
async def test_what_is_refused_as_busy_was_not_begun_and_can_be_repeated_until_it_is_done_once(
    tmp_path: Path, seen: Callable[[str], None]
) -> None:
    db = tmp_path / "journal.db"
    key = new_key(db)
    refused: list[Reply] = []

    with running(db) as server:
        async with wires_to(server, key, 2 * MAX_WAITING) as wires:
            shared = await make_shared(wires[0])
            # Nothing keeps a trade from being there twice, so one that was written and refused would show.
            left = {f"busy {number}": wire for number, wire in enumerate(wires)}

            async def try_all() -> None:
                sent = [wire.send("POST", "/trades", body(notes)) for notes, wire in left.items()]
                for notes, reply in zip(list(left), await asyncio.gather(*sent), strict=True):
                    if reply.is_success:
                        del left[notes]
                    else:
                        refused.append(reply)

            def body(notes: str) -> dict[str, Any]:
                return {**trade_on(1, shared), "notes": notes}

            with locked(db):
                await try_all()
            at_first = len(refused)
            rounds = 1
            while left and rounds < 100:
                await try_all()
                rounds += 1
        assert server.stop() == 0

    at_once = sum(reply.seconds < MAX_WAIT / 2 for reply in refused[:at_first])
    assert at_first == len(wires)
    assert set(refusals(refused)) == {(503, "busy")}
    assert all(int(reply.headers["retry-after"]) > 0 for reply in refused)
    assert left == {}
    kept = rows(db, "SELECT notes FROM trades WHERE notes IS NOT NULL")
    assert sorted(notes for (notes,) in kept) == sorted(f"busy {number}" for number in range(len(wires)))
    seen(
        f"{len(wires)} trades at once, the database locked: {at_first} times 503 busy, {at_once} of them at "
        f"once, the last after {percentile(refused, 1) / 1000:.1f} s; repeated {rounds} times "
        f"({len(refused)} times 503 in all), each is there once"
    )


# Clients that vanish -----------------------------------------------------------------------------------


WHERE = ["in the headers", "in the body", "after the request", "while the answer comes"]


def request(server: Server, key: str, method: str, path: str, body: Any = None) -> tuple[bytes, bytes]:
    """Head and body as they are sent."""
    content = b"" if body is None else json.dumps(body).encode()
    lines = (
        *(f"{method} /v1{path} HTTP/1.1", f"Host: {httpx.URL(server.url).host}"),
        *(f"Authorization: Bearer {key}", "Content-Type: application/json"),
        *(f"Content-Length: {len(content)}", "", ""),
    )
    return "\r\n".join(lines).encode(), content


def vanish(server: Server, head: bytes, body: bytes, where: str, chance: random.Random) -> bytes:
    """Send the request and reset the connection at a random point; what was heard until then."""
    url = httpx.URL(server.url)
    whole = head + body
    match where:
        case "in the headers":
            sent = whole[: chance.randrange(1, len(head))]
        case "in the body":
            sent = whole[: len(head) + chance.randrange(len(body) or 1)]
        case _:
            sent = whole
    with socket.socket() as connection:
        connection.settimeout(PATIENCE)
        # Not even a close: a reset, whatever is on its way.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect((url.host, url.port))
        connection.sendall(sent)
        if where == "while the answer comes":
            return connection.recv(chance.randrange(20, 200))
        return b""


def open_files(server: Server) -> int:
    return len(list(Path(f"/proc/{server.process.pid}/fd").iterdir()))


@pytest.mark.promise(5)
@pytest.mark.skipif(sys.platform != "linux", reason="what a process has open is told by /proc")
def test_connections_that_are_reset_break_nothing_and_keep_nobody_waiting(
    tmp_path: Path, seen: Callable[[str], None]
) -> None:
    db = tmp_path / "journal.db"
    key, chance = new_key(db), random.Random(5)
    resets, next_writes = tries(200, 40), []
    acknowledged: set[str] = set()

    with running(db) as server, server.client(key) as client:
        category = unwrap(client.post("/tag-categories", json={"name": "After"}))["id"]
        kept = unwrap(client.post("/strategies", json={"name": "w", "setups": three_by_three("w")}))["id"]
        large = {"name": "Large", "setups": [{"name": f"{number}", **LARGE_SETUP} for number in range(50)]}
        large_id = unwrap(client.post("/strategies", json=large))["id"]
        before = open_files(server)

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
            head, content = request(server, key, method, path, body)
            if b" 201 " in vanish(server, head, content, WHERE[number % len(WHERE)], chance):
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
    assert rows(db, "PRAGMA integrity_check") == [("ok",)]
    assert rows(db, "PRAGMA foreign_key_check") == []
    assert "Traceback" not in log
    assert '"level":"error"' not in log
    slowest = max(next_writes) * 1000
    seen(
        f"{resets} connections reset, a quarter each {', '.join(WHERE)}: 0 half-written of {len(strategies)} "
        f"strategies, {len(acknowledged)} of {len(acknowledged)} acknowledged there, 0 left open, no error "
        f"logged; the next write answered {len(next_writes)} of {len(next_writes)} times, the slowest after "
        f"{slowest:.0f} ms"
    )
    assert slowest < 100 or not SOAK


LARGE_SETUP = {"confirmations": [{"name": f"C{number}", "description": "x" * 100} for number in range(100)]}
