"""Bodies and responses of copy groups: accounts that copy the same trades."""

from decimal import Decimal
from typing import Annotated, Any, ClassVar

from msgspec import UNSET, Meta, Struct, UnsetType

from journal_api.errors import ValidationFailed
from journal_api.structs.trades import Direction
from journal_api.values.money import PositiveMoney
from journal_api.values.types import Instant, Name100, RowId, SortOrder, default_value

# A position of a member that opened within so many seconds of one of the master may be a copy of it.
CopySeconds = Annotated[int, Meta(ge=0, le=300)]


class QuantityMultiplier(PositiveMoney):
    """The quantity of a member relative to the master's: greater than 0, at most 999.99."""

    rules = (*PositiveMoney.rules, (lambda one: one <= Decimal("999.99"), "must be at most 999.99"))
    json_schema: ClassVar[dict[str, Any]] = {"type": "number", "exclusiveMinimum": 0, "maximum": 999.99}


class CopyGroupCreate(Struct, kw_only=True, forbid_unknown_fields=True):
    """A new group has no members yet, so its master must be null."""

    name: Name100
    master_account_id: RowId | None = None
    copy_seconds: CopySeconds = 5
    any_quantity: bool = False

    def __post_init__(self) -> None:
        if self.master_account_id is not None:
            raise ValidationFailed(fields={"master_account_id": "is not a member of this group"})


class CopyGroupPatch(Struct, kw_only=True, forbid_unknown_fields=True):
    name: Name100 | UnsetType = UNSET
    master_account_id: RowId | None | UnsetType = UNSET
    copy_seconds: CopySeconds | UnsetType = UNSET
    any_quantity: bool | UnsetType = UNSET


class MemberPut(Struct, kw_only=True, forbid_unknown_fields=True):
    account_id: RowId
    quantity_multiplier: QuantityMultiplier = default_value(QuantityMultiplier(1))
    sort_order: SortOrder | UnsetType = UNSET


class MembersPut(Struct, kw_only=True, forbid_unknown_fields=True):
    """The complete list of members. An omitted `sort_order` is the position in the list."""

    members: Annotated[list[MemberPut], Meta(max_length=50)]

    def check(self) -> None:
        """Raise ValidationFailed when an account is listed twice."""
        account_ids = [member.account_id for member in self.members]
        repeated = sorted({row_id for row_id in account_ids if account_ids.count(row_id) > 1})
        if repeated:
            raise ValidationFailed(fields={"members": "must list each account once"}, duplicate_account_ids=repeated)


class Member(Struct, kw_only=True, forbid_unknown_fields=True):
    account_id: int
    quantity_multiplier: Decimal
    sort_order: int


class CopyGroupListItem(Struct, kw_only=True, forbid_unknown_fields=True):
    id: int
    name: str
    master_account_id: int | None
    member_count: int
    created_at: Instant
    updated_at: Instant
    copy_seconds: int
    any_quantity: bool


class CopyGroup(CopyGroupListItem, kw_only=True, forbid_unknown_fields=True):
    members: list[Member]


class CopyCandidate(Struct, kw_only=True, forbid_unknown_fields=True):
    """A position that may be an original or a copy. `trade_id` is null for a new trade in a dry run."""

    trade_id: int | None
    account_id: int
    symbol: str
    direction: Direction
    quantity: Decimal
    opened_at: Instant


class AmbiguousCopy(Struct, kw_only=True, forbid_unknown_fields=True):
    """A position that was not linked, because each of the candidates may be its original, or its copy."""

    trade: CopyCandidate
    candidates: list[CopyCandidate]
