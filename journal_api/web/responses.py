"""What goes out: the envelope that every answer has (DECISIONS 1)."""

import zlib
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing

import msgspec
from starlette.types import Receive, Scope, Send

from journal_api.errors import ApiError


class Envelope:
    """A response: finished bytes of `data` or `error`, and `meta` around them with the id of the request."""

    def __init__(
        self, status: int, content: bytes, headers: Mapping[str, str], pagination: bytes = b""
    ) -> None:
        self.status, self.content, self.headers, self.pagination = status, content, headers, pagination

    @property
    def etag(self) -> str:
        """Of all that can change: not of the request's id.

        A checksum, since a list is asked for often and nobody gains by forging one: of 30 KB SHA-256 takes
        three times as long.
        """
        checksum = zlib.crc32(self.pagination, zlib.crc32(self.content))
        return f'"{len(self.content):x}-{checksum:08x}"'

    def body(self, request_id: str) -> bytes:
        return b'%b,"meta":{"request_id":"%b"%b}}' % (self.content, request_id.encode(), self.pagination)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = self.body(scope["state"]["request_id"])
        headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
        headers += [(name.lower().encode(), value.encode()) for name, value in self.headers.items()]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})


class NoContent:
    """204 and no body."""

    status = 204

    def __init__(self, headers: Mapping[str, str]) -> None:
        self.headers = [(name.lower().encode(), value.encode()) for name, value in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status, "headers": self.headers})
        await send({"type": "http.response.body", "body": b""})


class Download:
    """A file, sent as it is made; it breaks off when the making fails after the beginning was sent."""

    def __init__(self, name: str, media_type: str, parts: AsyncGenerator[bytes, None]) -> None:
        self.parts = parts
        self.headers = [
            (b"content-type", f"{media_type}; charset=utf-8".encode()),
            (b"content-disposition", f'attachment; filename="{name}"'.encode()),
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with aclosing(self.parts) as parts:
            first = await anext(parts, b"")
            await send({"type": "http.response.start", "status": 200, "headers": self.headers})
            if scope["method"] != "HEAD":
                await send({"type": "http.response.body", "body": first, "more_body": True})
                async for part in parts:
                    await send({"type": "http.response.body", "body": part, "more_body": True})
            await send({"type": "http.response.body", "body": b""})


class NotModified(NoContent):
    """304: what the client has is what there is."""

    status = 304


Response = Envelope | NoContent | Download


def ok(**data: str) -> Envelope:
    """200 with `data`: under each name the JSON text that a repository made."""
    return Envelope(200, _data(data), {})


def page(limit: int, offset: int, total: int, **data: str) -> Envelope:
    """200 with one page of a list, and `meta.pagination`."""
    pagination = b',"pagination":{"limit":%d,"offset":%d,"total":%d}' % (limit, offset, total)
    return Envelope(200, _data(data), {}, pagination)


def created(location: str, **data: str) -> Envelope:
    """201 with the whole new object and where it is."""
    return Envelope(201, _data(data), {"Location": location})


def no_content(**headers: object) -> NoContent:
    """204; `x_trades_unlinked=3` becomes the header X-Trades-Unlinked."""
    return NoContent({name.replace("_", "-"): str(value) for name, value in headers.items()})


def failed(error: ApiError, headers: Mapping[str, str] | None = None) -> Envelope:
    """The error in its envelope."""
    content = {"code": error.code, "message": str(error), "details": error.details}
    headers = {**error.headers, **(headers or {})}
    return Envelope(error.status, b'{"ok":false,"error":' + msgspec.json.encode(content), headers)


def _data(data: Mapping[str, str]) -> bytes:
    members = ",".join(f'"{name}":{text}' for name, text in data.items())
    return f'{{"ok":true,"data":{{{members}}}'.encode()
