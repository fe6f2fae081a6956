"""Bodies and responses of trading accounts (DECISIONS 34)."""

from decimal import Decimal

from msgspec import UNSET, Struct, UnsetType

from journal_api.values.currencies import Currency
from journal_api.values.money import Money
from journal_api.values.types import Instant, Name100, default_value


class AccountCreate(Struct, kw_only=True, forbid_unknown_fields=True):
    name: Name100
    currency: Currency = default_value(Currency("USD"))
    starting_balance: Money = default_value(Money(0))
    broker: Name100 | None = None
    archived: bool = False


class AccountPatch(Struct, kw_only=True, forbid_unknown_fields=True):
    name: Name100 | UnsetType = UNSET
    currency: Currency | UnsetType = UNSET
    starting_balance: Money | UnsetType = UNSET
    broker: Name100 | None | UnsetType = UNSET
    archived: bool | UnsetType = UNSET


class Account(Struct, kw_only=True, forbid_unknown_fields=True):
    id: int
    name: str
    currency: str
    starting_balance: Decimal
    broker: str | None
    archived: bool
    created_at: Instant
    updated_at: Instant
