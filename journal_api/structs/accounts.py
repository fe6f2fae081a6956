"""Bodies and responses of trading accounts."""

import re
from decimal import Decimal
from typing import Any, ClassVar, Literal, Self

from msgspec import UNSET, Struct, UnsetType, field

from journal_api.errors import ValidationFailed
from journal_api.structs.account_rules import Share
from journal_api.structs.checkpoints import CheckpointListItem
from journal_api.structs.import_profiles import OneTradeIs
from journal_api.structs.queries import DryRunQuery
from journal_api.structs.standings import Standing
from journal_api.values.currencies import Currency
from journal_api.values.money import MAX_AMOUNT, Money
from journal_api.values.types import Day, DayRollover, Instant, Name100, TimeZone, default_value


class Fees(dict[str, Money]):
    """What the owner pays per contract and side, by contract root or `default`."""

    max_roots: ClassVar[int] = 200
    json_schema: ClassVar[dict[str, Any]] = {
        "type": "object",
        "propertyNames": {"pattern": "^([A-Z0-9]{1,10}|default)$"},
        "additionalProperties": {"type": "number", "minimum": 0, "maximum": MAX_AMOUNT},
        "maxProperties": max_roots,
    }

    @classmethod
    def decode(cls, value: object) -> Self:
        if not isinstance(value, dict):
            raise ValueError("must be an object of contract root, or default, to amount")
        if len(value) > cls.max_roots:
            raise ValueError(f"must have at most {cls.max_roots} members")
        return cls({cls.root(name): cls.amount(name, amount) for name, amount in value.items()})

    @staticmethod
    def root(name: str) -> str:
        if not re.fullmatch(r"[A-Z0-9]{1,10}|default", name):
            raise ValueError("must have contract roots such as MNQ, or default, as names")
        return name

    @staticmethod
    def amount(name: str, value: object) -> Money:
        try:
            amount = Money.decode(value)
        except ValueError as error:
            raise ValueError(f"of {name} {error}") from None
        if amount < 0:
            raise ValueError(f"of {name} must not be negative")
        return amount


class AccountCreate(Struct, kw_only=True, forbid_unknown_fields=True):
    name: Name100
    currency: Currency = default_value(Currency("USD"))
    starting_balance: Money = default_value(Money(0))
    broker: Name100 | None = None
    archived: bool = False
    fees: Fees = field(default_factory=Fees)
    one_trade_is: OneTradeIs | None = None
    timezone: TimeZone | None = None
    day_rollover: DayRollover | None = None
    payout_share: Share | None = None


class AccountPatch(Struct, kw_only=True, forbid_unknown_fields=True):
    name: Name100 | UnsetType = UNSET
    currency: Currency | UnsetType = UNSET
    starting_balance: Money | UnsetType = UNSET
    broker: Name100 | None | UnsetType = UNSET
    archived: bool | UnsetType = UNSET
    fees: Fees | UnsetType = UNSET
    one_trade_is: OneTradeIs | None | UnsetType = UNSET
    timezone: TimeZone | None | UnsetType = UNSET
    day_rollover: DayRollover | None | UnsetType = UNSET
    payout_share: Share | None | UnsetType = UNSET


class AccountPatchQuery(DryRunQuery, kw_only=True):
    """`apply_to=earlier` charges earlier trades with the `fees` of the body.

    Trades whose fees a file stated or a person typed keep them. X-Trades-Charged says how many change.
    """

    apply_to: Literal["earlier"] | None = None

    def require_fees(self, patch: AccountPatch) -> None:
        """Raise ValidationFailed if nothing says what to charge."""
        if self.apply_to is not None and patch.fees is UNSET:
            raise ValidationFailed(fields={"fees": "is required with apply_to=earlier"})


class AccountQuery(Struct, kw_only=True):
    """`with=standing` adds `standing` to each account with rules, at the end of the trading day `at` or today,
    and `checkpoints` to each whose broker's balance differs.
    """

    parts: Literal["standing"] | None = field(name="with", default=None)
    at: Day | None = None

    def __post_init__(self) -> None:
        if self.at and not self.parts:
            raise ValidationFailed(fields={"at": "needs with=standing"})


class Account(Struct, kw_only=True, forbid_unknown_fields=True):
    """Without a `timezone` or a `day_rollover` of its own, trading days follow the owner's.

    `payout_share` is the percentage of a payout that reaches the owner, null for all of it.
    """

    id: int
    name: str
    currency: str
    starting_balance: Decimal
    broker: str | None
    archived: bool
    fees: dict[str, Decimal]
    one_trade_is: OneTradeIs | None
    timezone: str | None
    day_rollover: str | None
    payout_share: Decimal | None
    created_at: Instant
    updated_at: Instant


class AccountListItem(Account, kw_only=True, forbid_unknown_fields=True):
    """`with=standing` adds how the account stands by its rules and its checkpoints that differ, if any.

    A difference that is accepted is not listed.
    """

    standing: Standing | UnsetType = UNSET
    checkpoints: list[CheckpointListItem] | UnsetType = UNSET
