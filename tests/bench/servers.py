"""The servers that are measured, each a process of its own on the loopback interface."""

import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
from commands import PATIENCE, Server, environment, free_port, wait_until_it_answers

TESTS = Path(__file__).parent.parent
MIB = 2**20
IDLING = 0.005  # CPU seconds in a tenth of a second that are no work
IDLE = 2  # seconds after which a connection may be gone


class Measured:
    """A running server, what it has used, and a connection to it."""

    def __init__(self, server: Server, key: str) -> None:
        self.url, self.key = server.url, key
        self.process = psutil.Process(server.process.pid)
        self.connection = HTTPConnection(urlsplit(server.url).netloc, timeout=600)
        self.used = time.monotonic()
        self.last_etag = ""

    def cpu(self) -> float:
        """CPU seconds so far; on Linux to the microsecond, elsewhere to the tick."""
        if sys.platform == "linux":
            return time.clock_gettime(~self.process.pid << 3 | 2)  # as clock_getcpuclockid(3) names its clock
        used = self.process.cpu_times()
        return used.user + used.system

    def resident(self) -> float:
        """MiB in memory."""
        return float(self.process.memory_info().rss / MIB)

    def settle(self) -> None:
        """Return once it has served what a load left behind."""
        deadline, before = time.monotonic() + PATIENCE, -1.0
        while self.cpu() - before > IDLING and time.monotonic() < deadline:
            before = self.cpu()
            time.sleep(0.1)

    def etag(self, path: str) -> str:
        """The ETag of the answer to a GET."""
        self.send("GET", path)
        return self.last_etag

    def send(
        self, method: str, path: str, body: bytes | None = None, media_type: str = "application/json"
    ) -> bytes:
        """The body of the answer, which must be a success."""
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": media_type}
        if time.monotonic() > self.used + IDLE:
            self.connection.close()
        self.connection.request(method, path, body, headers)
        answer = self.connection.getresponse()
        content = answer.read()
        self.last_etag = answer.headers.get("ETag", "")
        self.used = time.monotonic()
        assert answer.status < 300, content[:1000]
        return content


def journal(db: Path, key: str) -> AbstractContextManager[Measured]:
    """Ours, as `journal-api serve` starts it, with room for any number of strategies."""
    serve = ("journal_api", "serve", "--db", str(db))
    return serving(key, db.with_suffix(".out"), serve, JOURNAL_MAX_STRATEGIES="0")


def uvicorn(app: str, key: str, folder: Path, **variables: str) -> AbstractContextManager[Measured]:
    """An application of this package, on the same server with the same loop and parser."""
    serve = ("uvicorn", f"bench.{app}:app", "--loop", "uvloop", "--http", "httptools", "--no-access-log")
    return serving(key, folder / f"{app}.out", serve, **variables)


@contextmanager
def serving(key: str, out: Path, module: Sequence[str], **variables: str) -> Iterator[Measured]:
    """A Python module as a server on a free port."""
    port = free_port()
    with out.open("wb") as to_out:
        process = subprocess.Popen(
            [sys.executable, "-m", *module, "--port", str(port)],
            cwd=TESTS,
            env=environment(variables),
            stdin=subprocess.DEVNULL,
            stdout=to_out,
            stderr=to_out,
        )
    server = Server(f"http://127.0.0.1:{port}", process, out, out)
    try:
        wait_until_it_answers(server)
        yield Measured(server, key)
    finally:
        process.terminate()
        process.wait(PATIENCE)


def seconds_to_first_answer(db: Path, key: str) -> float:
    """From the start of the process to its first 200 with a key."""
    begun, port = time.monotonic(), free_port()
    process = started("serve", "--db", db, "--port", port)
    try:
        while not answers(port, key):
            assert time.monotonic() < begun + PATIENCE, "the server never answered"
            time.sleep(0.002)
        return time.monotonic() - begun
    finally:
        process.terminate()
        process.wait(PATIENCE)


def answers(port: int, key: str) -> bool:
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request("GET", "/v1/me", headers={"Authorization": f"Bearer {key}"})
        return connection.getresponse().status == 200
    except ConnectionError:
        return False
    finally:
        connection.close()


def measure_peak(*command: Any) -> float:
    """The most MiB that the command has in memory, looked at every 20 ms; it must succeed."""
    process = started(*command)
    watched, most = psutil.Process(process.pid), 0.0
    while process.poll() is None:
        with suppress(psutil.ZombieProcess):  # it has just ended
            most = max(most, watched.memory_info().rss / MIB)
        time.sleep(0.02)
    assert process.returncode == 0, command
    return most


def started(*arguments: Any) -> subprocess.Popen[bytes]:
    """`journal-api` with these arguments, unheard."""
    return subprocess.Popen(
        [sys.executable, "-m", "journal_api", *map(str, arguments)],
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
