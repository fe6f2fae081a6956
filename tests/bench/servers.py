"""The servers that are measured, each a process of its own on the loopback interface."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from commands import environment, free_port, running, running_program

TESTS = Path(__file__).parent.parent
IDLE = 2  # seconds after which a connection may be gone


class Measured:
    """A running server and a connection to it."""

    def __init__(self, url: str, key: str, pid: int = 0) -> None:
        self.url, self.key, self.pid = url, key, pid
        self.connection = HTTPConnection(urlsplit(url).netloc, timeout=600)
        self.used = time.monotonic()

    def resident(self) -> float:
        """MiB in memory (Linux)."""
        (kilobytes,) = re.findall(r"VmRSS:\s+(\d+)", Path(f"/proc/{self.pid}/status").read_text())
        return int(kilobytes) / 1024

    def send(self, method: str, path: str, body: bytes | None = None, media_type: str = "application/json") -> bytes:
        """The body of the answer, which must be a success."""
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": media_type}
        if time.monotonic() > self.used + IDLE:
            self.connection.close()
        self.connection.request(method, path, body, headers)
        answer = self.connection.getresponse()
        content = answer.read()
        self.used = time.monotonic()
        assert answer.status < 300, content[:1000]
        return content

    def read(self, path: str) -> Any:
        return json.loads(self.send("GET", path))["data"]

    def create(self, resource: str, **fields: Any) -> int:
        """The id of the new one."""
        content = self.send("POST", f"/v1/{resource}", json.dumps(fields).encode())
        (made,) = json.loads(content)["data"].values()
        return int(made["id"])


@contextmanager
def journal(db: Path, key: str) -> Iterator[Measured]:
    """Ours, as `journal-api serve` starts it, with room for any number of strategies."""
    with running(db, JOURNAL_MAX_STRATEGIES="0") as server:
        yield Measured(server.url, key, server.process.pid)


@contextmanager
def uvicorn(app: str, key: str, folder: Path, **variables: str) -> Iterator[Measured]:
    """An application of this package, on the same server with the same loop and parser."""
    port = free_port()
    command = ["uvicorn", f"bench.{app}:app", "--loop", "uvloop", "--http", "httptools", "--no-access-log"]
    program = [sys.executable, "-m", *command, "--port", str(port)]
    with running_program(folder / app, program, port, cwd=TESTS, env=environment(variables)) as server:
        yield Measured(server.url, key, server.process.pid)


def seconds_to_first_answer(db: Path, key: str) -> float:
    """From the start of the process to its first 200 with a key."""
    begun = time.monotonic()
    with journal(db, key) as server:
        server.send("GET", "/v1/me")
        return time.monotonic() - begun


def measure_peak(*arguments: Any) -> float:
    """The most MiB that a command has in memory; it must succeed."""
    process = subprocess.Popen(
        [sys.executable, "-m", "journal_api", *map(str, arguments)],
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, arguments
    return usage.ru_maxrss / (2**20 if sys.platform == "darwin" else 1024)
