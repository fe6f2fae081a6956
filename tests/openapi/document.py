"""Build the OpenAPI 3.1 document from the route table, the structs and examples: `make openapi`."""

import inspect
import re
import tomllib
from collections import Counter
from collections.abc import Callable
from operator import itemgetter
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import fields

from journal_api import __version__
from journal_api.errors import Busy, InternalError, MisdirectedRequest, StorageUnavailable
from journal_api.routes.table import OPERATIONS
from journal_api.structs.queries import DryRunQuery
from journal_api.web.operation import Operation
from openapi.envelopes import CHANGES_META, META, PAGED_META, envelope_schema, error_schemas
from openapi.responses import (
    HEADER_COMPONENTS,
    build_responses,
    describe_file,
    envelope_components,
    error_responses,
    refer_to_errors,
)
from openapi.schemas import Json, query_schemas, refer_to, struct_schemas

ABOUT = """\
A self-hosted trading journal: tags, strategies with setups and confirmation checklists, goals with explained
progress snapshots, and the trades they refer to.

Every response has the same envelope: `{"ok": true, "data": {...}, "meta": {"request_id": "..."}}`, or
`{"ok": false, "error": {"code", "message", "details"}, "meta": {...}}`. Unknown members of a body are
rejected. Amounts are exact to eight decimals. Timestamps are returned in UTC; a timestamp without an offset
is read in your own time zone. Every response has `X-Request-Id`, which repeats `meta.request_id`,
`X-Journal-Version`, the release of the service, `Cache-Control: no-store` and
`X-Content-Type-Options: nosniff`; with data also `X-Cursor`, the state that it shows.

Errors that any operation can respond with are described once, as `default`. A member of a body that may be
null and states no default is null when POST leaves it out; PATCH keeps what it leaves out.

A read-only member of a PATCH body is accepted if it says what is stored.

HEAD works wherever GET does, with the same key, parameters, statuses and headers, and without a body.
"""
LICENSE = {"name": "MIT", "identifier": "MIT"}
SECURITY: Json = {
    "type": "http",
    "scheme": "bearer",
    "description": "An API key, `tjk_...`: `journal-api keys create NAME --scopes all`.",
}
PATH_SCHEMAS: Json = {
    "row_id": {"type": "integer", "minimum": 1, "maximum": 2**63 - 1},
    "contract_root": {"type": "string", "pattern": "^[A-Z0-9]{1,10}$", "examples": ["MNQ"]},
    "day": {"type": "string", "format": "date", "examples": ["2026-08-17"]},
}
REPEATED = "A repeated request with the same key runs once; for 24 hours it gets the same response."
IF_MATCH = "412 unless this is the ETag of GET at this path, or at the nearest path above that has one."
# The parameters that many operations have.
PARAMETERS: Json = {
    name: {"name": name, "in": "header", "description": description, "schema": {"type": "string", **schema}}
    for name, description, schema in (
        ("Idempotency-Key", REPEATED, {"pattern": "^(?!tjk_)[A-Za-z0-9_-]{1,64}$"}),
        ("If-Match", IF_MATCH, {}),
        ("If-None-Match", "304 if the response still has this ETag.", {}),
    )
}
WRITTEN_EXAMPLES: Json = tomllib.loads(Path(__file__).with_name("examples.toml").read_text())


def write_document(recorded_examples: Json) -> bytes:
    """The document as JSON, a line for each path and component."""
    return write_lines(merge_null(build_document(recorded_examples)), depth=3) + b"\n"


def merge_null(part: Any) -> Any:
    """A copy in which "this type, or null" is one schema with two types: generators make no union of it."""
    if isinstance(part, list):
        return [merge_null(one) for one in part]
    if not isinstance(part, dict):
        return part
    match part.get("anyOf"):
        case [{"type": str() as kind, **one}, {"type": "null"}] if "enum" not in one:
            part = {**one, "type": [kind, "null"], **{name: part[name] for name in part if name != "anyOf"}}
    return {name: merge_null(value) for name, value in part.items()}


def write_lines(part: object, depth: int) -> bytes:
    if depth == 0 or not isinstance(part, dict):
        return msgspec.json.encode(part)
    members = (msgspec.json.encode(name) + b":" + write_lines(part[name], depth - 1) for name in part)
    return b"{\n" + b",\n".join(members) + b"\n}"


def build_document(recorded_examples: Json) -> Json:
    """The document as dicts and lists. Examples are those of examples.toml and of responses, by struct."""
    paths: Json = {"/health": {"get": describe_health()}}
    for operation in OPERATIONS:
        path = paths.setdefault(operation.documented_path, {})
        path[operation.method.lower()] = describe_operation(operation)
    schemas = struct_schemas(OPERATIONS) | error_schemas()
    schemas |= {"Meta": META, "PagedMeta": PAGED_META, "ChangesMeta": CHANGES_META}
    schemas |= envelope_components(OPERATIONS)
    methods = [method for methods in paths.values() for method in methods.values()]
    lists = [method["parameters"] for method in methods]
    parameters = share([(one, at) for one in lists for at in range(len(one))], "parameters", itemgetter("name"))
    by_status = [method["responses"] for method in methods]
    responses = share([(one, status) for one in by_status for status in one], "responses", name_response)
    for name, example in {**WRITTEN_EXAMPLES, **recorded_examples}.items():
        if name in schemas and not repeats(name, schemas):
            schemas[name]["examples"] = [example]
    return {
        "openapi": "3.1.0",
        "info": {"title": "Trading journal", "version": __version__, "description": ABOUT, "license": LICENSE},
        "servers": [{"url": "/"}],
        "tags": [{"name": name} for name in dict.fromkeys(map(tag_name, OPERATIONS))] + [{"name": "service"}],
        "paths": paths,
        "components": {
            "schemas": dict(sorted(schemas.items())),
            "responses": dict(sorted((error_responses() | responses).items())),
            "headers": HEADER_COMPONENTS,
            "examples": {name: {"value": text} for name, text in WRITTEN_EXAMPLES["files"].items()},
            "parameters": PARAMETERS | parameters,
            "securitySchemes": {"key": SECURITY},
        },
    }


def repeats(name: str, schemas: Json) -> bool:
    """Return whether an example is that of the single object, with fewer members."""
    return name.endswith("ListItem") and name.removesuffix("ListItem") in schemas


def share(places: list[tuple[Any, Any]], kind: str, name_of: Callable[[Json], str]) -> Json:
    """Replace each part that stands in several places, a member of a container each, by a reference.

    Return the components by name. Of different parts with one name, the most frequent becomes the component.
    """
    parts = [(container, key, container[key]) for container, key in places if "$ref" not in container[key]]
    counts = Counter(msgspec.json.encode(part) for _, _, part in parts)
    often = [msgspec.json.decode(text) for text, number in counts.most_common() if number > 1]
    shared: Json = {}
    for part in often:
        shared.setdefault(name_of(part), part)
    for container, key, part in parts:
        if part in shared.values():
            container[key] = refer_to(name_of(part), kind)
    return shared


def name_response(response: Json) -> str:
    """The name of a component, such as `OKTag` or `NoContent`."""
    phrase = str(response["description"]).replace(" ", "")
    if "content" not in response:
        return phrase
    schema = response["content"]["application/json"]["schema"]
    return phrase + str(schema["$ref"]).rpartition("/")[2].removesuffix("Response")


def describe_operation(operation: Operation) -> Json:
    """The description of an operation; the texts are the docstrings of its handler and its query struct."""
    summary, _, details = inspect.cleandoc(operation.endpoint.__doc__ or "").partition("\n\n")
    has_own_query = fields(operation.query) and operation.query is not DryRunQuery
    about_query = inspect.cleandoc(operation.query.__doc__ or "") if has_own_query else ""
    scope = f"Scope: `{operation.required_scope}`." if operation.required_scope else "Any valid key."
    description: Json = {
        "operationId": operation.name,
        "summary": " ".join(summary.split()).replace("`", "").removesuffix("."),
        "description": "\n\n".join(filter(None, (details, about_query, scope))),
        "tags": [tag_name(operation)],
        "security": [{"key": [operation.required_scope] if operation.required_scope else []}],
        "parameters": [*path_parameters(operation), *query_parameters(operation), *header_parameters(operation)],
        "responses": build_responses(operation),
    }
    if content := describe_body(operation):
        description["requestBody"] = {"required": True, "content": content}
    return description


def describe_health() -> Json:
    """The description of GET /health, which is not in the route table because it needs no key."""
    data: Json = {
        "status": {"const": "ok"},
        "version": {"type": "string"},
        "schema": {"type": "integer"},
        "writable": {"type": "boolean"},
    }
    return {
        "operationId": "health",
        "summary": "Get the release, the schema version and whether the database can be written",
        "description": "Needs no key.",
        "tags": ["service"],
        "security": [],
        "parameters": [],
        "responses": {
            "200": {
                "description": "The service is running.",
                "content": {"application/json": {"schema": envelope_schema(data, "Meta")}},
            },
            **refer_to_errors((MisdirectedRequest, InternalError, Busy, StorageUnavailable)),
        },
    }


def tag_name(operation: Operation) -> str:
    """The OpenAPI tag of an operation: its resource."""
    return operation.documented_path.split("/")[2]


def path_parameters(operation: Operation) -> list[Json]:
    return [
        {"name": name, "in": "path", "required": True, "schema": PATH_SCHEMAS[kind]}
        for name, kind in re.findall(r"\{(\w+):(\w+)\}", operation.path)
    ]


def query_parameters(operation: Operation) -> list[Json]:
    examples = WRITTEN_EXAMPLES.get(operation.query.__name__, {})
    return [
        {
            "name": name,
            "in": "query",
            "schema": schema,
            **({"description": inspect.cleandoc(DryRunQuery.__doc__ or "")} if name == "dry_run" else {}),
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
    return [refer_to(name, "parameters") for name in names]


def describe_body(operation: Operation) -> Json:
    """The schema of the body by media type; empty if the operation has no body."""
    if operation.body is not None:
        return {"application/json": {"schema": refer_to(operation.body.__name__)}}
    if operation.consumes_file:
        return {kind: describe_file(kind) for kind in operation.consumes}
    return {}
