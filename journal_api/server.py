"""uvicorn, set up for one journal: one process, one database, loopback unless told otherwise."""

import signal
import socket
import sys
from collections.abc import Callable

import uvicorn
from filelock import FileLock, Timeout
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from journal_api import envelope
from journal_api.app import create_app, new_request_id
from journal_api.errors import DatabaseRefused, ValidationFailed
from journal_api.settings import Settings


def serve(settings: Settings, say: Callable[[str], object]) -> None:
    """Answer until SIGINT or SIGTERM; `say` hears where, once the address is ours.

    Raises DatabaseRefused when another server has the database open, OSError when the address is taken.
    """
    # By its real name, so that a link leads to the same lock.
    lock = FileLock(f"{settings.db.resolve()}.lock", mode=0o600)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise DatabaseRefused(f"{settings.db}: another server has this database open") from None
    try:
        with listening(settings) as address:
            host = f"[{settings.host}]" if ":" in settings.host else settings.host
            say(f"http://{host}:{address.getsockname()[1]}/v1")
            # uvicorn stops in order, then raises the signal once more; to have been stopped is no failure.
            for stop in (signal.SIGINT, signal.SIGTERM):
                signal.signal(stop, lambda number, frame: sys.exit(0))
            config = uvicorn.Config(
                create_app(settings),
                http=Protocol,
                ws="none",
                lifespan="on",
                proxy_headers=False,
                server_header=False,
                access_log=False,
                timeout_graceful_shutdown=5,
            )
            uvicorn.Server(config).run(sockets=[address])
    finally:
        lock.release()


def listening(settings: Settings) -> socket.socket:
    """The socket of `host` and `port`; raises OSError saying which could not be had."""
    try:
        family, *_, address = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family, backlog=2048)
    except OSError as error:
        raise OSError(f"cannot listen on {settings.host}:{settings.port}: {error.strerror}") from None


class Protocol(HttpToolsProtocol):
    """uvicorn's HTTP, its one error of its own in our envelope."""

    def send_400_response(self, msg: str) -> None:
        request_id = new_request_id()
        body = envelope.failed(ValidationFailed(msg)).body(request_id)
        head = (
            "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nConnection: close\r\n"
            f"Content-Length: {len(body)}\r\nX-Request-Id: {request_id}\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()
