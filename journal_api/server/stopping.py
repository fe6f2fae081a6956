"""uvicorn's server: it ends waiting requests when it stops, and as a child process stops with its parent."""

import os
import select
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import suppress

import uvicorn


class Server(uvicorn.Server):
    """A uvicorn server whose requests stop waiting for changes, and searching, once it shuts down.

    It overrides `shutdown`, which is public in uvicorn. The lifespan ends too late: after the last request.
    """

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        state = self.config.loaded_app.state
        state.change_signal.stop()
        state.database.is_stopping = True
        await super().shutdown(sockets)


class ChildServer(Server):
    """A server that calls `announce` once it accepts requests, and stops when standard input ends."""

    def __init__(self, config: uvicorn.Config, announce: Callable[[], object]) -> None:
        super().__init__(config)
        self.announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        # A daemon thread, because its blocking read must not keep the process alive.
        threading.Thread(target=self.stop_with_parent, daemon=True).start()
        await super().startup(sockets)
        if self.should_exit:
            return  # the parent would call an address that no longer responds
        try:
            self.announce()
        except OSError:  # the parent no longer reads standard output
            self.should_exit = True

    def stop_with_parent(self) -> None:
        """Read standard input to its end, then stop.

        This reads the file descriptor, because a blocked thread that holds the lock of `sys.stdin` would prevent
        the interpreter from exiting. Closed before the start, its number may be that of another file.
        """
        is_open = sys.stdin is not None
        with suppress(OSError):
            while is_open:
                try:
                    is_open = bool(os.read(sys.stdin.fileno(), 4096))
                except BlockingIOError:  # the parent may pass a non-blocking pipe
                    select.select([sys.stdin.fileno()], [], [])
        self.should_exit = True
