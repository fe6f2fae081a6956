"""Responses about API keys, which never hold the key or its hash."""

from msgspec import Struct

from journal_api.values.types import DayText, Instant


class ApiKey(Struct, kw_only=True, forbid_unknown_fields=True):
    id: int
    name: str
    last_four: str
    scopes: list[str]
    created_at: Instant
    updated_at: Instant
    last_used_on: DayText | None
    expires_at: Instant | None
    revoked_at: Instant | None
    is_current: bool
