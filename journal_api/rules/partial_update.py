"""The columns that a PATCH changes."""

from typing import Any

from msgspec import UNSET, Struct

from journal_api.values.types import sort_name


def changes(stored: Struct, patch: Struct) -> dict[str, Any]:
    """Return the new values by column: the members of the patch that differ from the stored object."""
    return {
        field: value
        for field in patch.__struct_fields__
        if (value := getattr(patch, field)) is not UNSET and value != getattr(stored, field)
    }


def with_sort_name(changed: dict[str, Any]) -> dict[str, Any]:
    """Return the same columns, with `sort_name` if the name is among them."""
    return {**changed, "sort_name": sort_name(changed["name"])} if "name" in changed else changed
