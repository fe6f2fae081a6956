"""Checks of a request's head (request line and headers) before the application sees it."""

from collections.abc import Sequence

from httptools import HttpRequestParser

MAX_HEAD_SIZE = 64 * 1024  # bytes
HEAD_TOO_LARGE = f"The request line and headers are larger than {MAX_HEAD_SIZE} bytes."
NO_PROXY = "CONNECT is not supported, because this service is not a proxy."
CHUNKED_ONLY = "The only supported Transfer-Encoding is chunked, in HTTP/1.1."

Headers = Sequence[tuple[bytes, bytes]]


def head_error(method: bytes, target: bytes, headers: Headers, http_version: str) -> str | None:
    """Why the request is rejected; None if it is not. The names of headers are lower-case."""
    if method == b"CONNECT":
        return NO_PROXY
    size = len(target)
    codings = []
    for name, value in headers:
        size += len(name) + len(value) + len(": \r\n")
        if name == b"transfer-encoding":
            codings.append(value.lower())
    if size > MAX_HEAD_SIZE:
        return HEAD_TOO_LARGE
    # llhttp checks the last coding only, and HTTP/1.0 has no transfer codings (RFC 9112, 6.1).
    if codings and (codings != [b"chunked"] or http_version == "1.0"):
        return CHUNKED_ONLY
    return None


def parse_authority(target: bytes) -> bytes | None:
    """The authority of an absolute target: `localhost:8000` for http://localhost:8000/v1/tags; else None."""
    parts = target.split(b"/", 3)
    return parts[2] if parts[0] and len(parts) > 2 else None


def head_without_upgrade(parser: HttpRequestParser, target: bytes, headers: Headers) -> bytes:
    """The same head without `Upgrade`; it closes the connection, so what follows its body is dropped."""
    start = b"%b %b HTTP/%b\r\n" % (parser.get_method(), target, parser.get_http_version().encode())
    kept = [b"%b: %b\r\n" % header for header in headers if header[0] != b"upgrade"]
    return start + b"".join(kept) + b"Connection: close\r\n\r\n"
