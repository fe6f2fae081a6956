"""Every error that an answer can carry: the class is status and code, its keywords are `details`.

The table stands in docs/api.md#errors; DECISIONS 3.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar


class ApiError(Exception):
    """An error of docs/api.md#errors; raised anywhere, answered by app.py."""

    status: ClassVar[int]
    code: ClassVar[str]
    message: ClassVar[str]
    headers: Mapping[str, str] = MappingProxyType({})

    def __init__(self, message: str | None = None, **details: Any) -> None:
        super().__init__(message or self.message)
        self.details = details


class ValidationFailed(ApiError):
    status, code, message = 400, "validation_error", "The request is not valid."


class Unauthorized(ApiError):
    status, code, message = 401, "unauthorized", "A valid API key is required as a Bearer token."
    headers = MappingProxyType({"WWW-Authenticate": "Bearer"})


class KeyRevoked(Unauthorized):
    code, message = "key_revoked", "This API key was revoked."


class KeyExpired(Unauthorized):
    code, message = "key_expired", "This API key has expired."


class ForbiddenScope(ApiError):
    status, code, message = 403, "forbidden_scope", "The API key does not have the scope of this operation."


class NotFound(ApiError):
    status, code, message = 404, "not_found", "There is nothing here."


class MethodNotAllowed(ApiError):
    status, code, message = 405, "method_not_allowed", "This path does not have that method."


class RequestTimeout(ApiError):
    status, code, message = 408, "request_timeout", "The rest of the body did not come."


class DuplicateName(ApiError):
    status, code, message = 409, "duplicate_name", "That name is taken."


class CategoryHasTags(ApiError):
    status, code, message = 409, "category_has_tags", "Tags still belong to this category."


class AccountHasTrades(ApiError):
    status, code, message = 409, "account_has_trades", "Trades still belong to this account."


class Conflict(ApiError):
    status, code, message = 409, "conflict", "The request contradicts what is stored."


class IdempotencyConflict(ApiError):
    status, code, message = 409, "idempotency_conflict", "That Idempotency-Key came with another request."


class PreconditionFailed(ApiError):
    status, code, message = 412, "precondition_failed", "The object has changed since that ETag."


class RequestTooLarge(ApiError):
    status, code, message = 413, "request_too_large", "The body is too large."


class UnsupportedMediaType(ApiError):
    status, code, message = (
        415,
        "unsupported_media_type",
        "A body is what the operation takes, in UTF-8, not compressed.",
    )


class MisdirectedRequest(ApiError):
    status, code, message = 421, "misdirected_request", "This service does not answer for that host."


class LimitReached(ApiError):
    status, code, message = 429, "limit_reached", "The maximum of the plan is reached."


class RateLimited(ApiError):
    status, code, message = 429, "rate_limited", "Too many requests."

    def __init__(self, headers: Mapping[str, str]) -> None:
        super().__init__()
        self.headers = headers


class InternalError(ApiError):
    status, code, message = 500, "internal_error", "Something went wrong on our side."


class Busy(ApiError):
    status, code, message = 503, "busy", "Other writes are in the way; nothing was written, try again."
    headers = MappingProxyType({"Retry-After": "1"})


class StorageUnavailable(ApiError):
    status, code, message = 503, "storage_unavailable", "The database cannot be written; nothing was."
    headers = MappingProxyType({"Retry-After": "10"})


class DatabaseRefused(Exception):
    """The database file cannot be used by this release; said at the start, in one line."""
