"""Bodies and response of the fills of a trade."""

from decimal import Decimal
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import asdict

from journal_api.errors import ValidationFailed
from journal_api.values.money import Money, PositiveMoney
from journal_api.values.timestamps import Timestamp
from journal_api.values.types import Instant, Name100

FillSide = Literal["buy", "sell"]
REQUIRED = ("side", "quantity", "price")


class FillCreate(Struct, kw_only=True, forbid_unknown_fields=True):
    """A purchase or a sale. An omitted `at` is the time of the request."""

    side: FillSide
    quantity: PositiveMoney
    price: Money
    at: Timestamp | UnsetType = UNSET
    fees: Money | UnsetType = UNSET
    external_id: Name100 | None = None


class FillsCreate(Struct, kw_only=True, forbid_unknown_fields=True):
    """One fill, by its members, or up to 1,000 in `fills`. An omitted `at` is the time of the request."""

    side: FillSide | UnsetType = UNSET
    quantity: PositiveMoney | UnsetType = UNSET
    price: Money | UnsetType = UNSET
    at: Timestamp | UnsetType = UNSET
    fees: Money | UnsetType = UNSET
    external_id: Name100 | None | UnsetType = UNSET
    fills: Annotated[list[FillCreate], Meta(min_length=1, max_length=1000)] | UnsetType = UNSET

    def __post_init__(self) -> None:
        members = {name: value for name, value in asdict(self).items() if value is not UNSET}
        if "fills" in members and len(members) > 1:
            raise ValidationFailed(fields={"fills": "cannot be sent beside the members of one fill"})
        if missing := [name for name in REQUIRED if self.fills is UNSET and name not in members]:
            raise ValidationFailed(fields=dict.fromkeys(missing, "is required"))

    def list_fills(self) -> list[FillCreate]:
        """Return the fills in either form."""
        if self.fills is not UNSET:
            return self.fills
        members = asdict(self)
        return [FillCreate(**{name: value for name, value in members.items() if value is not UNSET})]


class FillPatch(Struct, kw_only=True, forbid_unknown_fields=True):
    """The members to change. `id` may be sent back as it was read, and so may a null `price`."""

    id: int | UnsetType = UNSET
    side: FillSide | UnsetType = UNSET
    quantity: PositiveMoney | UnsetType = UNSET
    price: Money | None | UnsetType = UNSET
    at: Timestamp | UnsetType = UNSET
    fees: Money | UnsetType = UNSET
    external_id: Name100 | None | UnsetType = UNSET


class Fill(Struct, kw_only=True, forbid_unknown_fields=True):
    """A purchase or a sale inside a trade; `id` numbers the fills of the trade.

    `price` is null for the exit of a trade that states its result but no exit price.
    """

    id: int
    side: FillSide
    quantity: Decimal
    price: Decimal | None
    at: Instant
    fees: Decimal
    external_id: str | None
