"""A server that was started by another program: it tells its address and ends with its parent."""

import os
import select
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import suppress

import uvicorn


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
