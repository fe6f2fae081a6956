"""Handlers of the caller's API keys. Only the command line and the page's sign-in make keys."""

from aiosqlite import Connection
from starlette.requests import Request

from journal_api.repositories import api_keys
from journal_api.web.responses import Response, no_content, ok


async def list_keys(request: Request, db: Connection) -> Response:
    """List the caller's API keys, oldest first, revoked ones included; `is_current` marks the calling key."""
    return ok(keys=await api_keys.list_of_user(db, request.user.id, request.user.key_id))


async def get_key(request: Request, db: Connection, key_id: int) -> Response:
    """Get an API key that is not revoked."""
    return ok(key=await api_keys.get(db, request.user.id, key_id, request.user.key_id))


async def revoke_key(request: Request, db: Connection, key_id: int) -> Response:
    """Revoke a key: the next request with it is 401. 404 if it is revoked already."""
    await api_keys.get(db, request.user.id, key_id, request.user.key_id)
    await api_keys.revoke(db, key_id)
    return no_content()
