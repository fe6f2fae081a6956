"""Request bodies: media type, size limit, streaming, uploaded files."""

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from tempfile import TemporaryFile
from typing import Any, BinaryIO, NamedTuple, TypeVar

from starlette.requests import ClientDisconnect, Request

from journal_api.errors import RequestTooLarge, UnsupportedMediaType
from journal_api.web.quoting import quote

T = TypeVar("T")

# Bytes of a body: JSON, and an uploaded file.
MAX_BODY_SIZE = 4 * 1024 * 1024
MAX_UPLOAD_SIZE = 64 * 1024 * 1024


def check_media_type(request: Request) -> None:
    """Raise UnsupportedMediaType for another type, charset or encoding. Without Content-Type it is the first type."""
    accepted: tuple[str, ...] = request.scope["operation"].consumes
    content_type = request.headers.get("content-type", accepted[0])
    media_type, _, parameters = content_type.partition(";")
    charset = re.search(r'charset\s*=\s*"?([^";\s]*)', parameters, re.IGNORECASE)
    if media_type.strip().lower() not in accepted or (charset and charset[1].lower() not in ("utf-8", "utf8")):
        raise report_unsupported("Content-Type", content_type, accepted)
    content_encoding = request.headers.get("content-encoding", "identity")
    if content_encoding.strip().lower() != "identity":
        raise report_unsupported("Content-Encoding", content_encoding, accepted)


def report_unsupported(header: str, value: str, accepted: tuple[str, ...]) -> UnsupportedMediaType:
    charset = "" if accepted[0].startswith("image/") else " in UTF-8"
    return UnsupportedMediaType(
        f"{header} is {quote(value)}. Send the body as {' or '.join(accepted)}{charset}, without Content-Encoding.",
        allowed=list(accepted),
    )


def find_max_body_size(request: Request) -> int:
    operation, settings = request.scope["operation"], request.app.state.settings
    if operation.consumes_picture:
        return int(settings.max_picture_mib) * 2**20
    return MAX_UPLOAD_SIZE if operation.consumes_file else MAX_BODY_SIZE


async def stream_body(request: Request, max_bytes: int) -> AsyncIterator[bytes]:
    """Yield the body in chunks. Raises RequestTooLarge as soon as it exceeds `max_bytes`."""
    content_length = request.headers.get("content-length", "0")
    if content_length.isdecimal() and int(content_length[:20]) > max_bytes:
        raise report_too_large(max_bytes)
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > max_bytes:
            raise report_too_large(max_bytes)
        yield chunk


def report_too_large(max_bytes: int) -> RequestTooLarge:
    return RequestTooLarge(
        f"The body is larger than {max_bytes} bytes, the limit of this operation.", max_bytes=max_bytes
    )


class Upload(NamedTuple):
    """An uploaded file, positioned at its first byte, and the SHA-256 of its content in hex."""

    file: BinaryIO
    sha256: str


@asynccontextmanager
async def receive_upload(request: Request) -> AsyncIterator[Upload]:
    """Yield the body as a temporary file, for the block. Raises UnsupportedMediaType, RequestTooLarge."""
    check_media_type(request)
    digest = hashlib.sha256()
    with TemporaryFile() as file:
        async for chunk in stream_body(request, find_max_body_size(request)):
            digest.update(chunk)
            file.write(chunk)
        file.seek(0)
        yield Upload(file, digest.hexdigest())


async def cancel_on_disconnect(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Return the result of `work`. If the client disconnects, cancel it and raise ClientDisconnect.

    `work` must not read the body: what is left of it is dropped.
    """
    working = asyncio.ensure_future(work)
    tasks = (working, asyncio.ensure_future(wait_for_disconnect(request)))
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


async def wait_for_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
