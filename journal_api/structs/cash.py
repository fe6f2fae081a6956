"""Bodies, query and response of the cash of an account (docs/accounts.md#cash)."""

from decimal import Decimal
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from journal_api.errors import ValidationFailed
from journal_api.values.money import Money
from journal_api.values.types import Day, DayText, Instant, Offset, Text

CashKind = Literal["deposit", "withdrawal", "payout", "fee", "adjustment", "reset"]


class CashDay(Day):
    years = (1970, 2200)


class CashCreate(Struct, kw_only=True, forbid_unknown_fields=True):
    kind: CashKind
    amount: Money
    day: CashDay
    note: Text | None = None

    def __post_init__(self) -> None:
        check_amount(self.kind, self.amount)


class CashPatch(Struct, kw_only=True, forbid_unknown_fields=True):
    kind: CashKind | UnsetType = UNSET
    amount: Money | UnsetType = UNSET
    day: CashDay | UnsetType = UNSET
    note: Text | None | UnsetType = UNSET


class CashQuery(Struct, kw_only=True):
    limit: Annotated[int, Meta(ge=1, le=200)] = 50
    offset: Offset = 0


class Cash(Struct, kw_only=True, forbid_unknown_fields=True):
    """Money that moved on a trading day of the account.

    A deposit adds the amount to the balance, an adjustment adds it with its sign; a withdrawal, a payout and
    a fee take it away. A reset makes it the balance at the start of the day.
    """

    id: int
    kind: CashKind
    amount: Decimal
    day: DayText
    note: str | None
    created_at: Instant
    updated_at: Instant


def check_amount(kind: str, amount: Decimal) -> None:
    """Raise ValidationFailed for an amount that movements of the kind cannot have."""
    if kind == "reset" and amount < 0:
        raise ValidationFailed(fields={"amount": "must not be negative for a reset"})
    if kind == "adjustment" and amount == 0:
        raise ValidationFailed(fields={"amount": "must not be 0"})
    if kind not in ("reset", "adjustment") and amount <= 0:
        raise ValidationFailed(fields={"amount": f"must be greater than 0: a {kind} has no sign"})
