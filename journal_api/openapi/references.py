"""References to the schemas of the OpenAPI document's components."""

from typing import Any

Json = dict[str, Any]

REF = "#/components/schemas/{name}"


def reference(name: str) -> Json:
    """The schema that refers to a component."""
    return {"$ref": REF.format(name=name)}
