"""httptools' parser for requests, of a service that upgrades to no other protocol.

llhttp ends a request that asks for another protocol (`Upgrade` with `Connection: upgrade`) after its headers,
because what follows would be in that protocol. httptools then skips the body and raises HttpParserUpgrade; if
it is fed the body nevertheless, it takes it for the next request. A server may ignore the header (RFC 9110,
7.8), and the length of the body is then what Content-Length or Transfer-Encoding say.

This relies on httptools: `should_upgrade()` is true from on_headers_complete on, on_message_complete is
called at the end of the headers, and HttpParserUpgrade carries how many bytes of the data were read.
"""

from collections.abc import Iterable
from typing import Any

from httptools import HttpParserUpgrade, HttpRequestParser
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

FRAMING = (b"content-length", b"transfer-encoding")


class RequestParser(HttpRequestParser):
    """Reads the body of a request that asks for another protocol with a second parser.

    That request is the last of its connection: what follows its body is dropped.
    """

    def __init__(self, protocol: HttpToolsProtocol) -> None:
        super().__init__(protocol)
        self.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn has it
        self.protocol = protocol
        self.body: HttpRequestParser | None = None

    @property
    def is_before_body(self) -> bool:
        """Whether the message that llhttp takes for complete still has its body to come."""
        return self.body is None and self.should_upgrade()

    def feed_data(self, data: Any) -> None:  # bytes, as uvicorn hands them on
        if self.body is None:
            try:
                super().feed_data(data)
                return
            except HttpParserUpgrade as upgrade:
                data = data[upgrade.args[0] :]
                self.body = HttpRequestParser(LastBody(self.protocol))
                self.body.feed_data(head_of_body(self.protocol.scope["headers"]))
        self.body.feed_data(data)


class LastBody:
    """Callbacks that hand on the body and the end of the first message, and nothing else."""

    def __init__(self, protocol: HttpToolsProtocol) -> None:
        self.protocol = protocol
        self.is_complete = False

    def on_body(self, body: bytes) -> None:
        if not self.is_complete:
            self.protocol.on_body(body)

    def on_message_complete(self) -> None:
        if not self.is_complete:
            self.is_complete = True
            self.protocol.on_message_complete()


def head_of_body(headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """The least request that has a body of the same length, or chunks, as one with those headers."""
    lines = [b"%b: %b\r\n" % (name, value) for name, value in headers if name in FRAMING]
    return b"POST / HTTP/1.1\r\n%b\r\n" % b"".join(lines)


def authority_of(target: bytes) -> bytes | None:
    """`localhost:8000` of http://localhost:8000/v1/tags; None of a target without scheme and authority."""
    parts = target.split(b"/", 3)
    return parts[2] if parts[0] and len(parts) > 2 else None
