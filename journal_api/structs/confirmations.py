"""Confirmations, nested in a setup: interface.md §2."""

from msgspec import UNSET, Struct, UnsetType

from journal_api.values import Name, RowId, SortOrder, Text, require_name


class ConfirmationCreate(Struct, kw_only=True, forbid_unknown_fields=True):
    name: Name
    description: Text | None = None
    sort_order: SortOrder | UnsetType = UNSET

    @property
    def id(self) -> UnsetType:
        return UNSET


class ConfirmationPatch(Struct, kw_only=True, forbid_unknown_fields=True):
    """With `confirmation_id` an existing one, of which the members left out stay; without it a new one."""

    confirmation_id: RowId | UnsetType = UNSET
    name: Name | UnsetType = UNSET
    description: Text | None | UnsetType = UNSET
    sort_order: SortOrder | UnsetType = UNSET

    def __post_init__(self) -> None:
        require_name(self.confirmation_id, self.name)

    @property
    def id(self) -> int | UnsetType:
        return self.confirmation_id


class Confirmation(Struct, kw_only=True, forbid_unknown_fields=True):
    confirmation_id: int
    name: str
    description: str | None
    sort_order: int

    @property
    def id(self) -> int:
        return self.confirmation_id
