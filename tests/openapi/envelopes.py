"""JSON schemas of the envelope: success, errors with their details, and `meta`."""

from journal_api.errors import (
    AccountHasTrades,
    ApiError,
    CategoryHasTags,
    Conflict,
    ForbiddenScope,
    LimitReached,
    PreconditionFailed,
    PreviewChanged,
    RequestTooLarge,
    UnsupportedMediaType,
    ValidationFailed,
)
from openapi.schemas import Json, refer_to

COUNT: Json = {"type": "integer"}
TEXT: Json = {"type": "string"}
TEXTS: Json = {"type": "array", "items": TEXT}
IDS: Json = {"type": "array", "items": {"type": "integer"}}


def explain(schema: Json, text: str) -> Json:
    return {**schema, "description": text}


def meta_schema(required: Json, optional: Json | None = None) -> Json:
    properties = {"request_id": {**TEXT, "examples": ["req_0123456789abcdef"]}, **required}
    return {"type": "object", "properties": {**properties, **(optional or {})}, "required": list(properties)}


META = meta_schema({}, {"warnings": explain(TEXTS, "Sentences about what is probably a mistake.")})
PAGED_META = meta_schema(
    {
        "pagination": {
            "type": "object",
            "title": "Pagination",
            "properties": {name: {"type": "integer", "minimum": 0} for name in ("limit", "offset", "total")},
            "required": ["limit", "offset", "total"],
        }
    }
)
CHANGES_META = meta_schema({"cursor": explain(TEXT, "The next `since`."), "more": {"type": "boolean"}})

FIELDS: Json = {
    "type": "object",
    "additionalProperties": TEXT,
    "description": "The reason by path of the member, such as `setups[3].name`, up to 100.",
}
ALLOWED = explain(TEXTS, "What is allowed: values of the first of `fields` with a closed list, methods, media types.")
MAX_BYTES = explain(COUNT, "The limit of the body, or of a strategy as a whole.")
UNKNOWN, REPEATED = explain(IDS, "All ids that do not belong there."), explain(IDS, "All ids that were sent twice.")
# The members of `details` that each error may have (docs/api.md#errors).
DETAILS: dict[type[ApiError], Json] = {
    ValidationFailed: {
        "fields": FIELDS,
        "unknown_fields": explain(TEXTS, "Members that the body does not have."),
        "unknown_parameters": explain(TEXTS, "Parameters that the operation does not have."),
        "allowed": ALLOWED,
        **{f"unknown_{one}_ids": UNKNOWN for one in ("setup", "confirmation", "tag", "account")},
        **{f"duplicate_{one}_ids": REPEATED for one in ("setup", "confirmation", "account")},
        "max_bytes": MAX_BYTES,
        "line": explain(COUNT, "Of an import: the line of the first error."),
        "reason": explain(TEXT, "Of an import: the first error."),
        "rows": explain({"type": "array", "items": refer_to("RowVerdict")}, "Of an import: all errors."),
        "counts": refer_to("Counts"),
        "missing": explain({"type": "object", "additionalProperties": TEXTS}, "Missing columns, by format."),
        "unknown_accounts": explain(TEXTS, "Of an import: accounts that the journal does not have."),
    },
    ForbiddenScope: {"required_scope": TEXT},
    CategoryHasTags: {"tag_count": COUNT},
    AccountHasTrades: {"trade_count": COUNT},
    Conflict: {"fields": FIELDS, "account_ids": IDS},
    PreviewChanged: {"changed": TEXTS},
    PreconditionFailed: {"fields": FIELDS},
    RequestTooLarge: {"max_bytes": MAX_BYTES},
    UnsupportedMediaType: {"allowed": ALLOWED},
    LimitReached: {"limit": COUNT, "current": COUNT},
}


def envelope_schema(data: Json, meta: str) -> Json:
    """The schema of a successful response; `data` maps member names to schemas, `meta` names a component."""
    return {
        "type": "object",
        "properties": {
            "ok": {"const": True},
            "data": {"type": "object", "properties": data, "required": list(data)},
            "meta": refer_to(meta),
        },
        "required": ["ok", "data", "meta"],
    }


def error_schemas() -> Json:
    """The schemas of a failure, by name. Their names and members do not depend on which errors there are."""
    return {
        "ErrorCode": {"type": "string", "enum": sorted({error.code for error in every_error()})},
        "ErrorDetails": {
            "type": "object",
            "properties": {name: schema for known in DETAILS.values() for name, schema in known.items()},
            "additionalProperties": True,
        },
        "ErrorBody": {
            "type": "object",
            "properties": {"code": refer_to("ErrorCode"), "message": TEXT, "details": refer_to("ErrorDetails")},
            "required": ["code", "message", "details"],
        },
        "ErrorResponse": {
            "type": "object",
            "properties": {"ok": {"const": False}, "error": refer_to("ErrorBody"), "meta": refer_to("Meta")},
            "required": ["ok", "error", "meta"],
        },
    }


def every_error(base: type[ApiError] = ApiError) -> list[type[ApiError]]:
    """The error classes of journal_api.errors, those with the lowest status first."""
    subclasses = [kind for kind in base.__subclasses__() if kind.__module__ == ApiError.__module__]
    errors = [one for kind in subclasses for one in (kind, *every_error(kind))]
    return sorted(errors, key=lambda error: (error.status, error.code))
