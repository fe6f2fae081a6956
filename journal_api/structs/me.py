"""Bodies and responses of the owner's settings (DECISIONS 8)."""

from msgspec import UNSET, Struct, UnsetType

from journal_api.values.types import DayRollover, Instant, Name100, Selection, TimeZone


class MePatch(Struct, kw_only=True, forbid_unknown_fields=True):
    name: Name100 | UnsetType = UNSET
    timezone: TimeZone | UnsetType = UNSET
    day_rollover: DayRollover | UnsetType = UNSET
    active_selection: Selection | UnsetType = UNSET


class Me(Struct, kw_only=True, forbid_unknown_fields=True):
    id: int
    name: str
    timezone: str
    day_rollover: str
    active_selection: str
    created_at: Instant
    updated_at: Instant
