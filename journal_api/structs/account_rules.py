"""Bodies and responses of the rules of an account (docs/accounts.md#rules)."""

from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta, Struct

from journal_api.values.money import Money, PositiveMoney

FloorKind = Literal["static", "end_of_day", "trade"]
DayCount = Annotated[int, Meta(ge=1, le=366)]


class Share(PositiveMoney):
    """A percentage greater than 0, at most 100."""

    rules = (*PositiveMoney.rules, (lambda share: share <= 100, "must be at most 100"))
    json_schema: ClassVar[dict[str, Any]] = {"type": "number", "exclusiveMinimum": 0, "maximum": 100}


class FloorPut(Struct, kw_only=True, forbid_unknown_fields=True):
    """The balance that ends the account: the peak less `distance`, at most `locks_at`."""

    kind: FloorKind
    distance: PositiveMoney
    locks_at: Money | None = None


class QualifyingDayPut(Struct, kw_only=True, forbid_unknown_fields=True):
    amount: PositiveMoney
    days: DayCount


class AccountRulesPut(Struct, kw_only=True, forbid_unknown_fields=True):
    """All rules of an account; one that is omitted or null does not apply."""

    floor: FloorPut | None = None
    daily_loss: PositiveMoney | None = None
    profit_target: PositiveMoney | None = None
    best_day_share: Share | None = None
    qualifying_day: QualifyingDayPut | None = None
    minimum_days: DayCount | None = None


class Floor(Struct, kw_only=True, forbid_unknown_fields=True):
    kind: FloorKind
    distance: Decimal
    locks_at: Decimal | None


class QualifyingDay(Struct, kw_only=True, forbid_unknown_fields=True):
    amount: Decimal
    days: int


class AccountRules(Struct, kw_only=True, forbid_unknown_fields=True):
    floor: Floor | None
    daily_loss: Decimal | None
    profit_target: Decimal | None
    best_day_share: Decimal | None
    qualifying_day: QualifyingDay | None
    minimum_days: int | None
