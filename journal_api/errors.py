"""All errors of the API: a class sets the status, the code and a default message.

A message says what is wrong and what to do about it. openapi.json lists all codes (DECISIONS 1).
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar


class ApiError(Exception):
    """An error that ErrorMiddleware turns into an envelope; any layer may raise it.

    `message` replaces the default message of the class. The keyword arguments become `error.details`.
    """

    status: ClassVar[int]
    code: ClassVar[str]
    message: ClassVar[str]
    headers: Mapping[str, str] = MappingProxyType({})

    def __init__(self, message: str | None = None, **details: Any) -> None:
        super().__init__(message or self.message)
        self.details = details


class ValidationFailed(ApiError):
    status, code, message = 400, "validation_error", "The request is not valid; see details."

    def __init__(self, message: str | None = None, **details: Any) -> None:
        super().__init__(message or describe_fields(details.get("fields", {})), **details)
        self.questions: Mapping[str, str] = {}  # of unknown members, by the path: which is meant


def describe_fields(fields: Mapping[str, str]) -> str:
    """The first reason of `details.fields` as a sentence, with the number of the others."""
    if not fields:
        return ""
    path, reason = next(iter(fields.items()))
    others = f" {len(fields) - 1} more in details.fields." if len(fields) > 1 else ""
    return f"{path}: {reason.removesuffix('.')}.{others}"


class Unauthorized(ApiError):
    status, code = 401, "unauthorized"
    message = "Send an API key: `Authorization: Bearer tjk_...`. `journal-api keys create` creates one."
    headers = MappingProxyType({"WWW-Authenticate": "Bearer"})


class KeyRevoked(Unauthorized):
    code = "key_revoked"
    message = "This API key was revoked; use another one, or create one with `journal-api keys create`."


class KeyExpired(Unauthorized):
    code = "key_expired"
    message = "This API key has expired; create a new one with `journal-api keys create`."


class ForbiddenScope(ApiError):
    status, code = 403, "forbidden_scope"
    message = "The API key does not have the scope that this operation requires."


class NotFound(ApiError):
    status, code = 404, "not_found"
    message = "You have no object at this path: check its id; it may have been deleted."


class MethodNotAllowed(ApiError):
    status, code, message = 405, "method_not_allowed", "This path does not support the method of the request."


class RequestTimeout(ApiError):
    status, code, message = 408, "request_timeout", "The body stopped arriving; send the request again."


class DuplicateName(ApiError):
    status, code, message = 409, "duplicate_name", "This name is already in use; choose another one."


class CategoryHasTags(ApiError):
    status, code = 409, "category_has_tags"
    message = "This category still has tags; move or delete them first."


class AccountHasTrades(ApiError):
    status, code = 409, "account_has_trades"
    message = "This account still has trades; delete them first, or archive the account."


class Conflict(ApiError):
    status, code, message = 409, "conflict", "The request conflicts with stored data."


class TradesKept(ApiError):
    status, code = 409, "trades_kept"
    message = "You annotated trades that no other file has: keep=true keeps them, force=true deletes them as well."


class PreviewChanged(ApiError):
    status, code = 409, "preview_changed"
    message = "The import would do something else than its preview showed; make the dry run again."


class IdempotencyConflict(ApiError):
    status, code = 409, "idempotency_conflict"
    message = "This Idempotency-Key was used for a different request; use a new one."


class CursorExpired(ApiError):
    status, code = 410, "cursor_expired"
    message = "Changes since this cursor are no longer known; read everything again."


class PreconditionFailed(ApiError):
    status, code = 412, "precondition_failed"
    message = "The object does not match If-Match or If-None-Match; read it again."


class RequestTooLarge(ApiError):
    status, code, message = 413, "request_too_large", "The request is too large."


class UnsupportedMediaType(ApiError):
    status, code = 415, "unsupported_media_type"
    message = "Send the body in a media type of the operation, in UTF-8, without Content-Encoding."


class MisdirectedRequest(ApiError):
    status, code = 421, "misdirected_request"
    message = "This host name is not allowed; add it to JOURNAL_ALLOWED_HOSTS."


class LimitReached(ApiError):
    status, code = 429, "limit_reached"
    message = "The maximum number of strategies is reached; delete one, or raise JOURNAL_MAX_STRATEGIES."


class RateLimited(ApiError):
    status, code = 429, "rate_limited"
    message = "Too many requests; try again after the seconds in Retry-After."

    def __init__(self, headers: Mapping[str, str]) -> None:
        super().__init__()
        self.headers = headers


class InternalError(ApiError):
    status, code = 500, "internal_error"
    message = "The server failed; its log has the details under the request id."


class Busy(ApiError):
    status, code = 503, "busy"
    message = "The database is busy with other writes; nothing was written. Try again."
    headers = MappingProxyType({"Retry-After": "1"})


class StorageUnavailable(ApiError):
    status, code = 503, "storage_unavailable"
    message = "The database cannot be written to; nothing was written. Check the disk and its permissions."
    headers = MappingProxyType({"Retry-After": "10"})


class DatabaseRefused(Exception):
    """The database file cannot be used; the command prints the message as one line."""


class ServerRuns(DatabaseRefused):
    """A server has the database open."""


class NewerRelease(DatabaseRefused):
    """The database file was migrated by a newer release."""


class NoJournal(DatabaseRefused):
    """The file is damaged, or something else than a journal."""
