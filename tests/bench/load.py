"""What our server and the others are asked, in rounds: wrk's load, or one call after another."""

import itertools
import json
import secrets
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from bench.measure import Pace, Round, Side
from bench.servers import Measured

HERE = Path(__file__).parent
WITHOUT_WRK = "make bench needs wrk: `apt install wrk` or `brew install wrk`"


def has_wrk() -> bool:
    return shutil.which("wrk") is not None


class Load:
    """Requests from several connections at once; a round lasts longer for a server that answers slowly.

    With `etag` they are conditional, and the answer is 304.
    """

    def __init__(self, server: Measured, pace: Pace, path: str, etag: str | None = None) -> None:
        self.server, self.path = server, path
        self.headers = [] if etag is None else ["--header", f"If-None-Match: {etag}"]
        self.seconds, self.least_requests, self.connections = (
            pace.seconds,
            pace.least_requests,
            pace.connections,
        )

    def __call__(self) -> Round:
        while True:
            before = self.server.cpu()
            requests, seconds = self.run()
            # Those that were cut off at the end are served all the same, and cost what the others cost.
            self.server.settle()
            cpu = (self.server.cpu() - before) / (requests + self.connections)
            if requests >= self.least_requests:
                return Round(requests / seconds, cpu)
            self.seconds *= 2

    def run(self) -> tuple[int, float]:
        """How many requests, in how many seconds; fails unless all were answered with success."""
        script, *arguments = self.script()
        command = ["wrk", "--threads", "1", "--connections", str(self.connections), "--timeout", "60s"]
        command += ["--duration", "1h", "--header", f"Authorization: Bearer {self.server.key}", *self.headers]
        command += ["--script", str(HERE / script), f"{self.server.url}{self.path}", "--", *arguments]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as wrk:
            time.sleep(self.seconds)
            wrk.send_signal(signal.SIGINT)  # it ends as at the end of its time, which has whole seconds
            out, _ = wrk.communicate()
        seen = json.loads(out.splitlines()[-1])
        assert seen["errors"] == 0, out
        return seen["requests"], seen["seconds"]

    def script(self) -> list[str]:
        return ["report.lua"]


class NewTags(Load):
    """Tags are created, each with a name of its own."""

    def __init__(self, server: Measured, pace: Pace, category_id: int) -> None:
        super().__init__(server, pace, "/v1/tags")
        self.category_id = category_id

    def script(self) -> list[str]:
        return ["create_tag.lua", str(self.category_id), secrets.token_hex(8)]


def one_by_one(server: Measured, times: int, call: Callable[[], object]) -> Side:
    """So many calls, each after the one before."""

    def run() -> Round:
        before, started = server.cpu(), time.perf_counter()
        for _ in range(times):
            call()
        took = time.perf_counter() - started
        return Round(times / took, (server.cpu() - before) / times)

    return run


def imports(server: Measured, file: bytes, rows: int) -> Side:
    """The file goes into a new account each time."""

    def run() -> Round:
        sent = json.dumps({"name": f"Import {secrets.token_hex(8)}"}).encode()
        account = json.loads(server.send("POST", "/v1/accounts", sent))["data"]["account"]
        before, started = server.cpu(), time.perf_counter()
        server.send("POST", f"/v1/imports?account_id={account['id']}", file, "text/csv")
        took = time.perf_counter() - started
        return Round(rows / took, (server.cpu() - before) / rows)

    return run


def reads_after_a_write(server: Measured, times: int, path: str) -> Side:
    """Each time a small write, and then the read, which alone is timed; its CPU is too little to tell."""
    numbers = itertools.count()

    def run() -> Round:
        took = 0.0
        for _ in range(times):
            server.send("PATCH", "/v1/me", json.dumps({"name": f"owner {next(numbers)}"}).encode())
            started = time.perf_counter()
            server.send("GET", path)
            took += time.perf_counter() - started
        return Round(times / took, None)

    return run


def reads(server: Measured, times: int, path: str) -> Side:
    """The read alone, as often, by one client."""
    return one_by_one(server, times, lambda: server.send("GET", path))


def first_reads(server: Measured, goal: bytes) -> Side:
    """The first read of the history of a new goal."""

    def run() -> Round:
        goal_id = json.loads(server.send("POST", "/v1/goals", goal))["data"]["goal"]["id"]
        before, started = server.cpu(), time.perf_counter()
        server.send("GET", f"/v1/goals/{goal_id}/snapshots")
        took = time.perf_counter() - started
        cpu = server.cpu() - before
        server.send("DELETE", f"/v1/goals/{goal_id}")
        return Round(1 / took, cpu)

    return run
