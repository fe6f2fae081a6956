"""JSON schemas of the structs.

Request bodies refuse unknown members; responses are open to members of later releases. A default of a body
stands in `x-default` and in the description: generators of clients require a member that has `default`.
"""

import inspect
from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import UNSET
from msgspec.structs import fields

from journal_api.structs.import_profiles import Columns
from journal_api.web.operation import Operation
from openapi.enums import enum_name, enum_schemas

Json = dict[str, Any]
REF = "#/components/schemas/{name}"
# No class may have a member of its own name: in Python its annotation would be the class itself.
RENAMED = {"Verdict": "RowVerdict"}
NEW_REFS: Json = {REF.format(name=old): {"$ref": REF.format(name=new)} for old, new in RENAMED.items()}
# Of a member that is always null: generators have no type for null alone.
NULL: Json = {"type": ["string", "null"]}
FILE: Json = {"type": "string", "format": "binary"}
# A column of a file, or some names of which the first is read.
COLUMNS: list[Json] = msgspec.json.schema(Columns)["anyOf"]
FREE_FORM: Json = {
    "type": "object",
    "additionalProperties": True,
    "description": "Any JSON object, stored as it was sent.",
}


def struct_schemas(operations: Iterable[Operation]) -> Json:
    """The schemas, by name, of all structs in bodies and responses, nested structs included, and of enums."""
    operations = list(operations)
    structs = every_struct()
    responses = {
        RENAMED.get(name, name): response_schema(schema, structs[name])
        for name, schema in components([kind for each in operations for kind in each.data.values()]).items()
    }
    bodies = {
        name: body_schema(schema, structs[name])
        for name, schema in components([each.body for each in operations if each.body]).items()
    }
    patches = {
        each.body.__name__: patch_schema(bodies[each.body.__name__], responses[resource_name(each)])
        for each in operations
        if each.takes_echo and each.body
    }
    shared = {"FreeForm": FREE_FORM, "Columns": {"anyOf": COLUMNS}}
    return responses | bodies | patches | enum_schemas() | shared


def refer_to(name: str, kind: str = "schemas") -> Json:
    """The reference to a component."""
    return {"$ref": f"#/components/{kind}/{name}"}


def resource_name(operation: Operation) -> str:
    """The name of the struct that the operation responds with."""
    (resource,) = operation.data.values()
    return str(resource.__name__)


def components(kinds: list[Any]) -> Json:
    """msgspec's schemas of these types and of all structs nested in them, by name."""
    _, schemas = msgspec.json.schema_components(kinds, schema_hook=custom_schema, ref_template=REF)
    for schema in schemas.values():
        schema.pop("title")  # which is its name
        if "description" in schema:
            schema["description"] = inspect.cleandoc(schema["description"])
    return {name: with_types(schema) for name, schema in schemas.items()}


def response_schema(schema: Json, struct: type[msgspec.Struct]) -> Json:
    """The struct's schema as a response: open, without defaults; `required` are the members always there."""
    properties = {
        name: NULL if member == {"type": "null"} else without_default(member)
        for name, member in schema["properties"].items()
    }
    is_open = not struct.__struct_config__.forbid_unknown_fields
    rest = {name: value for name, value in schema.items() if name != "additionalProperties"}
    return {
        **rest,
        **({"additionalProperties": True} if is_open else {}),
        "properties": properties,
        "required": [field.encode_name for field in fields(struct) if field.default is not UNSET],
    }


def body_schema(schema: Json, struct: type[msgspec.Struct]) -> Json:
    """The struct's schema as a request body, with `x-default` in place of a `default` that is not null."""
    defaults = {
        field.encode_name: plain_default(field.default_factory())
        for field in fields(struct)
        if field.default_factory is not msgspec.NODEFAULT
    }
    properties = {}
    for name, member in schema["properties"].items():
        rest = without_default(member)
        default = defaults.get(name, member.get("default", UNSET))
        properties[name] = rest if default in (None, UNSET) else with_default(rest, default)
    return {**schema, "properties": properties}


def without_default(schema: Json) -> Json:
    return {name: value for name, value in schema.items() if name != "default"}


def with_default(schema: Json, default: Any) -> Json:
    text = f"Default: `{msgspec.json.encode(default).decode()}`."
    return {**schema, "description": text, "x-default": default}


def patch_schema(patch: Json, resource: Json) -> Json:
    """The schema of a PATCH body with the members of the resource that may be sent back as they were read."""
    writable, readable = patch["properties"], resource["properties"]
    read_only = {name: {**schema, "readOnly": True} for name, schema in readable.items() if name not in writable}
    nulls = {
        name: {"anyOf": [schema, {"type": "null"}], "description": "Null only if null is stored."}
        for name, schema in writable.items()
        if name in readable and accepts_null(readable[name]) and not accepts_null(schema)
    }
    return {**patch, "properties": {**writable, **nulls, **read_only}}


def accepts_null(schema: Json) -> bool:
    return {"type": "null"} in schema.get("anyOf", ())


def query_schemas(query: type[msgspec.Struct]) -> Json:
    """The schema of each member of a query struct, by name."""
    properties = components([query])[query.__name__]["properties"]
    return {name: without_null(schema) for name, schema in properties.items()}


def type_schema(kind: Any) -> Json:
    """The schema of a type; structs are references to the components."""
    (schema,), _ = msgspec.json.schema_components([kind], schema_hook=custom_schema, ref_template=REF)
    return dict(schema)


def plain_default(value: Any) -> Any:
    """The default of a field as JSON has it."""
    if isinstance(value, dict | list):
        return type(value)(value)
    return str(value) if isinstance(value, str) else int(value)


def with_types(schema: Any) -> Any:
    """A copy of the schema in which decimals have the type number and enums are named components."""
    if isinstance(schema, list):
        return [with_types(value) for value in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("format") == "decimal":
        return {"type": "number"}
    if all(kind in schema.get("anyOf", ()) for kind in COLUMNS):
        return with_types(with_columns(schema))
    if schema.get("$ref") in NEW_REFS:
        return {**schema, **NEW_REFS[schema["$ref"]]}
    if "enum" in schema:
        rest = {name: value for name, value in schema.items() if name not in ("enum", "type")}
        name = enum_name(schema["enum"])
        kind = refer_to(name) if name else {"type": "string", "enum": schema["enum"]}
        return {**kind, **rest}
    return {name: with_types(value) for name, value in schema.items()}


def with_columns(schema: Json) -> Json:
    """The schema with the names of columns, which profiles have some forty times, as a named component."""
    others = [kind for kind in schema["anyOf"] if kind not in COLUMNS]
    rest = {name: value for name, value in schema.items() if name != "anyOf"}
    return {**({"anyOf": [refer_to("Columns"), *others]} if others else refer_to("Columns")), **rest}


def without_null(schema: Json) -> Json:
    """A copy of the schema without null, which a query string cannot express."""
    kinds = [kind for kind in schema.get("anyOf", []) if kind != {"type": "null"}]
    rest = {name: value for name, value in schema.items() if name != "anyOf" and (name, value) != ("default", None)}
    return {**(kinds[0] if len(kinds) == 1 else {"anyOf": kinds} if kinds else {}), **rest}


def custom_schema(kind: type) -> Json:
    """msgspec's schema_hook: the schema that a type of journal_api.values declares as `json_schema`."""
    return dict(kind.json_schema)  # type: ignore[attr-defined]


def every_struct(base: type[msgspec.Struct] = msgspec.Struct) -> dict[str, type[msgspec.Struct]]:
    """All structs of journal_api.structs and of the metrics, by name."""
    structs = {}
    for struct in base.__subclasses__():
        if struct.__module__.startswith(("journal_api.structs.", "journal_api.metrics.")):
            structs[struct.__name__] = struct
        structs |= every_struct(struct)
    return structs
