"""Bodies and responses of the owner's settings (DECISIONS 37)."""

from decimal import Decimal
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from journal_api.errors import ValidationFailed
from journal_api.values.money import Tolerance
from journal_api.values.types import DayRollover, Instant, LongText, Name100, Selection, TimeZone, Weekday

Weekdays = Annotated[list[Weekday], Meta(min_length=1, max_length=7, extra_json_schema={"uniqueItems": True})]


class MePatch(Struct, kw_only=True, forbid_unknown_fields=True):
    name: Name100 | UnsetType = UNSET
    timezone: TimeZone | UnsetType = UNSET
    day_rollover: DayRollover | UnsetType = UNSET
    trading_weekdays: Weekdays | UnsetType = UNSET
    breakeven_within: Tolerance | UnsetType = UNSET
    active_selection: Selection | UnsetType = UNSET
    plan_template: LongText | None | UnsetType = UNSET
    review_template: LongText | None | UnsetType = UNSET

    def __post_init__(self) -> None:
        """Sort the weekdays. Raises ValidationFailed for one that is repeated."""
        if not self.trading_weekdays:
            return
        if len(set(self.trading_weekdays)) < len(self.trading_weekdays):
            raise ValidationFailed(fields={"trading_weekdays": "must not repeat a weekday"})
        self.trading_weekdays = sorted(self.trading_weekdays)


class Me(Struct, kw_only=True, forbid_unknown_fields=True):
    id: int
    name: str
    timezone: str
    day_rollover: str
    trading_weekdays: list[Weekday]
    breakeven_within: Decimal
    active_selection: str
    plan_template: str | None
    review_template: str | None
    created_at: Instant
    updated_at: Instant
