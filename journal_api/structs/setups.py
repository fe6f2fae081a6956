"""Bodies and responses of setups, nested in a strategy (docs/api.md#strategies).

Responses have exactly the members that PATCH accepts.
"""

from typing import Annotated, ClassVar

from msgspec import UNSET, Meta, Struct, UnsetType, field

from journal_api.structs.confirmations import Confirmation, ConfirmationCreate, ConfirmationPatch
from journal_api.values.types import Name, RowId, SortOrder, Text, require_name


class SetupCreate(Struct, kw_only=True, forbid_unknown_fields=True):
    id: ClassVar[UnsetType] = UNSET
    name: Name
    description: Text | None = None
    sort_order: SortOrder | UnsetType = UNSET
    confirmations: Annotated[list[ConfirmationCreate], Meta(max_length=100)] = []


class SetupPatch(Struct, kw_only=True, forbid_unknown_fields=True):
    """With `setup_id` an existing setup, whose omitted members stay; without it a new setup."""

    id: RowId | UnsetType = field(default=UNSET, name="setup_id")
    name: Name | UnsetType = UNSET
    description: Text | None | UnsetType = UNSET
    sort_order: SortOrder | UnsetType = UNSET
    confirmations: Annotated[list[ConfirmationPatch], Meta(max_length=100)] | UnsetType = UNSET

    def __post_init__(self) -> None:
        require_name(self.id, self.name)


class Setup(Struct, kw_only=True, forbid_unknown_fields=True):
    setup_id: int
    name: str
    description: str | None
    sort_order: int
    confirmations: list[Confirmation]
