"""Power loss: no response to a write leaves before the disk has it (docs/reliability.md 2).

Nothing here can cut the power. What can be watched is the order of the system calls: the bytes of a write go
into the log, the log is synced, the response is sent.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from commands import PATIENCE, Server, free_port, new_key, running_program
from factories import A_TRADE, unwrap
from proofs import examples, only_in_soak

SYNCS = ("fsync", "fdatasync")
WRITES = ("write", "pwrite64", "writev", "pwritev", "pwritev2", "sendto", "sendmsg")
# The server, but with a write-ahead log that is synced only at a checkpoint.
CARELESS = """
from journal_api import cli
from journal_api.database import connections, database

class Careless(connections.Writer):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.execute("PRAGMA synchronous = NORMAL")

database.Writer = Careless
cli.main()
"""


class SentResponse(NamedTuple):
    """The state of the log when the response to a request began to be sent."""

    request: str
    written: int  # calls since the response before
    unsynced: int  # calls of all times

    @property
    def is_gated(self) -> bool:
        return self.written > 0 and self.unsynced == 0


CALL = re.compile(r"(?P<thread>\d+) +(?P<name>\w+)\(\d+<(?P<file>[^>]*)>(?P<rest>.*)")
RESUMED = re.compile(r"(?P<thread>\d+) +<\.\.\. (?P<name>\w+) resumed>(?P<rest>.*)")
REQUEST = re.compile(r"HTTP/1\.1 .*x-request-id: (gate-\d+)\\r", re.IGNORECASE)


def responses_in(trace: Iterable[str]) -> list[SentResponse]:
    """The responses in the order in which they were sent.

    A write counts from its beginning, a sync from its end and for what was written before it began.
    """
    found: list[SentResponse] = []
    written = unsynced = 0
    syncing: dict[str, int] = {}
    for line in trace:
        call = CALL.fullmatch(line) or RESUMED.fullmatch(line)
        if call is None:
            continue
        thread, name, rest = call["thread"], call["name"], call["rest"]
        is_log = call.groupdict().get("file", "").endswith("-wal")
        if is_log and name in WRITES:
            written, unsynced = written + 1, unsynced + 1
        elif is_log and name in SYNCS:
            syncing[thread] = unsynced
        if name in SYNCS and rest.endswith(" = 0"):
            unsynced -= syncing.pop(thread, 0)
        if request := REQUEST.search(rest):
            found.append(SentResponse(request[1], written, unsynced))
            written = 0
    return found


@pytest.fixture(scope="module")
def strace() -> str:
    """The path of a strace that may trace."""
    path = shutil.which("strace")
    if path is None:
        pytest.skip("strace is not installed")
    tried = subprocess.run([path, "-f", "--seccomp-bpf", "true"], capture_output=True, timeout=PATIENCE, check=False)
    if tried.returncode != 0:
        pytest.skip(f"strace may not trace here: {tried.stderr.decode().strip()}")
    return path


@contextmanager
def traced(strace: str, trace: Path, db: Path, *program: str) -> Iterator[Server]:
    """The server of that program under strace; after the block it has ended and the trace is whole."""
    port, calls = free_port(), ",".join((*SYNCS, *WRITES))
    # -y tells the file of a descriptor; -s is enough for the headers of a response.
    watching = [strace, "-f", "--seccomp-bpf", "-y", "-s", "400", "-e", f"trace={calls}", "-o", str(trace)]
    serve = [sys.executable, *program, "serve", "--db", str(db), "--port", str(port)]
    with running_program(trace, [*watching, *serve], port) as server:
        try:
            yield server
        finally:
            # The server, whose thread stands first in the trace; strace ends with it.
            os.kill(int(trace.read_text().split(maxsplit=1)[0]), signal.SIGTERM)
            server.process.wait(PATIENCE)


class Writes:
    """Writes of every kind, one after the other, each under a request id of its own."""

    def __init__(self, client: httpx.Client) -> None:
        self.client = client
        self.sent: list[str] = []

    def send(self, method: str, path: str, body: Any = None) -> httpx.Response:
        self.sent.append(f"gate-{len(self.sent)}")
        response = self.client.request(method, path, json=body, headers={"X-Request-Id": self.sent[-1]})
        assert response.status_code in (200, 201, 204), response.text
        return response

    def new(self, path: str, body: Any) -> int:
        return int(unwrap(self.send("POST", path, body))["id"])

    def begin(self) -> None:
        self.category = self.new("/tag-categories", {"name": "Psychology"})
        self.account = self.new("/accounts", {"name": "Sim"})
        self.strategy = self.new("/strategies", {"name": "Breakout"})

    def five(self, number: int) -> None:
        tag = self.new("/tags", {"name": f"T{number}", "category_id": self.category})
        setups = [{"name": f"S{number}.{place}", "confirmations": [{"name": "Volume"}]} for place in range(3)]
        self.send("PATCH", f"/strategies/{self.strategy}", {"description": f"{number}", "setups": setups})
        trade = self.new("/trades", {"account_id": self.account, **A_TRADE})
        self.send("PUT", f"/trades/{trade}/tags", {"tag_ids": [tag]})
        self.send("DELETE", f"/tags/{tag}")


def trace_writes(strace: str, tmp_path: Path, rounds: int, *program: str) -> tuple[list[str], list[SentResponse]]:
    """What was sent to the server of that program, and what the trace tells of each."""
    db, trace = tmp_path / "journal.db", tmp_path / "trace"
    key = new_key(db)
    with traced(strace, trace, db, *program) as server, server.client(key) as client:
        writes = Writes(client)
        writes.begin()
        for number in range(rounds):
            writes.five(number)
    return writes.sent, responses_in(trace.read_text().splitlines())


@pytest.mark.promise(2)
def test_no_answer_to_a_write_is_sent_before_the_disk_has_it(
    strace: str, tmp_path: Path, record_observation: Callable[[str], None]
) -> None:
    sent, responses = trace_writes(strace, tmp_path, examples(20, 2), "-m", "journal_api")

    gated = sum(response.is_gated for response in responses)
    record_observation(f"{gated} of {len(sent)} writes answered after the sync of all they wrote to the log")
    assert [response.request for response in responses] == sent
    assert [response for response in responses if not response.is_gated] == []


@only_in_soak
@pytest.mark.promise(2)
def test_a_server_that_does_not_wait_for_the_disk_is_found_out(
    strace: str, tmp_path: Path, record_observation: Callable[[str], None]
) -> None:
    sent, responses = trace_writes(strace, tmp_path, 2, "-c", CARELESS)

    early = sum(response.unsynced > 0 for response in responses)
    record_observation(f"the same with synchronous=NORMAL: {early} of {len(sent)} too early, as they must be")
    assert early == len(sent) == len(responses)
