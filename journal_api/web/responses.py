"""Responses: the JSON envelope, 204, 304 and file downloads (DECISIONS 1)."""

import zlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from tempfile import SpooledTemporaryFile
from typing import IO, Any

import msgspec
from starlette import responses
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from journal_api.errors import ApiError, Busy
from journal_api.web.bodies import cancel_on_disconnect

# Bytes of a download that are kept in memory; the rest is in a temporary file.
MAX_IN_MEMORY = 256 * 1024
# At a time and user, because a client that reads slowly keeps the temporary file.
MAX_DOWNLOADS = 4
# Bytes of a body that are sent at once. The next part waits until the client has read most of those before.
MAX_PART = 64 * 1024


@dataclass(eq=False)
class Envelope:
    """A JSON response. `content` is the encoded envelope up to `meta`, which `end()` adds per request.

    `pagination` and `warnings` are encoded members of `meta`, each with a comma before it, or empty. Pages of
    changes have `cursor` and `more` as their `pagination`. The ETag is over `versions`, if there are any.
    """

    status: int
    content: bytes
    headers: Mapping[str, str]
    pagination: bytes = b""
    warnings: bytes = b""
    versions: bytes = b""

    @cached_property
    def etag(self) -> str:
        """The ETag of the content and pagination; request id and warnings are not part of it."""
        if self.versions:
            return compute_etag(self.versions)
        return compute_etag(self.content, self.pagination)

    @cached_property
    def not_modified(self) -> responses.Response:
        """The 304 response for a client that has this content."""
        return no_content({"ETag": self.etag, "X-Cursor": self.headers["X-Cursor"]}, 304)

    @cached_property
    def encoded_headers(self) -> list[tuple[bytes, bytes]]:
        return [(b"content-type", b"application/json"), *encode_headers(self.headers)]

    def end(self, request_id: str) -> bytes:
        """The end of the body, which differs for each request."""
        return b',"meta":{"request_id":"%b"%b%b}}' % (request_id.encode(), self.pagination, self.warnings)

    def with_headers(self, headers: Mapping[str, str]) -> "Envelope":
        return replace(self, headers={**self.headers, **headers})

    def with_warnings(self, warnings: Sequence[str]) -> "Envelope":
        """Return a copy with `meta.warnings`, or the same response without warnings."""
        if not warnings:
            return self
        return replace(self, warnings=b',"warnings":' + msgspec.json.encode(warnings))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        end = self.end(scope["state"]["request_id"])
        content_length = b"%d" % (len(self.content) + len(end))
        headers = [*self.encoded_headers, (b"content-length", content_length)]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        if scope["method"] == "HEAD":
            await send_body(send, b"")
        else:
            await send_body(send, self.content, end)


def compute_etag(content: bytes, more: bytes = b"") -> str:
    """Return an ETag by CRC-32: a forged one has no effect, and SHA-256 takes three times as long."""
    return f'"{len(content):x}-{zlib.crc32(more, zlib.crc32(content)):08x}"'


class Download:
    """A file that `write` makes before it is sent, so that a slow client keeps no transaction open."""

    def __init__(self, name: str, media_type: str, write: Callable[[IO[bytes]], Coroutine[Any, Any, None]]) -> None:
        self.write = write
        self.headers = [
            (b"content-type", f"{media_type}; charset=utf-8".encode()),
            (b"content-disposition", f'attachment; filename="{name}"'.encode()),
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        with counted_download(request), SpooledTemporaryFile(MAX_IN_MEMORY) as file:
            await cancel_on_disconnect(request, self.write(file))
            headers = [*self.headers, (b"content-length", b"%d" % file.tell())]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            file.seek(0)
            while scope["method"] != "HEAD" and (part := file.read(MAX_PART)):
                await send({"type": "http.response.body", "body": part, "more_body": True})
            await send({"type": "http.response.body", "body": b""})


class StoredFile:
    """A file in the journal, read part by part as the client takes it, in no transaction."""

    def __init__(self, headers: Mapping[str, str], size: int, etag: str, parts: AsyncIterator[bytes]) -> None:
        self.headers, self.size, self.etag, self.parts = {**headers, "ETag": etag}, size, etag, parts

    @property
    def not_modified(self) -> responses.Response:
        return no_content({name: self.headers[name] for name in ("ETag", "Cache-Control", "Vary")}, 304)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [*encode_headers(self.headers), (b"content-length", b"%d" % self.size)]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        if scope["method"] != "HEAD":
            async for part in self.parts:
                await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


@contextmanager
def counted_download(request: Request) -> Iterator[None]:
    """Count a download of the caller until it ends. Raises Busy beyond MAX_DOWNLOADS."""
    downloads: Counter[int] = request.app.state.downloads
    if downloads[request.user.id] >= MAX_DOWNLOADS:
        raise Busy(f"{MAX_DOWNLOADS} of your downloads are still running. Try again when one has ended.")
    downloads[request.user.id] += 1
    try:
        yield
    finally:
        downloads[request.user.id] -= 1


Response = Envelope | responses.Response | Download | StoredFile


def ok(**data: str) -> Envelope:
    """Return a 200 response; each keyword is a member of `data`, its value JSON text from a repository."""
    return Envelope(200, encode_data(data), {})


def page(limit: int, offset: int, total: int, **data: str) -> Envelope:
    """Return a 200 response with a page of a list, and `meta.pagination`."""
    pagination = b',"pagination":{"limit":%d,"offset":%d,"total":%d}' % (limit, offset, total)
    return Envelope(200, encode_data(data), {}, pagination)


def changes_page(cursor: int, more: bool, changes: str) -> Envelope:
    """Return a 200 response with changes, and the cursor after them in `meta` and X-Cursor."""
    meta = b',"cursor":"%d","more":%b' % (cursor, b"true" if more else b"false")
    return Envelope(200, encode_data({"changes": changes}), {"X-Cursor": str(cursor)}, meta)


def with_cursor(response: Response, cursor: int) -> Response:
    """Return the response with X-Cursor, unless it has none of data or has one already.

    The cursor was read before the data, so that no change between them is missed.
    """
    if not isinstance(response, Envelope) or "X-Cursor" in response.headers:
        return response
    return response.with_headers({"X-Cursor": str(cursor)})


def created(location: str, **data: str) -> Envelope:
    """Return a 201 response with the new object and its Location."""
    return Envelope(201, encode_data(data), {"Location": location})


def no_content(headers: Mapping[str, str] | None = None, status: int = 204) -> responses.Response:
    """Return a response without a body: 204, or 304 if the client's copy is current."""
    return responses.Response(status_code=status, headers=headers)


def failed(error: ApiError, headers: Mapping[str, str] | None = None) -> Envelope:
    """Return the response for an error, with the error's own headers and `headers`."""
    content = {"code": error.code, "message": str(error), "details": error.details}
    headers = {**error.headers, **(headers or {})}
    return Envelope(error.status, b'{"ok":false,"error":' + msgspec.json.encode(content), headers)


async def send_body(send: Send, body: bytes, end: bytes = b"") -> None:
    """Send a body followed by `end`, in parts, so that a response that nobody reads fills no memory."""
    rest = memoryview(body)
    while len(rest) > MAX_PART:
        await send({"type": "http.response.body", "body": rest[:MAX_PART], "more_body": True})
        rest = rest[MAX_PART:]
    await send({"type": "http.response.body", "body": b"".join((rest, end))})


def encode_headers(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode(), value.encode()) for name, value in headers.items()]


def encode_data(data: Mapping[str, str]) -> bytes:
    members = ",".join(f'"{name}":{text}' for name, text in data.items())
    return f'{{"ok":true,"data":{{{members}}}'.encode()
