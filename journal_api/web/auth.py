"""Authentication by API key, authorization by scope, the rate limit of the key and the day of its last use."""

import logging
import re
import sqlite3
from functools import partial
from typing import NamedTuple

from aiosqlite import Connection
from starlette.requests import Request

from journal_api.database.database import Database
from journal_api.errors import ApiError, ForbiddenScope, KeyExpired, KeyRevoked, Unauthorized
from journal_api.repositories import api_keys, users
from journal_api.repositories.api_keys import KeyRow
from journal_api.values.api_keys import SCOPES, hash_key, is_well_formed
from journal_api.values.clock import now
from journal_api.web.context import database
from journal_api.web.rate_limits import RateLimits

log = logging.getLogger("journal_api")

BEARER = re.compile(r"bearer +([!-~]+)[ \t]*", re.IGNORECASE)
EVERY_SCOPE = frozenset(SCOPES)
SAVE_USES_EVERY = 60.0  # seconds
RUN_KEY_ID = 0  # no row of api_keys has this id
UNKNOWN_KEY = "This API key does not exist. Check it for typing errors, or create one with `journal-api keys create`."


class Caller(NamedTuple):
    """The owner of the API key, the key's scopes, and the settings that most handlers need."""

    id: int
    key_id: int
    scopes: frozenset[str]
    timezone: str
    day_rollover: str

    def require(self, scope: str | None) -> None:
        """Raise ForbiddenScope unless the key has exactly this scope; a write scope does not include read."""
        if scope is not None and scope not in self.scopes:
            raise ForbiddenScope(
                f"This operation requires the scope {scope}, which the API key does not have. "
                f"Use another key, or create one with `journal-api keys create NAME --scopes {scope}`.",
                required_scope=scope,
            )


def authorize(request: Request, scope: str | None) -> Caller:
    """Return the caller, who has the scope and is within the rate limits. None accepts any valid key.

    Raises Unauthorized, KeyRevoked, KeyExpired, ForbiddenScope, RateLimited.
    """
    rates: RateLimits | None = request.app.state.rates
    try:
        caller = authenticate(request)
    except Unauthorized:
        # A request without a key is not an attempt to guess one.
        if "authorization" in request.headers:
            count_bad_key(request)
        raise
    try:
        if rates is not None:
            request.state.headers |= rates.requests.count(caller.key_id)
    finally:
        # A missing scope takes precedence over an exceeded limit, but the request counts in both cases.
        caller.require(scope)
    return caller


def count_bad_key(request: Request) -> None:
    """Count a wrong key or code of the request's address. Raises RateLimited."""
    rates: RateLimits | None = request.app.state.rates
    if rates is not None:
        rates.bad_keys.count(request.client.host if request.client else "")


def authenticate(request: Request) -> Caller:
    """Return the owner of the key, of the run key the first user. Raises Unauthorized, KeyRevoked or KeyExpired."""
    headers = [value for name, value in request.scope["headers"] if name == b"authorization"]
    bearer = BEARER.fullmatch(headers[0].decode("latin-1")) if len(headers) == 1 else None
    if bearer is None:
        raise Unauthorized
    state = request.app.state
    run_key = state.settings.run_key
    if run_key is not None and run_key.matches(bearer[1]):
        request.scope["state"]["key"] = bearer[1][-4:]
        user_id, *calendar = users.find_first(database(request).probe)
        return Caller(user_id, RUN_KEY_ID, EVERY_SCOPE, *calendar)
    key = state.known_keys.find(bearer[1])
    if key is None:
        raise Unauthorized(UNKNOWN_KEY)
    request.scope["state"]["key"] = bearer[1][-4:]
    require_valid(key.expires_at, key.revoked_at)
    state.key_uses.note(key)
    return Caller(key.user_id, key.key_id, frozenset(key.scopes.split()), key.timezone, key.day_rollover)


def require_valid(expires_at: str | None, revoked_at: str | None) -> None:
    """Raise KeyRevoked or KeyExpired if a key is not valid now."""
    if revoked_at is not None:
        raise KeyRevoked
    if expires_at is not None and expires_at <= now():
        raise KeyExpired


async def require_still_valid(db: Connection, caller: Caller) -> None:
    """Look at the caller's key again in a write transaction, because the body may have taken long to arrive.

    Raises Unauthorized, KeyRevoked or KeyExpired.
    """
    if caller.key_id == RUN_KEY_ID:
        return
    validity = await api_keys.find_validity(db, caller.key_id)
    if validity is None:
        raise Unauthorized(UNKNOWN_KEY)
    require_valid(*validity)


class KnownKeys:
    """A cache of API key rows. Any write to the database file, by any process, empties it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._version: int | None = None
        self._keys: dict[bytes, KeyRow] = {}

    def find(self, text: str) -> KeyRow | None:
        """Return the row of the key, None if there is none. A wrong checksum causes no query."""
        # The version is read before the row, so that a write in between empties the cache next time.
        version = self._database.version()
        if version is None or version != self._version:
            self._version, self._keys = version, {}
        key_hash = hash_key(text)
        key = self._keys.get(key_hash)
        if key is None and is_well_formed(text) and (key := api_keys.find_by_hash(self._database.probe, key_hash)):
            self._keys[key_hash] = key
        return key


class KeyUses:
    """Keys that were used on a later day than the database says: at most one write per key and day, for which no
    request waits."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._days: dict[int, str] = {}

    def note(self, key: KeyRow) -> None:
        today = now()[:10]
        if key.last_used_on is None or key.last_used_on < today:
            self._days[key.key_id] = today

    async def save(self) -> None:
        """Write what was noted. If the write fails, it stays noted until the next call."""
        days = dict(self._days)
        if not days:
            return
        try:
            await self._database.write(partial(api_keys.save_last_use, days=days))
        except (sqlite3.Error, ApiError) as error:
            log.info("the last use of %d keys was not saved: %s", len(days), error)
        else:
            self._days = {key_id: day for key_id, day in self._days.items() if days.get(key_id) != day}
