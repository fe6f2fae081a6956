"""Idempotency-Key on POST: a repeated request gets the stored response and runs once (DECISIONS 6)."""

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

from journal_api.database.database import Database
from journal_api.database.joined_transaction import JoinedTransaction
from journal_api.errors import ApiError, IdempotencyConflict, ValidationFailed
from journal_api.repositories import idempotency_keys
from journal_api.values import api_keys
from journal_api.web.bodies import body_of, check_media_type, most_bytes
from journal_api.web.context import application_database, database, with_database
from journal_api.web.responses import Envelope, Response

KEY = re.compile("[A-Za-z0-9_-]{1,64}")
CHUNK = 64 * 1024
DELETE_EVERY = 3600  # seconds


class AlreadyAnswered(Exception):
    """The request was answered before with the stored `response`."""

    def __init__(self, response: Envelope) -> None:
        super().__init__()
        self.response = response


async def run_once(request: Request, key: str, handler: Callable[[Request], Awaitable[Response]]) -> Response:
    """Run the handler and store its response in the same transaction, or return the stored response.

    Only a response of a committed transaction is stored: a request that failed may be sent again under the
    same key, and a dry run stores nothing. Raises ValidationFailed for a malformed key, IdempotencyConflict
    if the key was used for a different request.
    """
    if not KEY.fullmatch(key) or api_keys.is_in(key, request.app.state.settings.run_key):
        raise ValidationFailed(
            fields={"Idempotency-Key": "must be 1 to 64 of A-Z, a-z, 0-9, _ and -, and no API key"}
        )
    check_media_type(request)
    with SpooledTemporaryFile(max_size=1024 * 1024) as body:
        fingerprint = await spool_body(request, body)
        keyed_request = idempotency_keys.KeyedRequest(request.user.id, key, fingerprint)
        try:
            await require_new(database(request).reader, keyed_request)
            return await run_and_store(request, keyed_request, replay(body, request.receive), handler)
        except AlreadyAnswered as repeat:
            return repeat.response


async def require_new(db: Connection, keyed_request: idempotency_keys.KeyedRequest) -> None:
    """Raise AlreadyAnswered for a repeated request, IdempotencyConflict for a different one with its key."""
    stored = await idempotency_keys.find(db, keyed_request)
    if stored is None:
        return
    if stored.fingerprint != keyed_request.fingerprint:
        raise IdempotencyConflict
    headers = {**stored.headers, "X-Idempotent-Replay": "true"}
    raise AlreadyAnswered(Envelope(stored.status, stored.content, headers, warnings=stored.warnings))


async def run_and_store(
    request: Request,
    keyed_request: idempotency_keys.KeyedRequest,
    receive: Receive,
    handler: Callable[[Request], Awaitable[Response]],
) -> Response:
    """Run the handler; if it began a transaction, store the response in the same commit.

    `require_new` runs again inside the transaction, because a repeat may have been answered meanwhile.
    """
    async with AsyncExitStack() as stack:
        transactions = JoinedTransaction(
            application_database(request), stack, partial(require_new, keyed_request=keyed_request)
        )
        response = await handler(with_database(request, transactions, receive))
        if transactions.begun is not None:
            assert isinstance(response, Envelope), "a POST answers with an envelope"
            await idempotency_keys.insert(transactions.begun, keyed_request, response)
    return response


@asynccontextmanager
async def deletion_of_old_responses(database: Database) -> AsyncIterator[None]:
    """Delete stored responses that are over a day old, regularly while the block runs."""
    task = asyncio.create_task(delete_old_responses(database))
    try:
        yield
    finally:
        while not task.done():  # again, because a transaction ignores a cancellation during its commit
            task.cancel()
            await asyncio.wait([task], timeout=0.1)


async def delete_old_responses(database: Database) -> None:
    while True:
        with suppress(sqlite3.Error, ApiError):  # the next round tries again
            if await idempotency_keys.has_old(database.reader):
                await database.write(idempotency_keys.delete_old)
        await asyncio.sleep(DELETE_EVERY)


async def spool_body(request: Request, body: "SpooledTemporaryFile[bytes]") -> bytes:
    """Copy the request's body to `body`; return the SHA-256 of path, query string and body."""
    scope = request.scope
    digest = hashlib.sha256(scope["path"].encode() + b"?" + scope["query_string"] + b"\n")
    async for chunk in body_of(request, most_bytes(request)):
        digest.update(chunk)
        body.write(chunk)
    body.seek(0)
    return digest.digest()


def replay(body: "SpooledTemporaryFile[bytes]", after: Receive) -> Receive:
    """An ASGI receive that returns the spooled body in chunks, then whatever `after` returns."""
    is_over = False

    async def receive() -> Message:
        nonlocal is_over
        if is_over:
            return await after()
        chunk = body.read(CHUNK)
        is_over = not chunk
        return {"type": "http.request", "body": chunk, "more_body": not is_over}

    return receive
