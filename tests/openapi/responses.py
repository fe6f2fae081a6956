"""The responses of operations in the OpenAPI document, and the error components they refer to."""

from collections.abc import Iterable
from http import HTTPStatus
from typing import get_args, get_origin

from declared_errors import list_errors

from journal_api.errors import ApiError
from journal_api.web.operation import Operation
from openapi.envelopes import envelope_schema, every_error
from openapi.schemas import FILE, Json, refer_to, type_schema

HEADERS = {
    "Location": "The path of the new object.",
    "ETag": "The version of the object or list.",
    "X-Idempotent-Replay": ("`true` if this is the stored response to an earlier request with the same key."),
    "X-Trades-Unlinked": "The number of trades that lost their strategy or their setup.",
    "X-Answers-Deleted": "The number of checklist answers that were deleted.",
    "X-Trades-Kept": "Up to 100 ids of trades that were kept because they were edited since the import.",
    "X-Trades-Deleted": "The number of trades that were deleted.",
    "X-Trades-Annotated": (
        "How many of the deleted trades were edited since the import and have notes, a grade, a strategy,"
        " tags, answers or pictures; 0 without `force`."
    ),
    "X-Copies-Unlinked": "The number of copies that stay without the original that is deleted.",
    "X-Trades-Charged": "With `apply_to=earlier`, the number of trades whose fees changed.",
    "Cache-Control": "How long a browser may keep the file.",
    "Vary": "What the response depends on.",
    "Content-Security-Policy": "What the file may do: nothing.",
    "Content-Disposition": "The name of the file.",
    "WWW-Authenticate": "`Bearer`.",
    "Retry-After": "Seconds until a request may succeed.",
    "X-RateLimit-Limit": "Requests per minute.",
    "X-RateLimit-Remaining": "Requests left in this minute.",
    "X-RateLimit-Reset": "Seconds until the next minute begins.",
}
HEADER_COMPONENTS: Json = {name: {"description": text, "schema": {"type": "string"}} for name, text in HEADERS.items()}
# Headers that only one operation, or only one error, has.
SPECIAL_HEADERS = {
    "delete_strategy": ("X-Trades-Unlinked", "X-Answers-Deleted"),
    "update_strategy": ("X-Trades-Unlinked", "X-Answers-Deleted"),
    "update_trades": ("X-Answers-Deleted",),
    "delete_trades": ("X-Trades-Deleted", "X-Answers-Deleted"),
    "update_account": ("X-Trades-Charged",),
    "delete_import": ("X-Trades-Kept", "X-Trades-Deleted", "X-Trades-Annotated", "X-Copies-Unlinked"),
    "export_trades": ("Content-Disposition",),
    "get_picture_content": ("Cache-Control", "Content-Disposition", "Content-Security-Policy", "Vary"),
    "RateLimited": ("Retry-After", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"),
}
# The statuses of which each operation says whether it responds with them. Any operation may respond with the
# others, which are described once, as its `default`.
NAMES = {404: "NotFound", 409: "Conflict"}


def build_responses(operation: Operation) -> Json:
    """The responses of an operation, by status."""
    successes = {str(status): describe_success(operation, status) for status in operation.success_statuses}
    return successes | refer_to_errors(list_errors(operation))


def is_paged(operation: Operation) -> bool:
    return "limit" in operation.query.__struct_fields__


def refer_to_errors(possible_errors: Iterable[type[ApiError]]) -> Json:
    """References to the responses for these errors, by status. A conflict names its codes."""
    codes: dict[int, list[str]] = {}
    for error in sorted(possible_errors, key=lambda error: (error.status, error.code)):
        codes.setdefault(error.status, []).append(f"`{error.code}`")
    own = {str(status): refer_to(NAMES[status], "responses") for status in codes if status in NAMES}
    if 409 in codes:
        own["409"]["description"] = ", ".join(codes[409])
    return {**own, "default": refer_to("Error", "responses")}


def error_responses() -> Json:
    """The responses, by name, that the failures of all operations refer to."""
    by_name: dict[str, list[type[ApiError]]] = {}
    for error in every_error():
        by_name.setdefault(NAMES.get(error.status, "Error"), []).append(error)
    return {name: describe_failure(errors) for name, errors in by_name.items()}


def describe_success(operation: Operation, status: int) -> Json:
    names = [*SPECIAL_HEADERS.get(operation.name, ())]
    names += ["Location"] if status == 201 else []
    names += ["X-Idempotent-Replay"] if operation.method == "POST" else []
    names += ["ETag"] if operation.has_etag and status != 204 else []
    response: Json = {"description": HTTPStatus(status).phrase, **describe_headers(*names)}
    if status in (204, 304):
        return response
    if operation.produces != "application/json":
        content = describe_file(operation.produces)
    else:
        content = {"schema": refer_to(envelope_name(operation))}
    return {**response, "content": {operation.produces: content}}


def describe_file(media_type: str) -> Json:
    """The content of a file; the component with its example has the name of the format, such as `xml`."""
    if media_type.startswith("image/"):  # no text could be its example
        return {"schema": FILE}
    return {"schema": FILE, "examples": {"file": refer_to(media_type.rpartition("/")[2], "examples")}}


def envelope_components(operations: Iterable[Operation]) -> Json:
    """The schemas, by name, of the envelopes of successes."""
    return {
        envelope_name(each): envelope_schema(
            {name: type_schema(kind) for name, kind in each.data.items()}, name_meta(each)
        )
        for each in operations
        if each.data
    }


def name_meta(operation: Operation) -> str:
    """The component that describes `meta`."""
    if operation.name == "list_changes":
        return "ChangesMeta"
    return "PagedMeta" if is_paged(operation) else "Meta"


def envelope_name(operation: Operation) -> str:
    """`TagResponse`, `TagListResponse` or `TagPageResponse`; by the operation if `data` has other members."""
    kind = next(iter(operation.data.values()))
    is_list = get_origin(kind) is list
    struct = get_args(kind)[0] if is_list else kind
    if len(operation.data) > 1:
        name = "".join(word.title() for word in operation.name.split("_"))
    else:
        name = struct.__name__.removesuffix("ListItem") if is_list else struct.__name__
    return f"{name}{'Page' if is_paged(operation) else 'List' if is_list else ''}Response"


def describe_failure(errors: list[type[ApiError]]) -> Json:
    """The response for these errors."""
    names = [name for error in errors for name in (*error.headers, *SPECIAL_HEADERS.get(error.__name__, ()))]
    return {
        "description": "\n".join(f"- {error.status} `{error.code}`: {error.message}" for error in errors),
        **describe_headers(*names),
        "content": {"application/json": {"schema": refer_to("ErrorResponse")}},
    }


def describe_headers(*names: str) -> Json:
    return {"headers": {name: refer_to(name, "headers") for name in names}} if names else {}
