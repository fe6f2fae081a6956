"""Bodies, queries and responses of tags."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from journal_api.values.types import Color, Instant, Name100, RowId, TagType

MAX_TAGS = 100  # of a trade or a day
TagIds = Annotated[list[RowId], Meta(max_length=MAX_TAGS)]


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
