"""The responses of operations in the OpenAPI document, and the error components they refer to."""

from collections.abc import Iterable, Sequence
from http import HTTPStatus
from itertools import groupby

from journal_api.errors import ApiError
from journal_api.openapi.envelopes import envelope_schema, error_schema
from journal_api.openapi.examples import EXAMPLES, FILES
from journal_api.openapi.references import Json, reference
from journal_api.openapi.schemas import FILE, schema_of
from journal_api.web.operation import Operation

REQUEST_ID = {"X-Request-Id": {"description": "Repeats `meta.request_id`.", "schema": {"type": "string"}}}
LOCATION = {"Location": {"description": "The path of the new object.", "schema": {"type": "string"}}}
ETAG = {"ETag": {"description": "The version of the object or list.", "schema": {"type": "string"}}}
REPLAY = {
    "X-Idempotent-Replay": {
        "description": "`true` if this is the stored response to an earlier request with the same key.",
        "schema": {"type": "string"},
    }
}
LOSSES = {
    "X-Trades-Unlinked": "The number of trades that lost their strategy or their setup.",
    "X-Answers-Deleted": "The number of checklist answers that were deleted.",
}
# Descriptions of headers that only one operation, or only one error, has.
SPECIAL_HEADERS: dict[str, dict[str, str]] = {
    "delete_strategy": LOSSES,
    "update_strategy": LOSSES,
    "delete_import": {
        "X-Trades-Kept": "Up to 100 ids of trades that were kept because they were edited since the import.",
        "X-Trades-Deleted": "The number of trades that were deleted.",
        "X-Trades-Annotated": (
            "How many of the deleted trades were edited since the import and have notes, a grade, a strategy,"
            " tags or answers; 0 without `force`."
        ),
    },
    "export_trades": {"Content-Disposition": "The name of the file."},
    "RateLimited": {
        "Retry-After": "Seconds until the next request is accepted.",
        "X-RateLimit-Limit": "Requests per minute.",
        "X-RateLimit-Remaining": "Requests left in this minute.",
        "X-RateLimit-Reset": "Seconds until the next minute begins.",
    },
}
WITHOUT_BODY = "WithoutBody"
ErrorTypes = list[type[ApiError]]


def responses_of(operation: Operation) -> Json:
    """The responses of an operation, by status."""
    successes = {str(status): success(operation, status) for status in operation.success_statuses}
    return successes | failures_of(operation.possible_errors)


def failures_of(possible_errors: Iterable[type[ApiError]]) -> Json:
    """References to the responses for these errors, by status."""
    return {
        str(status): {"$ref": f"#/components/responses/{name_of(errors)}"}
        for status, errors in errors_by_status(possible_errors).items()
    }


def error_components(operations: Sequence[Operation]) -> tuple[Json, Json]:
    """The schemas and the responses, by name, that the failures of all operations refer to."""
    groups = {
        name_of(errors): errors
        for operation in operations
        for errors in errors_by_status(operation.possible_errors).values()
    }
    schemas = {name: error_schema(errors) for name, errors in groups.items()}
    responses = {name: failure(errors, name) for name, errors in groups.items()}
    of_reads = {
        name_of(errors)
        for operation in operations
        if operation.method == "GET"
        for errors in errors_by_status(operation.possible_errors).values()
    }
    without_body = {f"{name}{WITHOUT_BODY}": headers_alone(responses[name]) for name in of_reads}
    return schemas, responses | without_body


def reference_without_body(response: Json) -> Json:
    """The reference to the component for HEAD, from the reference to that for GET."""
    return {"$ref": f"{response['$ref']}{WITHOUT_BODY}"}


def headers_alone(response: Json) -> Json:
    return {name: value for name, value in response.items() if name != "content"}


def errors_by_status(possible_errors: Iterable[type[ApiError]]) -> dict[int, ErrorTypes]:
    by_status = sorted(possible_errors, key=lambda error: (error.status, error.code))
    return {status: list(errors) for status, errors in groupby(by_status, key=lambda error: error.status)}


def name_of(errors: ErrorTypes) -> str:
    """The component that describes these errors, such as `KeyExpiredOrUnauthorized`."""
    return "Or".join(error.__name__ for error in errors)


def success(operation: Operation, status: int) -> Json:
    """The response of an operation with a status of success."""
    headers = REQUEST_ID | (LOCATION if status == 201 else {}) | special_headers(operation.name)
    headers |= REPLAY if operation.method == "POST" else {}
    headers |= ETAG if operation.has_etag and status != 204 else {}
    response: Json = {"description": HTTPStatus(status).phrase, "headers": headers}
    if status in (204, 304):
        return response
    if operation.produces != "application/json":
        return response | {
            "content": {operation.produces: {"schema": FILE, "example": FILES[operation.produces]}}
        }
    data = {name: schema_of(kind) for name, kind in operation.data.items()}
    schema = envelope_schema(data, "PagedMeta" if operation.is_paged else "Meta")
    return response | {"content": {"application/json": {"schema": schema, **example_of(operation)}}}


def failure(errors: ErrorTypes, name: str) -> Json:
    """The response for errors that have the same status; `name` is the component of their schema."""
    headers = dict(REQUEST_ID)
    for error in errors:
        headers |= {header: {"schema": {"type": "string"}} for header in error.headers}
        headers |= special_headers(error.__name__)
    return {
        "description": "\n".join(f"- `{error.code}`: {error.message}" for error in errors),
        "headers": headers,
        "content": {"application/json": {"schema": reference(name)}},
    }


def special_headers(name: str) -> Json:
    """The headers that only the operation or error of this name has."""
    descriptions = SPECIAL_HEADERS.get(name, {})
    return {
        header: {"description": description, "schema": {"type": "string"}}
        for header, description in descriptions.items()
    }


def example_of(operation: Operation) -> Json:
    """An example of the operation's JSON response."""
    data: Json = {}
    for name, kind in operation.data.items():
        item_types = getattr(kind, "__args__", ())
        data[name] = [EXAMPLES[item_types[0]]] if item_types else EXAMPLES[kind]
    meta: Json = {"request_id": "req_0123456789abcdef"}
    if operation.is_paged:
        meta["pagination"] = {"limit": 50, "offset": 0, "total": 1}
    return {"example": {"ok": True, "data": data, "meta": meta}}
