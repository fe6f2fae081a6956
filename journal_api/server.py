"""uvicorn, set up for one journal: one process, one database, loopback unless told otherwise."""

import uvicorn
from filelock import FileLock, Timeout
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from journal_api import codec
from journal_api.app import create_app, new_request_id
from journal_api.errors import DatabaseRefused, ValidationFailed
from journal_api.settings import Settings


def serve(settings: Settings) -> None:
    """Answer until SIGINT or SIGTERM. Raises DatabaseRefused when another server has the database open."""
    lock = FileLock(f"{settings.db}.lock", mode=0o600)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise DatabaseRefused(f"{settings.db}: another server has this database open") from None
    try:
        uvicorn.run(
            create_app(settings),
            host=settings.host,
            port=settings.port,
            http=Protocol,
            ws="none",
            lifespan="on",
            proxy_headers=False,
            server_header=False,
            access_log=False,
            timeout_graceful_shutdown=5,
        )
    finally:
        lock.release()


class Protocol(HttpToolsProtocol):
    """uvicorn's HTTP, its one error of its own in our envelope."""

    def send_400_response(self, msg: str) -> None:
        request_id = new_request_id()
        body = codec.failed(ValidationFailed(msg)).body(request_id)
        head = (
            "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nConnection: close\r\n"
            f"Content-Length: {len(body)}\r\nX-Request-Id: {request_id}\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()
