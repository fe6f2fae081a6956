"""Idempotency-Key on POST: a repeated request gets the stored response and runs once (DECISIONS 4)."""

import hashlib
import re
from tempfile import SpooledTemporaryFile

from aiosqlite import Connection
from starlette.requests import Request
from starlette.types import Message, Receive

from journal_api.errors import IdempotencyConflict, ValidationFailed
from journal_api.repositories import idempotency_keys
from journal_api.repositories.idempotency_keys import KeyedRequest, StoredResponse
from journal_api.values import api_keys
from journal_api.web.bodies import check_media_type, find_max_body_size, stream_body
from journal_api.web.operation import Operation
from journal_api.web.responses import Envelope

KEY = re.compile("[A-Za-z0-9_-]{1,64}")
CHUNK = 64 * 1024


async def read_keyed(
    request: Request, operation: Operation, copy: "SpooledTemporaryFile[bytes]"
) -> tuple[Request, KeyedRequest | None]:
    """Return the Idempotency-Key of a POST, and the request with its body replayed. Raises ValidationFailed."""
    key = request.headers.get("idempotency-key") if operation.method == "POST" else None
    if key is None:
        return request, None
    if not KEY.fullmatch(key) or api_keys.is_in(key, request.app.state.settings.run_key):
        raise ValidationFailed(fields={"Idempotency-Key": "must be 1 to 64 of A-Z, a-z, 0-9, _ and -, and no API key"})
    check_media_type(request)
    digest = await spool_body(request, copy)
    replayed = Request(request.scope, replay_body(copy, request.receive))
    return replayed, KeyedRequest(request.user.id, key, digest)


async def find_response(db: Connection, keyed_request: KeyedRequest) -> Envelope | None:
    """Return the stored response to a repeated request. Raises IdempotencyConflict for a different one."""
    stored = await idempotency_keys.find(db, keyed_request)
    if stored is None:
        return None
    if stored.fingerprint != keyed_request.fingerprint:
        raise IdempotencyConflict
    headers = {**stored.headers, "X-Idempotent-Replay": "true"}
    return Envelope(stored.status, stored.content, headers, warnings=stored.warnings)


async def store_response(db: Connection, request: KeyedRequest, response: Envelope) -> None:
    stored = StoredResponse(
        request.fingerprint, response.status, dict(response.headers), response.content, response.warnings
    )
    await idempotency_keys.insert(db, request.user_id, request.key, stored)


async def spool_body(request: Request, body: "SpooledTemporaryFile[bytes]") -> bytes:
    """Copy the request's body to `body`; return the SHA-256 of path, query string and body."""
    scope = request.scope
    digest = hashlib.sha256(scope["path"].encode() + b"?" + scope["query_string"] + b"\n")
    async for chunk in stream_body(request, find_max_body_size(request)):
        digest.update(chunk)
        body.write(chunk)
    body.seek(0)
    return digest.digest()


def replay_body(body: "SpooledTemporaryFile[bytes]", after: Receive) -> Receive:
    """Return an ASGI receive that returns the spooled body in chunks, then whatever `after` returns."""
    is_over = False

    async def receive() -> Message:
        nonlocal is_over
        if is_over:
            return await after()
        chunk = body.read(CHUNK)
        is_over = not chunk
        return {"type": "http.request", "body": chunk, "more_body": not is_over}

    return receive
