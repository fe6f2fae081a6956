"""Conditional requests: ETag, If-Match and If-None-Match (RFC 9110 §13, DECISIONS 39)."""

import re
from collections.abc import Awaitable, Callable

from aiosqlite import Connection
from starlette.requests import Request

from journal_api.envelope import Envelope, NotModified, Response, etag_of
from journal_api.errors import PreconditionFailed

TAG = re.compile(r'(W/)?("[^"]*")')


def with_etag(request: Request, response: Response) -> Response:
    """The answer with its ETag, or 304 if the client has it."""
    if not isinstance(response, Envelope):
        return response
    tag = response.etag
    sent = request.headers.get("if-none-match")
    has_it = sent is not None and (sent.strip() == "*" or tag in (found[2] for found in TAG.finditer(sent)))
    if has_it and request.method in ("GET", "HEAD"):
        return NotModified({"ETag": tag})
    response.headers = {**response.headers, "ETag": tag}
    return response


async def require_match(
    request: Request, db: Connection, name: str, get: Callable[[Connection, int, int], Awaitable[str]]
) -> None:
    """Hold the object in the path to the If-Match that was sent, if any.

    `get` is its repository's, `name` what answers call it. Raises NotFound or PreconditionFailed.
    """
    sent = request.headers.get("if-match")
    if sent is None:
        return
    current = etag_of(**{name: await get(db, request.user.id, request.path_params["id"])})
    # A weak tag never matches here.
    tags = {found[2] for found in TAG.finditer(sent) if not found[1]}
    if sent.strip() != "*" and current not in tags:
        raise PreconditionFailed
