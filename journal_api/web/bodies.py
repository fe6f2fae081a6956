"""Request bodies: media type, size limit, parts, files."""

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from tempfile import TemporaryFile
from typing import Any, BinaryIO, NamedTuple, TypeVar

from starlette.requests import ClientDisconnect, Request

from journal_api.errors import RequestTooLarge, UnsupportedMediaType

T = TypeVar("T")


LARGEST_BODY = 4 * 1024 * 1024


LARGEST_UPLOAD = 64 * 1024 * 1024


def check_media_type(request: Request) -> None:
    """Raises UnsupportedMediaType for what the operation does not take; no word is taken for the first."""
    taken: tuple[str, ...] = request.scope["operation"].consumes
    media_type, _, parameters = request.headers.get("content-type", taken[0]).partition(";")
    charset = re.search(r'charset\s*=\s*"?([^";\s]*)', parameters, re.IGNORECASE)
    if (
        media_type.strip().lower() not in taken
        or (charset and charset[1].lower() not in ("utf-8", "utf8"))
        or request.headers.get("content-encoding", "identity").strip().lower() != "identity"
    ):
        raise UnsupportedMediaType(allowed=list(taken))


def most_bytes(request: Request) -> int:
    """How long a body of this operation may be."""
    return LARGEST_UPLOAD if request.scope["operation"].consumes_file else LARGEST_BODY


async def body_of(request: Request, max_bytes: int) -> AsyncIterator[bytes]:
    """The body in parts; raises RequestTooLarge as soon as it is longer than `max_bytes`."""
    announced = request.headers.get("content-length", "0")
    if announced.isdecimal() and int(announced[:20]) > max_bytes:
        raise RequestTooLarge(max_bytes=max_bytes)
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > max_bytes:
            raise RequestTooLarge(max_bytes=max_bytes)
        yield part


class Upload(NamedTuple):
    """A body that is a file, at its beginning."""

    file: BinaryIO
    sha256: str


@asynccontextmanager
async def uploaded(request: Request) -> AsyncIterator[Upload]:
    """The body as a file, gone after the block. Raises UnsupportedMediaType or RequestTooLarge."""
    check_media_type(request)
    digest = hashlib.sha256()
    with TemporaryFile() as file:
        async for part in body_of(request, most_bytes(request)):
            digest.update(part)
            file.write(part)
        file.seek(0)
        yield Upload(file, digest.hexdigest())


async def while_wanted(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """What the work returns. Once the client has gone it is cancelled, and ClientDisconnect raised.

    The body must have been read.
    """
    working = asyncio.ensure_future(work)
    tasks = (working, asyncio.ensure_future(request.receive()))
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
