"""GET /openapi.json: what it says of an operation, compared with the route table and with the service."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import httpx
import msgspec
from commands import run_ok
from conftest import client_of
from declared_errors import list_errors
from factories import Client, details_of
from jsonschema_rs import Draft202012Validator
from openapi_examples import (
    DOCUMENT,
    bodies_of,
    described,
    example_of,
    in_order,
    parameters_of,
    resolved,
    send_examples,
)
from operations import create_thing_of, for_each, path_of
from starlette.applications import Starlette
from write_openapi import FILE, record_examples

from journal_api.errors import ValidationFailed
from journal_api.routes.table import OPERATIONS
from journal_api.values.types import decode_value
from journal_api.web.operation import Operation
from openapi.document import repeats, write_document
from openapi.envelopes import DETAILS, every_error

# What HTTP and CORS say of every answer; the other headers are the operation's.
OF_EVERY_ANSWER = {
    *("content-length", "content-type", "vary", "cache-control", "x-content-type-options"),
    *("x-journal-version", "x-request-id", "x-cursor"),
}
SCHEMAS = DOCUMENT["components"]["schemas"]
RESOURCES = {
    getattr(kind, "__args__", [kind])[0].__name__: getattr(kind, "__args__", [kind])[0]
    for operation in OPERATIONS
    for kind in operation.data.values()
    if kind is not int
}
BODIES = {operation.body.__name__: operation.body for operation in OPERATIONS if operation.body}


def query_of(operation: Operation) -> dict[str, Any]:
    """The schemas of the parameters of its query, by name."""
    return {one["name"]: one["schema"] for one in parameters_of(operation) if one["in"] == "query"}


def errors_in(schema: Any, value: Any) -> list[str]:
    """Why the value does not fit the schema."""
    return [str(error) for error in validator_of(msgspec.json.encode(schema)).iter_errors(value)]


@cache
def validator_of(schema: bytes) -> Draft202012Validator:
    whole = {**msgspec.json.decode(schema), "components": DOCUMENT["components"]}
    return Draft202012Validator(whole, validate_formats=True)


def read(content: Any, struct: Any) -> Any:
    """The content as the struct, strictly, as a body is read."""
    return msgspec.json.decode(msgspec.json.encode(content), type=struct, dec_hook=decode_value)


def test_the_file_is_what_the_code_says() -> None:
    is_current = FILE.read_bytes() == write_document(record_examples())

    assert is_current, "openapi.json is not what the code says: run `make openapi` and commit it"


async def test_it_is_served_to_everybody_and_printed(app: Starlette) -> None:
    async with client_of(app) as anonymous_client:
        answer = await anonymous_client.get("http://localhost/openapi.json")

    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert answer.content == FILE.read_bytes() == run_ok("openapi").encode()
    assert len(answer.content) < 250_000


def test_it_is_valid_openapi() -> None:
    from openapi_spec_validator import OpenAPIV31SpecValidator  # half a second, which few runs need

    assert DOCUMENT["openapi"].startswith("3.1.")
    assert [str(error) for error in OpenAPIV31SpecValidator(DOCUMENT).iter_errors()] == []


def test_it_describes_the_operations_of_the_route_table_and_the_health_check() -> None:
    found = [(path, method) for path, methods in DOCUMENT["paths"].items() for method in methods]
    ids = [DOCUMENT["paths"][path][method]["operationId"] for path, method in found]

    told = {(operation.documented_path, operation.method.lower()) for operation in OPERATIONS}
    assert set(found) == told | {("/health", "get")}
    assert len(ids) == len(set(ids))


@for_each(OPERATIONS)
def test_an_operation_has_the_input_of_the_table(operation: Operation) -> None:
    told, bodies = described(operation), bodies_of(operation)
    path = [one["name"] for one in parameters_of(operation) if one["in"] == "path"]

    assert told["summary"]
    assert told["security"] == [{"key": [operation.required_scope] if operation.required_scope else []}]
    assert (operation.required_scope or "Any valid key") in told["description"]
    assert path == re.findall(r"{(\w+)}", operation.documented_path)
    assert list(query_of(operation)) == [one.encode_name for one in msgspec.structs.fields(operation.query)]
    has_body = operation.body is not None or operation.consumes_file
    assert list(bodies) == (list(operation.consumes) if has_body else [])
    if operation.body:
        assert bodies["application/json"]["schema"]["$ref"].endswith(f"/{operation.body.__name__}")


@for_each(OPERATIONS)
def test_an_operation_has_the_output_of_the_table(operation: Operation) -> None:
    told = {status: resolved(answer) for status, answer in described(operation)["responses"].items()}

    listed = {error.status for error in list_errors(operation)} & {404, 409}
    assert told.keys() == {*map(str, operation.success_statuses), *map(str, listed), "default"}
    conflicts = sorted(f"`{error.code}`" for error in list_errors(operation) if error.status == 409)
    assert described(operation)["responses"].get("409", {}).get("description", "") == ", ".join(conflicts)
    for status in set(operation.success_statuses) - {204, 304}:
        ((media_type, answer),) = told[str(status)]["content"].items()
        assert media_type == operation.produces
        if operation.data:
            data = resolved(answer["schema"])["properties"]["data"]
            assert list(data["properties"]) == data["required"] == list(operation.data)


def test_every_error_is_described_with_its_status_and_its_code() -> None:
    told = "\n".join(one["description"] for one in DOCUMENT["components"]["responses"].values())
    errors = every_error()

    assert [one.code for one in errors if f"- {one.status} `{one.code}`: {one.message}" not in told] == []
    assert SCHEMAS["ErrorCode"]["enum"] == sorted({one.code for one in errors})


def test_every_body_and_every_resource_has_an_example_that_fits_its_schema_and_its_struct() -> None:
    with_example = {name: schema["examples"] for name, schema in SCHEMAS.items() if "examples" in schema}

    assert with_example.keys() == {name for name in BODIES | RESOURCES if not repeats(name, SCHEMAS)}
    for name, (example,) in with_example.items():
        assert errors_in({"$ref": f"#/components/schemas/{name}"}, example) == []
        assert read(example, (BODIES | RESOURCES)[name])


def test_a_patch_lists_what_may_be_sent_back() -> None:
    for operation in [one for one in OPERATIONS if one.takes_echo and one.body]:
        (resource,) = operation.data.values()
        patch = bodies_of(operation)["application/json"]["schema"]

        assert errors_in(patch, SCHEMAS[resource.__name__]["examples"][0]) == []


def test_no_schema_has_a_member_of_its_own_name_or_one_that_is_always_null() -> None:
    members = [(name, member, one) for name in SCHEMAS for member, one in SCHEMAS[name].get("properties", {}).items()]

    assert [one for *one, schema in members if schema.get("type") == "null"] == []
    assert [name for name, member, _ in members if name.lower() == member.replace("_", "")] == []


def test_the_values_of_a_list_have_different_names_in_generated_code() -> None:
    for schema in [one for one in SCHEMAS.values() if "enum" in one]:
        names = schema.get("x-enum-varnames", [re.sub(r"\W", "_", word).upper() for word in schema["enum"]])

        assert len(set(names)) == len(schema["enum"])
        assert all(name.isidentifier() for name in names)


def test_every_detail_of_a_validation_error_is_explained() -> None:
    explained = {
        name for name, one in SCHEMAS["ErrorDetails"]["properties"].items() if {"description", "$ref"} & {*one}
    }

    assert set(DETAILS[ValidationFailed]) <= explained


class Edge(msgspec.Struct):
    """A value that a limit just allows, and one that it just does not, of the member at the path."""

    path: str
    within: Any
    beyond: Any
    words: list[str] | None = None

    def inside(self, path: str, around: Any) -> "Edge":
        """The same edge of a larger value; `around` puts either into it."""
        return Edge(path + self.path, around(self.within), around(self.beyond), self.words)


def edges(schema: Any) -> Iterator[Edge]:
    """Every limit in the schema that a value can stand on either side of."""
    schema = resolved(schema)
    for kind in schema.get("anyOf", ()):
        yield from edges(kind)
    yield from (Edge("", word, "no such word", schema["enum"]) for word in schema.get("enum", ()))
    match schema.get("type"):
        case "string":
            yield from edges_of_text(schema)
        case "integer" | "number":
            yield from edges_of_number(schema)
        case "boolean":
            yield Edge("", True, "no such word")
        case "array":
            yield from edges_of_list(schema)
        case "object":
            for name, member in schema.get("properties", {}).items():
                least = smallest(schema)
                yield from (
                    edge.inside(f".{name}", lambda value, name=name, least=least: {**least, name: value})
                    for edge in edges(member)
                )


def edges_of_text(schema: Any) -> Iterator[Edge]:
    """Not where a pattern says more than the length."""
    is_free = schema.get("pattern") in (None, r"^[^\u0000]*$")
    if "minLength" in schema and is_free:
        yield Edge("", "x" * schema["minLength"], "x" * (schema["minLength"] - 1))
    if "maxLength" in schema and is_free:
        yield Edge("", "x" * schema["maxLength"], "x" * (schema["maxLength"] + 1))
    if "pattern" in schema and is_free:
        yield Edge("", "x", "x\0")


def edges_of_number(schema: Any) -> Iterator[Edge]:
    if "minimum" in schema:
        yield Edge("", schema["minimum"], schema["minimum"] - 1)
    if "exclusiveMinimum" in schema:
        yield Edge("", 0.00000001, schema["exclusiveMinimum"])
    if "maximum" in schema:
        yield Edge("", schema["maximum"], schema["maximum"] + 1)


def edges_of_list(schema: Any) -> Iterator[Edge]:
    items = [smallest(schema["items"], number) for number in range(1, schema.get("maxItems", 1) + 2)]
    if "maxItems" in schema:
        yield Edge("", items[:-1], items)
    if "minItems" in schema:
        yield Edge("", items[: schema["minItems"]], items[: schema["minItems"] - 1])
    yield from (edge.inside("[0]", lambda value: [value]) for edge in edges(schema["items"]))


def smallest(schema: Any, number: int = 1) -> Any:
    """A value of the schema with what is required and no more; another one for another number."""
    schema = resolved(schema)
    if "anyOf" in schema:
        return smallest(schema["anyOf"][0], number)
    if schema.get("type") == "object":
        # An item without its id is a new one, which has a name.
        required = schema["required"] or [name for name in schema["properties"] if name == "name"]
        return {name: smallest(schema["properties"][name], number) for name in required}
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("format") == "date-time":
        return "2026-04-09T15:38:40Z"
    return {"integer": number, "number": number, "string": f"x{number}", "boolean": True, "array": []}[schema["type"]]


def new_edges(schema: Any, tried: set[bytes]) -> list[Edge]:
    """All edges of a schema that is met for the first time, and then the first one."""
    text, found = msgspec.json.encode(schema), list(edges(schema))
    is_known = text in tried
    tried.add(text)
    return found[:1] if is_known else found


def edges_of_body(operation: Operation, tried: set[bytes]) -> list[Edge]:
    """Of the body of an operation, in its example."""
    (body,) = bodies_of(operation).values()
    example, schema = example_of(body), resolved(body["schema"])
    return [
        edge.inside(name, lambda value, name=name: {**example, name: value})
        for name, member in schema["properties"].items()
        if not member.get("readOnly")
        for edge in new_edges(member, tried)
    ]


def reason(answer: httpx.Response, path: str) -> str:
    """Why the member at the path was refused; nothing if it was not."""
    return str(details_of(answer).get("fields", {}).get(path, "")) if answer.status_code == 400 else ""


async def test_a_limit_of_a_body_is_where_the_document_says(client: Client) -> None:
    await send_examples(client)
    tried: set[bytes] = set()
    for operation in [one for one in in_order() if one.body]:
        found = edges_of_body(operation, tried)
        members = operation.body.__struct_fields__ if operation.body else ()

        for edge in found:
            within = await client.request(operation.method, path_of(operation, 1), json=edge.within)
            beyond = await client.request(operation.method, path_of(operation, 1), json=edge.beyond)

            assert reason(within, edge.path) != reason(beyond, edge.path) != "", (operation.name, edge.path)
            if edge.words and edge.path in members:
                assert sorted(details_of(beyond)["allowed"]) == sorted(edge.words)
        assert found


async def test_a_limit_of_a_query_is_where_the_document_says(client: Client) -> None:
    await send_examples(client)
    tried: set[bytes] = set()
    for operation in [one for one in OPERATIONS if one.method == "GET"]:
        limits = [(name, edge) for name, schema in query_of(operation).items() for edge in new_edges(schema, tried)]
        for name, edge in [one for one in limits if not one[1].path]:
            within, beyond = [
                reason(await client.get(path_of(operation, 1), params={name: value}), name)
                for value in (edge.within, edge.beyond)
            ]
            assert within != beyond != "", (operation.name, name, edge)


def faults(operation: Operation, answer: httpx.Response) -> list[str]:
    """Where the answer is not as the document says."""
    told = resolved(described(operation)["responses"].get(str(answer.status_code), {}))
    if not told:
        return [f"{operation.name}: {answer.status_code} is not described"]
    headers = OF_EVERY_ANSWER | {name.lower() for name in told.get("headers", ())}
    found = [f"header {name}" for name in answer.headers if name not in headers]
    if "content" in told:
        media_type = answer.headers["content-type"].partition(";")[0]
        is_json = media_type == "application/json"
        schema = (told["content"].get(media_type) or told["content"]["image/*"])["schema"]
        found += errors_in(schema, answer.json() if is_json else answer.text)
    elif answer.content:
        found.append("a body")
    return [f"{operation.name}, {answer.status_code}: {one}" for one in found]


async def test_what_succeeds_is_answered_as_described(client: Client) -> None:
    answers = await send_examples(client)
    reads = [operation for operation in OPERATIONS if operation.method == "GET"]
    deletes = [one for one in OPERATIONS if one.method == "DELETE" and not one.body]
    bare = [one for one in OPERATIONS if one.method == "POST" and not one.body and not one.consumes_file]

    for operation in reads:
        for headers in ({}, {"If-None-Match": "*"}):
            answers.append((operation, await client.get(path_of(operation, 1), headers=headers)))
    for operation in deletes:
        answers.append((operation, await client.delete(path_of(operation, await create_thing_of(client, operation)))))
    for operation in bare:
        row_id = await create_thing_of(client, operation) if "{" in operation.path else 0
        answers.append((operation, await client.post(path_of(operation, row_id))))

    assert {operation.name for operation, _ in answers} == {operation.name for operation in OPERATIONS}
    assert [answer.text for _, answer in answers if answer.status_code >= 400] == []
    assert [fault for operation, answer in answers for fault in faults(operation, answer)] == []
