"""A request parser that ignores Upgrade headers.

llhttp ends a request with `Upgrade` and `Connection: upgrade` after its headers, because the bytes that
follow would belong to the other protocol. httptools then skips the body and raises HttpParserUpgrade; fed
with the body, it would parse it as the next request. A server may ignore Upgrade (RFC 9110, 7.8), and then
Content-Length or Transfer-Encoding determine the body. So RequestParser reads that body with a second parser.

The module relies on httptools: `should_upgrade()` is true from on_headers_complete on, on_message_complete is
called at the end of the headers, and `HttpParserUpgrade.args[0]` is the number of bytes read. It calls
`set_dangerous_leniencies` as uvicorn does. test_request_boundaries.py and test_request_streams.py in
tests/system send such requests and fail when one of these changes.
"""

from collections.abc import Iterable
from typing import Any

from httptools import HttpParserUpgrade, HttpRequestParser
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

FRAMING = (b"content-length", b"transfer-encoding")


class RequestParser(HttpRequestParser):
    """Parses requests for uvicorn; the body of a request with Upgrade is parsed by `body_parser`.

    Such a request is the last one of its connection: bytes after its body are dropped.
    """

    def __init__(self, protocol: HttpToolsProtocol) -> None:
        super().__init__(protocol)
        self.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn sets it
        self.protocol = protocol
        self.body_parser: HttpRequestParser | None = None

    @property
    def is_before_body(self) -> bool:
        """Whether llhttp reports a request with Upgrade as complete although its body follows."""
        return self.body_parser is None and self.should_upgrade()

    def feed_data(self, data: Any) -> None:  # bytes; Any, as in httptools' stub
        if self.body_parser is None:
            try:
                super().feed_data(data)
                return
            except HttpParserUpgrade as upgrade:
                data = data[upgrade.args[0] :]
                self.body_parser = HttpRequestParser(BodyCallbacks(self.protocol))
                self.body_parser.feed_data(framing_request(self.protocol.scope["headers"]))
        self.body_parser.feed_data(data)


class BodyCallbacks:
    """Parser callbacks that pass on the body and the end of the first message, and nothing else."""

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


def framing_request(headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """The head of a minimal request whose body is framed as these headers say."""
    lines = [b"%b: %b\r\n" % (name, value) for name, value in headers if name in FRAMING]
    return b"POST / HTTP/1.1\r\n%b\r\n" % b"".join(lines)
