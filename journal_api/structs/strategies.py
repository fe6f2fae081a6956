"""Bodies, queries and responses of strategies with their setups and checklists (docs/api.md#strategies).

Responses of setups and confirmations have exactly the members that PATCH accepts.
"""

from typing import Annotated, ClassVar, Literal

from msgspec import UNSET, Meta, Raw, Struct, UnsetType, field

from journal_api.errors import ValidationFailed
from journal_api.values.types import Color, FreeForm, Instant, Name, RowId, SortOrder, Text, free_form, require_name

FREE_FORM = ("risk_rules", "exit_rules", "optimal_conditions")


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


class StrategyCreate(Struct, kw_only=True, forbid_unknown_fields=True):
    name: Name
    description: Text | None = None
    color_tag: Color = "#1d4ed8"
    account_id: RowId | None = None
    copy_group_id: RowId | None = None
    risk_rules: FreeForm | UnsetType = UNSET
    exit_rules: FreeForm | UnsetType = UNSET
    optimal_conditions: FreeForm | UnsetType = UNSET
    setups: Annotated[list[SetupCreate], Meta(max_length=50)] = []

    def __post_init__(self) -> None:
        check_scope(self.account_id, self.copy_group_id)
        check_free_form(self)


class StrategyPatch(Struct, kw_only=True, forbid_unknown_fields=True):
    """`setups`, if present, replaces the whole list."""

    name: Name | UnsetType = UNSET
    description: Text | None | UnsetType = UNSET
    color_tag: Color | UnsetType = UNSET
    account_id: RowId | None | UnsetType = UNSET
    copy_group_id: RowId | None | UnsetType = UNSET
    risk_rules: FreeForm | UnsetType = UNSET
    exit_rules: FreeForm | UnsetType = UNSET
    optimal_conditions: FreeForm | UnsetType = UNSET
    setups: Annotated[list[SetupPatch], Meta(max_length=50)] | UnsetType = UNSET

    def __post_init__(self) -> None:
        check_free_form(self)

    def settle_scope(self) -> None:
        """Clear the account when a copy group is set, and vice versa.

        Raises ValidationFailed when both are set.
        """
        check_scope(self.account_id, self.copy_group_id)
        if isinstance(self.account_id, int):
            self.copy_group_id = None
        if isinstance(self.copy_group_id, int):
            self.account_id = None


class StrategyQuery(Struct, kw_only=True):
    """`with=setups` makes each strategy whole, as GET of one returns it."""

    account_id: RowId | None = None
    copy_group_id: RowId | None = None
    parts: Literal["setups"] | None = field(name="with", default=None)


class StrategyScalars(Struct, kw_only=True, forbid_unknown_fields=True):
    id: int
    name: str
    description: str | None
    color_tag: str
    account_id: int | None
    copy_group_id: int | None
    setup_count: int
    created_at: Instant
    updated_at: Instant


class StrategyListItem(StrategyScalars, kw_only=True, forbid_unknown_fields=True):
    """`with=setups` adds the members of a whole strategy."""

    risk_rules: FreeForm | UnsetType = UNSET
    exit_rules: FreeForm | UnsetType = UNSET
    optimal_conditions: FreeForm | UnsetType = UNSET
    setups: list[Setup] | UnsetType = UNSET


class StrategyFields(StrategyScalars, kw_only=True, forbid_unknown_fields=True):
    risk_rules: FreeForm
    exit_rules: FreeForm
    optimal_conditions: FreeForm


class Strategy(StrategyFields, kw_only=True, forbid_unknown_fields=True):
    setups: list[Setup]


def check_scope(account_id: object, copy_group_id: object) -> None:
    """Raise ValidationFailed when both an account and a copy group are set."""
    if isinstance(account_id, int) and isinstance(copy_group_id, int):
        reason = "account_id and copy_group_id are mutually exclusive"
        raise ValidationFailed(fields={"account_id": reason, "copy_group_id": reason})


def check_free_form(strategy: StrategyCreate | StrategyPatch) -> None:
    """Normalise the free-form members of a body. Raises ValidationFailed for one that exceeds the limits.

    White space between tokens is dropped; an omitted member of a new strategy is null.
    """
    for name in FREE_FORM:
        value = getattr(strategy, name)
        if value is UNSET and isinstance(strategy, StrategyCreate):
            setattr(strategy, name, Raw(b"null"))
        elif isinstance(value, Raw):
            try:
                setattr(strategy, name, Raw(free_form(bytes(value))))
            except ValueError as error:
                raise ValidationFailed(fields={name: str(error)}) from None
