"""What a PATCH changes: the fields that were sent and differ from what is stored."""

from typing import Any

from msgspec import UNSET, Struct

from journal_api.values.types import sort_name


def changes(stored: Struct, patch: Struct) -> dict[str, Any]:
    """Column by column, the new values; empty when nothing changes."""
    return {
        field: sent
        for field in patch.__struct_fields__
        if (sent := getattr(patch, field)) is not UNSET and sent != getattr(stored, field)
    }


def with_sort_name(changed: dict[str, Any]) -> dict[str, Any]:
    """A new name comes with its place in lists."""
    return {**changed, "sort_name": sort_name(changed["name"])} if "name" in changed else changed
