"""uvicorn, set up for one journal: one process, one database, loopback unless told otherwise."""

import uvicorn
from filelock import FileLock, Timeout

from journal_api.app import create_app
from journal_api.errors import DatabaseRefused
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
            http="httptools",
            ws="none",
            lifespan="on",
            proxy_headers=False,
            server_header=False,
            access_log=False,
            timeout_graceful_shutdown=5,
        )
    finally:
        lock.release()
