"""Who is calling, and with which scopes."""

import re
from typing import NamedTuple

from aiosqlite import Connection
from starlette.requests import Request

from journal_api.database.database import Database
from journal_api.errors import ForbiddenScope, KeyExpired, KeyRevoked, Unauthorized
from journal_api.repositories import api_keys, users
from journal_api.repositories.api_keys import KeyRow
from journal_api.values.api_keys import SCOPES, hashed, is_well_formed
from journal_api.values.clock import now
from journal_api.web.context import database
from journal_api.web.rate_limits import RateLimits

BEARER = re.compile(r"bearer +([!-~]+)", re.IGNORECASE)
EVERY_SCOPE = frozenset(SCOPES)
RUN_KEY_ID = 0  # no key in the database has it


class Caller(NamedTuple):
    """The owner of the key, with what most answers need to know of them."""

    id: int
    key_id: int
    scopes: frozenset[str]
    timezone: str
    day_rollover: str

    def require(self, scope: str | None) -> None:
        """Every operation needs exactly its own scope; a write scope does not include the read scope."""
        if scope is not None and scope not in self.scopes:
            raise ForbiddenScope(required_scope=scope)


async def authorize(request: Request, scope: str | None) -> Caller:
    """The caller, who has the scope and is within the rate limits. A scope of None accepts any valid key.

    Raises Unauthorized, KeyRevoked, KeyExpired, ForbiddenScope, RateLimited.
    """
    rates: RateLimits | None = request.app.state.rates
    try:
        caller = await authenticate(request)
    except Unauthorized:
        # A request without a key guesses none.
        if rates is not None and "authorization" in request.headers:
            rates.count_bad_key(request.client.host if request.client else "")
        raise
    try:
        if rates is not None:
            request.state.headers |= rates.count_request(caller.key_id)
    finally:
        # A missing scope is answered before an exceeded rate, but such a request counts, too.
        caller.require(scope)
    return caller


async def authenticate(request: Request) -> Caller:
    """The caller by the Bearer key; raises Unauthorized, KeyRevoked or KeyExpired."""
    sent = request.headers.getlist("authorization")
    bearer = BEARER.fullmatch(sent[0]) if len(sent) == 1 else None
    if bearer is None:
        raise Unauthorized
    run_key = request.app.state.settings.run_key
    if run_key is not None and run_key.matches(bearer[1]):
        request.state.key = bearer[1][-4:]
        return await caller_of_this_run(database(request).reader)
    key = await request.app.state.known_keys.find(bearer[1])
    if key is None:
        raise Unauthorized
    request.state.key = bearer[1][-4:]
    if key.revoked_at is not None:
        raise KeyRevoked
    if key.expires_at is not None and key.expires_at <= now():
        raise KeyExpired
    scopes = frozenset(key.scopes.split())
    return Caller(key.user_id, key.key_id, scopes, key.timezone, key.day_rollover)


class KnownKeys:
    """The keys that were found good, for as long as nobody has written to the journal since."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._version: int | None = None
        self._keys: dict[bytes, KeyRow] = {}

    async def find(self, sent: str) -> KeyRow | None:
        """None for what is no key; one that could not have been issued is not looked up."""
        version = self._database.version()  # before the look-up, so that what is written meanwhile is noticed
        if version is None or version != self._version:
            self._version, self._keys = version, {}
        key_hash = hashed(sent)
        key = self._keys.get(key_hash)
        if key is None and is_well_formed(sent):
            key = await api_keys.by_hash(self._database.reader, key_hash)
            if key is not None and version == self._version:
                self._keys[key_hash] = key
        return key


async def caller_of_this_run(db: Connection) -> Caller:
    """Whoever has the key of this run (`JOURNAL_RUN_KEY`) is the first user, with every scope."""
    user_id = await users.id_of(db, None)
    assert user_id is not None, "a database is made with its owner"
    user = await users.find(db, user_id)
    return Caller(user.id, RUN_KEY_ID, EVERY_SCOPE, user.timezone, user.day_rollover)
