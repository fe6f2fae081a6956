"""Processes of `journal-api` that begin after its imports, which take most of the time of a start.

`make soak` starts each process from the beginning, as a user does. Python's fork server, which has no other
thread, forks these.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.reduction import DupFd
from typing import Any

from journal_api.cli import COMMANDS, main

# What a command imports, and the event loop of a server.
PRELOADED = [
    *sorted({f"journal_api.cli.{module}" for module, _ in COMMANDS.values()}),
    *("uvloop", "anyio._backends._asyncio", "uvicorn.lifespan.on"),
]


class Descriptor:
    """A file descriptor that goes to the new process."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __getstate__(self) -> object:
        return DupFd(self.number)

    def __setstate__(self, duplicate: Any) -> None:
        self.number = duplicate.detach()


class Fork:
    """What tests use of `subprocess.Popen`."""

    def __init__(
        self, arguments: Sequence[str], env: Mapping[str, str], files: Sequence[int], constants: Mapping[str, float]
    ) -> None:
        context = get_context("forkserver")
        context.set_forkserver_preload(PRELOADED)
        given = ([*arguments], {**env}, [Descriptor(number) for number in files], {**constants})
        self.process = context.Process(target=run, args=given, daemon=True)
        self.process.start()
        self.pid = self.process.pid or 0

    def poll(self) -> int | None:
        return self.process.exitcode

    def wait(self, timeout: float) -> int:
        self.process.join(timeout)
        if self.process.exitcode is None:
            raise subprocess.TimeoutExpired("journal-api", timeout)
        return self.process.exitcode

    def send_signal(self, number: int) -> None:
        # Of a process that has just ended, the fork server may not have told the exit code yet.
        with suppress(ProcessLookupError):
            if self.poll() is None:
                os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def run(arguments: list[str], env: dict[str, str], files: list[Descriptor], constants: dict[str, float]) -> None:
    """Run the command as if Python had just started, but for constants by their full names."""
    os.environ.clear()
    os.environ.update(env)
    for number, file in enumerate(files):
        os.dup2(file.number, number)
        os.close(file.number)
    sys.stdin, sys.stdout = os.fdopen(0, closefd=False), os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, errors="backslashreplace", closefd=False)
    sys.argv = ["journal_api", *arguments]
    for name, value in constants.items():
        module, _, constant = name.rpartition(".")
        setattr(import_module(f"journal_api.{module}"), constant, value)
    main()
