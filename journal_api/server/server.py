"""uvicorn, set up for one journal: one process, one database, loopback unless told otherwise."""

import logging
import signal
import socket
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import uvicorn

from journal_api.app import create_app
from journal_api.database.journal_file import restrict_permissions
from journal_api.database.lock import guarding_lock, without_server
from journal_api.errors import DatabaseRefused
from journal_api.server.child import ChildServer
from journal_api.server.log import log_to_standard_error
from journal_api.server.memory import keep_freed_memory
from journal_api.server.protocol import Protocol
from journal_api.settings import Settings

log = logging.getLogger("journal_api")


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
        if told := restrict_permissions(settings.db.resolve()):
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
