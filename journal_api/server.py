"""uvicorn, set up for one journal: one process, one database, loopback unless told otherwise."""

import ctypes
import logging
import os
import select
import signal
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import uvicorn

from journal_api.app import create_app
from journal_api.errors import DatabaseRefused
from journal_api.journal_file import keep_from_others
from journal_api.logs import log_to_standard_error
from journal_api.process_lock import guarding_lock, without_server
from journal_api.protocol import Protocol
from journal_api.settings import Settings

log = logging.getLogger("journal_api")

# Of malloc.h, and as many bytes as the largest usual answers take in all their forms.
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
KEPT = 4 * 1024 * 1024


def serve(settings: Settings, say: Callable[[str], object], *, for_parent: bool = False) -> None:
    """Answer until SIGINT or SIGTERM; `say` hears where, once the address is ours.

    For a parent it hears only once requests are answered, and the end of standard input stops the server too.

    Raises DatabaseRefused when another server has the database open, OSError when the address is taken.
    """
    with without_server(settings.db), listening(settings) as address:
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        url = f"http://{host}:{address.getsockname()[1]}"
        if not for_parent:
            say(url)
        # uvicorn stops in order, then raises the signal once more; to have been stopped is no failure.
        for stop in (signal.SIGINT, signal.SIGTERM):
            signal.signal(stop, lambda number, frame: sys.exit(0))
        log_to_standard_error(settings.log_level)
        if told := keep_from_others(settings.db.resolve()):
            log.warning(told)
        keep_freed_memory()
        config = configured(settings)
        server = ChildServer(config, lambda: say(url)) if for_parent else uvicorn.Server(config)
        run_locked(server, settings.db, address)


def run_locked(server: uvicorn.Server, db: Path, address: socket.socket) -> None:
    """Run until stopped; raises DatabaseRefused when another server has come meanwhile, past the lock."""
    has_lost = threading.Event()

    def stop() -> None:
        has_lost.set()
        server.should_exit = True

    with guarding_lock(db, stop):
        server.run(sockets=[address])
    if has_lost.is_set():
        raise DatabaseRefused(f"the lock of {db} was deleted, and another server has it open now")


def keep_freed_memory() -> None:
    """Have glibc keep what an answer leaves free for the next one.

    Otherwise it is given back, and asked for again page by page (DECISIONS 56).
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        mallopt(M_TRIM_THRESHOLD, KEPT)
        mallopt(M_MMAP_THRESHOLD, KEPT)


def configured(settings: Settings, protocol: type[Protocol] = Protocol) -> uvicorn.Config:
    return uvicorn.Config(
        create_app(settings),
        http=protocol,
        ws="none",
        lifespan="on",
        proxy_headers=False,
        server_header=False,
        access_log=False,
        log_config=None,
        timeout_graceful_shutdown=5,
    )


def listening(settings: Settings) -> socket.socket:
    """The socket of `host` and `port`; raises OSError saying which could not be had."""
    try:
        family, *_, address = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family, backlog=2048)
    except OSError as error:
        raise OSError(f"cannot listen on {settings.host}:{settings.port}: {error.strerror}") from None


class ChildServer(uvicorn.Server):
    """A server of the program that started it: it tells that program when it answers, and ends with it."""

    def __init__(self, config: uvicorn.Config, tell: Callable[[], object]) -> None:
        super().__init__(config)
        self.tell = tell

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        # A daemon, because a read that never ends must not keep the process alive.
        threading.Thread(target=self.stop_with_parent, daemon=True).start()
        await super().startup(sockets)
        if self.should_exit:
            return  # whoever is told an address may call it
        try:
            self.tell()
        except OSError:  # nobody reads it any more
            self.should_exit = True

    def stop_with_parent(self) -> None:
        wait_for_end_of_input()
        self.should_exit = True


def wait_for_end_of_input() -> None:
    """Return once standard input has ended; whatever comes in before is thrown away.

    Read past `sys.stdin`, whose lock a thread must not hold when the interpreter ends.
    """
    if sys.stdin is None:  # closed from the start, so descriptor 0 may be any other file by now
        return
    descriptor = sys.stdin.fileno()
    with suppress(OSError):
        while True:
            try:
                if not os.read(descriptor, 4096):
                    return
            except BlockingIOError:  # a parent may hand over a pipe that does not wait
                select.select([descriptor], [], [])
