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

from bench.measure import Pace, Side
from bench.servers import Measured

HERE = Path(__file__).parent
WITHOUT_WRK = "make bench needs wrk: `apt install wrk` or `brew install wrk`"


def has_wrk() -> bool:
    return shutil.which("wrk") is not None


def under_load(server: Measured, pace: Pace, path: str, script: tuple[str, ...] = ("report.lua",)) -> Side:
    """Requests from several connections at once; a round lasts longer for a server that answers slowly."""
    name, *arguments = script
    command = ["wrk", "--threads", "1", "--connections", str(pace.connections), "--timeout", "60s"]
    command += ["--duration", "1h", "--header", f"Authorization: Bearer {server.key}"]
    command += ["--script", str(HERE / name), f"{server.url}{path}", "--", *arguments]

    def run() -> float:
        seconds = pace.seconds
        while True:
            with subprocess.Popen([*command, secrets.token_hex(8)], stdout=subprocess.PIPE, text=True) as wrk:
                time.sleep(seconds)
                wrk.send_signal(signal.SIGINT)  # it ends as at the end of its time, which has whole seconds
                out, _ = wrk.communicate()
            seen = json.loads(out.splitlines()[-1])
            assert seen["errors"] == 0, out
            if seen["requests"] >= pace.least_requests:
                return float(seen["requests"] / seen["seconds"])
            seconds *= 2

    return run


def new_tags(server: Measured, pace: Pace, category_id: int) -> Side:
    """Tags are created, each with a name of its own."""
    return under_load(server, pace, "/v1/tags", script=("create_tag.lua", str(category_id)))


def timed(times: int, call: Callable[[], object], before: Callable[[], object] = lambda: None) -> float:
    """How many calls a second, each after the one before; what happens before each is not timed."""
    took = 0.0
    for _ in range(times):
        before()
        started = time.perf_counter()
        call()
        took += time.perf_counter() - started
    return times / took


def imports(server: Measured, file: bytes, rows: int) -> Side:
    """The file goes into a new account each time."""

    def run() -> float:
        account = server.create("accounts", name=f"Import {secrets.token_hex(8)}")
        path = f"/v1/imports?account_id={account}"
        return rows * timed(1, lambda: server.send("POST", path, file, "text/csv"))

    return run


def reads(server: Measured, times: int, path: str) -> Side:
    """The read by one client."""
    return lambda: timed(times, lambda: server.send("GET", path))


def reads_after_a_write(server: Measured, times: int, path: str) -> Side:
    """Each time a small write, and then the read, which alone is timed."""
    numbers = itertools.count()

    def write() -> None:
        server.send("PATCH", "/v1/me", json.dumps({"name": f"owner {next(numbers)}"}).encode())

    return lambda: timed(times, lambda: server.send("GET", path), write)
