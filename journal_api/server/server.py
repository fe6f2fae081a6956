"""Run uvicorn for one journal: one process, one database file."""

import logging
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import ExitStack
from typing import Literal

import uvicorn
from msgspec.structs import replace
from starlette.types import ASGIApp

from journal_api.app import create_app
from journal_api.database.journal_file import restrict_permissions
from journal_api.database.lock import without_server
from journal_api.database.migrations import Prepared
from journal_api.server.descriptors import raise_file_limit
from journal_api.server.log import log_to_standard_error
from journal_api.server.protocol import Protocol
from journal_api.server.stopping import ChildServer, Server
from journal_api.settings import Settings, is_loopback
from journal_api.values.sign_in import SignInOptions

log = logging.getLogger("journal_api")

SEND_BUFFER = 128 * 1024  # bytes

# The trading day of futures exchanges in the United States, as the body of a PATCH.
FUTURES_DAYS = '{"timezone": "America/New_York", "day_rollover": "17:00"}'


def serve(
    settings: Settings,
    announce: Callable[[str], object],
    *,
    for_parent: bool,
    prepared: Prepared,
    sign_in: SignInOptions,
    lan: str | None = None,
) -> None:
    """Serve requests until SIGINT or SIGTERM. `announce` is called with the URL once the socket is bound.

    A service for this machine alone also listens at the address `lan`, on the same port.

    With `for_parent`, it is called once requests are served, and the server also stops when standard input
    ends. The log begins with the trading days of a new journal, or with the migration of an older one.

    Raises DatabaseRefused if another server has the database open, OSError if the address is in use.
    """
    with without_server(settings.db), ExitStack() as listeners:
        sockets = [listeners.enter_context(bind_socket(settings))]
        port = sockets[0].getsockname()[1]
        if lan and is_loopback(settings.host):
            sockets += [listeners.enter_context(bind_socket(replace(settings, host=lan, port=port)))]
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        url = f"http://{host}:{port}"
        if not for_parent:
            announce(url)
        # uvicorn shuts down on a signal and then raises it again; the exit status is 0 nevertheless.
        for stop_signal in (signal.SIGINT, signal.SIGTERM):
            signal.signal(stop_signal, lambda number, frame: sys.exit(0))
        log_to_standard_error(settings.log_level)
        if warning := restrict_permissions(settings.db.resolve()):
            log.warning(warning)
        for line in describe_trading_days(settings, url) if prepared.is_new else ():
            log.info(line)
        if prepared.migration:
            log.info("journal %s %s", settings.db, prepared.migration)
        Protocol.max_connections = raise_file_limit()
        config = build_config(create_app(settings, sign_in))
        server = ChildServer(config, lambda: announce(url)) if for_parent else Server(config)
        server.run(sockets=sockets)


def describe_trading_days(settings: Settings, url: str) -> list[str]:
    """Say which trading days a new journal has, and which request changes them."""
    return [
        f"New journal: trading days begin at {settings.day_rollover} in {settings.timezone}, and goals count "
        "by them. To change them, for example to futures days (17:00 in New York), send:",
        f'curl -X PATCH {url}/v1/me -H "Authorization: Bearer $KEY" '
        f"-H \"Content-Type: application/json\" --data '{FUTURES_DAYS}'",
    ]


def build_config(
    app: ASGIApp, protocol: type[Protocol] = Protocol, lifespan: Literal["on", "off"] = "on"
) -> uvicorn.Config:
    """The configuration of uvicorn: no proxy headers, no access log, 5 seconds to finish requests."""
    return uvicorn.Config(
        app,
        http=protocol,
        ws="none",
        lifespan=lifespan,
        proxy_headers=False,
        server_header=False,
        access_log=False,
        log_config=None,
        timeout_graceful_shutdown=5,
    )


def bind_socket(settings: Settings) -> socket.socket:
    """Bind a socket to `host` and `port`. Raises OSError that names them."""
    try:
        family, *_, address = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)[0]
        listener = socket.create_server(address[:2], family=family, backlog=2048)
        # Connections inherit it. Otherwise the kernel buffers up to 4 MiB of each response that nobody reads.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        return listener
    except OSError as error:
        raise OSError(
            f"cannot listen on {settings.host}:{settings.port}: {error.strerror}; choose another --host or --port"
        ) from error
