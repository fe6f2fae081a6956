"""What front ends send, from a process of its own: one request after another on each connection.

A tenth are writes. The load comes on standard input, what was seen goes to standard output, as JSON.
"""

import asyncio
import gc
import itertools
import random
import secrets
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from typing import cast
from urllib.parse import urlsplit

import uvloop
from commands import PATIENCE
from msgspec import Struct, json

READS_OF_A_WRITE = 9
BUSY = 503
NEW_TAG = "new tag"


class Load(Struct):
    """Whom to ask, for how long, and for what."""

    url: str
    key: str
    connections: int
    seconds: float
    reads: dict[str, list[str]]  # the paths of each kind
    category_id: int
    goal_id: int
    trade: dict[str, str | int]


class Seen(Struct):
    """The seconds of each answer by kind, apart those that were busy; all other failures are counted."""

    seconds: dict[str, list[float]]
    busy: list[float]
    failed: int
    took: float


class Request(Struct):
    kind: str
    content: bytes


def requests(load: Load, made: list[int]) -> Iterator[Request]:
    """At random, without end."""
    chosen, every_write = random.Random(secrets.randbits(64)), writes(load, made)
    while True:
        if chosen.randrange(READS_OF_A_WRITE + 1) == 0:
            yield next(every_write)
        else:
            kind = chosen.choice(sorted(load.reads))
            yield Request(kind, request(load, "GET", chosen.choice(load.reads[kind])))


def writes(load: Load, made: list[int]) -> Iterator[Request]:
    """A tag that was made goes again, so that the list stays as long as it is."""
    for number in itertools.count(1):
        tag = {"category_id": load.category_id, "name": f"Tag {secrets.token_hex(8)}"}
        yield Request(NEW_TAG, request(load, "POST", "/v1/tags", tag))
        yield Request("write", request(load, "POST", "/v1/trades", load.trade))
        change = {"target_value": number}
        yield Request("write", request(load, "PATCH", f"/v1/goals/{load.goal_id}", change))
        while made:
            yield Request("write", request(load, "DELETE", f"/v1/tags/{made.pop()}"))


def request(load: Load, method: str, path: str, body: object = None) -> bytes:
    content = b"" if body is None else json.encode(body)
    head = f"{method} {path} HTTP/1.1\r\nHost: {urlsplit(load.url).netloc}\r\n"
    head += f"Authorization: Bearer {load.key}\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content


class Asker(asyncio.Protocol):
    """One connection: the next request as soon as the answer is complete."""

    def __init__(self, load: Load, seen: Seen, until: float) -> None:
        self.made: list[int] = []
        self.requests, self.seen, self.until = requests(load, self.made), seen, until
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.WriteTransport, transport)
        self.ask()

    def ask(self) -> None:
        self.asked, self.received = next(self.requests), b""
        self.started = time.perf_counter()
        self.transport.write(self.asked.content)

    def data_received(self, data: bytes) -> None:
        self.received += data
        head, is_complete, content = self.received.partition(b"\r\n\r\n")
        if not is_complete or len(content) < length_in(head):
            return
        now = time.perf_counter()
        self.note(int(head[9:12]), now - self.started, content)
        if now < self.until:
            self.ask()
        else:
            self.transport.close()

    def note(self, status: int, took: float, content: bytes) -> None:
        if status == BUSY:
            self.seen.busy.append(took)
        elif status >= 300:
            self.seen.failed += 1
        else:
            self.seen.seconds["write" if self.asked.kind == NEW_TAG else self.asked.kind].append(took)
            if self.asked.kind == NEW_TAG:
                self.made.append(json.decode(content)["data"]["tag"]["id"])

    def connection_lost(self, error: Exception | None) -> None:
        self.seen.failed += time.perf_counter() < self.until
        self.done.set_result(None)


def length_in(head: bytes) -> int:
    """What the answer says of the length of its body."""
    _, _, rest = head.lower().partition(b"\r\ncontent-length:")
    return int(rest.partition(b"\r\n")[0] or 0)


def asked_by(asker: Asker) -> Asker:
    return asker


async def run(load: Load) -> Seen:
    seen, started = Seen(defaultdict(list), [], 0, 0), time.perf_counter()
    host, _, port = urlsplit(load.url).netloc.partition(":")
    loop = asyncio.get_running_loop()
    askers = [Asker(load, seen, started + load.seconds) for _ in range(load.connections)]
    for asker in askers:
        await loop.create_connection(partial(asked_by, asker), host, int(port))
    async with asyncio.timeout(load.seconds + PATIENCE):
        await asyncio.gather(*(asker.done for asker in askers))
    seen.took = time.perf_counter() - started
    return seen


if __name__ == "__main__":
    gc.disable()
    sys.stdout.buffer.write(json.encode(uvloop.run(run(json.decode(sys.stdin.buffer.read(), type=Load)))))
