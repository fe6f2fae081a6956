"""Bodies and responses of confirmations, the checklist items nested in a setup (docs/api.md#strategies)."""

from typing import ClassVar

from msgspec import UNSET, Struct, UnsetType, field

from journal_api.values.types import Name, RowId, SortOrder, Text, require_name

# A body may contain 5,000 confirmations. They cannot be part of a reference cycle, so gc=False spares the
# garbage collector from traversing them.


class ConfirmationCreate(Struct, kw_only=True, forbid_unknown_fields=True, gc=False):
    id: ClassVar[UnsetType] = UNSET
    name: Name
    description: Text | None = None
    sort_order: SortOrder | UnsetType = UNSET


class ConfirmationPatch(Struct, kw_only=True, forbid_unknown_fields=True, gc=False):
    """With `confirmation_id` an existing confirmation, whose omitted members stay; without it a new one."""

    id: RowId | UnsetType = field(default=UNSET, name="confirmation_id")
    name: Name | UnsetType = UNSET
    description: Text | None | UnsetType = UNSET
    sort_order: SortOrder | UnsetType = UNSET

    def __post_init__(self) -> None:
        require_name(self.id, self.name)


class Confirmation(Struct, kw_only=True, forbid_unknown_fields=True):
    confirmation_id: int
    name: str
    description: str | None
    sort_order: int
