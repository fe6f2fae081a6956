"""Send the head of a response together with the first part of its body.

uvicorn writes them one after the other, which is a system call each (DECISIONS 123). The module relies on
these parts of uvicorn's RequestResponseCycle: it calls `write`, `close` and `is_closing` of its `transport`,
and sets `response_started` before it writes the head as one piece of bytes. test_response_writes.py in
tests/system fails when one of them changes.
"""

import asyncio
from weakref import proxy

from uvicorn.protocols.http.httptools_impl import RequestResponseCycle


class ResponseTransport:
    """The transport of one response. The head waits for the first part of the body, or for `flush`."""

    def __init__(self, cycle: RequestResponseCycle, transport: asyncio.Transport) -> None:
        # Weak, because the cycle refers to its transport: both would live until the next garbage collection.
        self.cycle: RequestResponseCycle = proxy(cycle)
        self.transport = transport
        self.is_before_head = True
        self.head = b""  # not written yet

    def write(self, data: bytes) -> None:
        if self.is_before_head and self.cycle.response_started:
            self.is_before_head = False
            self.head = data
            return
        self.transport.write(self.head + data if self.head else data)
        self.head = b""

    def flush(self) -> None:
        """Write a head without a body."""
        if self.head:
            self.write(b"")

    def close(self) -> None:
        self.flush()
        self.transport.close()

    def is_closing(self) -> bool:
        return self.transport.is_closing()
