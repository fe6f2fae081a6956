"""Bodies, query and response of the cash of an account (docs/accounts.md#cash)."""

from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal, Self

from msgspec import UNSET, Meta, Struct, UnsetType

from journal_api.errors import ValidationFailed
from journal_api.values.money import Money
from journal_api.values.types import Day, DayText, Instant, Offset, Text

CashKind = Literal["deposit", "withdrawal", "payout", "fee", "adjustment", "reset"]


class CashDay(Day):
    """A day of the years 1970 to 2200."""

    json_schema: ClassVar[dict[str, Any]] = {"type": "string", "format": "date"}

    @classmethod
    def decode(cls, value: object) -> Self:
        day = super().decode(value)
        if not 1970 <= day.year <= 2200:
            raise ValueError("must be in the years 1970 to 2200")
        return day


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


def find_changes(stored: Cash, patch: CashPatch) -> dict[str, Any]:
    """Return the members that a PATCH changes. Raises ValidationFailed for an invalid merged movement."""
    members = {name: getattr(patch, name) for name in patch.__struct_fields__}
    sent = {name: value for name, value in members.items() if value is not UNSET}
    if "day" in sent:
        sent["day"] = str(sent["day"])
    if not sent.keys().isdisjoint(("kind", "amount")):
        check_amount(sent.get("kind", stored.kind), sent.get("amount", stored.amount))
    return {name: value for name, value in sent.items() if value != getattr(stored, name)}
