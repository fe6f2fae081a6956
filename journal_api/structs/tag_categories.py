"""Bodies and responses of tag categories."""

from msgspec import UNSET, Struct, UnsetType

from journal_api.values.types import Instant, Name50


class TagCategoryCreate(Struct, kw_only=True, forbid_unknown_fields=True):
    name: Name50


class TagCategoryPatch(Struct, kw_only=True, forbid_unknown_fields=True):
    name: Name50 | UnsetType = UNSET


class TagCategory(Struct, kw_only=True, forbid_unknown_fields=True):
    id: int
    name: str
    tag_count: int
    created_at: Instant
    updated_at: Instant
