"""The OpenAPI 3.1 document, read off the route table and the structs."""

import inspect
import re
from collections.abc import Iterable
from functools import cache
from http import HTTPStatus
from itertools import groupby
from typing import Any

import msgspec
from msgspec.structs import fields

from journal_api import __version__
from journal_api.errors import ApiError
from journal_api.openapi.examples import EXAMPLES, FILES
from journal_api.routes.table import OPERATIONS
from journal_api.web.operation import Operation

Json = dict[str, Any]

REF = "#/components/schemas/{name}"

ABOUT = """\
A self-hosted trading journal: tags, strategies with setups and confirmation checklists, goals with explained
progress snapshots, and the trades that these hang on.

Every answer has one envelope: `{"ok": true, "data": {...}, "meta": {"request_id": "..."}}`, or
`{"ok": false, "error": {"code", "message", "details"}, "meta": {...}}`. Unknown members of a body are
refused. Amounts are exact to eight decimals; timestamps are UTC, and without an offset in your own zone.
Every answer has `Cache-Control: no-store` and `X-Content-Type-Options: nosniff`.
"""
META: Json = {
    "type": "object",
    "properties": {"request_id": {"type": "string", "examples": ["req_0123456789abcdef"]}},
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
REQUEST_ID = {"X-Request-Id": {"description": "Repeats `meta.request_id`.", "schema": {"type": "string"}}}
LOCATION = {"Location": {"description": "Where the new object is.", "schema": {"type": "string"}}}
ETAG = {"ETag": {"description": "Which state of it this is.", "schema": {"type": "string"}}}
HEADERS_SENT: Json = {
    "Idempotency-Key": {
        "description": "The same request under the same key is done once and answered the same for 24 hours.",
        "schema": {"type": "string", "pattern": "^(?!tjk_)[A-Za-z0-9_-]{1,64}$"},
    },
    "If-Match": {
        "description": "Only while GET there, or at the next path above, answers this ETag; else 412.",
        "schema": {"type": "string"},
    },
    "If-None-Match": {
        "description": "304 if the answer still has this ETag.",
        "schema": {"type": "string"},
    },
}
REPLAY = {"X-Idempotent-Replay": {"description": "true: answered before.", "schema": {"type": "string"}}}
# Headers that one operation alone answers with, or one error.
HEADERS_OF: Json = {
    "delete_strategy": {"X-Trades-Unlinked": "How many trades lost their strategy."},
    "delete_import": {"X-Trades-Kept": "The ids of up to 100 trades that were edited since, if any were."},
    "export_trades": {"Content-Disposition": "The name of the file."},
    "RateLimited": {
        "Retry-After": "After how many seconds to try again.",
        "X-RateLimit-Limit": "How many requests a minute may have.",
        "X-RateLimit-Remaining": "How many are left.",
        "X-RateLimit-Reset": "In how many seconds the next minute begins.",
    },
}
FILE: Json = {"type": "string", "format": "binary"}


@cache
def document() -> bytes:
    """The document as JSON."""
    return msgspec.json.format(msgspec.json.encode(described()), indent=2)


def described() -> Json:
    schemas = schemas_of(OPERATIONS) | {"Meta": META, "PagedMeta": PAGED_META}
    shared: Json = {"schemas": schemas, "responses": {}}
    paths: Json = {"/health": {"get": about_health()}}
    for operation in OPERATIONS:
        paths.setdefault(operation.documented_path, {})[operation.method.lower()] = about(operation, shared)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Trading journal", "version": __version__, "description": ABOUT},
        "servers": [{"url": "/"}],
        "tags": [{"name": name} for name in dict.fromkeys(map(tag_of, OPERATIONS))] + [{"name": "service"}],
        "paths": paths,
        "components": {
            **{kind: dict(sorted(named.items())) for kind, named in shared.items()},
            "securitySchemes": {
                "key": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "An API key, `tjk_...`: `journal-api keys create NAME --scopes all`.",
                }
            },
        },
    }


def about(operation: Operation, shared: Json) -> Json:
    """`shared` collects what operations have in common: the schemas and responses of the components."""
    summary, _, more = inspect.cleandoc(operation.endpoint.__doc__ or "").partition("\n\n")
    of_query = inspect.cleandoc((operation.query and operation.query.__doc__) or "")
    scope = f"Scope: `{operation.required_scope}`." if operation.required_scope else "Any valid key will do."
    found: Json = {
        "operationId": operation.name,
        "summary": " ".join(summary.split()).replace("`", "").removesuffix("."),
        "description": "\n\n".join(filter(None, (more, of_query, scope))),
        "tags": [tag_of(operation)],
        "security": [{"key": [operation.required_scope] if operation.required_scope else []}],
        "parameters": [
            *path_parameters(operation),
            *query_parameters(operation),
            *header_parameters(operation),
        ],
        "responses": responses(operation, shared),
    }
    if content := body_of(operation):
        found["requestBody"] = {"required": True, "content": content}
    return found


def about_health() -> Json:
    data: Json = {
        "status": {"const": "ok"},
        "version": {"type": "string"},
        "schema": {"type": "integer"},
        "writable": {"type": "boolean"},
    }
    schema = answer_schema(data, "Meta")
    return {
        "operationId": "health",
        "summary": "That the service answers, which release and schema it is, and whether it can write",
        "description": "Needs no key.",
        "tags": ["service"],
        "security": [],
        "responses": {
            "200": {
                "description": "It does.",
                "headers": REQUEST_ID,
                "content": {"application/json": {"schema": schema}},
            }
        },
    }


def tag_of(operation: Operation) -> str:
    return operation.documented_path.split("/")[2]


def path_parameters(operation: Operation) -> list[Json]:
    row_id = {"type": "integer", "minimum": 1, "maximum": 2**63 - 1}
    return [
        {"name": name, "in": "path", "required": True, "schema": row_id}
        for name in re.findall(r"\{(\w+)\}", operation.documented_path)
    ]


def query_parameters(operation: Operation) -> list[Json]:
    if operation.query is None:
        return []
    _, found = msgspec.json.schema_components([operation.query], schema_hook=custom_schema)
    struct = typed(found[operation.query.__name__])
    examples = EXAMPLES.get(operation.query, {})
    return [
        {
            "name": name,
            "in": "query",
            "required": False,
            "schema": without_null(schema),
            **({"example": examples[name]} if name in examples else {}),
        }
        for name, schema in struct["properties"].items()
    ]


def header_parameters(operation: Operation) -> list[Json]:
    names = ["Idempotency-Key"] if operation.method == "POST" else []
    if operation.read_by:
        names.append("If-Match")
    elif operation.has_etag:
        names.append("If-None-Match")
    return [{"name": name, "in": "header", "required": False, **HEADERS_SENT[name]} for name in names]


def without_null(schema: Json) -> Json:
    """A query has no null: what may be left out is left out."""
    kinds = [kind for kind in schema.get("anyOf", []) if kind != {"type": "null"}]
    rest = {name: value for name, value in schema.items() if name not in ("anyOf", "default") or value}
    rest.pop("anyOf", None)
    return {**(kinds[0] if len(kinds) == 1 else {"anyOf": kinds} if kinds else {}), **rest}


def body_of(operation: Operation) -> Json:
    """What a body may be, by media type."""
    if operation.body is not None:
        example = EXAMPLES[operation.body]
        schema = {"$ref": REF.format(name=operation.body.__name__)}
        return {"application/json": {"schema": schema, "example": example}}
    if operation.consumes_file:
        return {kind: {"schema": FILE, "example": FILES[kind]} for kind in operation.consumes}
    return {}


def responses(operation: Operation, shared: Json) -> Json:
    """The answers by status."""
    found = {str(status): success(operation, status) for status in operation.success_statuses}
    by_status = sorted(operation.possible_errors, key=lambda error: (error.status, error.code))
    for status, errors in groupby(by_status, key=lambda error: error.status):
        same = list(errors)
        name = "Or".join(error.__name__ for error in same)
        shared["schemas"][name] = error_schema([error.code for error in same])
        shared["responses"][name] = failure(same, name)
        found[str(status)] = {"$ref": f"#/components/responses/{name}"}
    return found


def success(operation: Operation, status: int) -> Json:
    headers = REQUEST_ID | (LOCATION if status == 201 else {}) | headers_of(operation.name)
    headers |= REPLAY if operation.method == "POST" else {}
    headers |= ETAG if operation.has_etag and status != 204 else {}
    answer: Json = {"description": HTTPStatus(status).phrase, "headers": headers}
    if status in (204, 304):
        return answer
    if operation.produces != "application/json":
        return answer | {
            "content": {operation.produces: {"schema": FILE, "example": FILES[operation.produces]}}
        }
    data = {name: schema_of(kind) for name, kind in operation.data.items()}
    schema = answer_schema(data, "PagedMeta" if operation.is_paged else "Meta")
    return answer | {"content": {"application/json": {"schema": schema, **example_of(operation)}}}


def answer_schema(data: Json, meta: str) -> Json:
    """The envelope around `data`."""
    return {
        "type": "object",
        "properties": {
            "ok": {"const": True},
            "data": {"type": "object", "properties": data, "required": list(data)},
            "meta": {"$ref": REF.format(name=meta)},
        },
        "required": ["ok", "data", "meta"],
    }


def headers_of(name: str) -> Json:
    told = HEADERS_OF.get(name, {})
    return {header: {"description": what, "schema": {"type": "string"}} for header, what in told.items()}


def example_of(operation: Operation) -> Json:
    data: Json = {}
    for name, kind in operation.data.items():
        of_many = getattr(kind, "__args__", ())
        data[name] = [EXAMPLES[of_many[0]]] if of_many else EXAMPLES[kind]
    meta: Json = {"request_id": "req_0123456789abcdef"}
    if operation.is_paged:
        meta["pagination"] = {"limit": 50, "offset": 0, "total": 1}
    return {"example": {"ok": True, "data": data, "meta": meta}}


def failure(errors: list[type[ApiError]], name: str) -> Json:
    """The answer for the errors of one status; `name` is that of their schema."""
    told = "\n".join(f"- `{error.code}`: {error.message}" for error in errors)
    headers = dict(REQUEST_ID)
    for error in errors:
        headers |= {header: {"schema": {"type": "string"}} for header in error.headers}
        headers |= headers_of(error.__name__)
    content = {"application/json": {"schema": {"$ref": REF.format(name=name)}}}
    return {"description": told, "headers": headers, "content": content}


def error_schema(codes: list[str]) -> Json:
    return {
        "type": "object",
        "properties": {
            "ok": {"const": False},
            "error": {
                "type": "object",
                "properties": {
                    "code": {"type": "string", "enum": codes},
                    "message": {"type": "string"},
                    "details": {"type": "object", "additionalProperties": True},
                },
                "required": ["code", "message", "details"],
            },
            "meta": {"$ref": REF.format(name="Meta")},
        },
        "required": ["ok", "error", "meta"],
    }


def schemas_of(operations: Iterable[Operation]) -> Json:
    """The structs of all bodies and answers, and those inside them, by name."""
    kinds = [kind for one in operations for kind in (one.body, *one.data.values()) if kind is not None]
    _, found = msgspec.json.schema_components(kinds, schema_hook=custom_schema, ref_template=REF)
    structs = every_struct()
    return {name: completed(schema, structs[name]) for name, schema in found.items()}


def completed(schema: Json, struct: type[msgspec.Struct]) -> Json:
    """With the types and the defaults that msgspec cannot write."""
    schema = typed(schema)
    for field in fields(struct):
        if field.default_factory not in (msgspec.NODEFAULT, list):
            value = field.default_factory()
            schema["properties"][field.encode_name]["default"] = (
                str(value) if isinstance(value, str) else int(value)
            )
    if "description" in schema:
        schema["description"] = inspect.cleandoc(schema["description"])
    return schema


def typed(schema: Any) -> Any:
    """With the types that msgspec leaves out or has otherwise: words are strings, amounts are numbers."""
    if isinstance(schema, list):
        return [typed(value) for value in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("format") == "decimal":
        return {"type": "number"}
    of_words = {"type": "string"} if "enum" in schema else {}
    return {**of_words, **{name: typed(value) for name, value in schema.items()}}


def schema_of(kind: Any) -> Json:
    """A schema that refers to the components."""
    (found,), _ = msgspec.json.schema_components([kind], schema_hook=custom_schema, ref_template=REF)
    return dict(found)


def custom_schema(kind: type) -> Json:
    """msgspec's hook: the types of values.py and money.py describe themselves."""
    return dict(kind.json_schema)  # type: ignore[attr-defined]


def every_struct(base: type[msgspec.Struct] = msgspec.Struct) -> dict[str, type[msgspec.Struct]]:
    """The structs that cross the wire, by name."""
    found = {}
    for struct in base.__subclasses__():
        if struct.__module__.startswith("journal_api.structs."):
            found[struct.__name__] = struct
        found |= every_struct(struct)
    return found
