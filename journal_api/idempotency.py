"""Idempotency-Key on POST: the same request again is answered the same, and done once (DECISIONS 38)."""

import hashlib
import re
from collections.abc import Awaitable, Callable
from tempfile import SpooledTemporaryFile

from starlette.requests import Request
from starlette.types import Message, Receive

from journal_api import keys
from journal_api.codec import body_of, check_media_type, database, most_bytes
from journal_api.database import Joined
from journal_api.envelope import Envelope, Response
from journal_api.errors import IdempotencyConflict, ValidationFailed
from journal_api.repositories import idempotency_keys

FORM = re.compile(rf"(?!{keys.PREFIX})[A-Za-z0-9_-]{{1,64}}")
CHUNK = 64 * 1024


async def once(request: Request, key: str, handler: Callable[[Request], Awaitable[Response]]) -> Response:
    """The handler's answer, kept in the transaction of what it writes; or the answer that was kept.

    Only a success is kept, so a request that failed may be sent again under the same key. Raises
    ValidationFailed for what is no key, IdempotencyConflict when the key was sent with another request.
    """
    if not FORM.fullmatch(key):
        raise ValidationFailed(
            fields={"Idempotency-Key": "must be 1 to 64 of A-Z, a-z, 0-9, _ and -, and no API key"}
        )
    check_media_type(request)
    with SpooledTemporaryFile(max_size=1024 * 1024) as body:
        fingerprint = await read(request, body)
        journal = database(request)
        async with journal.transaction() as db:
            kept = await idempotency_keys.find(db, request.user.id, key)
            if kept is not None:
                if kept.fingerprint != fingerprint:
                    raise IdempotencyConflict
                return Envelope(kept.status, kept.content, {**kept.headers, "X-Idempotent-Replay": "true"})
            again = Request({**request.scope, "database": Joined(journal, db)}, replay(body, request.receive))
            response = await handler(again)
            assert isinstance(response, Envelope), "a POST answers with an envelope"
            await idempotency_keys.insert(db, request.user.id, key, fingerprint, response)
    return response


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
