"""A program that starts the journal for itself, as a desktop program does: `serve --announce`."""

import os
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, AnyStr, NamedTuple

import httpx
import msgspec
from commands import PATIENCE, WITHOUT_TLS, Process, environment, start

RUN_KEY = "the_key-of_this-RUN_0123456789abcdef"


class Child(NamedTuple):
    """A server that has announced its address; `err` is the file of its standard error."""

    url: str
    line: bytes
    process: Process
    stdin: IO[bytes]
    stdout: IO[bytes]
    err: Path

    def client(self, key: str = RUN_KEY) -> httpx.Client:
        headers = {"Authorization": f"Bearer {key}"}
        return httpx.Client(base_url=f"{self.url}/v1", headers=headers, timeout=PATIENCE, verify=WITHOUT_TLS)

    def let_go(self) -> int:
        """Close its standard input; the exit code."""
        self.stdin.close()
        return self.process.wait(PATIENCE)

    def rest_of_output(self) -> bytes:
        """What a server that has ended wrote after its line."""
        return self.stdout.read()


def announcing(db: Path, *arguments: str) -> list[str]:
    """The arguments of a server on a port of its own choice."""
    return ["serve", "--db", str(db), "--port", "0", "--announce", *arguments]


@contextmanager
def announced(
    db: Path, *arguments: str, settings: Mapping[str, str] | None = None, stdin: int | None = None
) -> Iterator[Child]:
    """A server that has announced itself, with RUN_KEY unless told otherwise; at the end it is ended.

    Its standard input is a pipe, unless `stdin` is another descriptor.
    """
    from_us, to_it = os.pipe()
    from_it, to_us = os.pipe()
    err = db.with_name("server.err")
    env = environment({"JOURNAL_RUN_KEY": RUN_KEY, **(settings or {})})
    with err.open("wb") as to_err, open(to_it, "wb") as its_stdin, open(from_it, "rb") as its_stdout:
        process = start(announcing(db, *arguments), env, to_us, to_err.fileno(), from_us if stdin is None else stdin)
        os.close(from_us)
        os.close(to_us)
        try:
            line = first_line(process, its_stdout)
            assert line, err.read_text()
            url = msgspec.json.decode(line)["url"]
            yield Child(url, line, process, its_stdin, its_stdout, err)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait(PATIENCE)


def first_line(process: Process, output: IO[bytes] | None) -> bytes:
    """The first line of the output, empty if there never is one."""
    guard = threading.Timer(PATIENCE, process.kill)
    guard.start()
    try:
        return pipe(output).readline()
    finally:
        guard.cancel()


def pipe(end: IO[AnyStr] | None) -> IO[AnyStr]:
    assert end is not None
    return end


@contextmanager
def piped(
    *command: str | Path, settings: Mapping[str, str] | None = None
) -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes], IO[bytes]]]:
    """A process whose three streams are pipes, with its standard input and its standard output."""
    end, env = subprocess.PIPE, environment(settings)
    with subprocess.Popen(command, env=env, stdin=end, stdout=end, stderr=end) as process:
        yield process, pipe(process.stdin), pipe(process.stdout)
