"""The OpenAPI 3.1 document, built from the route table and the structs."""

import inspect
import re
from functools import cache

import msgspec

from journal_api import __version__
from journal_api.errors import Busy, InternalError, MisdirectedRequest, StorageUnavailable
from journal_api.openapi.envelopes import META, PAGED_META, envelope_schema
from journal_api.openapi.examples import EXAMPLES, FILES
from journal_api.openapi.references import Json, reference
from journal_api.openapi.responses import (
    REQUEST_ID,
    error_components,
    failures_of,
    headers_alone,
    reference_without_body,
    responses_of,
)
from journal_api.openapi.schemas import FILE, query_schemas, schemas_of
from journal_api.routes.table import OPERATIONS
from journal_api.web.operation import Operation

ABOUT = """\
A self-hosted trading journal: tags, strategies with setups and confirmation checklists, goals with explained
progress snapshots, and the trades they refer to.

Every response has the same envelope: `{"ok": true, "data": {...}, "meta": {"request_id": "..."}}`, or
`{"ok": false, "error": {"code", "message", "details"}, "meta": {...}}`. Unknown members of a body are
rejected. Amounts are exact to eight decimals. Timestamps are returned in UTC; a timestamp without an offset
is read in your own time zone. Every response has `Cache-Control: no-store`, `X-Content-Type-Options: nosniff`
and `X-Journal-Version`, the release of the service.
"""
PATH_SCHEMAS: Json = {
    "row_id": {"type": "integer", "minimum": 1, "maximum": 2**63 - 1},
    "contract_root": {"type": "string", "pattern": "^[A-Z0-9]{1,10}$", "examples": ["MNQ"]},
}
REQUEST_HEADERS: Json = {
    "Idempotency-Key": {
        "description": (
            "A repeated request with the same key runs once; for 24 hours it gets the same response."
        ),
        "schema": {"type": "string", "pattern": "^(?!tjk_)[A-Za-z0-9_-]{1,64}$"},
    },
    "If-Match": {
        "description": (
            "412 unless this is the ETag of GET at this path, or at the nearest path above that has one."
        ),
        "schema": {"type": "string"},
    },
    "If-None-Match": {
        "description": "304 if the response still has this ETag.",
        "schema": {"type": "string"},
    },
}


@cache
def document() -> bytes:
    """The document as JSON."""
    return msgspec.json.format(msgspec.json.encode(document_tree()), indent=2)


def document_tree() -> Json:
    """The document as dicts and lists."""
    paths: Json = {"/health": {"get": health(), "head": without_body(health())}}
    for operation in OPERATIONS:
        path = paths.setdefault(operation.documented_path, {})
        path[operation.method.lower()] = described(operation)
        if operation.method == "GET":
            path["head"] = without_body(path["get"])
    error_schemas, error_responses = error_components(OPERATIONS)
    schemas = schemas_of(OPERATIONS) | {"Meta": META, "PagedMeta": PAGED_META} | error_schemas
    return {
        "openapi": "3.1.0",
        "info": {"title": "Trading journal", "version": __version__, "description": ABOUT},
        "servers": [{"url": "/"}],
        "tags": [{"name": name} for name in dict.fromkeys(map(tag_of, OPERATIONS))] + [{"name": "service"}],
        "paths": paths,
        "components": {
            "schemas": dict(sorted(schemas.items())),
            "responses": dict(sorted(error_responses.items())),
            "securitySchemes": {
                "key": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "An API key, `tjk_...`: `journal-api keys create NAME --scopes all`.",
                }
            },
        },
    }


def described(operation: Operation) -> Json:
    """The description of an operation; the texts are the docstrings of its handler and its query struct."""
    summary, _, details = inspect.cleandoc(operation.endpoint.__doc__ or "").partition("\n\n")
    about_query = inspect.cleandoc(operation.query.__doc__ or "")
    scope = f"Scope: `{operation.required_scope}`." if operation.required_scope else "Any valid key."
    description: Json = {
        "operationId": operation.name,
        "summary": " ".join(summary.split()).replace("`", "").removesuffix("."),
        "description": "\n\n".join(filter(None, (details, about_query, scope))),
        "tags": [tag_of(operation)],
        "security": [{"key": [operation.required_scope] if operation.required_scope else []}],
        "parameters": [
            *path_parameters(operation),
            *query_parameters(operation),
            *header_parameters(operation),
        ],
        "responses": responses_of(operation),
    }
    if content := body_of(operation):
        description["requestBody"] = {"required": True, "content": content}
    return description


def without_body(get: Json) -> Json:
    """The description of HEAD, from the description of GET at the same path."""
    return {
        **get,
        "operationId": f"head_{get['operationId']}",
        "summary": f"{get['summary']}: the headers alone",
        "responses": {
            status: reference_without_body(response) if "$ref" in response else headers_alone(response)
            for status, response in get["responses"].items()
        },
    }


def health() -> Json:
    """The description of GET /health, which is not in the route table because it needs no key."""
    data: Json = {
        "status": {"const": "ok"},
        "version": {"type": "string"},
        "schema": {"type": "integer"},
        "writable": {"type": "boolean"},
    }
    schema = envelope_schema(data, "Meta")
    return {
        "operationId": "health",
        "summary": "Get the release, the schema version and whether the database can be written",
        "description": "Needs no key.",
        "tags": ["service"],
        "security": [],
        "responses": {
            "200": {
                "description": "The service is running.",
                "headers": REQUEST_ID,
                "content": {"application/json": {"schema": schema}},
            },
            **failures_of((MisdirectedRequest, InternalError, Busy, StorageUnavailable)),
        },
    }


def tag_of(operation: Operation) -> str:
    """The OpenAPI tag of an operation: its resource."""
    return operation.documented_path.split("/")[2]


def path_parameters(operation: Operation) -> list[Json]:
    return [
        {"name": name, "in": "path", "required": True, "schema": PATH_SCHEMAS[kind]}
        for name, kind in re.findall(r"\{(\w+):(\w+)\}", operation.path)
    ]


def query_parameters(operation: Operation) -> list[Json]:
    examples = EXAMPLES.get(operation.query, {})
    return [
        {
            "name": name,
            "in": "query",
            "required": False,
            "schema": schema,
            **({"example": examples[name]} if name in examples else {}),
        }
        for name, schema in query_schemas(operation.query).items()
    ]


def header_parameters(operation: Operation) -> list[Json]:
    names = ["Idempotency-Key"] if operation.method == "POST" else []
    if operation.etag_source:
        names.append("If-Match")
    elif operation.has_etag:
        names.append("If-None-Match")
    return [{"name": name, "in": "header", "required": False, **REQUEST_HEADERS[name]} for name in names]


def body_of(operation: Operation) -> Json:
    """The schema and an example of the body, by media type; empty if the operation has no body."""
    if operation.body is not None:
        schema = reference(operation.body.__name__)
        return {"application/json": {"schema": schema, "example": EXAMPLES[operation.body]}}
    if operation.consumes_file:
        return {kind: {"schema": FILE, "example": FILES[kind]} for kind in operation.consumes}
    return {}
