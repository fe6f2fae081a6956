"""The OpenAPI document as tests read it. Its examples, sent one after the other, make a small journal."""

from typing import Any

import httpx
import msgspec
from factories import Client
from operations import path_of
from pictures import PNG

from journal_api.openapi.docs_page import read_document
from journal_api.routes.table import OPERATIONS
from journal_api.web.operation import Operation

DOCUMENT: Any = msgspec.json.decode(read_document())


def described(operation: Operation) -> Any:
    """What the document says of it."""
    return DOCUMENT["paths"][operation.documented_path][operation.method.lower()]


def example_of(content: Any) -> Any:
    """The example of a body, from what the document says of it by media type."""
    if "examples" in content:
        return resolved(content["examples"]["file"])["value"]
    return resolved(content["schema"])["examples"][0]


def resolved(part: Any) -> Any:
    """The part itself, or what it refers to."""
    if "$ref" not in part:
        return part
    found = DOCUMENT
    for name in part["$ref"].removeprefix("#/").split("/"):
        found = found[name]
    return resolved(found)


def parameters_of(operation: Operation) -> list[Any]:
    return [resolved(parameter) for parameter in described(operation)["parameters"]]


def bodies_of(operation: Operation) -> Any:
    """What may be sent, by media type."""
    return described(operation).get("requestBody", {"content": {}})["content"]


def in_order() -> list[Operation]:
    """The operations with a body: accounts first, then what hangs on them, then what changes these."""
    methods = ["POST", "PUT", "PATCH", "DELETE"]
    with_body = [operation for operation in OPERATIONS if bodies_of(operation)]
    return sorted(with_body, key=lambda one: (methods.index(one.method), one.path != "/v1/accounts"))


async def send_example(client: Client, operation: Operation, media_type: str) -> httpx.Response:
    """The example as it stands, about the thing with the id 1."""
    if media_type.startswith("image/"):
        return await client.post(path_of(operation, 1), content=PNG, headers={"Content-Type": media_type})
    example = example_of(bodies_of(operation)[media_type])
    return await client.request(
        operation.method,
        path_of(operation, 1),
        params={one["name"]: one["example"] for one in parameters_of(operation) if "example" in one},
        content=example if isinstance(example, str) else msgspec.json.encode(example),
        headers={"Content-Type": media_type},
    )


async def send_examples(client: Client) -> list[tuple[Operation, httpx.Response]]:
    """Send every example to a new journal."""
    return [
        (operation, await send_example(client, operation, media_type))
        for operation in in_order()
        for media_type in bodies_of(operation)
    ]


FILES = {
    media_type: example_of(content)
    for operation in OPERATIONS
    if operation.consumes_file
    for media_type, content in bodies_of(operation).items()
    if "examples" in content
}
