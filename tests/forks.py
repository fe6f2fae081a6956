"""Processes of `python -m journal_api` that are forked from one which has imported everything.

To start Python and import the package takes half a second of CPU, and the tests start many hundreds of
processes. A fork of a process that has done it is as much a process of its own: its memory, locks, signals,
descriptors, directory and environment. `Forks` holds the process that forks, `Forked` is like a Popen.
"""

import array
import atexit
import gc
import importlib
import json
import os
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

POSSIBLE = hasattr(os, "pidfd_open")  # on Linux
# Python reads these, or the dynamic linker does, before the package is imported.
IMPORTED_LATER = (
    *("journal_api.cli", "uvicorn.lifespan.on", "uvicorn.loops.uvloop", "encodings.idna"),
    *("anyio._backends._asyncio", "multiprocessing.connection"),
)
# `journal-api mcp` alone imports these, which takes a second.
MCP_IMPORTS = ("journal_api.mcp.server", "journal_api.mcp.connections")
READ_AT_THE_START = ("PYTHON", "LC_", "LANG", "LD_", "MALLOC", "GLIBC", "TZ")


class Forked:
    """A process that was forked for us, with the members of subprocess.Popen that the tests use."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.answers = connection.makefile("r")
        self.pid = int(self.answers.readline())
        self.returncode: int | None = None

    def poll(self) -> int | None:
        return self._ended(0)

    def wait(self, timeout: float) -> int:
        code = self._ended(timeout)
        if code is None:
            raise subprocess.TimeoutExpired("journal_api", timeout)
        return code

    def _ended(self, timeout: float) -> int | None:
        if self.returncode is None:
            with selectors.DefaultSelector() as selector:
                selector.register(self.connection, selectors.EVENT_READ)
                if selector.select(timeout):
                    self.returncode = int(self.answers.readline())
                    self.answers.close()
                    self.connection.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class Forks:
    """The process that forks, which has imported these modules too; it ends when this process does."""

    def __init__(self, modules: Sequence[str]) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="forks-")
        self.address = str(Path(self.folder.name) / "socket")
        self.process = subprocess.Popen(
            [sys.executable, __file__, self.address, *modules], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"ready\n"
        atexit.register(self.close)

    def close(self) -> None:
        self.process.communicate()
        self.folder.cleanup()


def start(
    address: str, arguments: Sequence[str | bytes], env: Mapping[str, str], fds: Sequence[int]
) -> Forked:
    """A fork of the process at that address; `fds` are its standard input, output and error."""
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(address)
    order = {
        "arguments": [os.fsdecode(argument) for argument in arguments],
        "env": dict(env),
        "folder": os.getcwd(),
    }
    content = json.dumps(order).encode()
    connection.sendall(len(content).to_bytes(8, "big"))
    connection.sendmsg(
        [content[:1]], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds).tobytes())]
    )
    connection.sendall(content[1:])
    return Forked(connection)


@cache
def forks(*modules: str) -> Forks:
    return Forks(modules)


def address_for(arguments: Sequence[str | bytes]) -> str:
    """Where to fork a process for this command from."""
    return forks(*(MCP_IMPORTS if arguments and arguments[0] == "mcp" else ())).address


def is_forked(env: Mapping[str, str]) -> bool:
    """Whether a fork with that environment is what a new process would be."""
    return POSSIBLE and all(
        env.get(name) == os.environ.get(name)
        for name in {*env, *os.environ}
        if name.startswith(READ_AT_THE_START) and name != "PYTHONDONTWRITEBYTECODE"
    )


# In the process that forks ---------------------------------------------------------------------------------


def serve(address: str) -> list[str] | None:
    """Fork for each who connects. Returns in the child, with its arguments, and when the parent has ended."""
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(address)
    listening.listen(64)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.write(1, b"ready\n")
    with selectors.DefaultSelector() as selector:
        selector.register(listening, selectors.EVENT_READ)
        selector.register(0, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fd == 0:
                    wait_for_all()
                    return None
                if key.fileobj is not listening:
                    selector.unregister(key.fileobj)
                    tell_the_end(key.fd, *key.data)
                    continue
                connection, _ = listening.accept()
                order, fds = received(connection)
                pid = os.fork()
                if pid == 0:
                    close_all(selector, connection)
                    return obey(order, fds)
                for fd in fds:
                    os.close(fd)
                connection.sendall(f"{pid}\n".encode())
                selector.register(os.pidfd_open(pid), selectors.EVENT_READ, (pid, connection))


def received(connection: socket.socket) -> tuple[Any, list[int]]:
    """What was asked for, and the three files that came with it."""
    length = int.from_bytes(connection.recv(8, socket.MSG_WAITALL), "big")
    content, fds, _, _ = socket.recv_fds(connection, 1, 3)
    while len(content) < length:
        content += connection.recv(length - len(content))
    return json.loads(content), fds


def close_all(selector: selectors.BaseSelector, connection: socket.socket) -> None:
    """Close, in a new child, what belongs to the process that forks."""
    connection.close()
    for key in list(selector.get_map().values()):
        if isinstance(key.fileobj, socket.socket):
            key.fileobj.close()
        elif key.data:
            os.close(key.fd)
            key.data[1].close()


def obey(order: Any, fds: Sequence[int]) -> list[str]:
    """Be the process that was asked for; its arguments."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, fd in enumerate(fds):
        os.dup2(fd, number)
        os.close(fd)
    os.environ.clear()
    os.environ.update(order["env"])
    os.chdir(order["folder"])
    return list(order["arguments"])


def tell_the_end(pidfd: int, pid: int, connection: socket.socket) -> None:
    """Tell who asked for the process how it ended."""
    os.close(pidfd)
    _, status = os.waitpid(pid, 0)
    with connection, suppress(OSError):
        connection.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())


def wait_for_all() -> None:
    """Wait for those that have not ended, so that their time is counted."""
    with suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)


def end(code: str | int | None) -> NoReturn:
    """End as Python does, but without freeing what the fork began with, which takes longer than a command."""
    if isinstance(code, str):
        sys.stderr.write(f"{code}\n")
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code or 0)


if __name__ == "__main__":
    sys.path[:] = [path for path in sys.path if path != str(Path(__file__).parent)]
    for module in (*IMPORTED_LATER, *sys.argv[2:]):
        importlib.import_module(module)
    gc.freeze()
    arguments = serve(sys.argv[1])
    if arguments is not None:
        sys.argv[1:] = arguments
        try:
            runpy.run_module("journal_api", run_name="__main__", alter_sys=True)
        except SystemExit as ended:
            end(ended.code)
        end(None)
