"""JSON schemas of the envelope: success, errors with their details, and `meta`."""

from collections.abc import Sequence

from journal_api.errors import (
    AccountHasTrades,
    ApiError,
    CategoryHasTags,
    Conflict,
    ForbiddenScope,
    LimitReached,
    PreconditionFailed,
    RequestTooLarge,
    UnsupportedMediaType,
    ValidationFailed,
)
from openapi.schemas import Json, refer_to

META: Json = {
    "type": "object",
    "properties": {
        "request_id": {"type": "string", "examples": ["req_0123456789abcdef"]},
        "warnings": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Sentences about a goal that is probably a mistake.",
        },
    },
    "required": ["request_id"],
}
PAGED_META: Json = {
    "type": "object",
    "properties": {
        "request_id": META["properties"]["request_id"],
        "pagination": {
            "type": "object",
            "title": "Pagination",
            "properties": {name: {"type": "integer", "minimum": 0} for name in ("limit", "offset", "total")},
            "required": ["limit", "offset", "total"],
        },
    },
    "required": ["request_id", "pagination"],
}
CHANGES_META: Json = {
    "type": "object",
    "properties": {
        "request_id": META["properties"]["request_id"],
        "cursor": {"type": "string", "description": "The next `since`."},
        "more": {"type": "boolean"},
    },
    "required": ["request_id", "cursor", "more"],
}
COUNT: Json = {"type": "integer"}
TEXT: Json = {"type": "string"}
TEXTS: Json = {"type": "array", "items": TEXT}
IDS: Json = {"type": "array", "items": {"type": "integer"}}
FIELDS: Json = {
    "type": "object",
    "additionalProperties": TEXT,
    "description": "The reason by path of the member, such as `setups[3].name`.",
}
ID_LISTS = (
    *("unknown_setup_ids", "unknown_confirmation_ids", "unknown_tag_ids", "unknown_account_ids"),
    *("duplicate_setup_ids", "duplicate_confirmation_ids", "duplicate_account_ids"),
)
# The members of `details` that each error may have (docs/api.md#errors).
DETAILS: dict[type[ApiError], Json] = {
    ValidationFailed: {
        "fields": FIELDS,
        "unknown_fields": TEXTS,
        "unknown_parameters": TEXTS,
        "allowed": TEXTS,
        **dict.fromkeys(ID_LISTS, IDS),
        "max_bytes": COUNT,
        "line": COUNT,
        "reason": TEXT,
        "rows": {"type": "array", "items": refer_to("Verdict")},
        "counts": refer_to("Counts"),
        "missing": {"type": "object", "additionalProperties": TEXTS},
        "unknown_accounts": TEXTS,
    },
    ForbiddenScope: {"required_scope": TEXT},
    CategoryHasTags: {"tag_count": COUNT},
    AccountHasTrades: {"trade_count": COUNT},
    Conflict: {"fields": FIELDS, "account_ids": IDS},
    PreconditionFailed: {"fields": FIELDS},
    RequestTooLarge: {"max_bytes": COUNT},
    UnsupportedMediaType: {"allowed": TEXTS},
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


def error_schema(errors: Sequence[type[ApiError]]) -> Json:
    """The schema of a response with one of these errors."""
    return {
        "type": "object",
        "properties": {
            "ok": {"const": False},
            "error": {
                "type": "object",
                "properties": {
                    "code": {"type": "string", "enum": [error.code for error in errors]},
                    "message": TEXT,
                    "details": details_schema(errors),
                },
                "required": ["code", "message", "details"],
            },
            "meta": refer_to("Meta"),
        },
        "required": ["ok", "error", "meta"],
    }


def details_schema(errors: Sequence[type[ApiError]]) -> Json:
    """The schema of `details`, with every member that one of these errors may have."""
    known = {name: schema for error in errors for name, schema in DETAILS.get(error, {}).items()}
    members = {"properties": known} if known else {}
    return {"type": "object", **members, "additionalProperties": True}
