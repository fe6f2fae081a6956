"""Bodies and responses of tag categories."""

from msgspec import UNSET, Struct, UnsetType

from journal_api.values.types import Instant, Name50


class TagCategoryCreate(Struct, kw_only=True, forbid_unknown_fields=True):
    name: Name50
    single: bool = False


class TagCategoryPatch(Struct, kw_only=True, forbid_unknown_fields=True):
    name: Name50 | UnsetType = UNSET
    single: bool | UnsetType = UNSET


class TagCategory(Struct, kw_only=True, forbid_unknown_fields=True):
    """A category of tags. A trade has at most one tag of a `single` one; a day may have several."""

    id: int
    name: str
    single: bool
    tag_count: int
    created_at: Instant
    updated_at: Instant
