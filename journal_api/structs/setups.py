"""Setups, nested in a strategy: interface.md §2. Answers carry exactly the members that PATCH takes."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from journal_api.structs.confirmations import Confirmation, ConfirmationCreate, ConfirmationPatch
from journal_api.values import Name, RowId, SortOrder, Text, require_name


class SetupCreate(Struct, kw_only=True, forbid_unknown_fields=True):
    name: Name
    description: Text | None = None
    sort_order: SortOrder | UnsetType = UNSET
    confirmations: Annotated[list[ConfirmationCreate], Meta(max_length=100)] = []

    @property
    def id(self) -> UnsetType:
        return UNSET


class SetupPatch(Struct, kw_only=True, forbid_unknown_fields=True):
    """With `setup_id` an existing setup, of which the members left out stay; without it a new one."""

    setup_id: RowId | UnsetType = UNSET
    name: Name | UnsetType = UNSET
    description: Text | None | UnsetType = UNSET
    sort_order: SortOrder | UnsetType = UNSET
    confirmations: Annotated[list[ConfirmationPatch], Meta(max_length=100)] | UnsetType = UNSET

    def __post_init__(self) -> None:
        require_name(self.setup_id, self.name)

    @property
    def id(self) -> int | UnsetType:
        return self.setup_id


class Setup(Struct, kw_only=True, forbid_unknown_fields=True):
    setup_id: int
    name: str
    description: str | None
    sort_order: int
    confirmations: list[Confirmation]

    @property
    def id(self) -> int:
        return self.setup_id
