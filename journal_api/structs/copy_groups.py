"""Copy groups: accounts that trade alike (DECISIONS 34)."""

from decimal import Decimal
from typing import Annotated, Any, ClassVar, Self

from msgspec import UNSET, Meta, Struct, UnsetType

from journal_api.errors import ValidationFailed
from journal_api.values.money import PositiveMoney
from journal_api.values.types import Instant, Name100, RowId, SortOrder, unless_sent


class QuantityMultiplier(PositiveMoney):
    """How many times the master's quantity: over 0 to 999.99."""

    json_schema: ClassVar[dict[str, Any]] = {"type": "number", "exclusiveMinimum": 0, "maximum": 999.99}

    @classmethod
    def checked(cls, value: Decimal) -> Self:
        multiplier = super().checked(value)
        if multiplier > Decimal("999.99"):
            raise ValueError("must be at most 999.99")
        return multiplier


class CopyGroupCreate(Struct, kw_only=True, forbid_unknown_fields=True):
    """A new group has no members yet, and so no master but null."""

    name: Name100
    master_account_id: RowId | None = None

    def __post_init__(self) -> None:
        if self.master_account_id is not None:
            raise ValidationFailed(fields={"master_account_id": "is not a member of this group"})


class CopyGroupPatch(Struct, kw_only=True, forbid_unknown_fields=True):
    name: Name100 | UnsetType = UNSET
    master_account_id: RowId | None | UnsetType = UNSET


class MemberPut(Struct, kw_only=True, forbid_unknown_fields=True):
    account_id: RowId
    quantity_multiplier: QuantityMultiplier = unless_sent(QuantityMultiplier(1))
    sort_order: SortOrder | UnsetType = UNSET


class MembersPut(Struct, kw_only=True, forbid_unknown_fields=True):
    """The whole set; `sort_order` left out is the position in it."""

    members: Annotated[list[MemberPut], Meta(max_length=50)]

    def check(self) -> None:
        """Raises ValidationFailed when an account is named twice."""
        account_ids = [member.account_id for member in self.members]
        repeated = sorted({one for one in account_ids if account_ids.count(one) > 1})
        if repeated:
            raise ValidationFailed(
                fields={"members": "must name each account once"}, duplicate_account_ids=repeated
            )


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


class CopyGroup(CopyGroupListItem, kw_only=True, forbid_unknown_fields=True):
    members: list[Member]
