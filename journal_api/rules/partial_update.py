"""The columns that a PATCH changes."""

from typing import Any

from msgspec import UNSET, Struct


def changes(stored: Struct, patch: Struct) -> dict[str, Any]:
    """Return the new values by column: the members of the patch that differ from the stored object."""
    return {
        field: value
        for field in patch.__struct_fields__
        if (value := getattr(patch, field)) is not UNSET and value != getattr(stored, field)
    }
