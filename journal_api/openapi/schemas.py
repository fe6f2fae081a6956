"""JSON schemas of the structs, and of the envelope around them."""

import inspect
from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec.structs import fields

from journal_api.web.operation import Operation

Json = dict[str, Any]

REF = "#/components/schemas/{name}"

META: Json = {
    "type": "object",
    "properties": {
        "request_id": {"type": "string", "examples": ["req_0123456789abcdef"]},
        "warnings": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Sentences about a goal that can hardly be meant as it is.",
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
FILE: Json = {"type": "string", "format": "binary"}


def envelope_schema(data: Json, meta: str) -> Json:
    """The schema of a successful response; `data` maps member names to schemas, `meta` names a component."""
    return {
        "type": "object",
        "properties": {
            "ok": {"const": True},
            "data": {"type": "object", "properties": data, "required": list(data)},
            "meta": {"$ref": REF.format(name=meta)},
        },
        "required": ["ok", "data", "meta"],
    }


def error_schema(codes: list[str]) -> Json:
    """The schema of an error response with one of these codes."""
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
    """The schemas, by name, of all structs in bodies and responses, nested structs included."""
    kinds = [
        kind
        for operation in operations
        for kind in (operation.body, *operation.data.values())
        if kind is not None
    ]
    _, schemas = msgspec.json.schema_components(kinds, schema_hook=custom_schema, ref_template=REF)
    structs = every_struct()
    return {name: completed(schema, structs[name]) for name, schema in schemas.items()}


def query_schemas(query: type[msgspec.Struct]) -> Json:
    """The schema of each member of a query struct, by name."""
    _, schemas = msgspec.json.schema_components([query], schema_hook=custom_schema)
    properties = with_types(schemas[query.__name__])["properties"]
    return {name: without_null(schema) for name, schema in properties.items()}


def schema_of(kind: Any) -> Json:
    """The schema of a type; structs are references to the components."""
    (schema,), _ = msgspec.json.schema_components([kind], schema_hook=custom_schema, ref_template=REF)
    return dict(schema)


def completed(schema: Json, struct: type[msgspec.Struct]) -> Json:
    """The struct's schema with the types and the defaults that msgspec leaves out."""
    complete: Json = with_types(schema)
    for field in fields(struct):
        if field.default_factory not in (msgspec.NODEFAULT, list):
            value = field.default_factory()
            complete["properties"][field.encode_name]["default"] = plain(value)
    if "description" in complete:
        complete["description"] = inspect.cleandoc(complete["description"])
    return complete


def plain(value: Any) -> Any:
    """The default of a field as JSON has it."""
    if isinstance(value, dict):
        return dict(value)
    return str(value) if isinstance(value, str) else int(value)


def with_types(schema: Any) -> Any:
    """A copy of the schema in which enums have the type string and decimals the type number."""
    if isinstance(schema, list):
        return [with_types(value) for value in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("format") == "decimal":
        return {"type": "number"}
    enum_type = {"type": "string"} if "enum" in schema else {}
    return {**enum_type, **{name: with_types(value) for name, value in schema.items()}}


def without_null(schema: Json) -> Json:
    """A copy of the schema without null, which a query string cannot express."""
    kinds = [kind for kind in schema.get("anyOf", []) if kind != {"type": "null"}]
    rest = {name: value for name, value in schema.items() if name != "anyOf" and (name != "default" or value)}
    return {**(kinds[0] if len(kinds) == 1 else {"anyOf": kinds} if kinds else {}), **rest}


def custom_schema(kind: type) -> Json:
    """msgspec's schema_hook: the schema that a type of journal_api.values declares as `json_schema`."""
    return dict(kind.json_schema)  # type: ignore[attr-defined]


def every_struct(base: type[msgspec.Struct] = msgspec.Struct) -> dict[str, type[msgspec.Struct]]:
    """All structs of journal_api.structs, by name."""
    structs = {}
    for struct in base.__subclasses__():
        if struct.__module__.startswith("journal_api.structs."):
            structs[struct.__name__] = struct
        structs |= every_struct(struct)
    return structs
