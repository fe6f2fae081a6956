"""Bodies, query and response of the cash of an account (docs/accounts.md#cash)."""

from decimal import Decimal
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from journal_api.errors import ValidationFailed
from journal_api.values.money import Money, UnsignedMoney
from journal_api.values.types import Day, DayText, Instant, Offset, Text

CashKind = Literal["deposit", "withdrawal", "payout", "fee", "adjustment", "reset"]


class CashDay(Day):
    years = (1970, 2200)


class CashCreate(Struct, kw_only=True, forbid_unknown_fields=True):
    kind: CashKind
    amount: Money
    day: CashDay
    note: Text | None = None
    outside: bool = False
    received: UnsignedMoney | None = None

    def __post_init__(self) -> None:
        check_cash(self.kind, self.amount, outside=self.outside, received=self.received)


class CashPatch(Struct, kw_only=True, forbid_unknown_fields=True):
    kind: CashKind | UnsetType = UNSET
    amount: Money | UnsetType = UNSET
    day: CashDay | UnsetType = UNSET
    note: Text | None | UnsetType = UNSET
    outside: bool | UnsetType = UNSET
    received: UnsignedMoney | None | UnsetType = UNSET


class CashQuery(Struct, kw_only=True):
    limit: Annotated[int, Meta(ge=1, le=200)] = 50
    offset: Offset = 0


class Cash(Struct, kw_only=True, forbid_unknown_fields=True):
    """Money that moved on a trading day of the account.

    A deposit adds the amount to the balance, an adjustment adds it with its sign; a withdrawal, a payout and
    a fee take it away. A reset makes it the balance at the start of the day. A fee `outside` was paid by the
    owner and changes no balance.

    `received` is what of a payout arrived, stated or by the share of the account (`received_source`).
    """

    id: int
    kind: CashKind
    amount: Decimal
    day: DayText
    note: str | None
    outside: bool
    received: Decimal | None
    received_source: Literal["stated", "share"] | None
    created_at: Instant
    updated_at: Instant


def check_cash(kind: str, amount: Decimal, *, outside: bool, received: Decimal | None) -> None:
    """Raise ValidationFailed for what movements of the kind cannot have."""
    if outside and kind != "fee":
        raise ValidationFailed(fields={"outside": "must be false: only a fee is paid from elsewhere"})
    if received is not None and kind != "payout":
        raise ValidationFailed(fields={"received": "must be null: only a payout arrives"})
    if received is not None and received > amount:
        raise ValidationFailed(fields={"received": "must be at most the amount"})
    if kind == "reset" and amount < 0:
        raise ValidationFailed(fields={"amount": "must not be negative for a reset"})
    if kind == "adjustment" and amount == 0:
        raise ValidationFailed(fields={"amount": "must not be 0"})
    if kind not in ("reset", "adjustment") and amount <= 0:
        raise ValidationFailed(fields={"amount": f"must be greater than 0: a {kind} has no sign"})
