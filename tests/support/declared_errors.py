"""The errors that an operation may respond with: its own, common ones, and what follows from its row."""

from journal_api.errors import (
    ApiError,
    Busy,
    ForbiddenScope,
    IdempotencyConflict,
    InternalError,
    KeyExpired,
    KeyRevoked,
    MisdirectedRequest,
    NotFound,
    PreconditionFailed,
    RateLimited,
    RequestTimeout,
    RequestTooLarge,
    StorageUnavailable,
    Unauthorized,
    UnsupportedMediaType,
    ValidationFailed,
)
from journal_api.web.operation import Operation

COMMON_ERRORS: tuple[type[ApiError], ...] = (
    *(ValidationFailed, Unauthorized, KeyRevoked, KeyExpired, MisdirectedRequest, RateLimited),
    *(InternalError, Busy, StorageUnavailable),
)


def list_errors(operation: Operation) -> tuple[type[ApiError], ...]:
    errors: list[type[ApiError]] = [*COMMON_ERRORS, *operation.errors]
    if operation.required_scope:
        errors.append(ForbiddenScope)
    if "{" in operation.path:
        errors.append(NotFound)
    if operation.method == "POST":
        errors.append(IdempotencyConflict)
    if operation.etag_source:
        errors.append(PreconditionFailed)
    if operation.body or operation.consumes_file or operation.method == "POST":  # its key remembers the body
        errors += [RequestTimeout, RequestTooLarge, UnsupportedMediaType]
    return tuple(errors)
