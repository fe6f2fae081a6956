"""Idempotency-Key on POST: the same request again is answered the same, and done once (DECISIONS 38)."""

import asyncio
import hashlib
import re
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from tempfile import SpooledTemporaryFile

from aiosqlite import Connection
from starlette.requests import Request
from starlette.types import Message, Receive

from journal_api.database.database import Database, JoinedTransaction
from journal_api.errors import ApiError, IdempotencyConflict, ValidationFailed
from journal_api.repositories import idempotency_keys
from journal_api.values import api_keys
from journal_api.web.bodies import body_of, check_media_type, most_bytes
from journal_api.web.context import database
from journal_api.web.responses import Envelope, Response

FORM = re.compile("[A-Za-z0-9_-]{1,64}")
CHUNK = 64 * 1024
FORGET_EVERY = 3600  # seconds


class AlreadyAnswered(Exception):
    """The request was done before; `answer` is what was kept of it."""

    def __init__(self, answer: Envelope) -> None:
        super().__init__()
        self.answer = answer


async def run_once(request: Request, key: str, handler: Callable[[Request], Awaitable[Response]]) -> Response:
    """The handler's answer, kept in the transaction of what it writes; or the answer that was kept.

    Only a success is kept, and only with something written: a request that failed may be sent again under
    the same key, and a dry run keeps nothing. Raises ValidationFailed for what is no key, IdempotencyConflict
    when the key was sent with another request.
    """
    if not FORM.fullmatch(key) or api_keys.is_in(key, request.app.state.settings.run_key):
        raise ValidationFailed(
            fields={"Idempotency-Key": "must be 1 to 64 of A-Z, a-z, 0-9, _ and -, and no API key"}
        )
    check_media_type(request)
    with SpooledTemporaryFile(max_size=1024 * 1024) as body:
        sent = idempotency_keys.KeyedRequest(request.user.id, key, await read(request, body))
        try:
            await require_new(database(request).reader, sent)
            return await kept_answer(request, sent, replay(body, request.receive), handler)
        except AlreadyAnswered as before:
            return before.answer


async def require_new(db: Connection, sent: idempotency_keys.KeyedRequest) -> None:
    """Raises AlreadyAnswered when the request was done before, IdempotencyConflict when another one was."""
    kept = await idempotency_keys.find(db, sent)
    if kept is None:
        return
    if kept.fingerprint != sent.fingerprint:
        raise IdempotencyConflict
    raise AlreadyAnswered(
        Envelope(kept.status, kept.content, {**kept.headers, "X-Idempotent-Replay": "true"})
    )


async def kept_answer(
    request: Request,
    sent: idempotency_keys.KeyedRequest,
    body: Callable[[], Awaitable[Message]],
    handler: Callable[[Request], Awaitable[Response]],
) -> Response:
    """The handler's answer; if it wrote anything, kept with that in one commit.

    Whether the request is new is asked again under the write lock, where no repeat of it can come between.
    """
    async with AsyncExitStack() as stack:
        joined = JoinedTransaction(database(request), stack, partial(require_new, sent=sent))
        response = await handler(Request({**request.scope, "database": joined}, body))
        if joined.begun is not None:
            assert isinstance(response, Envelope), "a POST answers with an envelope"
            await idempotency_keys.insert(
                joined.begun, sent, response.status, response.headers, response.content
            )
    return response


@asynccontextmanager
async def forgetting(opened: Database) -> AsyncIterator[None]:
    """While the block runs, answers over a day old are deleted, whether or not new ones are kept."""
    work = asyncio.create_task(keep_forgetting(opened))
    try:
        yield
    finally:
        while not work.done():  # again, because a transaction ignores a cancellation during its commit
            work.cancel()
            await asyncio.wait([work], timeout=0.1)


async def keep_forgetting(opened: Database) -> None:
    while True:
        with suppress(sqlite3.Error, ApiError):  # then the next time
            if await idempotency_keys.has_old(opened.reader):
                async with opened.transaction() as db:
                    await idempotency_keys.delete_old(db)
        await asyncio.sleep(FORGET_EVERY)


async def read(request: Request, body: "SpooledTemporaryFile[bytes]") -> bytes:
    """Put the body aside; what makes the request the same: its target and every byte of it."""
    scope = request.scope
    digest = hashlib.sha256(scope["path"].encode() + b"?" + scope["query_string"] + b"\n")
    async for part in body_of(request, most_bytes(request)):
        digest.update(part)
        body.write(part)
    body.seek(0)
    return digest.digest()


def replay(body: "SpooledTemporaryFile[bytes]", after: Receive) -> Receive:
    """The body once more, as a server would hand it over, and then what comes `after` it."""
    is_over = False

    async def receive() -> Message:
        nonlocal is_over
        if is_over:
            return await after()
        part = body.read(CHUNK)
        is_over = not part
        return {"type": "http.request", "body": part, "more_body": not is_over}

    return receive
