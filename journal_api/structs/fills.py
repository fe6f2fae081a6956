"""Bodies of the fills of a trade."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from journal_api.structs.trades import FillSide
from journal_api.values.money import Money, PositiveMoney
from journal_api.values.timestamps import Timestamp
from journal_api.values.types import Name100, default_value


class FillCreate(Struct, kw_only=True, forbid_unknown_fields=True):
    """A purchase or a sale. An omitted `at` is the time of the request."""

    side: FillSide
    quantity: PositiveMoney
    price: Money
    at: Timestamp | UnsetType = UNSET
    fees: Money = default_value(Money(0))
    external_id: Name100 | None = None


class FillsCreate(Struct, kw_only=True, forbid_unknown_fields=True):
    """One fill, by its members, or up to 1,000 in `fills`."""

    side: FillSide | UnsetType = UNSET
    quantity: PositiveMoney | UnsetType = UNSET
    price: Money | UnsetType = UNSET
    at: Timestamp | UnsetType = UNSET
    fees: Money | UnsetType = UNSET
    external_id: Name100 | None | UnsetType = UNSET
    fills: Annotated[list[FillCreate], Meta(min_length=1, max_length=1000)] | UnsetType = UNSET


class FillPatch(Struct, kw_only=True, forbid_unknown_fields=True):
    side: FillSide | UnsetType = UNSET
    quantity: PositiveMoney | UnsetType = UNSET
    price: Money | UnsetType = UNSET
    at: Timestamp | UnsetType = UNSET
    fees: Money | UnsetType = UNSET
    external_id: Name100 | None | UnsetType = UNSET


class MergeTrades(Struct, kw_only=True, forbid_unknown_fields=True):
    """The trades to merge into the one that opened first."""

    ids: Annotated[list[int], Meta(min_length=2, max_length=1000)]
