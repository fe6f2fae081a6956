"""Bodies and responses of pictures (docs/journal.md#pictures)."""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from journal_api.values.types import DayText, Instant, SortOrder, Text

# What may be added. Earlier releases also stored GIF and AVIF, which stay readable, in exports too.
AcceptedType = Literal["image/png", "image/jpeg", "image/webp"]
PictureType = Literal[AcceptedType, "image/gif", "image/avif"]
# Bytes of a row of picture_parts: no more of a picture is in memory while it is stored or sent.
PART = 256 * 1024


class PicturePatch(Struct, kw_only=True, forbid_unknown_fields=True):
    caption: Text | None | UnsetType = UNSET
    sort_order: SortOrder | UnsetType = UNSET


class Picture(Struct, kw_only=True, forbid_unknown_fields=True):
    """A picture of a trade or of a day. `width`, `height`, `bytes` and `sha256` are of what is stored."""

    id: int
    trade_id: int | None
    day: DayText | None
    media_type: PictureType
    width: int
    height: int
    bytes: int
    sha256: str
    caption: str | None
    sort_order: int
    created_at: Instant
    updated_at: Instant
