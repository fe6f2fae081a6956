"""Who is calling, and with which scopes."""

import re
from typing import NamedTuple

from starlette.requests import Request

from journal_api.codec import database
from journal_api.errors import ForbiddenScope, KeyExpired, KeyRevoked, Unauthorized
from journal_api.keys import hashed, is_well_formed
from journal_api.repositories import api_keys
from journal_api.values import now

BEARER = re.compile(r"bearer +([!-~]+)", re.IGNORECASE)


class Caller(NamedTuple):
    """The owner of the key, with what most answers need to know of them."""

    id: int
    scopes: frozenset[str]
    timezone: str
    day_rollover: str

    def require(self, scope: str) -> None:
        """Every operation needs exactly its own scope; a write scope does not include the read scope."""
        if scope not in self.scopes:
            raise ForbiddenScope(required_scope=scope)


async def authenticate(request: Request) -> Caller:
    """The caller by the Bearer key; raises Unauthorized, KeyRevoked or KeyExpired."""
    sent = request.headers.getlist("authorization")
    bearer = BEARER.fullmatch(sent[0]) if len(sent) == 1 else None
    if bearer is None or not is_well_formed(bearer[1]):
        raise Unauthorized
    key = await api_keys.by_hash(database(request).reader, hashed(bearer[1]))
    if key is None:
        raise Unauthorized
    if key.revoked_at is not None:
        raise KeyRevoked
    if key.expires_at is not None and key.expires_at <= now():
        raise KeyExpired
    return Caller(key.user_id, frozenset(key.scopes.split()), key.timezone, key.day_rollover)
