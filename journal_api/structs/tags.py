"""Bodies, queries and responses of tags."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from journal_api.errors import ValidationFailed
from journal_api.values.types import Color, Instant, Name100, RowId, TagType

MAX_TAGS = 100  # of a trade or a day
TagIds = Annotated[list[RowId], Meta(max_length=MAX_TAGS)]


def require_single(tag_ids: Iterable[int], single: Mapping[int, str], field: str = "tag_ids") -> None:
    """Raise ValidationFailed for two tags of one of the single categories, given by tag id as their names."""
    categories = Counter(single[tag_id] for tag_id in {*tag_ids} if tag_id in single)
    if several := [name for name, count in categories.items() if count > 1]:
        raise ValidationFailed(fields={field: f"must have at most one tag of {', '.join(sorted(several))}"})


class TagCreate(Struct, kw_only=True, forbid_unknown_fields=True):
    category_id: RowId
    name: Name100
    color: Color = "#3b82f6"
    type: TagType = "custom"


class TagPatch(Struct, kw_only=True, forbid_unknown_fields=True):
    category_id: RowId | UnsetType = UNSET
    name: Name100 | UnsetType = UNSET
    color: Color | UnsetType = UNSET
    type: TagType | UnsetType = UNSET


class TagQuery(Struct, kw_only=True):
    category_id: RowId | None = None
    type: TagType | None = None


class Tag(Struct, kw_only=True, forbid_unknown_fields=True):
    id: int
    category_id: int
    name: str
    color: str
    type: TagType
    created_at: Instant
    updated_at: Instant


class TradeTag(Struct, kw_only=True, forbid_unknown_fields=True):
    id: int
    name: str
    color: str
    type: TagType
