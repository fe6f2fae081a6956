"""A program that starts the journal for itself, as a desktop program does: `serve --announce`."""

import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

import httpx
import msgspec
from commands import PATIENCE, environment

RUN_KEY = "the_key-of_this-RUN_0123456789abcdef"


class Child(NamedTuple):
    """A server that has told where it is; what it writes on standard error is in `err`."""

    url: str
    line: bytes
    process: subprocess.Popen[bytes]
    err: Path

    def client(self, key: str = RUN_KEY) -> httpx.Client:
        headers = {"Authorization": f"Bearer {key}"}
        return httpx.Client(base_url=f"{self.url}/v1", headers=headers, timeout=PATIENCE)

    def let_go(self) -> int:
        """Close its standard input; the exit code."""
        pipe(self.process.stdin).close()
        return self.process.wait(PATIENCE)

    def rest_of_output(self) -> bytes:
        """What a server that has ended wrote after its line."""
        return pipe(self.process.stdout).read()


def announcing(db: Path, *arguments: str) -> list[str]:
    """The command line of a server on a port of its own choice."""
    command = [sys.executable, "-m", "journal_api", "serve", "--db", str(db), "--port", "0", "--announce"]
    return [*command, *arguments]


@contextmanager
def announced(
    db: Path, *arguments: str, settings: Mapping[str, str] | None = None, stdin: int = subprocess.PIPE
) -> Iterator[Child]:
    """A server that has announced itself, with RUN_KEY unless told otherwise; at the end it is ended."""
    err = db.with_name("server.err")
    with err.open("wb") as to_err:
        process = subprocess.Popen(
            announcing(db, *arguments),
            env=environment({"JOURNAL_RUN_KEY": RUN_KEY, **(settings or {})}),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=to_err,
        )
    with process:
        try:
            line = first_line(process)
            assert line, err.read_text()
            yield Child(msgspec.json.decode(line)["url"], line, process, err)
        finally:
            if process.poll() is None:
                process.kill()


def first_line(process: subprocess.Popen[bytes]) -> bytes:
    """The first line on standard output, empty if there never is one."""
    guard = threading.Timer(PATIENCE, process.kill)
    guard.start()
    try:
        return pipe(process.stdout).readline()
    finally:
        guard.cancel()


def pipe(end: IO[bytes] | None) -> IO[bytes]:
    assert end is not None
    return end
